"""How far the offline judge agrees with labels, by kind of question: ``data/agreement.yaml``.

A figure says how much the answers to one kind of question are worth to the metrics that it names:
those that take the same part of the answer, to the same question about the same things. Claims
that are compared with passages say nothing about claims that are compared with a reference. No
decision rests on a metric without a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ragassay import discovery

Measure = Literal["AUC", "balanced accuracy", "Spearman"]

LEAST: Mapping[Measure, float] = {"AUC": 0.80, "balanced accuracy": 0.80, "Spearman": 0.60}
"""The smallest value of each measure that is sufficient."""

NOT_MEASURED = "agreement not measured"


@dataclass(frozen=True)
class Agreement:
    """Agreement of the offline judge's answers to one kind of question with labels.

    Attributes:
        kind: of the question (`Question.kind`).
        metrics: names of the metrics (`Metric.name`) whose use of the answers was measured.
        measure: what the value is; ``None`` where nothing was measured.
        value: AUC and balanced accuracy from 0 to 1 (0.5 by chance), Spearman's rho from -1 to 1
            (0 by chance); ``None`` where nothing was measured.
        n: how many labelled items it rests on.
        of: what these items are, in the plural ("passages").
        against: what the labels are, and by whom.
        source: which data, how they were used, and who measured.
        held_out: whether the rule was not tuned on these labels.
        people: whether people gave the labels.
        computed: how ``python -m benchmarks.agreement`` computes it again; empty for a figure that
            somebody else measured.
    """

    kind: str
    measure: Measure | None = None
    value: float | None = None
    n: int = 0
    of: str = ""
    against: str = ""
    source: str = ""
    held_out: bool = False
    people: bool = True
    computed: str = ""
    metrics: tuple[str, ...] = ()

    @property
    def sufficient(self) -> bool:
        """Whether the value is at least `LEAST` of its measure, on labels by people that were not
        used for tuning.
        """
        return self._large and self.held_out and self.people

    @property
    def caveat(self) -> str:
        """Why a value that is large enough is not sufficient; empty for other values."""
        if not self._large or self.sufficient:
            return ""
        return "labels by no people" if not self.people else "labels that the rules were tuned on"

    @property
    def _large(self) -> bool:
        return self.measure is not None and (self.value or 0.0) >= LEAST[self.measure]

    @property
    def figure(self) -> str:
        """The value alone, as in ``AUC .77``."""
        if self.measure is None or self.value is None:
            return NOT_MEASURED
        return f"{self.measure} {self.value:.2f}".replace("0.", ".", 1)

    def __str__(self) -> str:
        if self.measure is None:
            return NOT_MEASURED
        return f"{self.figure} against {self.against} (n = {self.n:,} {self.of})"


def agreement_of(kind: str, metric: str) -> Agreement | None:
    """The agreement on a kind of question as a metric uses it, on held-out labels where there are
    any.

    Args:
        kind: of a question (`Question.kind`).
        metric: the name (`Metric.name`) of a metric that asks it.

    Returns:
        The figure; one without a value where nobody measured this use; ``None`` for a kind that
        the offline judge does not answer.
    """
    listed = figures().get(kind)
    if listed is None:
        return None
    return next((one for one in listed if metric in one.metrics), Agreement(kind))


@cache
def figures() -> Mapping[str, tuple[Agreement, ...]]:
    """All figures of each kind that the offline judge answers, held-out ones first."""
    read: dict[str, list[dict[str, Any]]]
    read = discovery.table("ragassay.judges.offline", "data/agreement.yaml")
    return {
        kind: tuple(
            sorted(
                (Agreement(kind, **{**one, "metrics": tuple(one["metrics"])}) for one in listed),
                key=lambda one: not one.held_out,
            )
        )
        for kind, listed in read.items()
    }
