"""MT-RAG's four judges: "I don't know", faithfulness, overall rating, underspecified queries. A
record's own value is taken and no judge is asked, unless ``given=false``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Answerability, Sample
from ragassay.base.score import AND, RECORD, Outcome, Reason, Score, Unscored
from ragassay.judges import Failure, JudgeAnswer
from ragassay.judges.asking import Ask, Unanswered
from ragassay.judges.questions import ClaimSupport, ExtractClaims, ReferenceRating, SaysIdk
from ragassay.judges.questions.answering import SaysUnderspecified
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import (
    Need,
    Window,
    conversation,
    earlier_turns,
    missing,
    not_applicable,
    param,
    passage_texts,
    register,
    scored,
    textless_passage,
)
from ragassay.metrics.mtrag.mtrag_values import GIVEN, READ, Given, explained, givers, no_contexts


@dataclass(frozen=True)
class _Judged(Given, JudgedMetric):
    """A judge's value: the record's own, or the answer to a question."""

    given: bool = param(True, GIVEN, beside=True)

    family = "mtrag"
    needs: ClassVar[tuple[Need, ...]] = ("query", "answer")
    uses: ClassVar[tuple[Need, ...]] = ("history", "given")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored where the question needs a part that is missing; never where the record brings
        the value."""
        return super().lacks(sample) if self.brought(sample) is None else None

    def brought(self, sample: Sample) -> Outcome | None:
        """Also why the record's value is null, where the record says so."""
        outcome = super().brought(sample)
        return explained(sample, self.published[0]) if outcome is None and self.given else outcome

    def read_score(self, value: float, sample: Sample) -> Score:
        """With who gave the value."""
        by = givers(sample, *self.published)
        explanation = READ if RECORD in by else f"{READ}, where {AND.join(by)} gave it"
        return Score(value, explanation=explanation, given=True, by=by)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        outcome = self.brought(sample)
        return await self.asked(sample, ask) if outcome is None else outcome

    @abstractmethod
    async def asked(self, sample: Sample, ask: Ask) -> Outcome:
        """The outcome by the judge's answers."""


class _Classified(_Judged):
    """An answer: 1, 0.5 or 0."""

    rule_of_value = "0, 0.5 or 1"
    higher_is_better = None

    def taken_over(self, sample: Sample, name: str, values: Sequence[Any]) -> Outcome:
        """`Unscored` where the record's value is none of these."""
        if values[0] in (0, 0.5, 1):
            return self.read_score(float(values[0]), sample)
        return Unscored(
            Reason.UNDEFINED,
            f"the given {name} is {values[0]!r}, none of 0, 0.5 and 1: the judge's reply was not "
            "understood",
        )


@register
class IdkEval(_Classified):
    """Does the answer say that it does not know? (MT-RAG idk_eval).

    Small talk ("You're welcome!") is 0; "I do not have it, but here is a site" is 0.5; ``declines``
    is 1 for both. The judge sees the whole conversation, because "I don't know" may be what was
    asked about. The ``conditional_idk`` of an InspectorRAGet file does not replace this metric: it
    does not distinguish 0 from 0.5.

    Formula: 1 "I don't know" in full, 0.5 beside a part or a place to look, 0 none (small talk,
        too)
    Misleads where: not quality by itself; right or wrong depends on the query; see declines
    Source: MT-RAG benchmark, step 2
    """

    name = "idk_eval"
    version = 2
    published = ("idk_eval",)
    asks = (SaysIdk,)

    async def asked(self, sample: Sample, ask: Ask) -> Outcome:
        reply = (await ask(SaysIdk(conversation(sample), sample.answer_text))).says_idk
        return scored(*_IDK[reply])


_IDK = {
    "yes": (1.0, "the answer says only that it does not know"),
    "partial": (0.5, "the answer says that it does not know, and gives a part or a place to look"),
    "no": (0.0, "the answer does not say that it does not know"),
}


@register
class UnderspecifiedEval(_Classified):
    """Does the answer say that the query is underspecified? (MT-RAG underspecified_eval).

    The benchmark's judge for queries labelled UNDERSPECIFIED (MT-RAG, 2026). A record may bring
    0.5, which its published code writes for a reply that it could not read.

    Formula: 1 if the answer asks back or says what is missing, else 0
    Misleads where: only useful if the query is labelled underspecified
    Source: MT-RAG benchmark (2026)
    """

    labelled: bool = param(False, "ask only about queries labelled UNDERSPECIFIED")

    name = "underspecified_eval"
    published = ("underspecified_eval",)
    asks = (SaysUnderspecified,)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also not applicable to other labels where ``labelled`` is set."""
        if self.labelled and sample.answerability is not Answerability.UNDERSPECIFIED:
            return not_applicable("the query is not labelled UNDERSPECIFIED")
        return super().lacks(sample)

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """None where ``labelled`` is set, because other metrics report them."""
        return () if self.labelled else super().remarks(window)

    async def asked(self, sample: Sample, ask: Ask) -> Outcome:
        reply = await ask(SaysUnderspecified(conversation(sample), sample.answer_text))
        return scored(float(reply.asks == "yes"))


@register
class ReferencelessFaithfulness(_Judged):
    """Share of the answer's claims that the passages support.

    An answer without claims is unscored. Not applicable where nothing was retrieved.

    Formula: claims of the answer that the passages support / its claims
    Misleads where: a claim from a wrong passage counts as supported
    Source: Es et al. 2024, RAGAS; MT-RAG benchmark, step 3 (RL_F)
    """

    name = "faithfulness"
    aliases = {"rl_f": "faithfulness"}  # noqa: RUF012
    needs = ("query", "answer", "passages")
    published = ("RL_F",)
    asks = (ExtractClaims, ClaimSupport)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored without passages or the text of one."""
        if self.brought(sample) is not None:
            return None
        lacking = missing(sample, ("query", "answer")) or no_contexts(sample)
        return lacking or textless_passage(sample)

    async def asked(self, sample: Sample, ask: Ask) -> Outcome:
        extracted = await ask(ExtractClaims(conversation(sample), sample.answer_text))
        claims = tuple(claim for claim in extracted.claims if claim.strip())
        if not claims:
            return Unscored(
                Reason.NOTHING_CLAIMED, "the answer makes no claim that could be supported"
            )
        supported = (await ask(ClaimSupport(claims, passage_texts(sample)))).supported
        n = sum(supported)
        explanation = f"{n} of {len(claims)} claims are supported by the passages"
        return Score(n / len(claims), {"claims": claims, "supported": supported}, explanation)


_WITHOUT_PASSAGES = (
    "{n} {answer was|answers were} rated for RB_llm without passages, as the {sample has|samples "
    "have} none: against the reference alone."
)


@register
class ReferenceJudge(_Judged):
    """Overall rating against the reference (MT-RAG RB_llm).

    The rating is of faithfulness, appropriateness and completeness. The judge compares with the
    first reference and sees the passages, where there are some, and the earlier turns. With a panel
    as judge it is the median of the votes, whatever the panel's own rule.

    Formula: (judge's rating, 1 to 10) / 10
    Misleads where: one overall number; judges overrate fluent answers
    Source: Kuo et al. 2024, RAD-Bench; MT-RAG benchmark, step 4
    """

    name = "rb_llm"
    version = 2
    needs = ("query", "answer", "references")
    uses = ("history", "passages", "given")
    published = ("RB_llm",)
    asks = (ReferenceRating,)

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """Also how many answers were rated without passages."""
        pairs = zip(window.samples, window.outcomes(self), strict=True)
        n = sum(
            isinstance(outcome, Score) and not outcome.given and not sample.passages
            for sample, outcome in pairs
        )
        return [*super().remarks(window), CountedFact(_WITHOUT_PASSAGES, n)]

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage has no text."""
        lacking = super().lacks(sample)
        if lacking is not None or self.brought(sample) is not None:
            return lacking
        return textless_passage(sample)

    async def asked(self, sample: Sample, ask: Ask) -> Outcome:
        texts = passage_texts(sample)
        question = ReferenceRating(
            history=earlier_turns(sample),
            query=sample.query_text,
            reference=sample.references[0],
            answer=sample.answer_text,
            passages=texts,
        )
        reply = await ask.judge_answer(question)
        if isinstance(reply, Failure):
            raise Unanswered(reply)
        votes = [vote.answer.rating for vote in reply.votes if isinstance(vote, JudgeAnswer)]
        # A reply holds a whole number, so that a panel's own median of an even number of votes is
        # the lower of the two middle ones; the published figure lies between them.
        rating = median(votes) if votes else reply.answer.rating
        parts = {"rating": rating, **({"ratings": votes} if votes else {})}
        # No vote's explanation fits a value that lies between two votes.
        explanation = reply.answer.explanation
        if rating != reply.answer.rating:
            explanation = f"votes: {', '.join(map(str, votes))}"
        if not texts:
            explanation = f"Rated without passages. {explanation}".rstrip()
        return Score(rating / 10, parts, explanation)
