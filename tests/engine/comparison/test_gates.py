import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ragassay
from approved import check, number
from ragassay.base.errors import UsageError
from ragassay.base.score import Reason, Score, Unscored
from ragassay.cli.show import exit_code
from ragassay.engine.comparison import gates
from ragassay.engine.comparison.gates import with_not_worse
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summary import MetricSummary, Summary, summarise
from ragassay.stats.intervals import mean_interval

COMPUTED = {"f1": "f1", "P(rel=2)@5": "P(rel=2)@5"}


@pytest.mark.parametrize(("text", "parsed"), [
    ("f1>=0.6", gates.Gate("f1", "mean", ">=", 0.6)),
    (" low(f1) > .5", gates.Gate("f1", "low", ">", 0.5)),
    ("P(rel=2)@5<=0.2", gates.Gate("P(rel=2)@5", "mean", "<=", 0.2)),
    ("high(P(rel=2)@5)<1e-1", gates.Gate("P(rel=2)@5", "high", "<", 0.1)),
])  # fmt: skip
def test_a_gate_reads_back(text: str, parsed: gates.Gate) -> None:
    assert gates.parse(text) == parsed
    assert gates.parse(str(parsed)) == parsed


REFUSED: list[tuple[str, tuple[float | None, float | None], str]] = [
    *((t, (0, 1), "not a condition") for t in ("f1", "f1=0.6", ">=0.6", "f1>=1.2.3", "=>0.2", "")),
    ("low(f1)<=0.5", (0, 1), "a gate on a bound asks for"),
    ("high(f1)>=0.5", (0, 1), "a gate on a bound asks for"),
    ("f1>=1.01", (0, 1), "is not a value of f1, which runs from 0 to 1"),
    ("low(f1)>=-0.1", (0, 1), "is not a value of f1, which runs from 0 to 1"),
    ("high(f1)<=7", (0, 1), "is not a value of f1, which runs from 0 to 1"),
]


def resolved(texts, computed, used, span=(0, 1)) -> list[gates.Gate]:
    return gates.resolve(texts, {n: (metric, span) for n, metric in computed.items()}, used, 0.95)


@pytest.mark.parametrize(("text", "span", "says"), REFUSED)
def test_a_gate_that_decides_nothing_is_refused_with_what_to_write(text, span, says: str) -> None:
    with pytest.raises(UsageError, match=f"--fail-under {re.escape(repr(text))}") as refused:
        resolved([text], COMPUTED, ["qa"], span)
    assert says in str(refused.value)
    if right := re.search(r"(?:as in|Write) '(.*)'\.?$", says):
        resolved([right[1]], COMPUTED, ["qa"], span)


def test_a_gate_on_a_metric_that_is_not_computed_is_refused_with_the_nearest() -> None:
    assert resolved(["F1>=0.5"], COMPUTED, ["qa"])[0].metric == "f1"
    named = ["em", "runs_rbo", "faithfulness", "hhem", "icontains", "hallucination"]
    found = [[*map(str, gates.computed(named, judge=judge))] for judge in (False, True)]
    assert found == [["em", "contains_answer"], ["em", "faithfulness", "contains_answer"]]
    assert len(resolved(["f1>=1", "f1<=0"], COMPUTED, ["qa"])) == 2
    many = {f"m{n}": f"m{n}" for n in range(21)}
    for name, computed, says in (
        # Ours, so no advice on other tools.
        ("answer_relevance", COMPUTED, r"\. Add answer_relevance to the metrics of the run\. Th"),
        ("rag", COMPUTED, r"\. 'rag' is a suite, not a metric\. Name it with --suite rag\. There"),
        ("f1", {"token_f1.f": "token_f1.f"}, r"\. Did you mean 'token_f1\.f'\? Add f1 to"),
        ("m10x", many, r"\. Did you mean 'm10'.* 21; --dry-run lists"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=rf"'{name}' is not in what this run computes{says}"):
            resolved([f"{name}>=0.5"], computed, ["qa"])


def test_a_gate_may_use_any_name_of_its_metric() -> None:
    computed = {"RB_agg": "rb_agg", "RR": "RR"}
    # What another tool's name stands for may depend on the data.
    computed |= {"x": "rb_agg_idk", "context_recall": "claim_recall"}
    texts = ["rb_agg>=0.5", "mrr>=0.5", "RBalg<1", "contextual_recall>0"]
    found = resolved(texts, computed, ["mtrag"])
    assert [gate.metric for gate in found] == ["RB_agg", "RR", "x", "context_recall"]


def scores(values: list[float], owed: int = 0, why=Reason.FAILED) -> tuple[Summary, ScoreColumns]:
    """The summary and the columns of one metric from 0 to 1, ``owed`` scores of it missing."""
    columns = ScoreColumns(["f1"])
    outcomes = [Score(value) for value in values]
    outcomes += [Unscored(why, "") for _ in range(owed)]
    for at, outcome in enumerate(outcomes):
        columns.identities.append((f"q{at}", "", 0))
        columns.add("f1", outcome)
    metric = MetricSummary("f1", "f1", "answer", None, None, None, 0.95, "", 0, 0, metric="f1")
    metrics, _ = summarise(columns, [metric])
    n = len(outcomes)
    return Summary("t", "qa", "", n, n, "all", metrics, incomplete=owed), columns


def decided(text: str, values, owed: int = 0, why=Reason.FAILED, **options: Any) -> GateResult:
    summary, columns = scores(values, owed, why)
    return gates.decide(gates.parse(text), replace(summary.metrics["f1"], **options), columns)


GATES = (
    *("f1>=0.6", "f1>0.6", "f1>=0.7", "f1>0.7", "f1<=0.4", "f1<0.4", "f1<=0.7", "f1<0.7"),
    *("low(f1)>=0.9", "low(f1)>=0.99", "low(f1)>0.5", "high(f1)<=0.1", "high(f1)<0.5"),
)
VALUES: dict[str, list[float]] = {
    "none": [], "0.6": [0.6], "less": [0.5999], "0.4": [0.4] * 5, "1 of 1": [1.0],
    **{f"{value} x 10": [value] * 10 for value in (0.3, 0.35, 0.42, 0.5, 0.59, 0.65)},
    **{f"0.7 x {n}": [0.7] * n for n in (3, 6, 7, 49)},  # means of 0.6999999999999998 and more
    **{f"{n} right": [1.0] * n for n in (3, 29, 200)}, **{f"{n} wrong": [0.0] * n for n in (3, 29)},
    "half": [0.0, 1.0] * 3, "200 wrong": [0.0] * 200,
}  # fmt: skip


def decisions() -> Iterator[str]:
    """What a gate finds, and the exit code, with no, one and three scores missing."""
    for text, (name, values), owed in product(GATES, VALUES.items(), (0, 1, 3)):
        found = decided(text, values, owed)
        code = exit_code([found], scores(values or [0.0])[0])
        facts = found.passed, code, found.value, found.low, found.high, found.unscored
        yield f"{text}, {name}, {owed} missing: {number(facts)} {found.why}"
    for aggregate, owed in product(("p50", "sum", "geometric"), (0, 1)):
        summary, columns = scores([1.0] * 40, owed)
        metric = replace(summary.metrics["f1"], aggregate=aggregate)
        found = gates.decide(gates.parse("f1>=0.1"), metric, columns)
        yield f"{aggregate}, {owed} missing: {found.passed} {found.unscored} {found.why}"


def test_a_gate_is_passed_failed_or_undecided(request: pytest.FixtureRequest) -> None:
    path = Path(__file__).parents[1] / "approved" / "gates.txt"
    check(path, decisions(), request.config.getoption("--approve"))
    data = [{"id": f"{n}", "answer": "ab"[n % 2], "references": ["a"]} for n in range(40)]
    asked = {"fail_under": ["low(em)>=0.4", "f1<=0.4"]}  # which is computed for its gate
    run = ragassay.evaluate(data, "em", interval="t", level=0.9, **asked)
    bound = mean_interval([0.0, 1.0] * 20, method="t", level=0.8).low
    assert run.gates[0].value == pytest.approx(bound)
    assert [gate.passed for gate in run.gates] == [None, True]
    with pytest.raises(UsageError, match=r"above 0\.5"):
        decided("low(f1)>=0.4", [0.0, 1.0] * 20, level=0.5)
    assert decided("f1>=0.1", [1.0] * 40, 1, bounds=(0.0, None)).passed is None  # no highest value


@pytest.mark.parametrize("why", list(Reason))
def test_a_score_that_the_judge_or_the_system_owes_may_be_anything(why: Reason) -> None:
    owed = why.incomplete or why.by_system or why is Reason.MISSING_INPUT
    said = f"tried with their worst and best value ({f'3 {why}'.replace('_', ' ')})"
    for gate in ("f1>=0.9", "low(f1)>=0.8"):
        found = decided(gate, [1.0] * 17, 3, why)
        assert found.passed is (None if owed else True), why
        assert (said in found.why, "17 of 20" in found.why) == (owed, not owed)


def test_a_gate_prints_the_bound_that_it_looks_at() -> None:
    found = decided("low(f1)>=0.9", [1.0] * 29)
    assert found.sentence == "gate low(f1)>=0.9: passed, one-sided 95 % bounds 0.9019 and 1.0000"
    failed = decided("low(f1)>=0.99", [0.0] * 30)
    assert failed.sentence.endswith("FAILED, one-sided 95 % bounds 0.0000 and 0.0950")
    drop = GateResult("", None, False, threshold=-0.3)  # a drop of 0.3 is a change by -0.3
    said = [drop.rounded(change) for change in (0.30001, -0.30001, 0.3)]
    assert said == ["0.30001", "-0.30001", "0.3000"]
    owed = decided("f1>=0.6", [0.65] * 10, 1)
    assert "mean 0.6500, between 0.5909 and 0.6818 with the missing scores" in owed.sentence
    assert "; 1 sample has no score, so the gate was tried with its worst" in owed.sentence


def system(answers: list[str | None], n_changed: int = 0) -> ragassay.Result:
    data: list[dict[str, Any]] = [
        {"id": str(n), "query": f"q{n}?", "references": ["red"], "answer": answer}
        for n, answer in enumerate(answers)
    ]
    for one in data[:n_changed]:
        one["references"] = ["red", "ruby"]
    return ragassay.evaluate(data, ["em", "f1"])


def not_worse(new: list[str | None], old: list[str | None]) -> GateResult:
    compared = with_not_worse(ragassay.compare(system(new), system(old), n_resamples=500))
    (gate,) = compared.gates
    assert gate.passed or gate.metrics
    return gate


def test_a_system_is_not_shown_to_be_no_worse_by_giving_no_answers() -> None:
    old: list[str | None] = ["red"] * 40
    for n_answers in (20, 1, 0):
        gate = not_worse(old[:n_answers] + [None] * (40 - n_answers), [*old[:39], "blue"])
        assert gate.passed is None and gate.unscored == 2 * (40 - n_answers)
        assert f"{gate.unscored} scores are missing" in gate.sentence
    # So few that A could not be shown to be worse were all of them wrong.
    assert not_worse([*old[:39], None], old).sentence.endswith(": passed, no drop shown: em, f1")
    assert not_worse([*old[:35], *[None] * 5], ["blue"] * 40).passed is True
    assert not_worse([*old[:3], None], old[:4]).passed is None  # so few could show nothing
    lost = with_not_worse(ragassay.compare(system([None] * 3 + ["blue"] * 27), system(old[:30])))
    assert gates.worst_queries(lost, lost.gates[0], 1)[0] == "10: em 0.0000, before 1.0000"
    # The old run gave none there either, or the new one alone did.
    assert not_worse([*old[:20], *[None] * 20], [*old[:20], *[None] * 20]).passed is True
    assert not_worse(old, [*old[:20], *[None] * 20]).passed is True


def test_a_system_is_not_shown_to_be_no_worse_by_leaving_queries_out() -> None:
    old: list[str | None] = [*["red"] * 39, "blue"]
    for n_queries in (20, 1):
        gate = not_worse(old[:n_queries], old)
        assert gate.passed is None and gate.unscored == 2 * (39 - n_queries + 1)
        assert f"lacks {40 - n_queries} queries of the old one, or changed them" in gate.sentence
        assert "--references" in gate.sentence and "--where" in gate.sentence
    both = not_worse([*old[:20], *[None] * 10], old)
    assert both.unscored == 2 * 20
    lacks = "20 scores are missing and the new run lacks 10 queries"
    assert lacks in both.sentence
    # Few enough that A could not be shown to be worse were all of them wrong; queries that B gave
    # no answer to; queries that A alone has.
    assert not_worse(old[:38], old).passed is True
    assert not_worse(old[:20], [*old[:20], *[None] * 20]).passed is True
    assert not_worse(old, old[:20]).passed is True


def test_a_drop_needs_two_queries_and_a_range_for_what_is_missing() -> None:
    @ragassay.metric(name="words_in_all", high=None)
    def words_in_all(answer: str) -> float:
        return len(answer.split())

    def run(*answers: str) -> ragassay.Result:
        records = [{"id": f"{at}", "query": "q?", "answer": a} for at, a in enumerate(answers)]
        return ragassay.evaluate(records, ["words_in_all"])

    def drop(new: ragassay.Result, old: ragassay.Result) -> GateResult:
        return ragassay.compare(new, old, fail_if_drop="words_in_all>2").gates[0]

    few = drop(run("a b"), run("a b"))
    assert (few.passed, few.why) == (None, "fewer than two common queries have a score")
    none = drop(ragassay.evaluate([{"id": "0", "query": "q?"}], [words_in_all]), run("a b"))
    assert (none.passed, none.drop, none.why) == (None, None, few.why)
    assert "fewer" not in drop(run("a b", "a"), run("a b", "a")).why
    old, new = run(*["a b", "a b c"] * 20), ["a b c", "a b"]
    assert drop(run(*new * 20), old).passed is True
    lacking = drop(run(*new * 10), old)
    assert lacking.passed is None and "and may have any value" in lacking.why
    unanswered = ragassay.Sample(id="39", query="q?")
    owing = ragassay.evaluate([*list(run(*new * 20).samples)[:39], unanswered], ["words_in_all"])
    for one in (drop(owing, old), drop(run(*new * 20), owing)):
        assert (one.passed, one.unscored) == (None, 1) and "may have any value" in one.why


def test_a_drop_is_not_excluded_by_leaving_queries_out() -> None:
    old: list[str | None] = ["red"] * 40

    def drop(new: list[str | None], margin: float) -> GateResult:
        runs = system(new), system(old)
        return ragassay.compare(*runs, n_resamples=500, fail_if_drop=f"em>{margin}").gates[0]

    assert drop(old, 0.2).passed is True
    gate = drop(old[:20], 0.2)
    assert gate.passed is None and gate.unscored == 20 and gate.low is not None and gate.low < -0.5
    assert "lacks 20 queries of the old one, or changed them. Evaluate" in gate.sentence
    assert drop(old[:39], 0.2).passed is True
    changed = ragassay.compare(system(old, 15), system(old), n_resamples=500, fail_if_drop="em>0.2")
    for gate in with_not_worse(changed).gates:
        assert gate.passed is None and gate.unscored in (15, 30), gate
        assert "lacks 15 queries of the old one, or changed them" in gate.sentence
    # A drop that is shown is shown, whatever the other queries would give.
    shown = drop(["blue"] * 20, 0.2)
    assert (shown.passed, shown.drop) == (False, 1.0)


def test_a_metric_without_a_worst_value_may_be_worse_by_one_missing_score() -> None:
    @ragassay.metric(name="words_said", high=None, higher_is_better=False)
    def words_said(answer: str) -> float:
        return len(answer.split())

    data = [{"id": str(n), "query": "q?", "answer": "a b"} for n in range(30)]
    new = ragassay.evaluate([*data[:29], {"id": "29", "query": "q?"}], [words_said])
    compared = ragassay.compare(new, ragassay.evaluate(data, [words_said]))
    (gate,) = with_not_worse(compared).gates
    assert gate.passed is None and "1 score is missing" in gate.sentence


def test_what_was_lost_while_scoring_both_runs_may_hide_that_one_is_worse() -> None:
    lost = ragassay.metric(name="lost")(lambda answer: 1 / len(answer))
    data = [{"id": str(n), "query": "q?", "answer": "a" * (n < 20)} for n in range(30)]
    runs = [ragassay.evaluate(data, [lost]) for _ in range(2)]
    (drop, worse) = with_not_worse(ragassay.compare(*runs, fail_if_drop="lost>0.1")).gates
    assert (drop.passed, worse.passed, drop.unscored, worse.unscored) == (None, None, 20, 20)
