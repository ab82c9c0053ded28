"""Which scores a run would lack because a neural model is not on this machine."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ragassay.engine.config import RunConfig
from ragassay.engine.models.modelling import embedding_among, model_options, weights_among
from ragassay.engine.run import judged_among
from ragassay.metrics.core import AllSamples, Metric, Window
from ragassay.models import ModelOptions, Models, Unavailable, Weights
from ragassay.models.embedders import DEFAULT, Embedder
from ragassay.models.weights import facts, folder_of, needs_packages, place_of
from ragassay.samples import Sample
from ragassay.scores import Reason, Unscored

I = TypeVar("I")  # noqa: E741
_NOBODY = Unscored(Reason.UNSUPPORTED, "nobody is asked")


class AbsentModels:
    """Counts the samples for which metrics need a model that is not here.

    Such a metric scores the samples as in the run, with models that fail as they would fail there.
    So values that a record brings, and values that are derived from them, count as in the run. No
    model is loaded, and no judge is asked.

    Attributes:
        counts: by metric, samples that it could score if its model were here.
        why: by metric that lacks any, what is not here and how to get it.

    Args:
        config: names folders and the embedder.
        metrics: of the run, by the names that they are shown under.
        remote: whether an endpoint embeds.
        all_samples: the run's data, for metrics that take all samples.
    """

    def __init__(
        self,
        config: RunConfig,
        metrics: Mapping[str, Metric],
        remote: bool,
        all_samples: AllSamples,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.why: dict[str, str] = {}
        self._all_samples = all_samples
        options = model_options(config)
        self._metrics: dict[str, tuple[Metric, _Absent]] = {}
        for name, metric in metrics.items():
            lacking = _lacking(metric, options, None if remote else config.embedder or DEFAULT)
            if lacking is not None:
                self._metrics[name] = metric, _Absent(options, lacking)

    def __bool__(self) -> bool:
        """Whether any metric's model is not here."""
        return bool(self._metrics)

    def add(self, samples: Sequence[Sample]) -> None:
        """Takes in some samples."""
        for name, (metric, models) in self._metrics.items():
            window = Window(samples, None, models, self._all_samples)
            for judged in judged_among([metric]):
                window.put(judged, [_NOBODY] * len(window))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes = window.outcomes(metric)
            for sample, outcome in zip(samples, outcomes, strict=True):
                if (
                    isinstance(outcome, Unscored)
                    and outcome.reason is Unavailable.reason
                    and metric.lacks(sample) is None
                ):
                    self.counts[name] += 1
                    self.why[name] = models.problem


class _Absent(Models):
    """Models of which none is here."""

    def __init__(self, options: ModelOptions, error: Unavailable) -> None:
        super().__init__(options, self._none)
        self._error, self.problem = error, str(error)

    def use(self, kind: type[I], *spec: Hashable) -> I:
        del kind, spec
        raise self._error.saying(self.problem)

    def _none(self, models: Models) -> Embedder:
        del models
        raise self._error.saying(self.problem)


def _lacking(metric: Metric, options: ModelOptions, embedder: str | None) -> Unavailable | None:
    """Why a metric, or one that it is made of, has no model here; ``None`` where it needs none."""
    used = weights_among([metric])
    if embedder is not None and embedding_among([metric]):
        used.append(Weights.parse(embedder))
    for weights in used:
        needs_weights = not facts(weights).tokenizer and weights.name != embedder
        try:
            needs_packages()
            (folder_of if needs_weights else place_of)(weights, options.folders)
        except Unavailable as error:
            if error.reason is Unavailable.reason:
                return error
    return None
