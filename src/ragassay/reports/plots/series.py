"""What a picture shows: a panel a metric, in it a row a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.engine.results import Result
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.distribution_chart import Values
from ragassay.reports.text import wording


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """A metric, the lines above its panel, and whether it is a share of answers."""

    metric: str
    title: str
    below: str
    share: bool = False


def bare(metric: MetricSummary) -> PlotPanel:
    """The panel of a metric under its own name."""
    return PlotPanel(metric.name, metric.name, wording.direction(metric.higher_is_better))


@dataclass(frozen=True, slots=True)
class Series:
    """One file, or one system of a file.

    Attributes:
        name: what it is called in the picture.
        full: the same before it was shortened.
        result: its scores, with means and intervals.
    """

    name: str
    full: str
    result: Result

    def metric(self, name: str) -> MetricSummary | None:
        """The metric's summary; ``None`` where the file does not have it."""
        return self.result.summary.metrics.get(name)

    @property
    def judges(self) -> list[str]:
        """All judges that the file names, sorted."""
        return sorted({m.judge for m in self.result.summary.metrics.values() if m.judge})

    def why(self, name: str) -> str:
        """Why a metric has no value: how many samples went unscored for which reason."""
        if name not in self.result.summary.metrics:
            return "not in this file"
        reasons = self.result.columns.reasons(name).items()
        why = ", ".join(f"{wording.reason(code)} ({n:,})" for code, n in reasons)
        return f"no value: {why}"

    def values(self, name: str) -> Values:
        """The values of a metric, shape ``(n,)``; empty where the file does not have it."""
        columns = self.result.columns
        if name not in self.result.summary.metrics:
            return np.empty(0)
        return columns.values(name)[columns.scored(name)]

    def size(self, name: str) -> int:
        """How many values of a metric there are."""
        return self.values(name).size
