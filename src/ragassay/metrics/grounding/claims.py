"""How far an answer agrees with its reference: by claims and a judge, as in Open RAG Eval's
golden-answer evaluator, and by sentences that say the opposite, found by rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.offline.questions import contradicted, unread
from ragassay.judges.questions import ClaimSupport, ExtractClaims
from ragassay.metrics.answer.answer_match import blank_references
from ragassay.metrics.citation.citation_parser import sentences
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import SampleMetric, harmonic, missing, register
from ragassay.metrics.core.metric_parameters import part
from ragassay.texts.languages import stated_language


class _Side(NamedTuple):
    """The claims of a text, and which of them the other text supports."""

    claims: tuple[str, ...]
    held: tuple[bool, ...]

    @property
    def share(self) -> float | None:
        """Share of the claims that are supported, 0 to 1; ``None`` where nothing is claimed."""
        return sum(self.held) / len(self.held) if self.held else None


async def side(ask: Ask, query: str, text: str, other: str) -> _Side:
    """The claims of a text, and which of them another text supports; for `Ask.once`."""
    if not text.strip():
        return _Side((), ())
    claims = (await ask(ExtractClaims(f"user: {query}", text))).claims
    if not claims or not other.strip():
        return _Side(claims, (False,) * len(claims))
    return _Side(claims, (await ask(ClaimSupport(claims, (other,)))).supported)


@register
class FactualCorrectness(JudgedMetric):
    """Claims that answer and reference share, by a judge.

    Where there are several references, the one with the highest F1 counts, for all three. An answer
    without claims has no precision, recall 0 and F1 0; a reference without claims is left out.

    Formula: P = claims of the answer that the reference supports / its claims; R the reverse; F1 =
        2PR / (P + R)
    Part precision: share of the answer's claims that the reference supports
    Part recall: share of the reference's claims that the answer supports
    Part f1: harmonic mean of both
    Misleads where: the judge cuts the claims; a terse reference calls right details unsupported
    Source: Open RAG Eval 0.3.0, golden answers
    """

    part: Literal["precision", "recall", "f1"] = part(
        "f1", ("precision", "recall", "f1"), "which of them is the value"
    )

    name = "factual_correctness"
    family = "answer"
    needs = ("query", "answer", "references")
    asks = (ExtractClaims, ClaimSupport)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank."""
        return super().lacks(sample) or blank_references(sample)

    def most_asked(self, sample: Sample, context: Mapping[str, Any]) -> Iterable[Question[Any]]:
        """The claims of both sides, and whether the other side supports them."""
        answer = sample.answer_text
        asked = f"user: {sample.query_text}"
        for reference in filter(str.strip, sample.references):
            for text, other in ((answer, reference), (reference, answer)):
                if text.strip():
                    yield ExtractClaims(asked, text)
                    if other.strip():
                        yield ClaimSupport((asked, text), (other,))

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        answer = sample.answer_text
        candidates: list[tuple[float, dict[str, Any]]] = []
        for at, reference in enumerate(sample.references):
            if not reference.strip():
                continue
            claimed = await ask.once(side, sample.query_text, answer, reference)
            wanted = await ask.once(side, sample.query_text, reference, answer)
            if wanted.share is None:
                continue
            precision, recall = claimed.share, wanted.share
            f1 = 0.0 if precision is None else harmonic(precision, recall)
            parts = {
                "precision": precision,
                "recall": recall,
                "f1": f1,
                "reference": at,
                "answer_claims": list(zip(claimed.claims, claimed.held, strict=True)),
                "reference_claims": list(zip(wanted.claims, wanted.held, strict=True)),
            }
            candidates.append((f1, parts))
        if not candidates:
            return Unscored(Reason.UNDEFINED, "the reference claims nothing")
        _, best = max(candidates, key=lambda one: one[0])
        value = best[self.part]
        if value is None:
            return Unscored(
                Reason.NOTHING_CLAIMED, "the answer claims nothing, so it has no precision"
            )
        return Score(value, best)


@register
class Contradicted(SampleMetric):
    """Sentences that say the opposite of a passage or a reference, by rules.

    A sentence is contradicted where it is close to a sentence of a passage or of a reference, and
    has a negation, an opposite, another number or exchanged roles ("the museum lends to the
    library").

    Formula: contradicted sentences of the answer / its sentences
    Misleads where: only near copies are seen, so 0 does not say that nothing is contradicted
    Source: our own
    """

    name = "contradicted"
    family = "answer"
    version = 3
    needs = ("answer",)
    uses = ("passages", "references")
    higher_is_better = False

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where there is no text to hold the answer against."""
        lacking = missing(sample, self.needs)
        if lacking is None and not any(_texts(sample).values()):
            given = sample.passages is not None
            reason = Reason.NOTHING_RETRIEVED if given else Reason.NOT_APPLICABLE
            return Unscored(reason, "there is no text of a passage or a reference")
        return lacking

    def score_sample(self, sample: Sample) -> Outcome:
        """The share; the parts name each contradicted sentence, what contradicts it (passages or
        references), and the kind of difference."""
        pieces = sentences(sample.answer_text, sample.passages or ())
        answer_sentences = [piece.text for piece in pieces if piece.text.strip()]
        if not answer_sentences:
            return Unscored(Reason.EMPTY_ANSWER, "the answer is empty")
        texts = _texts(sample)
        beside = " ".join(chain([sample.query_text], *texts.values()))
        if where := unread(sample.answer_text, beside, stated_language(sample)):
            return Unscored(Reason.UNSUPPORTED, f"{self.name} knows no negation in {where}")
        contradictions: list[dict[str, Any]] = []
        for sentence in answer_sentences:
            for against, others in texts.items():
                kind = contradicted(sentence, others) if others else None
                if kind is not None:
                    contradictions.append({"text": sentence, "against": against, "kind": kind})
                    break
        if not contradictions:
            return Score(0.0)
        n, of = len(contradictions), len(answer_sentences)
        explanation = f"{n} of {of} sentences are contradicted"
        return Score(n / of, {"sentences": contradictions}, explanation)


def _texts(sample: Sample) -> dict[str, list[str]]:
    """The texts that may contradict an answer, references first."""
    passages = [one.text or "" for one in sample.passages or ()]
    return {
        "references": [text for text in sample.references if text.strip()],
        "passages": [text for text in passages if text.strip()],
    }
