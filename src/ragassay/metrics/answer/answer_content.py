"""What an answer holds: our own definitions beside those of MT-RAG and Open RAG Eval.

Both metrics read one question, so they agree with each other and cost one call.
"""

from __future__ import annotations

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score
from ragassay.judges.asking import Ask
from ragassay.judges.questions import AnswerContent
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import conversation, register

_EMPTY = "the answer is empty; the judge was not asked"
_IN_WORDS = {
    "answer": "an answer",
    "part": "a part of an answer",
    "small_talk": "small talk, in reply to small talk",
    "nothing": "no part of an answer",
}


class _OnContent(JudgedMetric):
    family = "answer"
    needs = ("query", "answer")
    uses = ("history",)
    higher_is_better = None
    asks = (AnswerContent,)

    async def _holds(self, sample: Sample, ask: Ask) -> tuple[str, str]:
        """What the answer holds, and an explanation."""
        if not sample.answer_text.strip():
            return "nothing", _EMPTY
        reply = await ask(AnswerContent(conversation(sample), sample.answer_text))
        return reply.holds, f"the response holds {_IN_WORDS[reply.holds]}"


@register
class Declines(_OnContent):
    """Whether the answer holds no part of an answer.

    It differs from MT-RAG's ``idk_eval`` in two cases. Small talk is 1: it holds no part of an
    answer. "I do not have it, but here is a site" is 1, too: where to look is no part of an answer.

    Formula: 1 no part of an answer, 0.5 a part beside "I don't know", 0 an answer
    Misleads where: no quality by itself; right or wrong depends on the query
    Source: our own, after MT-RAG's idk_eval
    """

    name = "declines"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        holds, why = await self._holds(sample, ask)
        return Score({"answer": 0.0, "part": 0.5}.get(holds, 1.0), {"holds": holds}, why)


@register
class Attempted(_OnContent):
    """Share of queries that the system tried to answer.

    It differs from Open RAG Eval's ``no_answer`` and from ``answered`` in one case: small talk in
    reply to a query that is none is no attempt.

    Formula: 1 if an answer was tried, else 0; small talk is one to small talk alone
    Misleads where: answering everything makes 1
    Source: our own, after Open RAG Eval's no-answer metric
    """

    name = "attempted"
    says = "flag"

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        holds, why = await self._holds(sample, ask)
        return Score(holds != "nothing", {"holds": holds}, why)
