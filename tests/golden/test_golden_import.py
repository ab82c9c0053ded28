"""Columns of files that become golden sets: answers, gold spans in columns of their own, faults."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from filled_sheets import read
from ragassay import formats
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, unplaced
from ragassay.review.review_sheets import write_sheet
from ragassay.review.review_store import ReviewStore

POOL = "The pool opens at nine. The sauna is 4 euros."


@pytest.fixture
def desk(here: Path) -> Path:
    Path("docs").mkdir()
    Path("docs/pool.md").write_text(POOL)
    return here


def made(table: str | list[dict[str, object]], *more: str, code: int = 0) -> list[GoldenItem]:
    """The items of a set that is imported from a table, or from records."""
    name = "q.csv" if isinstance(table, str) else "q.jsonl"
    text = table if isinstance(table, str) else "".join(json.dumps(one) + "\n" for one in table)
    Path(name).write_text(text)
    shutil.rmtree("golden", ignore_errors=True)
    words = ["golden", "import", name, "--documents", "docs", "-o", "golden", *more]
    assert call(words) == code
    return GoldenSet.open(Path("golden")).items if code == 0 else []


def test_answers_are_no_references(desk: Path, capsys) -> None:
    table = (
        "id,query,references,answer,answerability\n"
        "a,When?,,nine,\n"
        "b,What?,4 euros,four,\n"
        "c,Where?,,here,\n"
        "d,Why?,,I do not know.,unanswerable\n"
    )
    assert [one.references for one in made(table)] == [[], ["4 euros"], [], []]
    told = " ".join(capsys.readouterr().out.split())
    assert "4 items, 1 reference, 0 gold spans" in told


def test_columns_of_a_gold_span_are_one(desk: Path, capsys) -> None:
    table = (
        "id,query,references,Gold Document,gold_start,gold_end,gold_text,team\n"
        "a,When?,nine,pool,0,23,,x\n"
        "b,What?,4 euros,,,,The sauna is 4 euros.,x\n"
        "c,Where?,here,,,,,x\n"
    )
    first, second, third = made(table)
    spans = [one for item in (first, second) for one in item.gold or ()]
    assert {one.document for one in spans} == {"pool"}
    assert [(one.start, one.end) for one in spans] == [(0, 23), (24, 45)] and third.gold is None
    assert all(one.metadata == {"team": "x"} for one in (first, second))
    capsys.readouterr()
    table = (
        "id,query,gold,gold_document,team,verified_on\n"
        "a,When?,The pool opens at nine.,pool,,2026-03-01T10:00:00\n"
    )
    (item,) = made(table)
    assert [one.text for one in item.gold or ()] == ["The pool opens at nine."]
    assert item.verified_on == date(2026, 3, 1), "of a time the day"
    assert item.metadata == {"gold_document": "pool"}, "an empty cell is no metadata"
    made("id,query,gold_document,gold_start,gold_end\na,When?,pool,five,9\n", code=2)
    told = capsys.readouterr().err
    assert "q.csv, line 2, field 'gold_start'" in told and "a whole number is expected" in told


def test_a_file_in_another_encoding_is_read(desk: Path, capsys) -> None:
    Path("q.csv").write_bytes("id,query\na,Où est le café?\n".encode("cp1252"))
    words = ["golden", "import", "q.csv", "--documents", "docs", "-o", "golden"]
    assert call(words) == 2 and "--encoding" in capsys.readouterr().err
    assert call([*words, "--encoding", "cp1252"]) == 0
    assert GoldenSet.open(Path("golden")).items[0].query == "Où est le café?"
    assert call([*words[:-1], "other", "--encoding", "cp9999"]) == 2
    assert "there is no encoding 'cp9999'" in capsys.readouterr().err


def test_tags_in_a_cell_are_parted_as_on_the_page(desk: Path) -> None:
    rows = ['a,1?,"x, y"', 'b,2?,"x, y; z"', 'c,3?,"[""x, y"", ""z""]"', "d,4?,x"]
    items = made("id,query,tags\n" + "\n".join(rows) + "\n")
    wanted = [["x", "y"], ["x, y", "z"], ["x, y", "z"], ["x"]]
    assert [one.tags for one in items] == wanted
    (item,) = made([{"id": "a", "query": "?", "tags": "failures, hardware", "provenance": None}])
    assert (item.tags, item.metadata) == (["failures", "hardware"], {})


@pytest.mark.parametrize("column", ["negative_references", "Falsch"])
def test_wrong_answers_in_a_cell_are_read_as_in_a_sheet(desk: Path, column: str) -> None:
    rows = ['a,1?,"31 %\n\ninaccurate: within 60 days"', 'b,2?,"[""a\\nb""]"', "c,3?,",
            "d,4?,to: me"]  # fmt: skip
    table = f"id,query,{column}\n" + "\n".join(rows) + "\n"
    items = made(table, "--columns", f"negative_references={column}")
    assert [[(one.text, one.kind) for one in item.negative_references]
            for item in items] == [[("31 %", None), ("within 60 days", "inaccurate")],
                                   [("a\nb", None)], [], [("to: me", None)]]  # fmt: skip


def test_items_are_added_to_a_set_by_its_export_and_a_pattern(desk: Path, capsys) -> None:
    before = made("id,query,references,gold_text,team\na,When?,nine,opens at nine,x\n")
    words = ["golden", "import", "all/*.jsonl", "--documents", "docs", "-o"]
    assert call([*words, "golden"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "export it with --drafts and import both files together" in told
    Path("all").mkdir()
    assert call(["golden", "export", "golden", "-o", "all/set.jsonl", "--drafts"]) == 0
    Path("all/hand.jsonl").write_text('{"id": "b", "query": "What?", "status": "accepted"}\n')
    assert call([*words, "both"]) == 0
    hand, old = GoldenSet.open(Path("both")).items
    assert [old] == before and (hand.id, hand.status) == ("b", "accepted")


def test_a_name_that_several_goldens_have_is_the_id_of_one(tmp_path: Path) -> None:
    golden = {"name": "pool", "expected_output": "nine"}
    records = [{**golden, "input": word} for word in ("When?", "Where?")]
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps(records))
    first, second = formats.load(path, notes=formats.Notes())
    assert first.id == "pool" and second.id.startswith("q-") and second.metadata == {"name": "pool"}
    (answered,) = formats.from_records([{**records[0], "actual_output": "At nine."}])
    assert answered.id.startswith("q-"), "a name of a test case is no id of its query"


MANUAL = """Rules of İzmir

Acids are stored
in separate cabinets. Grease every **2,000 hours** with [lithium
grease](https://example.org/g). White paint is in hall 9.

| Plan | Requests |
|---|--:|
| Team | 600 |
| Free | 60 |

Call the duty engineer before you open the casing of pump 4.
Write it down. It will hum hum hum.
Write
it down.
"""


def test_gold_is_found_whatever_white_space_and_markup_and_else_kept(desk: Path, capsys) -> None:
    Path("docs/manual.md").write_bytes(MANUAL.replace("\n", "\r\n").encode())
    texts = {"exact": "White paint is in hall 9.", "line": "Acids are stored in separate cabinets.",
             "bold": "Grease every 2,000 hours with lithium grease.", "cell": "Team 600",
             "head": "Plan Requests Team 600", "case": "in Hall 9",
             "number": "Call the duty engineer before you open the casing of pump 5.",
             "part": "Free 6", "start": "aint  is in hall 9.", "many": "e", "overlap": "hum hum",
             "twice": "write it  down.", "none": "Nobody wrote this anywhere."}  # fmt: skip
    records = [{"id": key, "query": key, "references": ["x"], "gold": [{"text": one}]}
               for key, one in texts.items()]  # fmt: skip
    records[-1] |= {"provenance": {"tool": "x"}}
    records[-1]["gold"][0]["grade"] = 2
    items = {one.id: one for one in made(records)}
    found = {key: one.gold[0].text for key, one in items.items() if one.gold}
    assert found == {
        "exact": "White paint is in hall 9.",
        "line": "Acids are stored\nin separate cabinets.",
        # The target of the link stands between the last word and the full stop.
        "bold": "Grease every **2,000 hours** with [lithium\ngrease](https://example.org/g).",
        "cell": "Team | 600",
        "head": "Plan | Requests |\n|---|--:|\n| Team | 600",
        "case": "in hall 9",
    }
    for item in items.values():
        for span in item.gold or ():
            assert MANUAL[span.start : span.end] == span.text
    kept = {key: unplaced(one) for key, one in items.items() if one.gold is None}
    assert {key: [one["text"] for one in ones] for key, ones in kept.items()} == {
        key: [texts[key]] for key in ("number", "part", "start", "many", "overlap", "twice", "none")
    }
    assert items["none"].provenance["tool"] == "x" and kept["none"][0]["grade"] == 2
    assert "is at 10 places or more in" in kept["many"][0]["reason"]
    told = capsys.readouterr().out
    flat = " ".join(told.split())
    assert "6 of 13 gold passages placed in the documents." in flat
    assert "none (q.jsonl, line 13, field 'gold.0'): the text does not occur" in flat
    assert "(but for markup) is at 2 places in the documents: manual:" in flat
    assert "7 gold passages left out" in flat

    write_sheet(ReviewStore(Path("golden")), Path("sheet.xlsx"))
    assert texts["none"] in str(read(Path("sheet.xlsx")))


@pytest.mark.parametrize(("start", "end", "text"), [
    (1, 9, "The sauna\nis 4 euros."), (24, 99, "The sauna is 4 euros."),
    (0, 21, "The sauna is 4 euros.")])  # fmt: skip
def test_gold_at_a_wrong_place_is_put_where_its_text_stands(desk, start, end, text) -> None:
    gold = {"document": "pool", "start": start, "end": end, "text": text}
    (item,) = made([{"id": "a", "query": "What?", "gold": [gold]}])
    [span] = item.gold or ()
    assert (span.start, span.end, span.text) == (24, 45, "The sauna is 4 euros.")


def test_columns_name_every_field_of_an_item_and_of_a_span(desk: Path) -> None:
    table = "id,Frage,Antwort,Fundstelle,Schwierigkeit,Ort\na,When?,nine,opens at nine,leicht,x\n"
    chosen = ("query=Frage", "references=Antwort", "gold_text=Fundstelle",
              "complexity=Schwierigkeit")  # fmt: skip
    (item,) = made(table, *(word for one in chosen for word in ("--columns", one)))
    assert [one.text for one in item.gold or ()] == ["opens at nine"]
    assert (item.complexity, item.references, item.metadata) == ("leicht", ["nine"], {"Ort": "x"})
    # Retrieved passages are gold where the user says so.
    texts = '"[""The pool opens at nine."", ""The sauna is 4 euros.""]"'
    table = f"id,question,ground_truth,contexts\na,When?,nine,{texts}\n"
    assert made(table)[0].gold is None
    (item,) = made(table, "--columns", "gold=contexts")
    assert [one.start for one in item.gold or ()] == [0, 24]


@pytest.mark.parametrize(("named", "told"), [
    ("tags=Schwierig", "there is no column 'Schwierig' (wanted as tags)"),
    ("gold_txt=Stelle", "Of golden sets also: type, complexity,"),
    ("references", "write FIELD=COLUMN, as in references=answer")])  # fmt: skip
def test_a_column_or_field_that_is_not_there_or_broken_is_told(desk, named, told, capsys) -> None:
    made("id,query,Stelle\n", code=2)
    assert "there are no records" in capsys.readouterr().err
    made("id,query,Stelle\na,When?,x\n", "--columns", named, code=2)
    assert told in " ".join(capsys.readouterr().err.split())
    for column in ("gold", "tags", "provenance", "negative_references"):
        made(f'id,query,{column}\na,When?,"[""x"", ""y"\n', code=2)
        assert f"q.csv, line 2, field '{column}': the cell begins" in capsys.readouterr().err
