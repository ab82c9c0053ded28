"""Which suite data gets: the default of its format, and how each suite suits it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from ragassay import suites
from ragassay.base.sample import Sample
from ragassay.engine.config.run_config import RunConfig
from ragassay.metrics.core.metric import Metric, missing
from ragassay.metrics.serving.serving_metrics import lacks_beside_failures
from ragassay.suites import Suite

DEFAULT_SUITES = {
    "mtrag": "mtrag",
    "inspectorraget": "mtrag",
    "mlcube": "ragreport",
    "open_rag_eval": "trecrag",
    "trec_rag": "trecrag",
    "trec_run": "retrieval",
    "beir": "retrieval",
}
"""The suite for a format, when none is named. For all others: `retrieval` with qrels, else `qa`.
Where metrics are named and no suite is, its published names hold."""


def default_suite(config: RunConfig, data_format: str) -> Suite:
    """The suite for data, when none is named."""
    usual = "retrieval" if config.qrels is not None else "qa"
    return suites.get(DEFAULT_SUITES.get(data_format, usual))


LOOKED_AT = 2_000
"""Most samples that are looked at."""


@dataclass(frozen=True)
class SuiteFit:
    """How a suite suits data: how many metrics it has, how many of them could score a sample, how
    many samples one of them could score, and how many samples were looked at."""

    n_metrics: int
    n_applicable: int
    n_samples: int
    n_seen: int

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller for a suite that suits more of the data, or that more of its metrics suit."""
        return -self.n_samples, -self.n_applicable / max(1, self.n_metrics)


class SuiteFits:
    """Counts, for every suite, what its metrics could score of the first samples."""

    def __init__(self) -> None:
        self._metrics = {name: one.resolve() for name, one in suites.all_suites().items()}
        self._looked_at: list[Sample] = []

    def add(self, window: Iterable[Sample]) -> None:
        """Takes samples into account, up to `LOOKED_AT`."""
        self._looked_at += islice(window, LOOKED_AT - len(self._looked_at))

    def by_suite(self) -> dict[str, SuiteFit]:
        """The fit of each suite, by its name; the suites that suit most of the data come first."""
        failed = any(sample.failure is not None for sample in self._looked_at)
        every = {one for listed in self._metrics.values() for one in listed}
        fitting = [
            {
                one
                for one in every
                # Some metrics publish a lowest value where a part is missing: that is no fit.
                if missing(sample, one.needs) is None
                and (lacks_beside_failures(one, sample) if failed else one.lacks(sample)) is None
            }
            for sample in self._looked_at
        ]
        scored = set[Metric]().union(*fitting)
        fits = {
            name: SuiteFit(
                len(metrics),
                sum(metric in scored for metric in metrics),
                sum(not one.isdisjoint(metrics) for one in fitting),
                len(self._looked_at),
            )
            for name, metrics in self._metrics.items()
        }
        return dict(sorted(fits.items(), key=lambda item: item[1].rank))
