"""What a picture shows: a panel a metric, in it a row a file, under a short name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragassay.engine.results import Result
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts.distribution_chart import Values
from ragassay.reports.text import wording

_GENERIC = ("trecrag", "consistency")
"""Files that every run folder holds, so the folder's name says more."""


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
        result: its scores, with means and intervals.
    """

    name: str
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
        reasons = self.result.columns.tally(name).reasons.items()
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


def labels(paths: Sequence[Path]) -> list[str]:
    """A name for each path: that of the file, with its folder where several are called so, and with
    a number where that does not help."""
    stems = [_stem(path.absolute()) for path in paths]
    return numbered(
        [
            stem if stems.count(stem) == 1 else f"{path.absolute().parent.name}/{stem}"
            for path, stem in zip(paths, stems, strict=True)
        ]
    )


def _stem(path: Path) -> str:
    name = path.name if path.is_dir() else path.name.removesuffix(".gz").rsplit(".", 1)[0]
    return path.parent.name if name in _GENERIC else name


def numbered(names: Sequence[str]) -> list[str]:
    """The names; the second of two alike gets (2), the third (3)."""
    unique: list[str] = []
    for name in names:
        n, one = 1, name
        while one in unique:
            n += 1
            one = f"{name} ({n})"
        unique.append(one)
    return unique
