"""How far the offline judge agrees with labels: ``agreement.yaml``, a row for each use of its
answers and each population that it was measured on. A row speaks for no other metric and language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ragassay.base import package_files

Measure = Literal["AUC", "balanced accuracy", "Spearman"]

LEAST: Mapping[Measure, float] = {"AUC": 0.80, "balanced accuracy": 0.80, "Spearman": 0.60}
"""What the lower bound of each measure has to reach for a verdict."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of the offline judge with labels, on one population.

    Attributes:
        name: of the row, and of the computation in ``benchmarks/agreement.py``.
        kinds: of the questions (`Question.kind`).
        metrics: names of the metrics (`Metric.name`) whose use of the answers was measured.
        language: of the data, a code.
        of: what was labelled, in the plural ("English answers of two LLMs").
        labels: what the judge was compared with.
        people: whether people gave the labels.
        measure: what the value is.
        source: of the labels.
        value: AUC and balanced accuracy from 0 to 1 (0.5 by chance), Spearman's rho from -1 to 1
            (0 by chance).
        low, high: its 95 % interval, a bootstrap over conversations or queries.
        n: how many labelled items it rests on.
    """

    name: str
    kinds: tuple[str, ...]
    metrics: tuple[str, ...]
    language: str
    of: str
    labels: str
    people: bool
    measure: Measure
    source: str
    value: float
    low: float
    high: float
    n: int

    @property
    def reaches(self) -> bool:
        """Whether the lower bound reaches `LEAST` of the measure."""
        return self.low >= LEAST[self.measure]

    @property
    def sufficient(self) -> bool:
        """Whether verdicts may rest on it: it `reaches` the mark, on labels by people."""
        return self.people and self.reaches

    def __str__(self) -> str:
        interval = f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.measure} {interval} against {self.labels} ({self.n:,} {self.of})"


@cache
def rows() -> tuple[Agreement, ...]:
    """All rows of the table."""
    read: dict[str, dict[str, Any]]
    read = package_files.table("ragassay.engine.comparison", "agreement.yaml")
    return tuple(
        Agreement(
            name,
            tuple(row["kinds"]),
            tuple(row["metrics"]),
            source=row["source"],
            **row["data"] | row["against"] | row["found"],
        )
        for name, row in read.items()
    )


def rows_of(kind: str, metric: str) -> tuple[Agreement, ...]:
    """The rows of a metric's (`Metric.name`) use of the answers to a kind of question
    (`Question.kind`); empty where it was not measured."""
    return tuple(row for row in rows() if kind in row.kinds and metric in row.metrics)
