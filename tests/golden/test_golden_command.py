"""``ragassay golden``: a set is made, looked after, and joined to answers."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ragassay
from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Answerability, Passage, Sample, Turn
from ragassay.cli.command_line import call
from ragassay.golden import schema
from ragassay.golden.golden_folder import GoldenSet, is_golden
from ragassay.golden.golden_item import GoldenItem, differing, nearly, unplaced
from ragassay.golden.golden_join import joined
from ragassay.golden.golden_parts import sampled, split
from ragassay.review.review_store import ReviewStore, version_of

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


def recall(data: Path = TOWN / "hybrid.jsonl") -> float | None:
    result = ragassay.evaluate(data, metrics=["CharR@5"], golden="golden")
    return result.summary.metrics["CharR@5"].mean


def test_a_set_is_of_its_schema_and_names_its_documents(desk: Path) -> None:
    lines = Path("golden/queries.jsonl").read_text().splitlines()
    assert len(lines) == 72
    for line in lines[:5]:
        jsonschema.validate(json.loads(line), schema())
    manifest = json.loads(Path("golden/documents.json").read_text())
    assert manifest["folder"] == "../docs"
    texts = GoldenSet.open(Path("golden")).documents()
    listed = {one["id"]: one["characters"] for one in manifest["documents"]}
    assert listed == {name: len(document.text) for name, document in texts.items()}


def test_an_edit_that_moves_the_gold_is_undone(desk: Path, capsys) -> None:
    """The documents get a new beginning each, and a paragraph moves; answers come from them."""
    intact = recall()
    assert intact is not None
    for path in Path("docs").glob("*.md"):
        head, *blocks = path.read_text().split("\n\n")
        news = "The opening hours changed this spring. " * 5
        path.write_text("\n\n".join([head, news, blocks[-1], *blocks[:-1]]))
    # What stands at these places now says nothing of the answers: nothing is scored by it.
    assert recall() is None
    capsys.readouterr()
    assert call(["golden", "anchor", "golden", "--dry-run", "--json"]) == 0
    moved = json.loads(capsys.readouterr().out)
    texts = {name: one.text for name, one in GoldenSet.open(Path("golden")).documents().items()}
    assert len(moved) == 70 and recall() is None
    for one in moved:
        old, new = one["old"], one["new"]
        assert texts[new["document"]][new["start"] : new["end"]] == old["text"] == new["text"]
    assert call(["golden", "anchor", "golden"]) == 0
    assert "70 gold spans: 70 moved" in capsys.readouterr().out
    assert recall() == pytest.approx(intact, abs=0.01) and call(["golden", "anchor", "golden"]) == 0
    assert "70 unchanged" in capsys.readouterr().out


def test_other_numbers_and_other_documents_are_named(desk: Path, capsys) -> None:
    spans = [one for item in GoldenSet.open(Path("golden")).items for one in item.gold or ()]
    number = next(one for one in spans if re.search(r"\d", one.text))
    other = next(one.document for one in spans if one.document != number.document)
    path = Path("docs") / f"{number.document}.md"
    path.write_text(path.read_text().replace(number.text, re.sub(r"\d+", "77", number.text)))
    Path(f"docs/{other}.md").rename("docs/renamed.md")
    shutil.copytree("golden", "old")
    call(["golden", "anchor", "golden"])
    said = " ".join(capsys.readouterr().out.split())
    assert "(other numbers: check its references)" in said and f"from {other} to renamed" in said
    call(["golden", "diff", "old", "golden"])
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(rf"moved: \S+ \(gold\): '{other}' is 'renamed'", said)


def test_what_is_not_found_is_listed_and_kept(desk: Path, capsys) -> None:
    library = Path("docs/library.md")
    text = library.read_text()
    library.write_text(text.replace("We make no charge on children's cards.", "Ask at the desk."))
    assert call(["golden", "anchor", "golden"]) == 3
    out = capsys.readouterr().out
    assert 'lost: library-child-fines: "We make no charge on children\'s cards."' in out
    [item] = [one for one in GoldenSet.open(Path("golden")).items
              if one.id == "library-child-fines"]  # fmt: skip
    assert [span.text for span in item.gold or ()] == ["We make no charge on children's cards."]


def test_passages_of_no_document_tell_how_many_samples_go_unscored(desk: Path) -> None:
    items = [one for one in GoldenSet.open(Path("golden")).items if one.gold][:2]
    known = items[0].gold[0].text  # type: ignore[index]
    answers = [{"id": one.id, "answer": "x", "passages": [known]} for one in items]
    answers[1]["passages"] = [known, "A page of the web.", "Another page of the web."]
    Path("docs/copies.md").write_text("This is here twice. " * 2)
    none = next(one.id for one in GoldenSet.open(Path("golden")).items if not one.gold)
    passages = ["A page of no library.", "This is here twice."]
    answers.append({"id": none, "answer": "x", "passages": passages})
    result = ragassay.evaluate(answers, metrics=["CharR"], golden="golden")
    assert result.summary.metrics["CharR"].n_scored == 1
    assert (
        "3 passages not found in the documents of golden, so metrics of spans and characters leave "
        "1 sample out."
    ) in result.summary.warnings
    assert "1 passage occurs in several places" in " ".join(result.summary.warnings)
    shutil.rmtree("docs")
    result = ragassay.evaluate(answers, metrics=["CharR"], golden="golden")
    assert "docs does not exist, so passages cannot be found" in " ".join(result.summary.warnings)


def test_answers_are_joined_by_id_and_only_accepted_items_count(desk: Path) -> None:
    known = next(one for one in GoldenSet.open(Path("golden")).items if one.id == "library-dvd")
    answers = [{"id": known.id, "answer": "One week.", "query": known.query.upper().rstrip("?")}]
    result = ragassay.evaluate(answers, metrics=["contains_answer"], golden="golden")
    assert "something different" not in " ".join(result.summary.warnings)
    answers = [{"id": known.id, "answer": "One week.", "query": "Who built Rome?"}]
    result = ragassay.evaluate(answers, metrics=["contains_answer"], golden="golden")
    (told,) = [one for one in result.summary.warnings if "something different" in one]
    assert told.startswith("1 sample asks something different from the item of golden with")
    assert "library-dvd: 'Who built Rome?', not" in told
    answers = [{"id": "library-dvd", "answer": "One week."}, {"id": "unknown", "answer": "x"}]
    result = ragassay.evaluate(answers, metrics=["contains_answer"], golden="golden")
    sentences = " ".join(result.summary.warnings)
    assert "1 sample left out" in sentences and "71 items of golden without a sample" in sentences
    assert result.summary.metrics["contains_answer"].mean == 1.0
    made = GoldenSet.open(Path("golden"))
    for item in made.items:
        item.status = "draft"
    made.items[0].status = "accepted"
    spans = [one.model_copy(update={"end": one.end + 1}) for one in made.items[0].gold or ()]
    made.items[0].gold = spans * 2  # which are not at their places
    made.save()
    both = [{"id": made.items[0].id, "answer": "x"}, {"id": "library-dvd", "answer": "x"}]
    counted = " ".join(ragassay.evaluate(both, metrics=["em"], golden="golden").summary.warnings)
    assert "71 drafts of golden left out, with 1 sample" in counted
    assert "2 of 2 gold spans of golden are not at" in counted and "leave 1 query out" in counted
    made.items[0].status = "draft"
    made.save()
    with pytest.raises(InputError, match="none of its 72 items is accepted"):
        ragassay.evaluate(answers, metrics=["em"], golden="golden")
    drafts = ragassay.evaluate(answers, metrics=["em"], golden="golden", golden_drafts=True)
    assert drafts.summary.n_samples == 1
    assert "left out" not in str([one for one in drafts.summary.warnings if "draft" in one])


def test_the_set_says_what_is_right_and_the_sample_what_was_asked(tmp_path: Path) -> None:
    item = GoldenItem(id="q1", query="When?", history=[Turn("user", "Hello.")],
                      references=["nine", "9"], negative_references=[{"text": "ten"}],
                      answerability="answerable", language="en", metadata={"team": "north"},
                      type="factual", status="accepted")  # fmt: skip
    GoldenSet(tmp_path, [item]).save()
    asked: dict[str, Any] = {"query": "when", "history": (Turn("user", "The pool?"),)}
    said: dict[str, Any] = {"id": "q1", "answer": Answer("At nine."), "passages": (Passage("a"),)}
    wrong = {"references": ("ten", "x"), "reference_groups": (("ten",), ("x",)), "gold": ()}
    about = {"metadata": {"team": "south", "cost": 1}, "language": "de"}
    right = {
        "references": ("nine", "9"), "negative_references": ("ten",), "language": "en",
        "answerability": Answerability.ANSWERABLE,
        "metadata": {"team": "north", "type": "factual", "origin": "human", "cost": 1},
    }  # fmt: skip
    (full,) = joined([Sample(**said, **asked, **wrong, **about)], tmp_path)
    assert full == Sample(**said, **asked, **right)
    GoldenSet(tmp_path, [item.model_copy(update={"language": ""})]).save()
    (bare,) = joined([Sample(**said, language="de")], tmp_path)
    assert bare.language == "de"
    assert (bare.query, bare.history) == ("When?", (Turn("user", "Hello."),))


def test_a_system_is_asked_the_accepted_items(desk: Path) -> None:
    made = GoldenSet.open(Path("golden"))
    for item in made.items[1:]:
        item.status = "draft"
    made.save()
    answers = ragassay.ask("golden", lambda query: f"You asked: {query}").samples
    assert [one.id for one in answers] == [made.items[0].id]
    assert answers[0].gold == made.items[0].to_sample().gold
    made.items[0].status = "rejected"
    made.save()
    with pytest.raises(InputError, match=r"none of its items is accepted"):
        ragassay.ask("golden", lambda query: query)


def test_parts_keep_the_shares_of_each_kind() -> None:
    items = [GoldenItem(id=str(at), query="q?", type="a" if at % 4 else "b") for at in range(100)]
    drawn = sampled(items, 20, seed=3)
    assert [item.id for item in drawn] == sorted((item.id for item in drawn), key=int)
    assert sum(item.type == "b" for item in drawn) == 5
    assert drawn == sampled(items, 20, seed=3) != sampled(items, 20, seed=4)
    assert sampled(items, 100) == items
    shares = {"dev": 0.3, "test": 0.7}
    parts = split(items, shares, seed=1)
    assert parts == split(items, shares, seed=1) != split(items, shares, seed=2)
    assert {name: len(part) for name, part in parts.items()} == {"dev": 30, "test": 70}
    for at, item in enumerate(items):
        item.style = "x" if at < 48 else "y"
    both = Counter((one.type, one.style) for one in sampled(items, 25, ["type", "style"]))
    assert both == {("a", "x"): 9, ("a", "y"): 10, ("b", "x"): 3, ("b", "y"): 3}


def test_parts_are_written(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in (("73", "73 items cannot be drawn from 72"), ("0", "0 items cannot be"),
                        ("5 --by kind", "Items have no field 'kind'. There are: id")):  # fmt: skip
        assert call(["golden", "sample", "golden", *words.split(), "-o", "ten"]) == 2
        assert told in " ".join(capsys.readouterr().err.split())
    assert call(["golden", "sample", "golden", "10", "-o", "ten"]) == 0
    assert GoldenSet.open(Path("ten")).documents().keys() == (
        GoldenSet.open(Path("golden")).documents().keys()
    )
    assert call(["golden", "split", "golden", "--into", "dev=0.25,test=0.75"]) == 0
    assert len(GoldenSet.open(Path("golden-dev")).items) == 18
    assert call(["golden", "diff", "golden", "golden-dev"]) == 0
    assert "54 removed" in capsys.readouterr().out
    opened = GoldenSet.open(Path("golden"))
    for item in opened.items[:10]:
        item.status = "rejected"
    opened.save()
    assert call(["golden", "split", "golden", "--into", "x=0.5,y=0.5"]) == 0
    parts = [one for name in "xy" for one in GoldenSet.open(Path(f"golden-{name}")).items]
    assert len(parts) == 62 and {one.status for one in parts} == {"accepted"}


@pytest.mark.parametrize(("line", "complaint"), [
    ("{", "line 1: not valid JSON"), ('{"id": "a"}', "line 1, field 'query'"),
    ('{"id": "a", "query": "q", "statsu": "draft"}', "field 'statsu'"),
    ('{"id": "a", "query": "q", "history": [{"speaker": "bot", "text": "x"}]}',
     "said by 'user' or 'agent'"),
    ('{"id": "a", "query": "q", "gold": [{"document": "d", "start": 5, "end": 5, '
     '"text": "x"}]}',
     "the span ends at 5, and starts at 5"),
    ('{"id": "a", "query": "q", "gold": [{"document": "d", "start": -1, "end": 5, '
     '"text": "x"}]}',
     "field 'gold.0.start'"),
    ('{"id": "a", "query": "q"}\n{"id": "a", "query": "r"}', "2 items have the id 'a'"),
])  # fmt: skip
def test_a_wrong_line_is_named(line: str, complaint: str, tmp_path, capsys) -> None:
    (tmp_path / "queries.jsonl").write_text(line)
    assert call(["golden", "diff", str(tmp_path), str(tmp_path)]) == 2
    assert complaint in capsys.readouterr().err


def test_a_difference_shows_gold_that_changed(desk: Path, capsys) -> None:
    now = GoldenSet.open(Path("golden"))
    [span] = now.items[0].gold or []
    edited = span.text.replace("twelve", "thirteen")
    now.items[0].gold = [span, span]  # the second one stays
    now.save()
    now.folder = Path("other")
    now.items[0].gold = [span.model_copy(update={"text": edited}), span]
    now.items[1].gold = [one.model_copy(update={"grade": 7}) for one in now.items[1].gold or []]
    spans = now.items[2].gold or []  # at other places of the same document
    now.items[2].gold = [one.model_copy(update={"end": one.end + 1}) for one in spans]
    now.items[3].gold, now.items[4].metadata = [], {"team": "x"}
    now.items.append(GoldenItem(id="new", query="New?"))
    now.save()
    now.save_manifest(now.documents())
    assert call(["golden", "diff", "golden", "other"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"changed: {now.items[0].id} (gold): " in out
    assert "twelve" in out and " is '" in out and "thirteen" in out
    assert call(["golden", "diff", "golden", "other", "--json"]) == 0
    [change, regraded, moved, emptied, told, added] = json.loads(capsys.readouterr().out)["changes"]
    assert moved["kind"] == "moved" and "gold" not in moved and "gold" not in emptied
    assert (emptied["kind"], added["kind"], added["id"]) == ("changed", "added", "new")
    assert change["gold"] == [[span.text, edited]] and regraded["kind"] == "changed"
    assert (told["kind"], told["fields"]) == ("changed", ["metadata"])
    # Of long texts what differs is shown, with little beside it.
    assert differing("a" * 100, "a" * 101)[0] == repr(f"…{'a' * 60}")
    long, shown = f"{'a' * 70}b{'c' * 70}", f"…{'a' * 15}b{'c' * 15}…"
    assert differing(long, long.replace("b", ""))[0] == repr(shown)


@pytest.fixture
def pool(here: Path) -> Path:
    """A folder with a document."""
    Path("docs").mkdir()
    Path("docs/pool.md").write_text("The pool opens at nine. A towel.")
    return here


def imports(records: list[dict[str, Any]], name: str, *words: str) -> int:
    """Imports records; the exit code."""
    Path("q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    return call(["golden", "import", "q.jsonl", "--documents", "docs", "-o", name, *words])


def test_records_of_several_systems_are_one_item_unless_they_differ(pool: Path, capsys) -> None:
    base = {"id": "a", "query": "When?", "references": ["nine"], "type": "factual", "team": "x"}
    gold = [{"text": "at nine"}]
    records = [
        {**base, "system": "one", "answer": "Nine.", "speed": 1, "style": "x"},
        {**base, "system": "one", "repeat": 1, "answer": "Ten.", "gold": gold, "speed": 2},
        {"id": "a", "system": "two", "query": "When?", "speed": 1, "style": "y", "complexity": "d"},
        {"id": "b", "system": "two", "query": "Where?", "answer": "Here."},
    ]
    assert imports(records, "one") == 0
    told = capsys.readouterr().out
    assert "one: 2 items, 1 reference, 1 gold span in 1 document" in told
    assert "q.jsonl has 4 records: records with the same id are one item." in told
    first = GoldenSet.open(Path("one")).items[0]
    assert (first.id, first.references, first.type) == ("a", ["nine"], "factual")
    assert (first.style, first.complexity) == ("", "d"), "what no record contradicts"
    assert [span.text for span in first.gold or ()] == ["at nine"]
    assert first.metadata == {"team": "x"}, "what differs belongs to the answers"
    records.append({**records[-1], "system": "one", "gold": [], "references": ["x"]})
    assert imports(records, "none") == 0
    assert [one.gold for one in GoldenSet.open(Path("none")).items][1] == [], "none is relevant"
    turns = [{"speaker": "user", "text": "Hello."}]
    for field, values in {
        "references": ["nine", "ten"], "history": [turns, [*turns, *turns]],
        "negative_references": ["x", "y"], "answerability": ["answerable", "partial"],
        "gold": [gold, [{"text": "A towel."}]],
    }.items():  # fmt: skip
        (records[0][field], records[2][field]), before = values, dict(records[2])
        assert imports(records, "two") == 2
        told = capsys.readouterr().err
        assert f"field '{field}'" in told and "records 1 and 3 have the id 'a'" in told
        records[2] = {name: value for name, value in before.items() if name != field}
        assert not Path("two").exists()


WRITES_OVER = (
    ("ask golden -t command:cat -o golden/queries.jsonl", "lies in golden, which is read"),
    ("ask golden/queries.jsonl -t command:cat -o golden/queries.jsonl", "is the input"),
    ("ask q.jsonl -t command:cat -o ./q.jsonl", "is the input"),
    ("ask q*.jsonl -t command:cat -o q.jsonl", "is the input"),
    ("ask q.jsonl -t command:cat -o golden/new.jsonl", "lies in the golden set golden"),
    ("ask q.jsonl -t command:cat -o linked/new.jsonl", "lies in the golden set golden"),
    ("run q.jsonl -m answer_words -o golden", "lies in the golden set golden"),
    ("run done/samples.jsonl -m answer_words -o done", "is the input"),
    ("golden export golden -o golden/queries.jsonl", "lies in golden, which is read"),
    ("golden import q.jsonl --documents docs -o docs", "is the input"),
    ("golden import q.jsonl --documents docs -o golden/a/part", "lies in the golden set golden"),
    ("golden sample golden 3 -o docs", "is the input"),
    ("golden synthesize docs -o docs/set --n 2", "lies in docs, which is read"),
)


def test_no_command_writes_over_what_it_reads_or_into_a_golden_set(desk: Path, capsys) -> None:
    shutil.copy("golden/queries.jsonl", "q.jsonl")
    assert call(["run", "q.jsonl", "-m", "answer_words", "-o", "done"]) in (0, 3)
    Path(shutil.copytree("golden", "listed")).joinpath("queries.jsonl").unlink()
    before = {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    Path("linked").symlink_to("golden")
    Path("only").mkdir()
    shutil.copy("q.jsonl", "only/queries.jsonl")
    assert [name for name in ("golden", "only", "listed") if is_golden(Path(name))] == ["golden"]
    before |= {Path("only/queries.jsonl").absolute(): Path("q.jsonl").read_bytes()}
    for words, told in WRITES_OVER:
        capsys.readouterr()
        assert call(words.split()) == 2, words
        assert told in " ".join(capsys.readouterr().err.split())
    assert {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()} == before


FULL = {"id": "a", "query": "When does it open?", "references": ["nine"],
        "history": [{"speaker": "user", "text": "The pool?"}],
        "negative_references": [{"text": "ten", "kind": "inaccurate", "by": "bob"},
                                {"text": "soon", "kind": "off-style"}, {"text": "never"}],
        "gold": [{"document": "pool", "start": 9, "end": 22, "text": "opens at nine",
                  "before": "The pool ", "after": ". A towel.", "grade": 2}],
        "answerability": "answerable", "type": "factual", "complexity": "direct", "style": "formal",
        "language": "en", "source": "log", "tags": ["hours", "[1]"], "author": "bob",
        "reviewer": "ann", "origin": "edited", "verified_on": "2026-01-01", "status": "accepted",
        "provenance": {"model": "m", "seed": 1, "passage": {"start": 0}},
        "metadata": {"team": "x", "turns": 3}}  # fmt: skip


def test_an_item_is_what_a_sample_of_it_tells() -> None:
    item = GoldenItem.model_validate(FULL)
    clash = item.model_copy(update={"metadata": {"type": "other"}})
    assert clash.fields()["type"] == clash.to_sample().metadata["type"] == "factual"
    web = Sample(id="a", query="?", metadata={"origin": "web"})
    assert GoldenItem.of_sample(web).metadata == web.metadata
    again = GoldenItem.of_sample(item.to_sample())
    own = {"negative_references", "author", "reviewer", "verified_on", "status", "provenance"}
    differ = {name for name in GoldenItem.model_fields
              if getattr(again, name) != getattr(item, name)}  # fmt: skip
    assert differ == {*own, "gold"} and (again.gold or [])[0].grade == 2, "the words beside a span"
    theirs = {"nearly": {"spans": [{"text": "x"}]}, "unplaced": "x"}
    for provenance in (theirs, {"nearly": {"spans": 3}, "unplaced": ["x"]}):
        item = GoldenItem.model_validate({**FULL, "provenance": provenance})
        assert nearly(item) == unplaced(item) == [], "somebody else's provenance"


@pytest.mark.parametrize("end", ["jsonl", "csv", "tsv", "parquet", "xlsx"])
def test_every_field_of_an_item_survives_export_and_import(pool: Path, end: str) -> None:
    bare = {"id": "b", "query": "And the sauna?", "gold": [], "status": "accepted"}
    assert imports([FULL, bare], "one") == 0
    lines = [json.loads(line) for line in Path("one/queries.jsonl").read_text().splitlines()]
    assert lines == [FULL, bare] and call(["golden", "export", "one", "-o", f"out.{end}"]) == 0
    words = ["golden", "import", f"out.{end}", "--documents", "docs", "-o", "two"]
    assert call(words) == 0
    assert Path("two/queries.jsonl").read_bytes() == Path("one/queries.jsonl").read_bytes()
    first = ragassay.load(f"out.{end}")[0]
    assert first.negative_references == ("ten", "soon", "never") and first.history[0].text


def test_a_beir_folder_without_a_run_is_taken(pool: Path) -> None:
    Path("docs/c.md").write_text("# Tower\n\nThe tower is 330 metres high.\n")
    span = {"document": "c", "text": "The tower is 330 metres high."}
    assert imports([{"id": "q", "query": "How tall?", "gold": [span]}], "one", "--accept") == 0
    Path("beir").mkdir()
    export = ["golden", "export", "one", "-o", "beir", "--format", "beir"]
    assert [call(export), call(export)] == [0, 2], "into an empty folder"
    words = ["golden", "import", "beir", "--documents", "docs", "-o", "two"]
    assert call(words) == 0
    (item,) = GoldenSet.open(Path("two")).items
    assert item.query == "How tall?" and item.gold is not None
    assert [(one.document, one.start) for one in item.gold] == [("c", 0)]


def test_what_a_person_decided_stays(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"id": one, "query": "Q?", "status": one} for one in ("accepted", "rejected")]
    records += [{"id": "draft", "query": "Q?", "status": "draft"}, {"id": "none", "query": "Q?"}]
    records.append({"id": "capital", "query": "Q?", "status": "Rejected"})
    for words, other in ((["--accept"], "accepted"), ([], "draft")):
        assert imports(records, f"with{len(words)}", *words) == 0
        made = {one.id: one.status for one in GoldenSet.open(Path(f"with{len(words)}")).items}
        assert made == {"accepted": "accepted", "rejected": "rejected", "draft": other,
                        "none": other, "capital": "rejected"}  # fmt: skip
        told = capsys.readouterr().out
        assert "2 rejected" in told and "Items that q.jsonl accepts or rejects stay" in told
    records.append({"id": "accepted", "query": "Q?", "system": "x", "status": "rejected"})
    assert imports(records, "differs") == 2 and "field 'status'" in capsys.readouterr().err


@pytest.mark.parametrize(("fields", "told"), [
    ({"negative_references": [{"text": "x", "kind": "wrong"}]},
     "field 'negative_references.0.kind': must be 'inaccurate', 'incomplete' or 'off-style', "
     "not 'wrong'"),
    ({"status": "done"},
     "field 'status': must be 'draft', 'accepted' or 'rejected', not 'done'"),
    ({"verified_on": "soon"}, "field 'verified_on'"), ({"query": ""}, "field 'query': "),
    ({"gold": [{"document": "pool", "start": 9, "end": 90, "text": "shuts"}]},
     "field 'gold.0': characters 9 to 90 of pool do not exist: the document has 32, and the "
     "text does not occur"),
    ({"gold": [{"document": "pool", "start": 1, "end": 2, "text": "o"}]},
     "field 'gold.0': 'o' is not what characters 1 to 2 of pool hold, and the text is "
     "at 4 places"),
    ({"gold": [{"document": "sea", "start": 1, "end": 2, "text": "fish"}]},
     "field 'gold.0': there is no document 'sea', and the text does not occur"),
    ({"gold": [{"document": "sea", "start": 1, "end": 2}]},
     "field 'gold.0': there is no document 'sea', and it has no text"),
    ({"gold": [{"document": "pool", "start": 1, "end": 99}]},
     "field 'gold.0': characters 1 to 99 of pool do not exist: the document has 32, and it "
     "has no text")])  # fmt: skip
def test_what_an_item_cannot_hold_is_named_by_line_and_field(fields, told, pool, capsys) -> None:
    assert imports([{"id": "a", "query": "Q?"}, {"id": "b", "query": "R?", **fields}], "made") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert f"q.jsonl, line 2, {told}" in err and "defect" not in err and not Path("made").exists()


def test_a_file_in_place_of_a_golden_set_is_told_with_full_commands(here: Path, capsys) -> None:
    Path("q.jsonl").write_text('{"id": "1", "query": "Who?", "references": ["Ann"]}')
    with pytest.raises(InputError, match="golden import FILE --documents DOCUMENTS -o golden"):
        GoldenSet.open(Path("q.jsonl"))
    with pytest.raises(InputError, match=r"holds no queries.jsonl: it is not a golden set"):
        GoldenSet.open(here)
    assert call(["golden", "import", "q.jsonl", "-o", "g"]) == 2
    assert "--documents" in capsys.readouterr().err


def test_what_people_review_while_spans_are_looked_for_stays(desk: Path, monkeypatch) -> None:
    path = sorted(Path("docs").glob("*.md"))[0]
    path.write_text(f"A new first paragraph.\n\n{path.read_text()}")
    store = ReviewStore(Path("golden"))
    moved, other = (next(item.id for item in store.golden().items if item.gold
                         and (item.gold[0].document == path.stem) == is_moved)
                    for is_moved in (True, False))  # fmt: skip
    whole = ragassay.golden.anchor

    def slow(*given: Any) -> Any:
        """Somebody rejects two items between the reading of the set and its writing."""
        found = list(whole(*given))
        for name in (moved, other):
            (item,) = (one for one in store.golden().items if one.id == name)
            store.review(name, "ann", "reject", version_of(item))
        # Another one is marked elsewhere.
        item = next(one for one in store.golden().items if one.gold and one.id not in (moved, other)
                    and one.gold[0].document == path.stem)  # fmt: skip
        fields = {"gold": [{"document": path.stem, "start": 0, "end": 23}]}
        store.review(item.id, "ann", "accept", version_of(item), fields=fields)
        made, gold = GoldenSet.open(Path("golden")), [one.new for one in found if one.item == other]
        made.items.append(GoldenItem(id="new", query="New?", gold=gold, status="accepted"))
        made.save()
        return found

    monkeypatch.setattr(ragassay.golden, "anchor", slow)
    assert call(["golden", "anchor", "golden"]) == 0
    made = GoldenSet.open(Path("golden"))
    texts = {name: one.text for name, one in made.documents().items()}
    assert "A new first paragraph.\n" in {g.text for one in made.items for g in one.gold or ()}
    for item in made.items:
        assert item.status == ("rejected" if item.id in (moved, other) else "accepted")
        for span in item.gold or ():
            assert texts[span.document][span.start : span.end] == span.text


@pytest.mark.parametrize("name", ["{id}", "/srv/docs/{id}.md"])
def test_a_document_is_known_by_its_path_in_the_data_and_in_passages(desk: Path, name: str) -> None:
    known = next(one for one in GoldenSet.open(Path("golden")).items if one.gold)
    (span, *_) = known.gold or ()
    # The same text stands elsewhere: only the name tells which place is meant.
    Path("docs/a-copy.md").write_text(f"A copy.\n\n{span.text}\n")
    called = name.format(id=span.document)
    place = {"filename": called, "start_char_offset": span.start, "end_char_offset": span.end}
    by_source = {"page_content": span.text, "metadata": {"source": called}}
    records = [{"id": "place", "query": "Where?", "references": ["x"], "gold": [place]},
               {"id": "source", "query": "Where else?", "references": ["x"],
                "gold": [by_source]}]  # fmt: skip
    Path("named.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    command = ["golden", "import", "named.jsonl", "--documents", "docs", "-o", "named", "--accept"]
    assert call(command) == 0
    found = [one.gold for one in GoldenSet.open(Path("named")).items]
    assert [(g.document, g.start, g.text) for [g] in found if g] == [
        (span.document, span.start, span.text)
    ] * 2
    lines = Path("named/queries.jsonl").read_text()  # a set that a person wrote by hand
    Path("named/queries.jsonl").write_text(
        lines.replace(json.dumps(span.document), json.dumps(called))
    )
    for passage in (by_source, {"id": "p", **place}):
        answer = {"id": "place", "answer": "x", "passages": [passage]}
        result = ragassay.evaluate([answer], metrics=["CharR", "SpanR@1"], golden="named")
        assert [one.mean for one in result.summary.metrics.values()] == [1.0, 1.0]
        assert "several places" not in " ".join(result.summary.warnings)
    assert call(["golden", "check", "named"]) == 0


def test_an_ambiguous_name_of_a_document_is_an_error(desk: Path, capsys) -> None:
    for folder in ("a", "b"):
        Path("twice", folder).mkdir(parents=True)
        Path("twice", folder, "pool.md").write_text(f"The pool {folder} opens at nine.")
    gold = [{"filename": "pool.md", "start_char_offset": 0, "end_char_offset": 8}]
    record = {"id": "q", "query": "When?", "references": ["nine"], "gold": gold}
    Path("q.jsonl").write_text(json.dumps(record))
    command = ["golden", "import", "q.jsonl", "--documents", "twice", "-o", "of-two", "--accept"]
    assert call(command) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "q.jsonl, line 1, field 'gold.0.document': 'pool.md' may be any of 2 documents" in told
    assert "(a/pool, b/pool). Name it with its folder." in told
    gold[0]["filename"] = "docs/a/pool.md"
    Path("q.jsonl").write_text(json.dumps(record))
    assert call(command) == 0
    answers = [{"id": "q", "answer": "x", "passages": [{"text": "The pool", "document": "pool"}]}]
    with pytest.raises(InputError, match=r"a passage of 'q' names .* 'pool' may be any of 2"):
        ragassay.evaluate(answers, metrics=["CharR"], golden="of-two")
    lines = Path("of-two/queries.jsonl")
    lines.write_text(lines.read_text().replace('"document":"a/pool"', '"document":"pool"'))
    with pytest.raises(InputError, match="gold of 'q' names a document: 'pool' may be any of 2"):
        GoldenSet.open(Path("of-two"))
