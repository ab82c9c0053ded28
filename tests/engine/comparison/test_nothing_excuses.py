"""What a system did not retrieve, cite, claim or answer is no way around a gate."""

from typing import Any

import pytest

import ragassay
from ragassay.base.note import Note
from ragassay.base.sample import Answerability
from ragassay.base.score import Reason, Score, Unscored
from ragassay.engine.comparison.gates import with_not_worse
from ragassay.engine.results.comparison_result import GateResult
from terminal_text import said

PASSAGE = {"id": "d1", "text": "Emma is a novel by Jane Austen."}
OTHER = {"id": "x", "text": "Cows eat grass in the meadow."}
INVENTED = "The tower is 300 metres tall and was built in 1889."
Records = list[dict[str, Any]]


def records(n_good: int, n_bad: int, **bad: Any) -> Records:
    """Answers that their passage bears out, and others that are invented."""
    good = {"query": "Who wrote Emma?", "passages": [PASSAGE], "answer": PASSAGE["text"]}
    other = {"query": "How tall is it?", "passages": [], "answer": INVENTED} | bad
    rows = [{"id": f"g{n}"} | good for n in range(n_good)]
    return rows + [{"id": f"b{n}"} | other for n in range(n_bad)]


def gate(data: Records, condition: str = "faithfulness>=0.9", **options: Any) -> GateResult:
    options |= {"fail_under": [condition], "trust_offline": True}
    result = ragassay.evaluate(data, metrics=["faithfulness"], **options)
    (found,) = result.gates
    return found


def test_answers_over_no_passages_pass_no_gate_that_they_fail_over_irrelevant_ones() -> None:
    found = gate(records(45, 15))
    assert (found.value, found.passed, found.unscored) == (1.0, None, 15)
    assert (found.low, found.high) == (0.75, 1.0)
    line = "15 samples have no score, so the gate was tried with their worst and best value (15"
    assert line in found.sentence
    assert gate(records(45, 15, passages=[OTHER])).passed is False
    # They are counted, too, where a gate is decided: both ends pass, or fail.
    decided = {"faithfulness>=0.7": True, "low(faithfulness)>=0.5": True, "rl_f<=0.7": False}
    for condition, passed in decided.items():
        found = gate(records(45, 15), condition)
        assert found.passed is passed and line in found.sentence


@pytest.mark.parametrize("label", [*Answerability, None])
@pytest.mark.parametrize("bad", [{"passages": []}, {"passages": [OTHER], "answer": ""}])
def test_only_an_unanswerable_or_conversational_query_needs_nothing(label, bad) -> None:
    found = gate(records(3, 1, answerability=label, **bad))
    excused = label in (Answerability.UNANSWERABLE, Answerability.CONVERSATIONAL)
    assert found.passed is (True if excused else None)
    assert found.unscored == (0 if excused else 1)


def test_passages_that_were_not_recorded_are_missing_input_for_every_metric() -> None:
    metrics = ["faithfulness", "citation.f1", "umbrela"]
    result = ragassay.evaluate(records(2, 1, passages=None), metrics)
    for metric in ("faithfulness", "citation.f1", "umbrela"):
        assert result.columns.tally(metric).reasons == {"missing_input": 1}
    assert "(1 missing input)" in gate(records(3, 1, passages=None)).sentence


def test_passages_that_the_data_set_prescribes_are_not_the_systems_doing() -> None:
    assert gate(records(3, 1, passages_prescribed=True)).passed is True
    # What the system then says of them is.
    said_nothing = records(3, 1, passages=[OTHER], answer="", passages_prescribed=True)
    assert gate(said_nothing).passed is None


@ragassay.metric(name="borne_out_here")
def borne_out(answer: str, passages: list[str]) -> Score | Unscored:
    if not passages:
        return Unscored(Reason.NOTHING_RETRIEVED, "none")
    if answer == "declined":
        return Unscored(Reason.UNDEFINED, "none")
    return Score(answer in passages) if answer else Unscored(Reason.EMPTY_ANSWER, "none")


def run(kinds: str, repeats: int = 1) -> ragassay.Result:
    """A run whose answers are right (r) or wrong (w), empty (e), over no passages (n), or decline
    what nobody could answer (d)."""
    said = {"r": "a", "w": "b", "e": "", "n": "a", "d": "declined"}
    data = [
        {"id": f"{n // repeats}", "repeat": n % repeats, "query": "?", "answer": said[kind],
         "passages": ["a"] * (kind != "n")} for n, kind in enumerate(kinds)
    ]  # fmt: skip
    return ragassay.evaluate(data, [borne_out])


def compared(new: str, old: str) -> tuple[ragassay.Comparison, GateResult, GateResult]:
    found = ragassay.compare(run(new), run(old), fail_if_drop="borne_out_here>0.3")
    drop, worse = with_not_worse(found).gates
    return found, drop, worse


def left_out(found: ragassay.Comparison) -> list[Note]:
    """The notes on what is inapplicable to both systems."""
    return [note for note in found.notes if note.kind == "inapplicable_to_both"]


def test_what_neither_system_retrieved_is_left_out_of_a_comparison_and_counted() -> None:
    found, drop, worse = compared("r" * 40 + "n" * 20, "r" * 40 + "n" * 20)
    assert (found.differences[0].n, drop.passed, worse.passed) == (40, True, True)
    assert drop.unscored == worse.unscored == 0
    sentence = "borne_out_here: both systems left nothing to measure in 20 queries"
    assert any(sentence in note for note in said(found, full=True))
    assert not left_out(compared("r" * 40, "r" * 40)[0])
    assert not left_out(ragassay.compare(run("rn" * 9, 2), run("rn" * 9, 2)))  # of one repeat only


@pytest.mark.parametrize(("new", "old"), ["nr", "er", "wn", "wd", "dr"])
def test_what_one_system_alone_left_out_counts_at_worst_and_best(new: str, old: str) -> None:
    found, drop, worse = compared("r" * 40 + new * 20, "r" * 40 + old * 20)
    assert (drop.passed, worse.passed) == (None, None)
    assert drop.unscored == worse.unscored == 20 and not left_out(found)


def test_what_two_systems_left_out_for_other_reasons_is_owed_by_both() -> None:
    found, drop, worse = compared("r" * 40 + "n" * 20, "r" * 40 + "e" * 20)
    assert (drop.passed, worse.passed) == (None, None)
    assert drop.unscored == worse.unscored == 40 and not left_out(found)


@pytest.mark.parametrize(("new", "old", "verdict"), [
    ("r" * 45 + "n" * 15, "r" * 31 + "w" * 14 + "r" * 15, "indicative"),  # 15 would be lost
    ("r" * 45 + "n" * 6, "r" * 31 + "w" * 14 + "r" * 6, "indicative"),  # 6: it may be chance
    ("r" * 59 + "n", "r" * 31 + "w" * 29, "better"),
])  # fmt: skip
def test_a_finding_that_what_one_system_left_out_refutes_is_a_hint(new, old: str, verdict) -> None:
    found, _, worse = compared(new, old)
    (difference,), (mirrored,) = found.differences, compared(old, new)[0].differences
    assert difference.verdict == verdict and difference.significant_adjusted
    is_hint = verdict == "indicative"
    assert difference.hint == ("better" if is_hint else None)
    assert mirrored.verdict == (verdict if is_hint else "worse")
    assert ("left_out" in {note.kind for note in found.notes}) == is_hint
    assert worse.passed is (None if is_hint else True)


def test_what_was_left_out_of_a_metric_without_a_range_leaves_any_finding_a_hint() -> None:
    @ragassay.metric(name="words_borne_out", high=None)
    def words(answer: str, passages: list[str]) -> Score | Unscored:
        return Score(len(answer)) if passages else Unscored(Reason.NOTHING_RETRIEVED, "none")

    def made(answer: str, passages: list[str]) -> ragassay.Result:
        data = [{"id": f"{n}", "answer": answer, "passages": ["a"]} for n in range(40)]
        return ragassay.evaluate([*data, {**data[0], "id": "x", "passages": passages}], [words])

    (found,) = ragassay.compare(made("long", []), made("a", ["a"])).differences
    assert (found.verdict, found.doubt) == ("indicative", "left out")
    (found,) = ragassay.compare(made("long", ["a"]), made("a", ["a"])).differences
    assert found.verdict == "better"


def test_inventions_in_place_of_refusals_pass_no_gate_by_offline_judgments() -> None:
    unanswerable = {"passages": [PASSAGE], "answerability": "UNANSWERABLE"}
    sides = [records(40, 15, answer=said, **unanswerable) for said in (INVENTED, "I don't know.")]
    new, old = (ragassay.evaluate(side, ["faithfulness"]) for side in sides)
    for trust in (False, True):
        found = ragassay.compare(new, old, fail_if_drop="faithfulness>0.1", trust_offline=trust)
        drop, worse = with_not_worse(found).gates
        assert (drop.passed, worse.passed, worse.unscored) == (None, None, 15)


@pytest.mark.parametrize("lost", [
    {"answer": None, "failure": "timeout"}, {"answer": None}, {"passages": None},
])  # fmt: skip
def test_a_system_that_gives_nothing_passes_no_gate(lost: dict[str, Any]) -> None:
    wanted = {"references": ["Jane Austen"], "gold": [PASSAGE]}
    data = [each | wanted for each in records(40, 0)]
    old, new, half = (
        ragassay.evaluate([each | lost if n < n_lost else each for n, each in enumerate(data)])
        for n_lost in (0, 40, 21)
    )
    found, (part, *failed) = ragassay.compare(new, old), lost
    assert with_not_worse(found).gates[0].passed is None
    assert bool(failed) is not any(note.kind == f"no_{part}" for note in new.summary.notes)
    notes = [n for n in found.notes if (n.kind, n.severity) == ("metrics_only_in_b", "warning")]
    only_old = {name for note in notes for name in note.names}
    assert only_old == set(old.summary.metrics) - set(new.summary.metrics)
    assert bool(failed) is not ("faithfulness" in only_old)
    both = "ndcg" if part == "answer" else "token_f1.f"
    assert with_not_worse(ragassay.compare(new, old, primary=both)).gates[0].passed is True
    if part == "answer":
        cause = ragassay.diagnose(half)
        assert (cause.measures, cause.share_right) == ("answers", 19 / 40)
