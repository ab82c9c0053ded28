"""Metrics whose values come from a neural model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.metrics.core.metric import Metric, Window
from ragassay.models import Unavailable
from ragassay.samples import Sample
from ragassay.scores import Outcome, Unscored


@dataclass(frozen=True)
class ModelMetric(Metric):
    """A metric that a model measures, a whole window at a time: what stands in it twice goes
    through the model once, and texts of like length go together.

    A sample that lacks something, or brings the value itself, never reaches the model. Where the
    model is not here, the others are unscored with the sentence that says what to do.
    """

    kind = "model"

    def check(self) -> None:
        """Looks whether the parameters go together with any model, before the work begins.

        Raises:
            Unavailable: they do not.
        """

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """What is missing, what the record brings, and what the model says."""
        found = [self.lacks(sample) or self.read(sample) for sample in window.samples]
        rows = [at for at, outcome in enumerate(found) if outcome is None]
        if rows:
            try:
                measured = self.measure(window, rows)
            except Unavailable as error:
                measured = [Unscored(error.reason, str(error))] * len(rows)
            for at, outcome in zip(rows, measured, strict=True):
                found[at] = outcome
        return [outcome for outcome in found if outcome is not None]

    def read(self, sample: Sample) -> Outcome | None:
        """The value that the record brings, ``None`` where it brings none."""
        del sample
        return None

    @abstractmethod
    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """One outcome for each of these samples of the window, by the model.

        Raises:
            Unavailable: the model is not here.
        """
