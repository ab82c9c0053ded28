"""Hallucination by Vectara's HHEM: read from the record, until the model is part of ragassay."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.metrics.base import SampleMetric, missing, register
from ragassay.metrics.mtrag_given import in_range, read, values_of
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Unscored

_NAMES = ("hhem", "hhem_score", "hallucination_score")


@register
@dataclass(frozen=True)
class Hhem(SampleMetric):
    """How far the answer is consistent with all retrieved passages, 0 to 1, by HHEM.

    The model is not part of this version: without a value in the record (``hhem_score`` or
    ``hallucination_score``) the metric is unscored, and never a neutral number.
    """

    name = "hhem"
    title = "Factual consistency of the answer with the passages by HHEM, 1 is consistent"
    family = "trecrag"
    source = "Open RAG Eval, metrics page; vectara/hallucination_evaluation_model"
    needs = ("answer", "passages")
    uses = ("given",)
    kind = "model"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Answer, passages, and a value that came with the record."""
        lacking = missing(sample, self.needs)
        if lacking is not None or values_of(sample, *_NAMES) is not None:
            return lacking
        return Unscored(
            Reason.NEEDS_EXTRA,
            "HHEM needs the model vectara/hallucination_evaluation_model, which is not part of "
            "this version; give its value as 'hhem_score' in the record's metrics",
        )

    def score_sample(self, sample: Sample) -> Outcome:
        """The value that the record brings."""
        values = in_range(self, _NAMES[1], values_of(sample, *_NAMES) or [])
        return values if isinstance(values, Unscored) else read(values[0])
