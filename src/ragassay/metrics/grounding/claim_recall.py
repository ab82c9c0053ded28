"""Whether the passages hold what the reference says: recall of the retrieval without gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.questions import ClaimSupport, ExtractClaims
from ragassay.metrics.answer.answer_match import blank_references
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import passage_texts, register, textless_passage


@register
class ClaimRecall(JudgedMetric):
    """Share of the reference's claims that the passages support.

    Of several references the one with the largest share counts. Where nothing was retrieved, no
    claim is supported.

    Formula: claims of the reference that the passages support / its claims
    Misleads where: details of the reference count even if the query does not ask for them; order
        does not
    Source: Es et al. 2024, RAGAS (context recall)
    """

    name = "claim_recall"
    family = "retrieval"
    needs = ("query", "passages", "references")
    asks = (ExtractClaims, ClaimSupport)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank, or a passage has no text."""
        return super().lacks(sample) or blank_references(sample) or textless_passage(sample)

    def most_asked(self, sample: Sample, context: Mapping[str, Any]) -> Iterable[Question[Any]]:
        """One question a reference about its claims, which say about as much as it does."""
        for reference in filter(str.strip, sample.references if sample.passages else ()):
            asked = f"user: {sample.query_text}"
            yield ClaimSupport((asked, reference), passage_texts(sample))

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        texts = passage_texts(sample)
        shares: list[tuple[float, Score]] = []
        for reference in filter(str.strip, sample.references):
            extracted = await ask(ExtractClaims(f"user: {sample.query_text}", reference))
            claims = tuple(claim for claim in extracted.claims if claim.strip())
            if not claims:
                continue
            held = (False,) * len(claims)
            if texts:
                held = (await ask(ClaimSupport(claims, texts))).supported
            said = f"{sum(held)} of {len(claims)} claims of the reference are in the passages"
            share = sum(held) / len(claims)
            shares.append((share, Score(share, {"claims": claims, "held": held}, said)))
        if not shares:
            return Unscored(Reason.UNDEFINED, "no reference makes a claim")
        return max(shares, key=lambda found: found[0])[1]
