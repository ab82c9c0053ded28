"""Turns of one conversation belong together, also where only the ids tell which they are."""

from pathlib import Path

import pytest

import ragassay
from json_lines import jsonl
from ragassay.base.sample import Sample
from ragassay.cli.command_line import call
from ragassay.texts.document_names import TURN_ID, conversations_of_ids, named_conversation


def records(ids: list[str]) -> list[dict]:
    """Answers that are right in every second conversation, all its turns alike."""
    return [
        {"id": name, "query": "Who?", "references": ["Ann"],
         "answer": ("Bob", "Ann")[int(name.strip("c").partition(":")[0].strip("<") or 0) % 2]}
        for name in ids
    ]  # fmt: skip


TURNS = [f"c{at}<::>{turn}" for at in range(20) for turn in range(1, 6)]


@pytest.mark.parametrize(("name", "found"), [
    ("a<::>1", "a"), ("a::12", "a"), ("a::b::3", "a::b"), ("a<::>x", None), ("a::", None),
    ("::3", None), ("a:3", None), ("plain", None),
])  # fmt: skip
def test_an_id_holds_a_conversation_and_a_turn(name: str, found: str | None) -> None:
    turn = TURN_ID.fullmatch(name)
    assert (turn and turn["conversation"]) == found


def test_there_must_be_two_conversations_and_one_with_two_turns() -> None:
    assert conversations_of_ids(["a::1", "a::2", "b::1"]) == ["a", "a", "b"]
    assert conversations_of_ids(["a::1", "a::2"]) is None
    assert conversations_of_ids(["a::1", "b::1"]) is None  # each by itself
    assert conversations_of_ids(["a::1", "a::2", "b"]) is None
    assert conversations_of_ids(["a::1", "a::2", "b::1", "x"]) == ["a", "a", "b", "id x"]
    for named in ({"conversation": ""}, {"conversation_id": 8, "conversation": "7"}):
        assert named_conversation(Sample(id="1", metadata={"conversation_id": 7, **named})) == "7"


@pytest.mark.parametrize("separator", ["<::>", "::"])
def test_intervals_keep_the_turns_of_a_conversation_together(separator: str) -> None:
    ids = [name.replace("<::>", separator) for name in TURNS]
    run = ragassay.evaluate(records(ids), ["em"])
    em = run.summary.metrics["em"]
    assert em.n_clusters == 20
    assert "by conversation_id" in run.summary.averaged_over
    alone = [{**one, "id": f"q{at}"} for at, one in enumerate(records(ids))]
    plain = ragassay.evaluate(alone, ["em"]).summary.metrics["em"]
    assert plain.n_clusters is None
    assert em.high - em.low > 1.9 * (plain.high - plain.low)  # five turns that are all alike


def test_metadata_wins_over_ids() -> None:
    found = [{**one, "conversation": f"m{at % 4}"} for at, one in enumerate(records(TURNS))]
    run = ragassay.evaluate(found, ["em"])
    assert run.summary.metrics["em"].n_clusters == 4
    assert "the ids hold it" not in run.summary.averaged_over
    assert "conversation" not in {one.column for one in run.summary.slices}
    # A sample that names none is one by itself, whatever its id.
    named = [{"id": name, "answer": "x", "references": ["x"]} for name in ("1", "2", "c")]
    named = [one | ({} if one["id"] == "c" else {"conversation": "c"}) for one in named]
    assert ragassay.evaluate(named, ["em"]).summary.metrics["em"].n_clusters == 2


def test_the_flag_and_the_run_folder_know_the_conversations_of_ids(tmp_path: Path, capsys) -> None:
    data = jsonl(tmp_path / "data.jsonl", *records(TURNS))
    words = ["run", str(data), "-m", "em", "-o", f"{tmp_path}/run"]
    for extra in ([], ["--cluster-by", "conversation_id"]):
        assert call([*words, *extra]) == 0
        assert "by conversation_id" in " ".join(capsys.readouterr().out.split())
        kept = ragassay.open_run(tmp_path / "run")
        assert kept.summary.metrics["em"].n_clusters == 20
        assert len(set(kept.columns.clusters)) == 20
        found = ragassay.compare(kept, kept)
        assert (found.n_clusters, found.clustered_by) == (20, "conversation_id")
        assert (found.a, found.b) == ("run (new)", "run (old)")


def test_mtrag_tasks_are_clustered_by_conversation(shared: Path) -> None:
    run = ragassay.evaluate(shared / "data" / "mtrag" / "human_evaluations_half.json", ["rougeL.f"])
    metric = next(iter(run.summary.metrics.values()))
    assert metric.n_clusters is not None and metric.n_clusters < 93
