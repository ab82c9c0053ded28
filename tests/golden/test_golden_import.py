"""Columns of files that become golden sets: answers, gold spans in columns of their own, faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay import formats
from ragassay.cli import call
from ragassay.golden import GoldenItem, GoldenSet

POOL = "The pool opens at nine. The sauna is 4 euros."


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/pool.md").write_text(POOL)
    return tmp_path


def made(table: str, *more: str, code: int = 0) -> list[GoldenItem]:
    """The items of a set that is imported from a table."""
    Path("q.csv").write_text(table)
    words = ["golden", "import", "q.csv", "--documents", "docs", "-o", "golden", *more]
    assert call(words) == code
    return GoldenSet.open(Path("golden")).items if code == 0 else []


def test_answers_of_queries_without_references_are_told(desk: Path, capsys) -> None:
    table = (
        "id,query,references,answer,answerability\n"
        "a,When?,,nine,\n"
        "b,What?,4 euros,four,\n"
        "c,Where?,,here,\n"
        "d,Why?,,I do not know.,unanswerable\n"
    )
    assert [one.references for one in made(table)] == [[], ["4 euros"], [], []]
    told = " ".join(capsys.readouterr().err.split())
    assert "records without references that have a field 'answer': 2 (first: line 2)." in told
    assert "If it is what is expected: --columns references=answer." in told


def test_columns_name_what_is_expected(desk: Path, capsys) -> None:
    table = "id,question,answer\na,When?,nine\n"
    (item,) = made(table, "--columns", "references=answer")
    assert item.references == ["nine"] and not item.metadata
    assert not capsys.readouterr().err
    made(table, "--columns", "references", code=2)
    assert "write FIELD=COLUMN, as in references=answer" in capsys.readouterr().err


def test_columns_of_a_gold_span_are_one(desk: Path) -> None:
    table = (
        "id,query,references,Gold Document,gold_start,gold_end,gold_text,team\n"
        "a,When?,nine,pool,0,23,,x\n"
        "b,What?,4 euros,,,,The sauna is 4 euros.,x\n"
        "c,Where?,here,,,,,x\n"
    )
    first, second, third = made(table)
    spans = [one for item in (first, second) for one in item.gold or ()]
    assert [(one.document, one.start, one.end) for one in spans] == [
        ("pool", 0, 23),
        ("pool", 24, 45),
    ]
    assert third.gold is None
    assert all(one.metadata == {"team": "x"} for one in (first, second))


def test_a_wrong_place_in_a_column_is_told_with_its_column(desk: Path, capsys) -> None:
    made("id,query,gold_document,gold_start,gold_end\na,When?,pool,five,9\n", code=2)
    told = capsys.readouterr().err
    assert "q.csv, line 2, field 'gold_start'" in told and "a whole number is expected" in told


def test_gold_beside_columns_of_a_span_is_kept_and_told(desk: Path, capsys) -> None:
    table = "id,query,gold,gold_document\na,When?,The pool opens at nine.,pool\n"
    (item,) = made(table)
    assert [one.text for one in item.gold or ()] == ["The pool opens at nine."]
    assert "records with gold and 'gold_document'" in " ".join(capsys.readouterr().err.split())


def test_goldens_of_deepeval_keep_their_ids(desk: Path, capsys) -> None:
    made("id,query,references\na,When?,nine\nb,What?,4 euros\n", "--accept")
    assert call(["golden", "export", "golden", "-o", "d.json", "--format", "deepeval"]) == 0
    assert (
        call(["golden", "import", "d.json", "--documents", "docs", "-o", "back", "--accept"]) == 0
    )
    written = [Path(one, "queries.jsonl").read_text() for one in ("golden", "back")]
    assert written[0] == written[1]
    assert "goldens of deepeval: 2 (first: line 1). Their names are their ids." in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_name_that_several_goldens_have_is_the_id_of_one() -> None:
    golden = {"name": "pool", "expected_output": "nine"}
    records = [{**golden, "input": word} for word in ("When?", "Where?")]
    first, second = formats.from_records(records)
    assert first.id == "pool" and second.id.startswith("q-")
    assert second.metadata == {"name": "pool"}
    (answered,) = formats.from_records([{**records[0], "actual_output": "At nine."}])
    assert answered.id.startswith("q-"), "a name of a test case is no id of its query"


@pytest.mark.parametrize("column", ["gold", "tags", "provenance", "negative_references"])
def test_a_broken_list_in_a_cell_is_told_with_its_place(desk: Path, column: str, capsys) -> None:
    made(f'id,query,{column}\na,When?,"[""x"", ""y"\n', code=2)
    assert f"q.csv, line 2, field '{column}': the cell begins" in capsys.readouterr().err
