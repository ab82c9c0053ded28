"""What may be called better or worse: who judged, and whether both runs were computed alike."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import ragassay
from ragassay import examples
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.engine.comparison import gates, offline_agreement
from ragassay.engine.comparison.offline_agreement import Agreement, judge_agreement
from ragassay.engine.diagnosis.moved_classes import with_change
from ragassay.engine.results.result import Result
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.metrics.core.naming import Use, parse
from ragassay.reports.views.summary_view import summary_notes


def records(answers: list[str], **more: object) -> list[dict]:
    return [
        {"id": f"q{at}", "query": "Who?", "answer": said, "references": ["Ann"], **more}
        for at, said in enumerate(answers)
    ]


GOOD = [f"It was Ann of house number {at}." for at in range(30)]
BAD = ["I don't know."] * 30
MEASURED = "answer_match,contains_answer,em"


@pytest.fixture(scope="module")
def judged() -> tuple[Result, Result]:
    """Two runs with a metric judged offline whose agreement with people is not sufficient, and one
    computed from references."""
    names = ["answer_match", "contains_answer"]
    return ragassay.evaluate(records(GOOD), names), ragassay.evaluate(records(BAD), names)


def test_an_offline_judgment_without_known_agreement_is_indicative(judged) -> None:
    better, worse = judged
    found = {d.name: d for d in ragassay.compare(better, worse).differences}
    assert found["contains_answer"].verdict == "better"
    one = found["answer_match"]
    assert (one.verdict, one.standing) == ("indicative", "indicative")
    assert one.why is not None and one.why.kind == "offline_hint"
    assert one.p_adjusted is None and one.p_value < 0.01
    trusted = ragassay.compare(better, worse, trust_offline=True).differences
    assert {d.verdict for d in trusted} == {"better"}
    (why,) = (str(d.why) for d in trusted if d.why)
    assert "--trust-offline" in why and "hint" not in why


def test_a_run_whose_offline_judgments_are_trusted_calls_none_a_hint(judged) -> None:
    assert "answer_match compares words" in " ".join(summary_notes(judged[0].summary))
    asked = ragassay.evaluate(records(GOOD), ["answer_match"], trust_offline=True).summary
    notes = " ".join(summary_notes(asked))
    assert "--trust-offline" in notes and "hint" not in notes


def test_what_has_no_verdict_weakens_no_other_metric(judged) -> None:
    better, worse = judged
    together = ragassay.compare(better, worse, correction="holm")
    alone = ragassay.compare(better, worse, metrics="contains_answer", correction="holm")
    found = next(d for d in together.differences if d.name == "contains_answer")
    assert found.p_adjusted == alone.differences[0].p_adjusted


def row(**changed: object) -> Agreement:
    """A row of the table on which a verdict may rest, but for what is changed."""
    good = Agreement(
        "one", ("answer_match",), ("answer_match",), "en", "English answers", "people's labels",
        True, "AUC", "a study", 0.9, 0.85, 0.95, 100,
    )  # fmt: skip
    return replace(good, **changed)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Agreement]]:
    """The rows of the table, in place of the file's."""
    rows: list[Agreement] = []
    found = lambda kind, metric: tuple(r for r in rows if kind in r.kinds)  # noqa: E731
    monkeypatch.setattr(offline_agreement, "rows_of", found)
    offline_agreement.agreements.cache_clear()
    yield rows
    offline_agreement.agreements.cache_clear()


AGREES = ("offline_agrees", {"of": "English answers"})
HINT: tuple[str, dict] = ("offline_hint", {})
CASES = [
    ({}, "better", AGREES), ({"low": 0.79}, "indicative", HINT),
    ({"people": False}, "indicative", HINT),
    ({"measure": "Spearman", "value": 0.7, "low": 0.6}, "better", AGREES),
    ({"language": "de", "of": "German answers"}, "indicative",
     ("offline_language", {"of": "German answers", "language": "German"})),
    ({"kinds": ("another",)}, "indicative", HINT),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "verdict", "says"), CASES)
def test_a_verdict_rests_on_labels_a_bound_and_the_language(changed, verdict, says, judged, table):
    table.append(row(**changed))
    found = {d.name: d for d in ragassay.compare(*judged).differences}
    assert found["answer_match"].verdict == verdict
    why = found["answer_match"].why
    assert (why.kind, dict(why.counts), why.names) == (*says, ("answer_match",))
    assert found["contains_answer"].why is None
    gate = replace(judged[0], config={**judged[0].config, "fail_under": ["answer_match>=0.5"]})
    assert gates.results_of(gate)[0].passed is (True if verdict == "better" else None)


def test_what_one_run_has_in_another_language_gets_no_verdict(judged, table) -> None:
    table.append(row())
    better, worse = judged
    entry = replace(worse.summary.metrics["answer_match"], language="")
    metrics = {**worse.summary.metrics, "answer_match": entry}
    other = replace(worse, summary=replace(worse.summary, metrics=metrics))
    found = {d.name: d for d in ragassay.compare(better, other).differences}
    assert found["answer_match"].verdict == "indicative"


@pytest.mark.parametrize("label", [f"{LABEL}0", f"{LABEL} + {LABEL}0", f"panel({LABEL}0, {LABEL})"])
def test_the_agreement_of_one_version_says_nothing_about_another(label: str, judged, table) -> None:
    table.append(row())
    mine = judged[0].summary.metrics["answer_match"]
    assert judge_agreement(mine).sufficient
    other = replace(mine, judge=label, judges={label: 12})
    assert judge_agreement(other).note.kind == "offline_hint"
    assert judge_agreement(replace(mine, judge="", judges={})) is None


def test_each_row_in_the_language_suffices_and_each_question_has_one(judged, table, monkeypatch):
    mine = judged[0].summary.metrics["answer_match"]
    table += [row(), row(low=0.1, language="de")]
    assert judge_agreement(mine).sufficient
    assert judge_agreement(replace(mine, judge="", judges={LABEL: 3})).sufficient
    table += [row(low=0.79)]
    offline_agreement.agreements.cache_clear()
    assert not judge_agreement(mine).sufficient
    table[2:] = []
    used = Use("answer_match", "answer_match")
    rows = lambda kind, metric: (row(),) if metric == "answer_match" else ()  # noqa: E731
    monkeypatch.setattr(offline_agreement, "rows_of", rows)
    for other in (Use("answer_match", "other"), Use("other", "other")):
        monkeypatch.setattr(offline_agreement, "uses_of", lambda *_, one=other: {used, one})
        offline_agreement.agreements.cache_clear()
        assert judge_agreement(mine).note.kind == "offline_hint"
        assert not offline_agreement.shown_offline(parse("answer_match"))


@pytest.mark.parametrize(("judge", "kind"), [
    ("openai:gpt-4o", "judge_unmeasured"), ("replay:a.jsonl", None), ("record", None), ("", None),
])  # fmt: skip
def test_the_agreement_of_other_judges_is_not_known_and_holds_no_verdict_back(judge, kind, judged):
    mine = replace(judged[0].summary.metrics["answer_match"], judge=judge, judges={"x": 1})
    found = judge_agreement(mine)
    assert (found and found.note.kind) == kind and not (found and found.indicative)
    assert found is None or found.note.names == ("answer_match",)
    assert judge_agreement(replace(mine, judge=LABEL, n_scored=0)) is None


@pytest.mark.parametrize(("changed", "shown"), [
    ({"value": 0.8, "low": 0.1}, True), ({"value": 0.79}, False), ({"kinds": ()}, False),
])  # fmt: skip
def test_by_default_only_what_agrees_well_enough_is_shown_offline(changed, shown, table) -> None:
    table.append(row(**changed))
    assert offline_agreement.shown_offline(parse("answer_match")) is shown
    assert offline_agreement.shown_offline(parse("em"))


def test_what_was_not_computed_alike_has_no_verdict_and_fails_no_gate(judged) -> None:
    better, worse = judged
    entry = worse.summary.metrics["contains_answer"]
    other = replace(entry, signature=f"{entry.signature}|version=0")
    metrics = {**worse.summary.metrics, "contains_answer": other}
    changed = replace(worse, summary=replace(worse.summary, metrics=metrics))
    with pytest.raises(UsageError, match="computed differently"):
        ragassay.compare(changed, better)
    # Two systems of one run have its signature, whoever judged the one and the other.
    sides = [
        replace(one, summary=replace(one.summary, metrics={"m": replace(entry, judges={by: 1})}),
                columns=one.columns.renamed({"contains_answer": "m"}))
        for one, by in ((better, "a"), (worse, "b"))
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"judge=a against judge=b"):
        ragassay.compare(*sides)
    found = ragassay.compare(changed, better, force=True, fail_if_drop="contains_answer>0.1")
    one = next(d for d in found.differences if d.name == "contains_answer")
    assert (one.verdict, one.p_adjusted) == ("not comparable", None)
    assert "computed differently" in str(one.why)
    assert [gate.passed for gate in found.gates] == [None]


def test_nuggets_of_each_runs_own_have_no_verdict() -> None:
    paths = map(examples.path_of, ("hybrid", "keyword"))
    new, old = (ragassay.evaluate(path, "nuggets.all", limit=30) for path in paths)
    for trust in (False, True):
        found = with_change(ragassay.compare(new, old, trust_offline=trust))
        assert gates.with_not_worse(found).gates[0].passed is None
        assert {d.verdict for d in found.findings} == {"not comparable"}


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Run folders of these metrics, the good one first."""
    paths = [f"{tmp_path}/{name}" for name in ("good", "bad")]
    for path, said in zip(paths, (GOOD, BAD), strict=True):
        Path(f"{path}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records(said)))
        assert call(["run", f"{path}.jsonl", "-m", MEASURED, "-o", path]) == 0
    return paths


def test_a_gate_on_an_offline_judgment_is_undecided_unless_trusted(folders, tmp_path, capsys):
    data = str(tmp_path / "good.jsonl")
    gate = ["run", data, "-m", "answer_match", "--fail-under", "answer_match>=0.5"]
    assert call(gate) == 3
    assert "undecided" in capsys.readouterr().out
    assert call([*gate, "--trust-offline"]) == 0
    good, bad = folders
    report = ["report", good, *gate[-2:]]
    assert (call(report), call([*report, "--trust-offline"])) == (3, 0)
    worse = ["compare", bad, good, "-m", "answer_match", "--fail-if-worse"]
    assert (call(worse), call([*worse, "--trust-offline"])) == (3, 1)
    worse = ["compare", good, bad, "--fail-if-worse", "-m"]
    assert call([*worse, "answer_match"]) == 3  # untested
    assert call([*worse, "answer_match,em"]) == 0
    drop = ["compare", bad, good, "-m", "answer_match", "--fail-if-drop", "answer_match>0.1"]
    assert call(drop) == 3
    assert call([*drop, "--trust-offline"]) == 1


def test_primary_metrics_are_tested_and_the_others_exploratory(folders: list[str], capsys) -> None:
    good, bad = folders
    capsys.readouterr()
    assert call(["compare", bad, good, "--primary", "em", "--json", "--fail-if-worse"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    verdicts = {d["name"]: d["verdict"] for d in found["differences"]}
    others = dict.fromkeys(("answer_match", "contains_answer"), "exploratory")
    assert verdicts == {**others, "em": "no difference shown"}
    assert found["primary"] == ["em"]
    (judged,) = [d for d in found["differences"] if d["name"] == "answer_match"]
    assert "only a hint" in judged["why"], "what it rests on is told all the same"
    drop = ["--fail-if-drop", "answer_match>0.1"]
    assert call(["compare", bad, good, "--primary", "em", *drop]) == 3, "a gate asks nevertheless"
    assert call(["compare", bad, good, "--primary", "f1"]) == 2
    assert "f1" in capsys.readouterr().err


def test_too_few_queries_leave_worse_undecided() -> None:
    new, old = (ragassay.evaluate(records([name] * 4), ["em"]) for name in ("Bob", "Ann"))
    (gate,) = gates.with_not_worse(ragassay.compare(new, old)).gates
    assert (gate.passed, gate.metrics) == (None, ("em",)) and "too few queries to tell" in gate.why
    assert gates.with_not_worse(ragassay.compare(old, new)).gates[0].passed is True


DROPS = [
    ("contains_answer>0.3", [0.0] * 60, True),  # the same: a drop of 0.3 is excluded
    ("contains_answer>0.3", [-1.0] * 40, False),
    ("contains_answer>0.3", [0.0] * 3, None),
    ("contains_answer>0.01", [0.0] * 12, None),  # up to 0.2209
]


@pytest.mark.parametrize(("margin", "change", "passed"), DROPS)
def test_a_drop_is_excluded_shown_or_neither(margin: str, change, passed) -> None:
    sides = ["Bob" if c < 0 else "Ann" for c in change], ["Ann"] * len(change)
    for metrics in ("contains_answer,em,f1", "contains_answer"):  # more do not weaken it
        new, old = (ragassay.evaluate(records(said), metrics) for said in sides)
        (gate,) = ragassay.compare(new, old, fail_if_drop=margin).gates
        assert gate.passed is passed and gate.sentence.startswith(f"gate no drop {margin}:")
        assert ("one-sided 95 % bounds" in gate.sentence) == (len(change) > 3)
        if excluded := re.search(r"exclude one above ([0-9.]+):", gate.sentence):
            wider = f"contains_answer>{excluded[1]}"
            assert ragassay.compare(new, old, fail_if_drop=wider).gates[0].passed


def test_a_drop_where_lower_is_better_is_a_rise() -> None:
    @ragassay.metric(name="share_wrong", higher_is_better=False)
    def share_wrong(answer: str) -> float:
        return float(answer)

    new, old = (
        ragassay.evaluate([{"id": f"{n}", "answer": value} for n in range(40)], [share_wrong])
        for value in ("0.5", "0.1")
    )
    found = ragassay.compare(new, old, fail_if_drop=["share_wrong>0.1", "share_wrong>0.8"])
    assert [gate.passed for gate in found.gates] == [False, True]
    assert [gate.drop for gate in found.gates] == pytest.approx([0.4, 0.4])
    assert ragassay.compare(old, new, fail_if_drop="share_wrong>0.1").gates[0].drop < 0
    same = ragassay.compare(old, old, fail_if_drop=["share_wrong>0.05", "share_wrong>0.1"])
    assert [gate.passed for gate in same.gates] == [None, True]  # 0.05 ** (1 / 40) = 0.928
    assert (same.gates[1].low, same.gates[1].high) == pytest.approx((0.0, 1 - 0.05 ** (1 / 40)))


@pytest.mark.parametrize(("text", "says"), [
    ("em", "Write METRIC>SIZE"), ("em=>0.2", "is not a margin"), ("em>0", "size above 0"),
    ("em<0.1", "is not a margin"), ("em>1.5", "no two values of em are 1.5 apart"),
    ("f1>0.1", "'f1' is not in what"),
    ("answer_words>3", "neither direction of answer_words is better"),
    ("rated_here>4.5", "no two values of rated_here are 4.5 apart; it runs from 1 to 5"),
])  # fmt: skip
def test_a_margin_that_makes_no_sense_is_refused(text: str, says: str) -> None:
    rated = ragassay.metric(name="rated_here", low=1.0, high=5.0)(lambda answer: 3.0)
    run = ragassay.evaluate(records(GOOD), ["em", "answer_words", rated])
    with pytest.raises(UsageError, match=says):
        ragassay.compare(run, run, fail_if_drop=text)
    (whole,) = ragassay.compare(run, run, fail_if_drop="em > 1").gates
    assert whole.passed is True
