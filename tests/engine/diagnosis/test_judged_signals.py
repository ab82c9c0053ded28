"""A judge's signal decides a class only where it distinguishes failing samples from right ones."""

from __future__ import annotations

from typing import Any

import pytest

import ragassay
from ragassay import Sample, diagnose
from ragassay.engine.diagnosis.decision_table import SignalValue, Thresholds, not_telling, telling

PEOPLE = (
    ("Ada", "baker"), ("Bruno", "smith"), ("Carla", "teacher"), ("Dieter", "doctor"),
    ("Edda", "tailor"), ("Fritz", "miller"), ("Gerda", "cook"), ("Hugo", "painter"),
)  # fmt: skip
JUDGED = ["contains_answer", "token_f1.f", "umbrela_MRR", "idk_eval", "rl_f", "contradicted"]
LOW, GOOD = ({"rank": SignalValue(rank, "grades")} for rank in (5.0, 1.0))
SAMPLE, LIMITS = Sample(id="q", answer="a"), Thresholds()


def record(at: int, *, right: bool) -> dict[str, Any]:
    """A question for a job, without gold. The passages hold the answer; the offline judge grades
    them low, because they do not speak of jobs."""
    name, work = PEOPLE[at]
    _, other = PEOPLE[(at + 1) % len(PEOPLE)]
    texts = [{"id": one, "text": f"{one} works as a {what} in house {at}."} for one, what in PEOPLE]
    return {
        "id": f"q{at}", "query": f"What is the job of {name}?",
        "answer": f"{name} works as a {work if right else other}.", "references": [work],
        "passages": texts[at:] + texts[:at], "answerability": "answerable",
    }  # fmt: skip


def test_grades_that_call_right_samples_not_retrieved_too_decide_no_class() -> None:
    records = [record(at, right=at < 4) for at in range(7)]
    found = diagnose(ragassay.evaluate(records, JUDGED))
    assert found.classes[:4] == [None] * 4 and "not_retrieved" not in found.classes
    (one,) = found.not_telling
    assert (one.fault, one.metric, one.n, one.of) == ("not_retrieved", "umbrela_MRR", 4, 4)
    assert not any("rank" in one.signals for group in found.found for one in group.examples)
    assert "4 of 4 right answers show it, too" in " ".join(str(found).split())
    told = found.to_json()["not_telling"]
    assert told == [
        {"class": "not_retrieved", "metric": "umbrela_MRR", "n_right": 4, "of_right": 4}
    ]


def test_gold_is_believed_although_right_answers_need_no_retrieval() -> None:
    elsewhere = {"gold": [{"id": "elsewhere"}]}
    records = [record(at, right=at < 4) | elsewhere for at in range(5)]
    found = diagnose(ragassay.evaluate(records, [*JUDGED, "RR"]))
    assert found.classes[4] == "not_retrieved" and not found.not_telling


@pytest.mark.parametrize(("n_right", "left_out"), [(1, False), (2, True)])
def test_half_of_the_right_samples_is_too_many(n_right: int, left_out: bool) -> None:
    right = [(SAMPLE, LOW if at < n_right else GOOD) for at in range(4)]
    unanswerable = Sample(id="u", answer="a", answerability="unanswerable")
    found = not_telling([*right, (unanswerable, LOW)], {"grades"}, LIMITS)
    idle = {(one.fault, one.metric) for one in found}
    assert idle == ({("ranked_low", "grades")} if left_out else set())
    assert telling(LOW, SAMPLE, LIMITS, idle) == ({} if left_out else LOW)
    assert telling(GOOD, SAMPLE, LIMITS, idle) == GOOD
    assert not not_telling([*right, (unanswerable, LOW)], set(), LIMITS), "its judge is known"
