import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.json_data import dumps
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.engine.results.score_columns import SampleColumns, ScoreColumns
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import (
    MetricSummary,
    Spending,
    Summary,
    facts_of,
    is_incomplete,
    missing_by_failure,
    sample_clusters,
    slice_summaries,
    summarise,
    totals,
)
from ragassay.suites import Suite
from ragassay.suites.suite import Total


def columns(queries: Sequence[str], values: Sequence[float] = ()) -> ScoreColumns:
    """One metric's scores of samples with these query ids; a query that recurs is a repeat."""
    found = ScoreColumns(["f1"])
    for at, query in enumerate(queries):
        found.identities.append((query, "", queries[:at].count(query)))
        found.add("f1", Score(values[at] if values else 0.5))
    return found


def metric(aggregate: str = "mean") -> MetricSummary:
    return MetricSummary("f1", "", "answer", aggregate=aggregate, metric="f1")


GAVE = Score(0.5, given=True, by=("a",))
OUTCOMES = [Score(0.25, assumed=True), GAVE, Score(1.0), Unscored(Reason.FAILED, ""), Score(1.0)]


@pytest.mark.parametrize("part", [[0, 1, 2, 3, 4], [0, 1], [2], [3], [0]])
def test_a_metrics_numbers_are_those_of_the_samples_that_count(part: list[int]) -> None:
    data = ScoreColumns(["f1"])
    for at, outcome in enumerate(OUTCOMES):
        data.identities.append((f"q{at}", "", 0))
        data.add("f1", outcome)
    mask = np.isin(range(5), part)
    found = summarise(data, [replace(metric(), language="en")], "auto", (mask, None))[0]
    scores = [one for at in part if isinstance(one := OUTCOMES[at], Score)]
    own = [one.value for one in scores if not one.assumed]
    # Values that stand for missing parts alone have no mean.
    values = [one.value for one in scores] if own else []
    one, n = found["f1"], len(values)
    counts = len(scores), len(part), len(scores) - len(own)
    assert (one.n_scored, one.n_total, one.n_assumed) == counts
    assert (one.n_given, one.judges) == ((1, {"a": 1}) if 1 in part else (0, {}))
    assert (one.judge, one.language) == (("a", "en") if 1 in part else ("", ""))
    assert one.unscored == ({"failed": 1} if 3 in part else {})
    assert (one.mean, one.median) == ((np.mean(values), np.median(values)) if n else (None, None))
    assert one.std == (pytest.approx(np.std(values, ddof=1)) if n > 1 else None)
    assert (one.minimum, one.maximum) == ((min(values), max(values)) if n else (None, None))
    assert one.mean_measured == (np.mean(own) if own and 0 in part else None)
    assert (one.low is None) == (one.interval == "none") == (n < 2)


def test_labels_are_counted_the_most_frequent_first_those_that_records_bring_included() -> None:
    data = ScoreColumns(["f1"])
    for label in ("no", "yes", "yes"):
        data.add("f1", Score(label, given=True, by=("a",)))
    assert data.tally("f1")[:5] == (3, 3, {}, {"yes": 2, "no": 1}, {"a": 3})


IDS = st.lists(st.sampled_from(["e1", "e2"]), unique=True).map(tuple)
VALUES = st.one_of(st.floats(-9, 9), st.booleans(), st.sampled_from(["yes", "no"]))


def outcome(kind: int) -> Outcome:
    kinds = Score(0.25), Score(kind / 7, assumed=True), Score("yes", evidence=("1",)), GAVE
    return kinds[kind] if kind < 4 else Unscored(list(Reason)[kind], "")


@given(
    st.one_of(
        st.builds(Unscored, st.sampled_from(Reason), st.text(max_size=3), evidence=IDS),
        st.builds(
            Score, VALUES, st.dictionaries(st.text(max_size=2), VALUES), st.text(max_size=3), IDS,
            assumed=st.booleans(),
        ),
        st.builds(Score, VALUES, given=st.just(True), by=st.sampled_from([(), ("a",), ("a", "b")])),
    )
)  # fmt: skip
def test_a_row_of_a_score_reads_back_as_what_was_found(found: Outcome) -> None:
    row = ScoreRow.of(("q", "s", 2), "m", found, "run")
    assert row.outcome == found and row.identity == ("q", "s", 2)
    assert ScoreRow.from_record(json.loads(dumps(row.to_record()))).outcome == found
    ok = found.given if isinstance(found, Score) else None
    assert row.status in {True: ["given"], False: ["ok", "assumed"], None: ["unscored"]}[ok]
    assert ("run" in row.judge) == bool(found.evidence)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=9), st.data())
def test_columns_of_some_samples_under_other_names_hold_what_these_samples_have(kinds, draw):
    def made(rows: Sequence[int], names: Sequence[str]) -> list[object]:
        found = ScoreColumns(names)
        found.clusters, found.slices = [f"c{at}" for at in rows], {"x": [(f"{at}",) for at in rows]}
        for at in rows:
            found.identities.append((f"q{at}", "", at))
            found.asked.append(at)
            for other, name in enumerate(names):
                found.add(name, outcome((kinds[at] + other) % 8), "run")
        return found

    rows = draw.draw(st.lists(st.integers(0, len(kinds) - 1), unique=True))
    whole, alone = made(range(len(kinds)), ["a", "b"]), made(rows, ["a", "new"])
    taken = whole.take(np.array(rows, dtype=np.int64)).renamed({"b": "new"})
    for name in ("identities", "slices", "clusters", "asked", "metrics"):
        assert getattr(taken, name) == getattr(alone, name)
    for name in alone.metrics:
        assert taken.tally(name) == alone.tally(name)
        for at, _ in enumerate(rows):
            assert taken.value(name, at) == alone.value(name, at)
            assert taken.reason(name, at) == alone.reason(name, at)
    assert len(whole) == len(kinds) and whole.metrics == ["a", "b"]


def test_slices_come_largest_first_and_equal_ones_by_name() -> None:
    data = columns([f"q{at}" for at in range(7)], [0, 1, 1, 0, 1, 1, 0])
    data.slices = {"topic": [*map(tuple, "dccbcba")]}
    found = slice_summaries(data, [metric()])
    assert [(one.value, one.n) for one in found] == [("c", 3), ("b", 2), ("a", 1), ("d", 1)]
    assert [one.metrics["f1"].mean for one in found] == [1.0, 0.5, 0.0, 0.0]
    some = slice_summaries(data, [metric("sum")])
    assert [dict(one.metrics) for one in some] == [{}] * 4  # none of a sum


@pytest.mark.parametrize(("values", "aggregate", "names"), [
    ([1.0] * 58 + [0.97, 0.95], "mean", ["f1"]), ([1.0] * 58 + [0.97, 0.5], "geometric", []),
    ([0.1, 0.9] * 30, "mean", []),
])  # fmt: skip
def test_a_mean_near_the_end_of_its_range_is_named_as_crowded(values, aggregate, names) -> None:
    data = columns([f"q{at}" for at in range(60)], values)
    assert summarise(data, [metric(aggregate)])[1] == tuple(names)


def test_the_fingerprint_is_that_of_a_set_of_queries() -> None:
    once, again = columns(["a", "b"]), columns(["b", "a", "b"])
    once.asked.extend([1, 2])
    again.asked.extend([2, 1, 2])
    facts, others = (facts_of(one, [metric()], "auto", None)[0] for one in (once, again))
    assert facts["fingerprint"] == others["fingerprint"] != ""


def test_a_zero_counts_as_a_hundred_thousandth_in_a_geometric_mean() -> None:
    data = columns(["q0", "q1"], [0.0, 0.1])
    found = summarise(data, [metric("geometric")])[0]["f1"]
    assert found.mean == pytest.approx((1e-5 * 0.1) ** 0.5)
    assert found.interval == "effective-n" and 1e-5 <= found.low < found.high <= 1.0


@pytest.mark.parametrize(("n", "n_values", "is_slice"), [
    (10, 1, False), (10, 2, True), (10, 5, True), (10, 6, False), (63, 20, True), (63, 21, False),
])  # fmt: skip
def test_a_column_of_at_most_twenty_values_and_half_its_samples_is_a_slice(n, n_values, is_slice):
    scores = ScoreColumns([])
    collected = SampleColumns(scores, None, None)
    for at in range(n):
        value = f"t{at % n_values}"  # what another tool said of the answer is no slice
        metadata = {"topic": value, "score.fact": value, "score.right": at % n_values == 0}
        collected.add(Sample(id=f"q{at}", query="?", metadata={**metadata, "top_p": at % 2 / 2}))
    collected.close(clustered=False)
    assert [*scores.slices] == ["topic"] * is_slice


@pytest.mark.parametrize(("value", "slices"), [
    (["a", "b", "a"], {"a": 1, "b": 1}), (["a", 0.5], {"a": 1, "0.5": 1}), ([], {}), ("", {}),
    (0.5, {"0.5": 1}), (1.0, {"1": 1}), (["a", {}], {}),
    (True, {"true": 1}), (7, {"7": 1}), ("x" * 60, {"x" * 60: 1}), ("x" * 61, {}),
])  # fmt: skip
def test_a_sample_is_in_the_slice_of_each_short_label_of_its_own(value: object, slices) -> None:
    data = ScoreColumns(["f1"])
    collected = SampleColumns(data, ["topic"], None)
    collected.add(Sample(id="q0", query="?", metadata={"topic": value}))
    data.add("f1", Score(0.5))
    collected.close(clustered=False)
    found = slice_summaries(data, [metric()])
    assert {one.value: one.n for one in found} == slices
    assert {one.value: one.metrics["f1"].n_scored for one in found} == slices


@pytest.mark.parametrize(("queries", "clusters"), [
    (["a", "b", "c"], None), (["a", "b", "c", "b"], [0, 1, 2, 1]), (["a", "a"], [0, 0]),
    (["b", "a", "b", "a"], [0, 1, 0, 1]),
])  # fmt: skip
def test_one_repeated_query_is_enough_to_cluster_by_query(queries: list[str], clusters) -> None:
    data = columns(queries)
    found = sample_clusters(data)
    assert (None if found is None else found.tolist()) == clusters
    facts, _ = facts_of(data, [metric()], "auto", None)
    assert facts["metrics"]["f1"].n_clusters == (None if clusters is None else len(set(clusters)))
    clustered = ", by query" in facts["averaged_over"]
    assert clustered is (clusters is not None)


def test_a_summary_gives_a_metric_by_any_of_its_names() -> None:
    record = {"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"]}
    summary = (result := ragassay.evaluate([record], ["token_f1", "em"])).summary
    assert result["token_f1.f"] is summary["token_f1"] is summary.metrics["token_f1.f"]
    assert list(summary) == list(summary.metrics) and "em" in summary
    for holder, error in ((summary, UsageError), (result, KeyError)):
        with pytest.raises(error, match=r"'token_f2' is not in this run.* are: token_f1.f, em"):
            holder["token_f2"]
    several = ragassay.evaluate([{"id": "1", "passage_ids": ["a"], "gold_ids": ["a"]}], "P@1,P@5")
    with pytest.raises(KeyError, match="'P' means several metrics: P@1, P@5"):
        several["P"]
    kept = replace(summary, notes=(Note("text", {"text": "one"}, severity="warning"),)).to_json()
    assert Summary.from_json(kept).warnings == ("one",)
    older = Summary.from_json(kept | {"warnings": ["one", "two"], "unknown": 1})
    assert older.warnings == ("one", "two")


def summary(incomplete: int = 0, n_scored: int = 1, **spent: object) -> Summary:
    entry = replace(metric(), n_scored=n_scored)
    judging = Spending("j", **spent) if spent else None
    found = {"f1": entry, "em": replace(entry, name="em", n_scored=0)}
    return Summary("t", "", "", 4, 4, "", found, incomplete=incomplete, judging=judging)


LOST = summary(3, votes=90, lost_votes={"timeout": 2})
INCOMPLETE = [
    ([summary()], False, ""),
    ([summary(n_scored=0)], True, ""),
    ([summary(n_scored=0), summary()], False, ""),
    ([summary(1)], True, "1 score is missing"),
    ([summary(), summary(2), summary(1_000)], True, "1,002 scores are missing"),
    ([LOST], True, "1 score and 2 of 90 votes of the panel are missing"),
    ([summary(1, lost_votes={"timeout": 1})], True, "1 vote of the panel is missing"),
    # Recorded answers to fewer than half of the questions.
    ([summary(questions=4, failures={"missing_input": 2})], False, ""),
    ([summary(), summary(questions=4, failures={"missing_input": 3})], True, ""),
    ([summary(questions=4, failures={"unsupported": 3})], False, ""),
]


@pytest.mark.parametrize(("summaries", "incomplete", "said"), INCOMPLETE)
def test_a_run_is_incomplete_where_scores_votes_or_most_answers_lack(summaries, incomplete, said):
    assert (is_incomplete(*summaries), missing_by_failure(*summaries)) == (incomplete, said)


def test_a_system_that_failed_for_every_sample_is_told_by_its_most_frequent_failure() -> None:
    long = {"late.": 1, "x" * 201 + ". ": 3}
    assert "x" * 200 + "…" in (said := replace(summary(), failures=long).all_failed)
    assert "x" * 201 not in said and "1 failed otherwise" in said
    exact = replace(summary(), failures={"x" * 200 + ". ": 4}).all_failed
    assert "x" * 200 in exact and "…" not in exact and "otherwise" not in exact
    assert replace(summary(), failures={"late": 3}).all_failed == ""
    assert summary(n_scored=0).is_empty and not summary().is_empty


FACTS = {Reason.NOT_APPLICABLE, Reason.UNDEFINED, *(one for one in Reason if one.by_system)}
SUM = Total("", {"x": "f1", "y": "em"}, lambda x, y: x + y)
SUITE = Suite("s", "", "", ("f1", "em"), totals={"sum": SUM})


def missing(name: str, mean: float | None, unscored: Mapping[str, int]) -> MetricSummary:
    return MetricSummary(name, "", "", mean, n_scored=3, n_total=4, metric=name, unscored=unscored)


@pytest.mark.parametrize("reason", list(Reason))
def test_a_total_is_given_where_each_missing_score_lies_in_its_sample(reason: Reason) -> None:
    found = totals([SUITE], [missing("f1", 0.5, {reason.value: 1}), missing("em", 0.25, {})])
    assert found == ({"sum": 0.75} if reason in FACTS else {})


def test_a_total_needs_the_mean_of_each_of_its_metrics() -> None:
    assert totals([SUITE], [missing("f1", 0.5, {})]) == {}
    assert totals([SUITE], [missing("f1", 0.5, {}), missing("em", None, {})]) == {}
    assert totals([SUITE], [missing("f1", 0.0, {}), missing("em", 0.0, {})]) == {"sum": 0.0}
    judged = replace(SUITE, totals={"sum": Total("", {"x": "rb_llm"}, lambda x: x)})
    assert totals([judged], [missing("rb_llm(given=false)", 0.5, {})]) == {"sum": 0.5}
