"""Golden sets in the formats of other tools, read again by `run`'s readers."""

import json
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from ragassay import formats
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.cli.command_line import call
from ragassay.engine.run.source import with_references
from ragassay.golden.documents import Document
from ragassay.golden.golden_export import EXPORTS, export_format, exported, left_out
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference

TEXT = "The tower is 330 metres high. It stands in Paris, by the river."
DOCUMENTS = {"tower": Document("tower", "tower.txt", TEXT, "0" * 64, "text 1")}
TALL = GoldSpan.of("tower", TEXT, 0, 29, grade=2)
ITEMS = (
    GoldenItem(
        id="q1", query='How tall, in metres, is "the tower"?',
        references=["330 metres, says\tthe plate", "It is 330 metres high."],
        negative_references=[NegativeReference(text="300 metres", kind="inaccurate", by="Ann")],
        gold=[GoldSpan.of("tower", TEXT, 30, 49), TALL], answerability="answerable", type="factual",
        tags=["a", "b"], metadata={"team": "north"},
    ),
    GoldenItem(
        id="q2", query="=And where?\nSay it briefly.", references=["In Paris."],
        history=[Turn("user", "What is high?"), Turn("agent", "The tower.")],
    ),
)  # fmt: skip
BARE = GoldenItem(id="q3", query="Why?")
"""Nothing is expected of it."""
TOGETHER = ("jsonl", "csv", "tsv", "parquet", "xlsx")
OF_ONE_REFERENCE = ("ragas", "deepeval", "ragchecker", "langsmith", "langfuse", "mlflow")


def written(tmp_path: Path, kind: str, items: tuple[GoldenItem, ...] = ITEMS) -> Path:
    place = tmp_path / f"out{(*EXPORTS[kind].ends, '')[0]}"
    for name, content in exported(items, kind, lambda: DOCUMENTS).files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


@pytest.mark.parametrize("kind", [*TOGETHER, *OF_ONE_REFERENCE, "mtrag", "ultrarag"])
def test_what_is_exported_is_read_again(kind: str, tmp_path: Path) -> None:
    samples = list(formats.read(written(tmp_path, kind)))
    if kind != "mlflow":  # it has no ids
        assert [one.id for one in samples] == ["q1", "q2"]
    assert [one.query for one in samples] == [one.query for one in ITEMS]
    many = kind not in OF_ONE_REFERENCE
    references = [tuple(one.references if many else one.references[:1]) for one in ITEMS]
    assert [one.references for one in samples] == references
    assert all(one.answer is None and one.passages is None for one in samples)
    first, second = samples
    if kind in ("jsonl", "csv", "ragas", "deepeval", "mtrag", "langfuse"):
        every = formats.read(written(tmp_path, kind, (BARE, *ITEMS)))
        assert [one.id for one in every] == ["q3", "q1", "q2"], "also without references"
    if kind in ("ragas", "deepeval"):  # they have a place for texts of gold
        assert [one.text for one in first.gold or ()] == [TEXT[30:49], TALL.text]
        assert not second.gold
    if kind == "mtrag":
        record = json.loads(written(tmp_path, kind).read_text().splitlines()[0])
        assert record["Answerability"] == ["ANSWERABLE"], "as MT-RAG writes it"
        assert {one["speaker"] for one in record["targets"]} == {"agent"}
        assert first.answerability == "answerable" and second.answerability is None
        assert second.history == tuple(ITEMS[1].history)
    if kind in ("csv", "tsv"):  # a lone carriage return ends no line of a table
        item = GoldenItem(id="q4", query="One\rtwo?", references=["Yes."])
        assert [one.query for one in formats.read(written(tmp_path, kind, (item,)))] == [item.query]
    if kind == "parquet":  # an empty cell is null
        table = pl.read_parquet(written(tmp_path, kind))
        assert table["type"].to_list() == ["factual", None]


def test_open_rag_eval_gets_queries_and_expected_answers(tmp_path: Path) -> None:
    found = written(tmp_path, "open_rag_eval").read_text(encoding="utf-8")
    assert found.startswith("query_id,query,expected_answer\n")
    (sample,) = with_references([Sample(id="q1", query="?")], tmp_path / "out.csv")
    assert sample.references == ("330 metres, says\tthe plate",)


def test_a_beir_folder_is_judged_by(tmp_path: Path) -> None:
    folder = written(tmp_path, "beir")
    corpus = json.loads((folder / "corpus.jsonl").read_text())
    assert corpus == {"_id": "tower", "title": "", "text": TEXT}
    queries = (folder / "queries.jsonl").read_text().splitlines()
    assert [json.loads(one)["_id"] for one in queries] == ["q1", "q2"]  # q2 has no gold
    assert (folder / "qrels/test.tsv").read_text() == ("query-id\tcorpus-id\tscore\nq1\ttower\t2\n")
    # The highest grade of a span counts.
    turned = ITEMS[0].model_copy(update={"gold": (ITEMS[0].gold or [])[::-1]})
    assert written(tmp_path, "qrels", (turned,)).read_text() == "q1 0 tower 2\n"
    spans = [TALL.model_copy(update={"document": "the tower", "grade": 0})]
    spaced = ITEMS[0].model_copy(update={"id": "q 1", "gold": spans})
    assert written(tmp_path, "qrels", (spaced,)).read_text() == "q_1 0 the_tower 0\n"
    (folder / "run.trec").write_text("q1 Q0 tower 1 0.9 bm25\n")
    (sample,) = formats.read(folder)
    assert sample.query == ITEMS[0].query and [one.text for one in sample.passages or ()] == [TEXT]
    assert [(one.id, one.grade) for one in sample.gold or ()] == [("tower", 2)]


def test_pairs_are_right_and_wrong_answers(tmp_path: Path) -> None:
    lines = written(tmp_path, "pairs").read_text().splitlines()
    assert [json.loads(one)["chosen"] for one in lines] == ITEMS[0].references
    wrong = {(one["rejected"], one["kind"]) for one in map(json.loads, lines)}
    assert wrong == {("300 metres", "inaccurate")}


def test_a_cell_that_no_workbook_holds_is_told() -> None:
    exported((GoldenItem(id="q3", query="w" * 32_767),), "xlsx", lambda: DOCUMENTS)
    long = GoldenItem(id="q3", query="w" * 32_768)
    with pytest.raises(InputError, match="'q3' has more than 32,767 characters") as told:
        exported((long,), "xlsx", lambda: DOCUMENTS)
    assert told.value.field == "query"


def test_formats_are_found_by_name_and_by_end() -> None:
    assert export_format(Path("a.PARQUET")) == "parquet"
    assert export_format(Path("a"), "beir") == "beir"
    with pytest.raises(UsageError, match=r"'deepevl'\. Did you mean 'deepeval'"):
        export_format(Path("a.json"), "deepevl")
    with pytest.raises(UsageError, match=r"deepeval to a file whose name ends in \.json"):
        export_format(Path("a.csv"), "deepeval")
    with pytest.raises(UsageError, match="export writes jsonl to a file whose name ends in"):
        export_format(Path("a.docs"))


def test_ids_with_quotes_are_the_same_in_all_files_of_beir(tmp_path: Path) -> None:
    item = GoldenItem(id='the "first"', query="Why?", gold=[TALL])
    folder = written(tmp_path, "beir", (item,))
    (sample,) = formats.read(folder, gold=None, queries_alone=True)
    assert (sample.id, sample.query) == ('the "first"', "Why?")
    tab = TALL.model_copy(update={"document": "a\tb"})
    for name, span in (("a\tb", TALL), (" ", TALL), ("a", tab)):
        with pytest.raises(InputError, match="is blank, or holds a tab or a line end"):
            written(tmp_path, "beir", (GoldenItem(id=name, query="Why?", gold=[span]),))


@pytest.mark.parametrize("kind", sorted(set(EXPORTS) - set(TOGETHER)))
def test_each_field_that_does_not_come_back_is_told(kind: str, tmp_path: Path) -> None:
    """The table of what formats hold is held against what is written."""
    texts = ("type", "complexity", "style", "language", "source", "author", "reviewer")
    full = ITEMS[0].model_copy(
        update={name: f"mark-{name}" for name in texts}
        | {"tags": ["mark-tags"], "metadata": {"team": "mark-metadata"}}
        | {"provenance": {"a": "mark-provenance"}, "origin": "synthetic", "status": "draft"}
        | {"verified_on": date(2026, 1, 2), "history": ITEMS[1].history}
    )
    told = left_out([full], kind)
    assert left_out([full], "jsonl") == [], "it holds every field"
    marks = {name: f"mark-{name}" for name in (*texts, "tags", "metadata", "provenance")}
    marks |= {"origin": "synthetic", "status": "draft", "verified_on": "2026-01-02"}
    marks |= {"answerability": "answerable"}
    place = written(tmp_path, kind, (full,))
    files = [one for one in (place, *place.rglob("*")) if one.is_file()]
    content = "".join(one.read_text().casefold() for one in files)
    for name, mark in marks.items():
        assert (name in told) != (mark in content), name


def test_items_of_which_there_is_no_record_are_told(here: Path, capsys) -> None:
    Path("docs").mkdir()
    Path("docs/pool.md").write_text("The pool opens at nine.")
    records = [{"id": "a", "query": "1?", "references": ["x", "y"],
                "negative_references": ["v", "w"]}, {"id": "b", "query": "2?", "references": ["x"]},
               {"id": "c", "query": "3?", "gold": [{"text": "opens at nine"}]},
               {"id": "d", "query": "4?", "negative_references": ["v"]}]  # fmt: skip
    Path("q.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert call(["golden", "import", "q.jsonl", "--documents", "docs", "-o", "g", "--accept"]) == 0
    told = {"pairs": "4 pairs of 1 of 4 items", "ragchecker": "2 records of 2 of 4 items",
            "qrels": "1 grade of 1 of 4 items", "beir": "1 grade of 1 of 4 items",
            "ragas": "4 records of 4"}  # fmt: skip
    for kind, line in told.items():
        end = (*EXPORTS[kind].ends, "")[0]
        capsys.readouterr()
        assert call(["golden", "export", "g", "-o", f"out-{kind}{end}", "--format", kind]) == 0
        shown = capsys.readouterr()
        assert f"out-{kind}{end}: {line}" in shown.out
    for kind in ("beir", "qrels", "pairs", "ragchecker"):
        with pytest.raises(InputError, match="none of its items has"):
            exported((BARE,), kind, lambda: DOCUMENTS)
    assert "The format ragas has no place for negative_references" in " ".join(shown.err.split())
    assert call(["golden", "export", "g", "-o", "out-beir", "--format", "beir"]) == 2, "it is there"
    words = ["golden", "import", "out-beir", "--documents", "docs", "-o", "again"]
    assert call(words) == 0, "without a run, too"
    (item,) = GoldenSet.open(Path("again")).items
    assert item.query == "3?" and [(g.document, g.start) for g in item.gold or ()] == [("pool", 0)]
    items = GoldenSet.open(Path("g")).items
    assert "gold" not in left_out(items, "pairs"), "no pair is of an item that has some"
