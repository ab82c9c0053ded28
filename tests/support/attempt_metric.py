"""A judged metric for tests: does the answer try to answer?"""

from dataclasses import dataclass
from typing import ClassVar

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome
from ragassay.judges.asking import Ask
from ragassay.judges.questions.answering import AnswerAttempted
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import scored


@dataclass(frozen=True)
class AttemptMetric(JudgedMetric):
    """1 where the judge says that the answer tries to answer, 0 where it says that it does not.

    A subclass has a name and may have its own explanation.
    """

    title = "Does the answer try?"
    family = "answer"
    source = "test"
    needs = ("query", "answer")
    asks = (AnswerAttempted,)
    explanation: ClassVar[str] = "it says so"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        assert sample.query is not None and sample.answer is not None
        said = await ask(AnswerAttempted(sample.query, sample.answer.text))
        return scored(said.answered == "yes", self.explanation)
