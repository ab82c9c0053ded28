"""What an evaluation leaves in memory: scores in columns, rows on demand.

Only eight bytes a value stay in memory; explanations and parts are rows, kept in memory for a small
evaluation and on disk (the run folder) for a large one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.summary import Summary
from ragassay.samples import Identity, Sample
from ragassay.scores import Outcome, Reason, Score, Unscored, Value


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of ``scores.jsonl``."""

    sample: str
    system: str
    repeat: int
    metric: str
    value: Value | None
    status: str
    reason: str | None = None
    explanation: str = ""
    parts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, identity: Identity, metric: str, outcome: Outcome) -> ScoreRow:
        """The row for an outcome."""
        if isinstance(outcome, Score):
            return cls(
                *identity, metric, outcome.value, "ok", None, outcome.explanation, outcome.parts
            )
        return cls(*identity, metric, None, "unscored", str(outcome.reason), outcome.detail)

    @property
    def outcome(self) -> Outcome:
        """The outcome that the row holds."""
        if self.value is None:
            return Unscored(Reason(self.reason or Reason.FAILED), self.explanation)
        return Score(self.value, self.parts, self.explanation)


class ScoreColumns:
    """The numeric face of all scores: one float a sample and metric, with a mask.

    Attributes:
        identities: query id, system and repeat of each sample, in the order of evaluation.
        slices: for each slicing column, each sample's value (``None`` where it has none).
        clusters: each sample's cluster (a conversation, a document), when clustering was asked for.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[str | None]] = {}
        self.clusters: list[str] | None = None
        self._values = {name: array("d") for name in metrics}
        self._scored = {name: array("b") for name in metrics}
        self.reasons: dict[str, dict[int, str]] = {name: {} for name in metrics}
        self.labels: dict[str, dict[int, str]] = {name: {} for name in metrics}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order asked for."""
        return list(self._values)

    def add(self, metric: str, outcome: Outcome) -> None:
        """Appends a sample's outcome to a metric's column."""
        number = outcome.number if isinstance(outcome, Score) else None
        at = len(self._values[metric])
        self._values[metric].append(0.0 if number is None else number)
        self._scored[metric].append(number is not None)
        if isinstance(outcome, Unscored):
            self.reasons[metric][at] = str(outcome.reason)
        elif number is None:
            self.labels[metric][at] = str(outcome.value)

    def scored(self, metric: str) -> NDArray[np.bool_]:
        """Which samples have a number, shape ``(n_samples,)``."""
        return np.frombuffer(self._scored[metric], dtype=np.bool_)

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)


@dataclass
class Result:
    """One evaluation.

    Attributes:
        summary: means, intervals, counts and slices.
        columns: the scores as arrays.
        config: the resolved configuration (``run.yaml``).
    """

    summary: Summary
    columns: ScoreColumns
    config: Mapping[str, Any]
    _rows: Callable[[], Iterator[ScoreRow]]
    _samples: Callable[[], Iterator[Sample]]

    @property
    def scores(self) -> Iterator[ScoreRow]:
        """Every score, one row for each sample and metric."""
        return self._rows()

    @property
    def samples(self) -> Iterator[Sample]:
        """The samples that were evaluated, in order."""
        return self._samples()
