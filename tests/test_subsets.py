"""Subsets by conditions: one language for runs, comparisons, golden sets and reviews."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.sample import Turn
from ragassay.base.subsets import Subset
from ragassay.cli.command_line import call
from ragassay.engine.results.score_columns import fields_of
from ragassay.golden.golden_folder import GoldenSet

RECORDS: list[dict[str, Any]] = [
    {"name": "a", "source": "user log", "tags": ["hard", "long, odd"], "hops": 2, "old": True,
     "any": [{"x": 1}, ["x"]], "any.x": 1.5, "empty": ""},
    {"name": "b", "source": "expert", "tags": ["hard"], "hops": 2.0, "old": False, "any": {1}},
    {"name": "c", "source": "user log", "tags": [], "hops": 3, "any": {"x": 1}},
    {"name": "d", "source": None, "note": "x=y", "any": (" 2.5 ",)},
]  # fmt: skip


def chosen(*conditions: str) -> str:
    assert list(Subset(conditions).of([], dict)) == [], "of nothing there is no subset"
    found = Subset(conditions).of(RECORDS, lambda one: one)
    return "".join(one["name"] for one in found)


@pytest.mark.parametrize(("conditions", "names"), [
    ([], "abcd"), (["source=user log"], "ac"), ([" source = user log "], "ac"),
    (["source!=user log"], "bd"), (["source=user log,expert"], "abc"),
    (["source!=user log , expert"], "d"), (["source="], "d"), (["source!="], "abc"),
    (["tags=hard"], "ab"), (['tags="long, odd"'], "a"), (["tags!=hard"], "cd"),
    (["tags="], "cd"), (["hops=2"], "ab"), (["old=true"], "a"), (["note=x=y"], "d"),
    (["source=user log", "hops!=2"], "c"), (["old=false"], "b"),
    (["any.x=1.5"], "a"), (["any=1,2.5"], "bd"), (["any=x"], "a"), (["any="], "c"),
    (["empty="], "abcd"),
])  # fmt: skip
def test_all_conditions_hold_for_a_record_of_a_subset(conditions: list[str], names: str) -> None:
    assert chosen(*conditions) == names


@pytest.mark.parametrize("condition", ["source=robot", "sorce=user log", "sorce!=user log"])
def test_what_no_record_has_is_an_error_that_says_what_there_is(condition: str) -> None:
    known = "user log, expert" if condition == "source=robot" else "name, source, tags, hops"
    with pytest.raises(UsageError, match=known) as told:
        chosen(condition)
    if "!=" in condition or "sorce" in condition:
        assert "No sample has a field 'sorce'. Did you mean 'source'?" in str(told.value)
    for text in ("", "source", "=x", "!=x", "source!x"):
        with pytest.raises(UsageError, match=r"is not a condition\. Write FIELD=VALUE or FIELD!="):
            Subset([text])


def test_records_are_streamed_once_their_fields_are_known() -> None:
    read = []

    def stream() -> Iterator[dict[str, Any]]:
        for one in RECORDS:
            read.append(one["name"])
            yield one

    found = Subset(["note!=z"]).of(stream(), lambda one: one)
    assert next(found)["name"] == "a" and read == ["a", "b", "c", "d"]  # d alone has a note
    read.clear()
    found = Subset(["source=user log"]).of(stream(), lambda one: one)
    assert next(found)["name"] == "a" and read == ["a"]


def test_a_field_of_the_sample_comes_before_metadata_of_its_name() -> None:
    one = ragassay.Sample(id="q", query="?", system="s", metadata={"system": "m", "turn": "9"})
    fields = fields_of(one)
    assert (fields["system"], fields["metadata.system"], fields["turn"]) == ("s", "m", "9")
    own = {"id", "query", "system", "repeat", "answerability", "language", "failure"}
    for history, turn in (((), "first"), ((Turn("user", "Hi"),), "later")):
        plain = fields_of(ragassay.Sample(id="q", history=history, metadata={"n": 1}))
        assert plain["turn"] == turn and plain.keys() == {*own, "turn", "n"}


def answers(right: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{n}", "query": f"Question {n}?", "references": ["yes"],
            "answer": "yes" if str(n) in right else "no", "system": "s",
            "metadata": {"source": "user log" if n < 4 else "expert", "n": n},
        }
        for n in range(8)
    ]  # fmt: skip


@pytest.fixture
def desk(here: Path) -> Path:
    for name, right in {"new": "01234567", "old": "4567"}.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(o) + "\n" for o in answers(right)))
    return here


def test_a_run_of_a_subset_is_that_run(desk: Path, capsys) -> None:
    command = ["run", "old.jsonl", "-m", "em", "-o", "some", "--where", "source=expert"]
    assert call([*command, "--where", "n!=7", "-n", "2"]) == 0
    result = ragassay.open_run("some")
    assert [one.id for one in result.samples] == ["q4", "q5"]  # the first two of the subset
    assert result.summary.metrics["em"].mean == 1.0
    assert "old.jsonl where source=expert and n!=7" in capsys.readouterr().out
    assert yaml.safe_load(Path("some/run.yaml").read_text())["where"] == ["source=expert", "n!=7"]
    assert call(["run", "some/run.yaml", "-o", "again"]) == 0
    assert [one.id for one in ragassay.open_run("again").samples] == ["q4", "q5"]
    assert call(["run", "old.jsonl", "-m", "em", "--where", "sauce!=x"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "No sample has a field 'sauce'. Did you mean 'source'? There are:" in told
    assert call(["run", "old.jsonl", "-m", "em", "--where", "source"]) == 2
    in_memory = ragassay.evaluate(answers("0"), "em", where="source=user log")
    assert (in_memory.summary.n_samples, in_memory.summary.metrics["em"].mean) == (4, 0.25)


def test_a_comparison_is_of_the_same_subset_of_both_runs(desk: Path, capsys) -> None:
    for name in ("new", "old"):
        assert call(["run", f"{name}.jsonl", "-m", "em", "-o", name]) == 0
    capsys.readouterr()
    for where, wins, ties in (("user log", 4, 0), ("expert", 0, 4)):
        assert call(["compare", "new", "old", "--where", f"source={where}", "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["comparisons"]
        (em,) = found["differences"]
        assert (em["n"], em["wins"], em["ties"]) == (4, wins, ties)
    (em,) = ragassay.compare("new", "old", where="source=user log").differences
    assert (em.n, em.wins) == (4, 4)
    assert call(["compare", "new", "old", "--where", "source=expert", "-o", "c.html"]) == 0
    assert "where source=expert" in capsys.readouterr().out
    assert call(["compare", "new", "old", "--where", "sauce=expert"]) == 2
    assert "new: No sample has a field 'sauce'." in " ".join(capsys.readouterr().err.split())


@pytest.fixture
def golden(desk: Path) -> Path:
    Path("docs").mkdir()
    Path("docs/pool.md").write_text("The pool opens at nine.")
    items = [
        {
            "id": f"q{n}", "query": f"{word}?", "references": ["nine"], "source": source,
            "tags": tags, "metadata": {"team": team},
        }
        for n, (word, source, tags, team) in enumerate(
            [
                ("When", "user log", ["hard"], "red"),
                ("What", "user log", [], "blue"),
                ("Where", "expert", ["hard"], "blue"),
                ("Why", "expert", [], "red"),
            ]
        )
    ]  # fmt: skip
    Path("q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    command = ["golden", "import", "q.jsonl", "--documents", "docs", "-o", "golden", "--accept"]
    assert call(command) == 0
    return Path("golden")


def test_parts_and_exports_of_a_golden_set_are_of_a_subset(golden: Path, capsys) -> None:
    where = ["--where", "source=user log,expert", "--where", "team!=red"]
    assert call(["golden", "export", "golden", "-o", "out.jsonl", *where]) == 0
    exported = [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()]
    assert exported == ["q1", "q2"]
    assert call(["golden", "sample", "golden", "1", "-o", "one", "--where", "tags=hard"]) == 0
    assert [one.tags for one in GoldenSet.open(Path("one")).items] == [["hard"]]
    assert call(["golden", "split", "golden", "--where", "source=expert"]) == 0
    parts = [GoldenSet.open(Path(f"golden-{name}")).items for name in ("dev", "test")]
    assert {one.id for part in parts for one in part} == {"q2", "q3"}
    capsys.readouterr()
    assert call(["golden", "export", "golden", "-o", "x.jsonl", "--where", "sauce=a"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "No item has a field 'sauce'. Did you mean 'source'? There are: team, id, query" in told


def test_tags_of_a_golden_set_choose_samples_of_its_runs(golden: Path) -> None:
    said = [{"id": f"q{n}", "answer": "nine"} for n in range(4)]
    result = ragassay.evaluate(said, "em", golden="golden", where=["tags=hard", "team=red"])
    assert [one.id for one in result.samples] == ["q0"]


def test_a_review_shows_a_subset(golden: Path) -> None:
    pytest.importorskip("fastapi", reason="needs the extra 'service'")
    from fastapi.testclient import TestClient

    from ragassay.review.review_page import create_review_app
    from ragassay.review.review_store import ReviewStore

    app = create_review_app(ReviewStore(golden), where=["source=expert"])
    page = TestClient(app, base_url="http://127.0.0.1")

    def shown(**more: Any) -> list[str]:
        return [
            one["key"]
            for one in page.get("/items", params={"reviewer": "ann", **more}).json()["entries"]
        ]

    assert shown() == ["q2", "q3"] and shown(where=["tags=hard"]) == ["q2"]
    wrong = page.get("/items", params={"reviewer": "ann", "where": "sauce=x"})
    assert wrong.status_code in (400, 422)
    assert "No item has a field 'sauce'" in wrong.json()["detail"]
