"""Metrics whose values come from a neural model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Unscored
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.window import Window
from ragassay.models.weights.weight_files import Unavailable


class ModelMetric(Metric):
    """A metric that a model measures, a whole window at a time: a text that occurs twice goes
    through the model once, and texts of similar length go together.

    A sample that lacks something, or brings the value itself, never reaches the model. Where the
    model is not available, the other samples are unscored with a sentence that says what to do.
    """

    kind = "model"

    def check(self) -> None:
        """Checks before the work begins that the parameters fit together, whatever the model."""

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """Scores each sample: unscored where it lacks something, else the record's value, else the
        model's."""
        outcomes = [self.lacks(sample) or self.read(sample) for sample in window.samples]
        rows = [at for at, outcome in enumerate(outcomes) if outcome is None]
        if rows:
            try:
                measured = self.measure(window, rows)
            except Unavailable as error:
                measured = [Unscored(error.reason, str(error))] * len(rows)
            for at, outcome in zip(rows, measured, strict=True):
                outcomes[at] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def read(self, sample: Sample) -> Outcome | None:
        """The value that the record brings, ``None`` where it brings none."""
        return None

    @abstractmethod
    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The model's outcome for some samples of the window, in the order of ``rows``."""
