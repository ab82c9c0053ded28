"""Metrics from rubrics: criteria and a scale in a file become a judged metric without code, each a
class of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.own_prompts import Rubric, RubricPart, bundled
from ragassay.judges.questions import RubricGrade
from ragassay.judges.questions.grading import Parts
from ragassay.metrics.answer.answer_match import accepted
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import earlier_turns, register, textless_passage


class RubricMetric(JudgedMetric):
    """A rubric's score: a whole number on its scale, or 0 to 1 where the rubric says ``normalise``.

    Class attributes:
        rubric: what is judged.

    Formula: the judge's rating by the rubric, on the metric's scale
    Misleads where: judges overrate long, fluent answers; check the agreement with people
    """

    rubric: ClassVar[Rubric]
    family = "rubric"
    asks: ClassVar[tuple[type[Question[Any]], ...]] = (RubricGrade,)

    @property
    def signature(self) -> str:
        """Holds a hash of everything in the rubric that can change a score."""
        return f"{super().signature}|rubric={self.rubric.digest}"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a part that the rubric shows to the judge is missing."""
        lacking = super().lacks(sample)
        if lacking is not None or "passages" not in self.rubric.sees:
            return lacking
        if not sample.passages:
            return Unscored(Reason.NOTHING_RETRIEVED, "nothing was retrieved")
        return textless_passage(sample)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        rubric, shown = self.rubric, _shown(sample)
        low, high = rubric.scale.low, rubric.scale.high
        parts = tuple(pair for part in (*rubric.sees, *rubric.also_sees) for pair in shown[part])
        reply = await ask(RubricGrade(rubric.criteria, low, high, rubric.levels, parts))
        unit = (reply.score - low) / (high - low)
        value = unit if rubric.normalise else reply.score
        return Score(value, {"score": reply.score, "unit": unit}, reply.explanation)


def rubric_metric(rubric: Rubric) -> RubricMetric:
    """The metric of a rubric; registers it under the rubric's name."""
    return naming.register(rubric_class(rubric))()


@cache
def rubric_class(rubric: Rubric) -> type[RubricMetric]:
    """The class of a rubric's metric; equal rubrics share one class."""
    body = {
        "__doc__": f"{rubric.title}.\n\n{rubric.criteria}",
        "__module__": __name__,
        "rubric": rubric,
        "name": rubric.name,
        "source": "a rubric",
        "needs": rubric.sees,
        "uses": rubric.also_sees,
        "low": 0.0 if rubric.normalise else float(rubric.scale.low),
        "high": 1.0 if rubric.normalise else float(rubric.scale.high),
        "higher_is_better": rubric.higher_is_better,
    }
    return type(rubric.name, (RubricMetric,), body)


def _shown(sample: Sample) -> Mapping[RubricPart, Parts]:
    """Each part of a sample as the judge sees it; nothing of what the sample lacks."""
    turns = earlier_turns(sample)
    passages = enumerate(sample.passages or (), start=1)
    return {
        "query": () if sample.query is None else (("query", sample.query),),
        "history": (("earlier turns", turns),) if turns else (),
        "passages": tuple(
            (f"passage {n}", passage.text) for n, passage in passages if passage.text is not None
        ),
        "answer": () if sample.answer is None else (("answer", sample.answer.text),),
        "references": tuple(
            (f"reference answer {n}", text) for n, text in enumerate(accepted(sample), 1)
        ),
    }


for _one in bundled():
    register(rubric_class(_one))
