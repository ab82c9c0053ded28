"""How far the claims of an answer and of its reference agree, as Open RAG Eval's golden-answer
evaluator asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from ragassay.judges import Ask
from ragassay.judges.questions import ClaimSupport, ExtractClaims
from ragassay.metrics.core import JudgedMetric, harmonic, not_applicable, part, register
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Score, Unscored


class _Side(NamedTuple):
    """The claims of a text, and which of them the other text supports."""

    claims: tuple[str, ...]
    held: tuple[bool, ...]

    @property
    def share(self) -> float | None:
        """Share of the claims that are supported, 0 to 1; ``None`` where nothing is claimed."""
        return sum(self.held) / len(self.held) if self.held else None


async def side(ask: Ask, query: str, text: str, other: str) -> _Side:
    """What a text claims, and which claims another text supports; for `Ask.once`.

    Raises:
        Unanswered: a question has no answer.
    """
    if not text.strip():
        return _Side((), ())
    claims = (await ask(ExtractClaims(f"user: {query}", text))).claims
    if not claims or not other.strip():
        return _Side(claims, (False,) * len(claims))
    return _Side(claims, (await ask(ClaimSupport(claims, (other,)))).supported)


@register
@dataclass(frozen=True)
class FactualCorrectness(JudgedMetric):
    """Claims of the answer that the reference supports (precision), claims of the reference that
    the answer supports (recall), and their harmonic mean.

    Of several references the one with the highest F1 counts, for all three. An answer that claims
    nothing has no precision, recall 0 and F1 0; a reference that claims nothing measures nothing.
    """

    part: Literal["precision", "recall", "f1"] = part(
        "f1", ("precision", "recall", "f1"), "which of them is the value"
    )

    name = "factual_correctness"
    title = "Claims that answer and reference share, by a judge"
    family = "answer"
    source = "Open RAG Eval 0.3.0, golden answers"
    needs = ("query", "answer", "references")
    parts_titles: ClassVar[Mapping[str, str]] = {
        "precision": "share of the answer's claims that the reference supports",
        "recall": "share of the reference's claims that the answer supports",
        "f1": "harmonic mean of both",
    }
    asks = (ExtractClaims, ClaimSupport)
    recommended_for = "whether an answer says what the golden answer says, and nothing else"

    def lacks(self, sample: Sample) -> Unscored | None:
        """References without any text are none."""
        lacking = super().lacks(sample)
        if lacking is None and not any(text.strip() for text in sample.references):
            return not_applicable("the reference answers are empty")
        return lacking

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        """The value by the nearest reference; all three, and the claims, as parts."""
        assert sample.query is not None and sample.answer is not None
        answer = sample.answer.text
        found: list[tuple[float, dict[str, Any]]] = []
        for at, reference in enumerate(sample.references):
            if not reference.strip():
                continue
            said = await ask.once(side, sample.query, answer, reference)
            wanted = await ask.once(side, sample.query, reference, answer)
            if wanted.share is None:
                continue
            precision, recall = said.share, wanted.share
            f1 = 0.0 if precision is None else harmonic(precision, recall)
            parts = {
                "precision": precision,
                "recall": recall,
                "f1": f1,
                "reference": at,
                "answer_claims": list(zip(said.claims, said.held, strict=True)),
                "reference_claims": list(zip(wanted.claims, wanted.held, strict=True)),
            }
            found.append((f1, parts))
        if not found:
            return Unscored(Reason.UNDEFINED, "the reference claims nothing")
        _, best = max(found, key=lambda one: one[0])
        value = best[self.part]
        if value is None:
            return Unscored(Reason.UNDEFINED, "the answer claims nothing, so it has no precision")
        return Score(value, best)
