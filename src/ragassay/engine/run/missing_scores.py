"""Which scores of a run are missing, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ragassay.base.counts import grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.core.metric import Metric, missing
from ragassay.models.weights.weight_files import BY_MODEL, Unavailable

_NEEDED_NONE = " The values that are there needed no model; they tell nothing of the others."


class MissingScores:
    """The first reason of each kind why scores are missing.

    Attributes:
        first_reason: of all; empty where no score is missing.
        without_model: the metrics that lack a model, by what is missing.
        n_without_embedder: scores that lack the vectors of an embedder that the run names.

    Args:
        metrics: of the run.
        names_embedder: whether the run names an embedder.
    """

    def __init__(self, metrics: Mapping[str, Metric], *, names_embedder: bool) -> None:
        self._metrics, self._names_embedder = metrics, names_embedder
        self.first_reason = ""
        self.without_model: dict[str, dict[str, None]] = {}
        self.n_without_embedder = 0
        self._derived: dict[str, str] = {}
        self._failed: dict[str, tuple[str, str]] = {}
        self._lacking: dict[str, tuple[str, str]] = {}

    def add(self, name: str, sample: Sample, outcome: Unscored) -> None:
        """Takes in a missing score.

        Args:
            name: of the metric.
            sample: that lacks it.
            outcome: says why.
        """
        metric, detail = self._metrics[name], outcome.detail.rstrip(".")
        self.first_reason = self.first_reason or outcome.detail
        if outcome.reason is Reason.FAILED:
            self._failed.setdefault(name, (sample.id, detail))
        if name not in self._lacking and _lacks_within(metric, sample, outcome):
            self._lacking[name] = (sample.id, detail)
        is_absent = outcome.reason is Unavailable.reason
        if outcome.reason in BY_MODEL and (metric.kind == "model" or metric.embeds):
            self.without_model.setdefault(detail, {})[name] = None
            # A run that names an embedder is incomplete without its vectors.
            self.n_without_embedder += is_absent and metric.embeds and self._names_embedder
        elif is_absent and metric.inputs:
            self._derived.setdefault(name, detail)

    def of_models_and_parts(
        self, metrics: Mapping[str, MetricSummary], *, derived: bool
    ) -> Iterator[str]:
        """Sentences on metrics that lack scores because of a model or a part of the samples.

        Args:
            metrics: with their numbers.
            derived: whether metrics that derive from others are named where no model is missing.
        """
        absent = {name for names in self.without_model.values() for name in names}
        for detail, names in self.without_model.items():
            some = any(metrics[name].n_scored for name in names)
            yield f"{', '.join(names)}: unscored, {detail}.{_NEEDED_NONE if some else ''}"
        if absent and self._derived:
            yield f"{', '.join(self._derived)}: unscored as well, being made of these."
        elif derived:
            for name, detail in self._derived.items():
                yield f"{name}: unscored, {detail}."
        alike = grouped(
            (first, name)
            for name, first in self._lacking.items()
            if not metrics[name].n_scored and name not in absent
        )
        for (sample_id, detail), alike_names in alike.items():
            listed = ", ".join(alike_names)
            yield f"{listed}: unscored, missing input, first in sample {sample_id!r}: {detail}."

    def of_failures(self, details: Iterable[str], *, has_scores: bool) -> Iterator[str]:
        """Sentences on metrics that failed: the first failure of each.

        Args:
            details: of other sentences; a failure that one of them explains is left out.
            has_scores: whether any metric has a score; else another sentence has the first reason.
        """
        explained = {detail.rstrip(".") for detail in details}
        if not has_scores:
            explained.add(self.first_reason.rstrip("."))
        explained.discard("")
        for name, (sample_id, detail) in self._failed.items():
            if detail and not any(one in detail for one in explained):
                explained.add(detail)
                yield f"{name} failed, first on sample {sample_id!r}: {detail}."


def _lacks_within(metric: Metric, sample: Sample, outcome: Unscored) -> bool:
    """Whether a sample has each part that a metric needs, and what is missing lies within one."""
    return (
        outcome.reason is Reason.MISSING_INPUT
        and bool(metric.needs)
        and missing(sample, metric.needs) is None
        and metric.lacks(sample) is not None  # else an answer of the judge is missing
    )
