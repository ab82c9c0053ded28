"""A judge's signal decides a class only where it tells failing samples from right ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import ragassay
from ragassay import Sample, diagnose
from ragassay.base.note import Note
from ragassay.engine.comparison.verdict_rules import JudgeAgreement
from ragassay.engine.diagnosis import decision_table
from ragassay.engine.diagnosis.decision_table import CLASSES, JudgedSignals, Thresholds
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import moved
from ragassay.engine.diagnosis.signals import SignalValue
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.html import pages
from ragassay.reports.notebook import html_of
from ragassay.reports.views import diagnosis_view

PEOPLE = (
    ("Ada", "baker"), ("Bruno", "smith"), ("Carla", "teacher"), ("Dieter", "doctor"),
    ("Edda", "tailor"), ("Fritz", "miller"), ("Gerda", "cook"), ("Hugo", "painter"),
    ("Ines", "farmer"), ("Jakob", "weaver"), ("Klara", "baker"), ("Ludwig", "smith"),
)  # fmt: skip
JUDGED = ["contains_answer", "token_f1.f", "umbrela_MRR", "idk_eval", "rl_f", "contradicted"]
NOT_RETRIEVED, RANKED_LOW = (
    next(one for one in CLASSES if one.name == name) for name in ("not_retrieved", "ranked_low")
)


def job(at: int) -> dict[str, str]:
    name, work = PEOPLE[at % len(PEOPLE)]
    return {"id": f"p{at}", "text": f"{name} works as a {work} in house {at + 11} of Mill Street."}


def record(at: int, planted: str) -> dict[str, Any]:
    """A question for a job, without gold; the passages hold it but where it is not retrieved."""
    name, work = PEOPLE[at]
    held = 1 if planted == "not_retrieved" else 0
    answers = {
        "right": f"{name} works as a {work}.",
        "not_retrieved": "{} works as a {}.".format(*PEOPLE[(at + 1) % len(PEOPLE)]),
        "refused_answerable": "I don't know.",
        "invented": f"{name} is an astronaut aboard the Mir.",
    }
    return {
        "id": f"q{at}", "query": f"What is the job of {name}?", "answer": answers[planted],
        "references": [work], "passages": [job(at + n) for n in range(held, held + 5)],
        "answerability": "answerable",
    }  # fmt: skip


PLANTED = (
    *["right"] * 4, *["not_retrieved"] * 3, *["refused_answerable"] * 3, *["invented"] * 2
)  # fmt: skip


@cache
def found() -> Diagnosis:
    records = [record(at, planted) for at, planted in enumerate(PLANTED)]
    return diagnose(ragassay.evaluate(records, JUDGED))


def test_grades_that_call_right_samples_not_retrieved_too_decide_no_class() -> None:
    expected = {"right": None, "not_retrieved": "unexplained"}
    assert list(found().classes) == [expected.get(one, one) for one in PLANTED]
    (left_out,) = found().not_telling
    assert left_out.fault is NOT_RETRIEVED
    assert (left_out.metric, left_out.n_right, left_out.of_right) == (
        "umbrela_MRR", 4, 4,
    )  # fmt: skip
    assert not any("rank" in one.signals for group in found().found for one in group.examples)


def test_what_was_left_out_is_told_everywhere() -> None:
    (line,) = diagnosis_view.untold_lines(found())
    assert line.startswith(
        "Not retrieved is not told by umbrela_MRR: 4 of 4 right answers show it, too. Name another "
        "judge with --judge. umbrela_MRR: only a hint. The offline judge was measured on English "
    )
    (told,) = found().to_json()["not_telling"]
    assert told["class"] == "not_retrieved" and told["metric"] == "umbrela_MRR"
    assert "measured on English passages" in told["judge"] and told["n_right"] == 4
    assert "is not told by umbrela_MRR" in " ".join(str(found()).split())
    assert "is not told by umbrela_MRR" in html_of(found())


def test_beside_a_class_stands_who_judged_it() -> None:
    by_name = {one.fault.name: one for one in found().found}
    (refused,) = by_name["refused_answerable"].judged
    assert refused.metric == "idk_eval" and (refused.n_right, refused.of_right) == (0, 4)
    (invented,) = by_name["invented"].judged
    assert invented.metric == "rl_f" and invented.of_right is None
    assert by_name["unexplained"].judged == ()
    words = "rl_f: only a hint. The offline judge was measured on English answers"
    assert words in " ".join(str(found()).split())
    told = {one["class"]: one["judged"] for one in found().to_json()["classes"]}
    assert told["invented"] == [invented.to_json()] and told["unexplained"] == []


def test_the_pages_say_who_judged_a_class_and_what_was_left_out(tmp_path: Any) -> None:
    records = [record(at, planted) for at, planted in enumerate(PLANTED)]
    result = ragassay.evaluate(records, JUDGED)
    pages.write_report(result, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "rl_f: only a hint. The offline judge was measured on" in page
    assert "Not retrieved is not told by umbrela_MRR" in page
    notes = " ".join(diagnosis_view.moved_notes(moved(result, result)))
    assert "In the new run: Not retrieved is not told by umbrela_MRR" in notes
    assert "In the old run: Not retrieved is not told by umbrela_MRR" in notes
    assert "rl_f: only a hint. The offline judge" in notes


def test_without_a_right_sample_a_judges_class_says_that_it_cannot_be_checked() -> None:
    records = [record(at, "not_retrieved") for at in range(3)]
    (only,) = diagnose(ragassay.evaluate(records, JUDGED)).found
    assert only.fault is NOT_RETRIEVED
    assert "It cannot be checked" in diagnosis_view.judged_words(only)


def test_gold_is_believed_although_right_answers_need_no_retrieval() -> None:
    records = [
        {**record(at, "right"), "gold": [{"id": "elsewhere"}]} for at in range(4)
    ] + [{**record(5, "not_retrieved"), "gold": [{"id": "elsewhere"}]}]  # fmt: skip
    told = diagnose(ragassay.evaluate(records, [*JUDGED, "RR"]))
    assert told.classes[4] == "not_retrieved" and not told.not_telling
    assert told.found[0].judged == ()


@pytest.mark.parametrize(("n_right", "left_out"), [(1, False), (2, True)])
@pytest.mark.parametrize("judge", ["openai:model", "offline-lexical/2"])
def test_half_of_the_right_samples_is_too_many(n_right: int, left_out: bool, judge: str) -> None:
    metric = MetricSummary("grades", "", "", metric="umbrela_MRR", judge=judge, n_scored=4)
    signals = JudgedSignals({"grades": metric})
    limits, sample = Thresholds(), Sample(id="q", answer="a")
    low, good = ({"rank": SignalValue(rank, "grades")} for rank in (5.0, 1.0))
    for at in range(4):
        signals.add_right(low if at < n_right else good, sample, limits)
    unanswerable = Sample(id="u", answer="a", answerability="unanswerable")
    signals.add_right(low, unanswerable, limits)
    assert signals.telling(low, sample, limits) == ({} if left_out else low)
    assert signals.telling(good, sample, limits) == good
    judged = signals.judged(RANKED_LOW, "grades")
    assert (judged.n_right, judged.of_right) == (n_right, 4)
    expected = [judged] if left_out else []
    assert list(signals.not_telling()) == expected


def test_recorded_answers_are_believed() -> None:
    metric = MetricSummary(
        "grades", "", "", metric="umbrela_MRR", judge="replay:people.jsonl", n_scored=4
    )
    signals = JudgedSignals({"grades": metric})
    assert not signals.are_checked({"umbrela_MRR": ["grades"]})
    low, sample = {"rank": SignalValue(5.0, "grades")}, Sample(id="q", answer="a")
    signals.add_right(low, sample, Thresholds())
    assert signals.telling(low, sample, Thresholds()) == low


def test_an_agreement_that_is_sufficient_is_not_checked_against_right_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    note = Note("offline_unmeasured", {}, ("RL_F",))
    known = lambda metric: JudgeAgreement(note, sufficient=True)  # noqa: E731
    monkeypatch.setattr(decision_table, "judge_agreement", known)
    signals = JudgedSignals({"RL_F": MetricSummary("RL_F", "", "", metric="rl_f")})
    assert not signals.are_checked({"rl_f": ["RL_F"]})
    invented = next(one for one in CLASSES if one.name == "invented")
    assert signals.judged(invented, "RL_F").of_right is None
