"""Sentences of an answer that say the opposite of a passage or of a reference, by rules."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges.offline.questions import contradicted, unread
from ragassay.metrics.citation.citation_parser import sentences
from ragassay.metrics.core.metric import SampleMetric, missing, register
from ragassay.texts.languages import stated_language


@register
class Contradicted(SampleMetric):
    """Sentences that say the opposite of a passage or a reference, by rules.

    A sentence is contradicted where it is close to a sentence of a passage or of a reference, and
    has a negation, an opposite, another number or exchanged roles ("the museum lends to the
    library").

    Formula: contradicted sentences of the answer / its sentences
    Misleads where: only near copies are seen, so 0 does not say that nothing is contradicted
    Good for: answers that turn around what they read, without asking a judge
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
