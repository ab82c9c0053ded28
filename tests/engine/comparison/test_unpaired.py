"""Two runs over different queries are compared by their means."""

import random
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.gates import with_not_worse
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import GateResult

NAMES = ["exact_match", "covers_answer"]


def run(week: str, n: int, share: float, **more: Any) -> Result:
    drawn = random.Random(week)
    records = [
        {"id": f"{week}-{at}", "query": f"Question {at} of week {week}?",
         "answer": "Leeds" if drawn.random() < share else "York", "references": ["Leeds"], **more}
        for at in range(n)
    ]  # fmt: skip
    return ragassay.evaluate(records, NAMES)


def test_the_means_of_two_weeks_are_compared_by_welchs_test_after_holm() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    new, old = run("48", 200, 0.6), run("47", 150, 0.8)
    with pytest.raises(UsageError, match="--unpaired"):
        ragassay.compare(new, old)
    found = ragassay.compare(new, old, unpaired=True)
    values = [one.columns.values("exact_match") for one in (new, old)]
    theirs = scipy_stats.ttest_ind(*values, equal_var=False)
    for d in found.differences:
        assert (d.a_mean, d.b_mean) == (values[0].mean(), values[1].mean())
        assert d.p_value == pytest.approx(theirs.pvalue)
        assert d.p_adjusted == pytest.approx(2 * theirs.pvalue)
        assert d.verdict == "worse" and d.low is not None and d.high is not None
        assert d.diff is not None and d.low < d.diff < d.high < 0
        assert d.low <= theirs.confidence_interval(0.95).low + 1e-9
    for name in ("bh", "none"):  # two equal p stay as they are
        others = ragassay.compare(new, old, unpaired=True, correction=name).differences
        assert [d.p_adjusted for d in others] == pytest.approx([theirs.pvalue] * 2)
    assert (found.only_a, found.only_b, found.n_common) == (200, 150, 0)
    (warning,) = [note for note in found.notes if note.severity == "warning"]
    assert (warning.kind, warning.counts["new"], warning.counts["old"]) == ("unpaired", 200, 150)
    assert not ragassay.compare(new, old, metrics="exact_match", unpaired=True).differences[0].ties
    few = ragassay.compare(run("49", 2, 0.5), old, unpaired=True).differences
    assert all(d.low == -1.0 and d.high == 1.0 for d in few), "a difference of two shares"


@pytest.mark.parametrize("n_old", [60, 40])
def test_runs_that_share_queries_are_refused(n_old: int) -> None:
    new, old = run("48", 60, 0.6), run("48", n_old, 0.6)
    with pytest.raises(UsageError, match=rf"{n_old} queries are in both"):
        ragassay.compare(new, old, unpaired=True)
    forced = ragassay.compare(new, old, unpaired=True, force=True)
    assert all(d.p_adjusted is None for d in forced.differences)


def test_conversations_are_tested_together() -> None:
    turns = [run("a", 40, 0.9), run("b", 40, 0.5)]
    alone = ragassay.compare(*turns, unpaired=True)
    records = [
        {"id": f"{s.id}#{k}", "query": s.query, "answer": s.answer.text, "references": ["Leeds"],
         "metadata": {"conversation": s.id}}
        for one in turns for s in one.samples if s.answer for k in range(3)
    ]  # fmt: skip
    runs = [
        ragassay.evaluate([r for r in records if r["id"].startswith(week)], NAMES)
        for week in ("a-", "b-")
    ]
    twice = [
        ragassay.evaluate([{**r, "id": r["id"].replace("#", "/"), "repeat": k, "query": "?"}
                           for r in records if r["id"].startswith(week) for k in range(2)], NAMES,
                          cluster_by="conversation")
        for week in ("a-", "b-")
    ]  # fmt: skip
    for pair in (runs, twice):
        found = ragassay.compare(*pair, unpaired=True)
        assert (found.n_clusters, found.only_a) == (80, 120)
        for one, other in zip(found.differences, alone.differences, strict=True):
            assert one.p_value == pytest.approx(other.p_value)


def test_a_gate_fails_where_the_mean_is_worse_and_is_undecided_where_scores_are_missing() -> None:
    def gate(new: Result, old: Result) -> GateResult:
        return with_not_worse(ragassay.compare(new, old, unpaired=True)).gates[0]

    new, old = run("48", 200, 0.6), run("47", 150, 0.8)
    assert (gate(new, old).passed, gate(old, new).passed) == (False, True)
    with pytest.raises(UsageError, match="without --unpaired"):
        ragassay.compare(new, old, unpaired=True, fail_if_drop="exact_match>0.1")
    unanswered = [ragassay.Sample(id=f"x{at}", query="?", references=("Leeds",)) for at in range(9)]
    same = run("47", 200, 0.6)
    assert gate(new, same).passed is True
    owing = ragassay.evaluate([*new.samples, *unanswered], NAMES)
    for one in (gate(owing, same), gate(same, owing)):
        assert (one.passed, one.unscored) == (None, 18)
