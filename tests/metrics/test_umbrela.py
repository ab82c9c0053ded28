"""UMBRELA grades, and what a ranking is worth by them."""

import math
from typing import Any

import pytest

from ragassay import Passage, Reason, Sample, Score, Unscored
from ragassay.base.sample import Turn
from ragassay.base.score import Outcome
from ragassay.engine.run.scoring import score_stream
from ragassay.judges.asking import Asker
from ragassay.judges.question import Question
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.metrics.core import naming
from scripted_judge import Scripted


def by_words(question: Question[Any]) -> Any:
    """The grade that stands at the end of the passage; a passage "?" has none."""
    grade = question.data["passage"].split()[-1]
    return Reason.REFUSED if grade == "?" else {"match": 0, "trust": 0, "grade": int(grade)}


def sample(*grades: int | str, **fields: Any) -> Sample:
    """A sample whose passages are graded so."""
    passages = tuple(Passage(f"p{at} {g}", id=f"[{at}]") for at, g in enumerate(grades, 1))
    return Sample(**({"id": "q", "query": "why?", "passages": passages} | fields))


def scored(names: str, one: Sample, judge: Scripted | None = None) -> dict[str, Outcome]:
    metrics = list(naming.metrics_by_name(names).values())
    with Asker(judge or Scripted(by_words)) as asker:
        ((_, found),) = score_stream([one], metrics, asker)
        return {str(metric): column[0] for metric, column in zip(metrics, found, strict=True)}


def values(names: str, one: Sample) -> list[float]:
    found = scored(names, one).values()
    assert all(isinstance(outcome, Score) for outcome in found)
    return [outcome.value for outcome in found]  # type: ignore[union-attr, misc]


def test_the_published_example_comes_out_and_ap_differs_where_passages_below_k_are_relevant():
    one = sample(2, 0, 3, 1, 2)  # [1,0,1,0,1] at threshold 2
    ap, judged, mrr, mean = values("umbrela_AP@5,umbrela_AP_judged@5,umbrela_MRR,umbrela", one)
    assert ap == pytest.approx(0.7556, abs=5e-5) and judged == ap
    assert (mrr, mean) == (1.0, 1.6)
    assert values("umbrela_P@1,umbrela_P@3,umbrela_P@5", one) == pytest.approx([1, 2 / 3, 0.6])
    one = sample(3, 0, 2, 2)
    published, corrected = values("umbrela_AP@1,umbrela_AP_judged@1", one)
    assert (published, corrected) == (1.0, pytest.approx(1 / 3))
    one = sample(1, 0)
    assert values("umbrela_P@1,umbrela_P(rel=1)@1,umbrela_MRR(rel=1)", one) == [0.0, 1.0, 1.0]
    assert scored("umbrela_MRR", sample(1, 3, 0))["umbrela_MRR"].parts == {"best_grade": 3}


def test_grades_are_parts_by_id_and_one_text_is_asked_about_once() -> None:
    found = scored("umbrela", sample(0, 3, 1))["umbrela"]
    assert list(found.parts["grades"].items()) == [("[1]", 0), ("[2]", 3), ("[3]", 1)]
    assert len(found.evidence) == 3
    judge = Scripted(by_words)
    twice = sample(passages=(Passage("a 3"), Passage("a 3"), Passage("b 0")))
    found = scored("umbrela,umbrela_P@2,umbrela_nDCG,umbrela_MRR", twice, judge)
    assert judge.asked == ["relevance_grade"] * 2
    assert found["umbrela"].value == 2.0 and found["umbrela_P@2"].value == 1.0  # type: ignore[union-attr]


def test_shots_are_part_of_the_question_and_of_the_name() -> None:
    judge = Scripted(by_words)
    turns = (Turn("user", "first?"), Turn("agent", "so"))  # the user's are read
    names = "umbrela(shots=few),umbrela_P(shots=few)@1,nuggets(shots=few)"
    scored(names, sample(2, history=turns, answer="x"), judge)
    graded = [one for one in judge.questions if isinstance(one, RelevanceGrade)]
    assert [(one.shots, one.earlier) for one in graded] == [("few", ("first?",))]


def test_a_missing_grade_leaves_the_sample_unscored_unless_it_is_below_the_cut_off() -> None:
    names = "umbrela,umbrela_P@2,umbrela_AP@3,umbrela_MRR,umbrela_nDCG@5"
    for outcome in scored(names, sample(3, "?", 2)).values():
        assert isinstance(outcome, Unscored)
        assert outcome.reason is Reason.REFUSED and outcome.detail.startswith("1 of ")
    found = scored("umbrela_P@1,umbrela_AP@1,umbrela_P@3", sample(3, "?", 2))
    assert [getattr(one, "value", None) for one in found.values()] == [1.0, 1.0, None]
    assert len(found["umbrela_P@1"].evidence) == 1


def test_nothing_retrieved_has_no_mean_and_no_precision() -> None:
    found = scored("umbrela,umbrela_P@5,umbrela_AP@5,umbrela_MRR,umbrela_nDCG@5", sample())
    assert found.pop("umbrela").reason is Reason.NOTHING_RETRIEVED
    assert [outcome.value for outcome in found.values()] == [0.0] * 4  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["umbrela", "umbrela_P@1", "umbrela_nDCG"])
def test_what_cannot_be_graded_is_missing_input(name: str) -> None:
    textless = sample(passages=(Passage("a 1"), Passage(id="d7")))
    for one, why in ((textless, "passage 2"), (sample(1, query=None), "query")):
        found = scored(name, one)[name]
        assert isinstance(found, Unscored) and found.reason is Reason.MISSING_INPUT
        assert why in found.detail


def test_ndcg_compares_with_the_best_order_of_the_same_passages() -> None:
    dcg, best = 3 / math.log2(3) + 1, 3 + 1 / math.log2(3)
    assert values("umbrela_nDCG", sample(1, 3)) == [pytest.approx(dcg / best)]
    exp, ideal = 7 / math.log2(3) + 1, 7 + 1 / math.log2(3)
    assert values("umbrela_nDCG(gain=exp)", sample(1, 3)) == [pytest.approx(exp / ideal)]
    assert values("umbrela_nDCG@1", sample(1, 3)) == [pytest.approx(1 / 3)]
    assert values("umbrela_nDCG@5", sample(0, 0)) == [0.0]
