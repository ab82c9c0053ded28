"""A metric: how long the sentences of an answer are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragassay import Outcome, Reason, Sample, Unscored
from ragassay.metrics import SampleMetric, param, register, scored


@register
@dataclass(frozen=True)
class WordsPerSentence(SampleMetric):
    """Words in a sentence of the answer.

    Formula: words of the sentences / sentences
    Misleads where: longer is neither better nor worse
    Source: examples/plugin
    """

    name = "words_per_sentence"
    family = "answer"
    needs = ("answer",)
    high = None
    higher_is_better = None
    least: int = param(1, "sentences with fewer words are left out", minimum=1)

    def score_sample(self, sample: Sample) -> Outcome:
        """The mean over the sentences that are long enough; unscored where there are none."""
        assert sample.answer is not None
        lengths = [len(one.split()) for one in re.split(r"[.!?]+", sample.answer.text)]
        kept = [length for length in lengths if length >= self.least]
        if not kept:
            detail = f"the answer has no sentence of {self.least} words or more"
            return Unscored(Reason.UNDEFINED, detail)
        return scored(sum(kept) / len(kept), sentences=len(kept))
