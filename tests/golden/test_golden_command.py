"""``ragassay golden``: a set is made, looked after, and joined to answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import ragassay
from ragassay.cli import call
from ragassay.errors import InputError
from ragassay.golden import GoldenItem, GoldenSet, sampled, schema, split

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a golden set of the bundled example, and its documents."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TOWN / "documents", "docs")
    words = ["golden", "import", str(TOWN / "queries.jsonl"), "--documents", "docs"]
    assert call([*words, "-o", "golden", "--accept"]) == 0
    return tmp_path


def recall(data: Path = TOWN / "hybrid.jsonl") -> float:
    result = ragassay.evaluate(data, metrics=["CharR@5"], golden="golden")
    mean = result.summary.metrics["CharR@5"].mean
    assert mean is not None
    return mean


def test_a_set_holds_what_the_file_said(desk: Path) -> None:
    made = GoldenSet.open(Path("golden"))
    assert len(made.items) == 72
    for item, sample in zip(made.items, ragassay.load(TOWN / "queries.jsonl"), strict=True):
        assert (item.id, item.query, item.references) == (
            sample.id,
            sample.query,
            list(sample.references),
        )
    spans = [span for item in made.items for span in item.gold or ()]
    texts = {name: one.text for name, one in made.documents().items()}
    for span in spans:
        assert texts[span.document][span.start : span.end] == span.text
        assert texts[span.document][: span.start].endswith(span.before)
    manifest = json.loads(Path("golden/documents.json").read_text())
    assert manifest["folder"] == "../docs"
    assert {one["id"] for one in manifest["documents"]} == set(texts)
    assert "72 accepted" in Path("golden/card.md").read_text()


def test_lines_are_of_the_schema_and_stay_as_they_are(desk: Path) -> None:
    path = Path("golden/queries.jsonl")
    before = path.read_text()
    for line in before.splitlines():
        jsonschema.validate(json.loads(line), schema())
    made = GoldenSet.open(Path("golden"))
    made.items[3].tags.append("hard")
    made.save()
    changed = [
        number
        for number, (old, new) in enumerate(
            zip(before.splitlines(), path.read_text().splitlines(), strict=True)
        )
        if old != new
    ]
    assert changed == [3]


def test_an_edit_that_costs_recall_is_undone(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documents get a new beginning each, and a paragraph moves; answers come from them."""
    intact = recall()
    for path in Path("docs").glob("*.md"):
        head, *blocks = path.read_text().split("\n\n")
        news = "The opening hours changed this spring. " * 5
        path.write_text("\n\n".join([head, news, blocks[-1], *blocks[:-1]]))
    drifted = recall()
    assert intact - drifted >= 0.2
    assert call(["golden", "anchor", "golden", "--dry-run"]) == 0
    assert recall() == drifted
    assert call(["golden", "anchor", "golden"]) == 0
    assert "70 gold spans: 70 moved" in capsys.readouterr().out
    assert recall() == pytest.approx(intact, abs=0.01)
    assert call(["golden", "anchor", "golden"]) == 0
    assert "70 unchanged" in capsys.readouterr().out


def test_what_is_not_found_is_listed_and_kept(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = Path("docs/library.md")
    text = library.read_text()
    library.write_text(text.replace("We make no charge on children's cards.", "Ask at the desk."))
    assert call(["golden", "anchor", "golden"]) == 3
    out = capsys.readouterr().out
    assert 'lost: library-child-fines: "We make no charge on children\'s cards."' in out
    [item] = [
        one for one in GoldenSet.open(Path("golden")).items if one.id == "library-child-fines"
    ]
    assert [span.text for span in item.gold or ()] == ["We make no charge on children's cards."]


def test_answers_are_joined_by_id_and_only_accepted_items_count(desk: Path) -> None:
    answers = [{"id": "library-dvd", "answer": "One week."}, {"id": "unknown", "answer": "x"}]
    result = ragassay.evaluate(answers, metrics=["contains_answer"], golden="golden")
    sentences = " ".join(result.summary.warnings)
    assert "1 sample left out" in sentences and "71 items of golden without a sample" in sentences
    assert result.summary.metrics["contains_answer"].mean == 1.0

    made = GoldenSet.open(Path("golden"))
    for item in made.items:
        item.status = "draft"
    made.save()
    with pytest.raises(InputError, match="none of its 72 items is accepted"):
        ragassay.evaluate(answers, metrics=["em"], golden="golden")
    drafts = ragassay.evaluate(answers, metrics=["em"], golden="golden", golden_drafts=True)
    assert drafts.summary.n_samples == 1


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


def test_two_chunk_sizes_are_compared_on_the_same_gold(desk: Path) -> None:
    documents = GoldenSet.open(Path("golden")).documents()
    means = {}
    for size in (300, 1200):
        records = [
            {
                "id": item.id,
                "passages": [
                    {"text": text[start : start + size]}
                    for text in [documents[item.gold[0].document].text]
                    for start in [item.gold[0].start // size * size]
                ],
            }
            for item in GoldenSet.open(Path("golden")).items
            if item.gold
        ]
        result = ragassay.evaluate(records, metrics=["CharR@1", "CharP@1"], golden="golden")
        means[size] = {name: one.mean for name, one in result.summary.metrics.items()}
    assert means[1200]["CharR@1"] > means[300]["CharR@1"] > 0.5
    assert means[300]["CharP@1"] > means[1200]["CharP@1"]


def test_parts_keep_the_shares_of_each_kind() -> None:
    items = [GoldenItem(id=str(at), query="q?", type="a" if at % 4 else "b") for at in range(100)]
    drawn = sampled(items, 20, seed=3)
    assert [item.id for item in drawn] == sorted((item.id for item in drawn), key=int)
    assert sum(item.type == "b" for item in drawn) == 5
    assert drawn == sampled(items, 20, seed=3) != sampled(items, 20, seed=4)
    parts = split(items, {"dev": 0.3, "test": 0.7}, seed=1)
    assert {name: len(part) for name, part in parts.items()} == {"dev": 30, "test": 70}
    assert {item.id for part in parts.values() for item in part} == {str(at) for at in range(100)}
    assert sum(item.type == "b" for item in parts["dev"]) in (7, 8)


def test_parts_and_exports_are_written(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["golden", "sample", "golden", "10", "-o", "ten"]) == 0
    assert call(["golden", "split", "golden", "--into", "dev=0.25,test=0.75"]) == 0
    assert len(GoldenSet.open(Path("golden-dev")).items) == 18
    assert (
        GoldenSet.open(Path("ten")).documents().keys()
        == GoldenSet.open(Path("golden")).documents().keys()
    )
    assert call(["golden", "diff", "golden", "golden-dev"]) == 0
    assert "54 removed" in capsys.readouterr().out
    assert call(["golden", "export", "golden", "-o", "q.jsonl"]) == 0
    assert len(ragassay.load("q.jsonl")) == 72
    assert call(["golden", "export", "golden", "-o", "pairs.jsonl", "--pairs"]) == 0
    first = json.loads(Path("pairs.jsonl").read_text().splitlines()[0])
    assert first["chosen"] == "twelve" and first["rejected"] == "up to twenty items"


def test_a_difference_tells_what_it_does_to_a_run(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(TOWN / "hybrid.jsonl"), "-m", "CharR@5,contains_answer", "-o", "runs/new"]
    assert call([*words, "--golden", "golden"]) == 0
    shutil.copytree("golden", "other")
    other = GoldenSet.open(Path("other"))
    [item] = [one for one in other.items if one.id == "library-items-at-once"]
    item.references = ["nothing of the kind"]
    other.save()
    capsys.readouterr()
    assert call(["golden", "diff", "golden", "other", "--run", "runs/new", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["changes"] == [
        {"id": "library-items-at-once", "kind": "changed", "fields": ["references"]}
    ]
    before, after = body["means"]["contains_answer"]
    assert before - after == pytest.approx(1 / 72)
    assert body["means"]["CharR@5"][0] == body["means"]["CharR@5"][1]
    assert call(["golden", "diff", "golden", "other", "--run", "runs/new"]) == 0
    assert "contains_answer: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 1: is not JSON"),
        ('{"id": "a"}', "line 1, field 'query'"),
        ('{"id": "a", "query": "q", "statsu": "draft"}', "field 'statsu'"),
        ('{"id": "a", "query": "q", "gold": [{"document": "d", "start": 5, "end": 5, '
         '"text": "x"}]}',
         "the span ends at 5, and starts at 5"),
        ('{"id": "a", "query": "q"}\n{"id": "a", "query": "r"}', "2 items have the id 'a'"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(
    line: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queries.jsonl").write_text(line)
    assert call(["golden", "diff", str(tmp_path), str(tmp_path)]) == 2
    assert complaint in capsys.readouterr().err
