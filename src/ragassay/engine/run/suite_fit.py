"""Which suites data suits: how many samples their metrics could score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragassay import suites
from ragassay.metrics.core import Metric, missing
from ragassay.samples import Sample

LOOKED_AT = 2_000
"""Samples that are looked at."""


@dataclass(frozen=True)
class SuiteFit:
    """How a suite suits data.

    Attributes:
        n_metrics: its metrics.
        n_applicable: those of them that could score a sample.
        n_samples: samples that one of its metrics could score.
        n_seen: samples that were looked at: at most 2,000.
    """

    n_metrics: int
    n_applicable: int
    n_samples: int
    n_seen: int


class SuiteFits:
    """Counts, for every suite, what its metrics could score of the first samples."""

    def __init__(self) -> None:
        self._metrics = {name: one.resolve() for name, one in suites.known().items()}
        self._all = list({one: None for listed in self._metrics.values() for one in listed})
        self._scored: dict[Metric, int] = dict.fromkeys(self._all, 0)
        self._samples = dict.fromkeys(self._metrics, 0)
        self._seen = 0
        self._failed = False
        # Metrics that fit a sample, and those that do so where another one tells a failure.
        self._waiting: list[tuple[set[Metric], set[Metric]]] = []

    def add(self, window: Iterable[Sample]) -> None:
        """Takes samples into account, up to `LOOKED_AT`."""
        for sample in window:
            if self._seen == LOOKED_AT:
                return
            self._seen += 1
            self._failed = self._failed or sample.failure is not None
            # Some metrics publish a lowest value where a part is missing: that is no fit.
            whole = [one for one in self._all if missing(sample, one.needs) is None]
            fitting = {metric for metric in whole if metric.lacks(sample) is None}
            beside = {one for one in whole if one.lacks_beside_failures(sample) is None}
            if beside > fitting and not self._failed:
                self._waiting.append((fitting, beside))
            else:
                self._count(beside if self._failed else fitting)

    def _count(self, fitting: set[Metric]) -> None:
        for metric in fitting:
            self._scored[metric] += 1
        for name, metrics in self._metrics.items():
            self._samples[name] += not fitting.isdisjoint(metrics)

    def found(self) -> dict[str, SuiteFit]:
        """By the suite's name, those first that suit most of the data."""
        for fitting, beside in self._waiting:
            self._count(beside if self._failed else fitting)
        self._waiting.clear()
        fits = {
            name: SuiteFit(
                len(metrics),
                sum(self._scored[metric] > 0 for metric in metrics),
                self._samples[name],
                self._seen,
            )
            for name, metrics in self._metrics.items()
        }

        def rank(name: str) -> tuple[int, float]:
            fit = fits[name]
            return -fit.n_samples, -fit.n_applicable / max(1, fit.n_metrics)

        return {name: fits[name] for name in sorted(fits, key=rank)}
