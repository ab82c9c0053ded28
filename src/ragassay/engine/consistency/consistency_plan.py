"""Which metrics a run's consistency has: those of the suite, on those of the other suites."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results.result import CONSISTENCY
from ragassay.metrics.consistency.runs_spread import OfMetric, RunsFlip
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.suites import Suite


@dataclass(frozen=True)
class ConsistencyPlan:
    """What will be computed of the runs of each query.

    Attributes:
        metrics: each under the name that it is shown by.
        of: the metrics of the first step that are looked at, by the names they are shown by.
        asked: the metrics as a configuration names them.
    """

    metrics: Mapping[str, Metric]
    of: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def suite(self) -> Suite:
        """The suite with the headings of this run's metrics."""
        groups = {name: m.of for name, m in self.metrics.items() if isinstance(m, OfMetric)}
        return dataclasses.replace(suites.get(CONSISTENCY), groups=groups)


def is_over_runs(metric: Metric) -> bool:
    """Whether a metric scores groups of runs, and not single runs."""
    return "runs" in metric.needs


def is_wanted(config: RunConfig, used: Sequence[Suite], metrics: Iterable[Metric]) -> bool:
    """Whether a configuration asks for consistency: by the suite, by a metric over runs, or by the
    keys ``consistency_of`` and ``consistency_metrics``.

    Args:
        config: of the run.
        used: its suites.
        metrics: that it names.
    """
    named = any(suite.name == CONSISTENCY for suite in used)
    asked = config.consistency_of or config.consistency_metrics
    return bool(named or asked or any(map(is_over_runs, metrics)))


def templates(config: RunConfig, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics over runs that a configuration names, or else those of the suite. One that
    compares the values of another metric and does not name it is applied to each.

    Args:
        config: may name metrics over runs (``consistency_metrics``).
        metrics: all metrics that the configuration names.

    Raises:
        UsageError: an unknown name, or a metric that is not over runs.
    """
    own = [*filter(is_over_runs, metrics)]
    suite = suites.get(CONSISTENCY)
    if not config.consistency_metrics:
        return own or suite.resolve()
    chosen = suite.resolve(config.consistency_metrics)
    single = [metric for metric in chosen if not is_over_runs(metric)]
    if single:
        raise UsageError(
            f"{single[0]} is no metric of the suite consistency. To have its spread, write "
            f"--consistency-of {single[0]}."
        )
    return chosen


def metrics_with_spread(
    config: RunConfig, used: Sequence[Suite], metrics: Sequence[Metric], over: Sequence[Metric]
) -> tuple[list[Metric], list[Metric]]:
    """Finds the metrics of single runs whose spread is reported.

    Args:
        config: may name metrics of single runs (``consistency_of``).
        used: suites of the run.
        metrics: of single runs.
        over: metrics over runs, as `templates` gives them.

    Returns:
        The metrics of single runs that the configuration or a metric over runs names, or else all
        but percentiles; then the metrics over runs, which name those by their canonical names.

    Raises:
        UsageError: an unknown metric.
    """
    aliases = suites.aliases_of(suite for suite in used if suite.name != CONSISTENCY)
    columns = {name: metric for suite in used for metric, name in suite.columns.items()}
    by_name = {str(metric): metric for metric in metrics}

    def named(word: str) -> list[Metric]:
        computed = by_name.get(word) or by_name.get(columns.get(word, ""))
        meant = (
            [computed] if computed else list(suites.metrics_by_name(word, local=aliases).values())
        )
        if wrong := next(filter(is_over_runs, meant), None):
            raise UsageError(f"{wrong} looks at runs itself; its own spread is not told.")
        return meant

    chosen = dict.fromkeys(m for word in naming.split(config.consistency_of) for m in named(word))
    resolved: list[Metric] = []
    for metric in over:
        if isinstance(metric, OfMetric) and metric.of:
            meant = named(metric.of)
            chosen.update(dict.fromkeys(meant))
            resolved += [dataclasses.replace(metric, of=str(one)) for one in meant]
        else:
            resolved.append(metric)
    # The values of a percentile are those of its metric: latency_p95 of a sample is its latency.
    plain = [metric for metric in metrics if metric.aggregation == metric.aggregate]
    looked = list(chosen) if config.consistency_of else [*plain, *chosen]
    return list(dict.fromkeys(looked)), resolved


def make_consistency_plan(
    over: Sequence[Metric], of: Mapping[str, Metric], shown: Mapping[str, str]
) -> ConsistencyPlan:
    """The metrics over runs; one that names no other metric is there once for each metric that is
    compared.

    Args:
        over: metrics over runs.
        of: the metrics looked at by the names that they are shown by.
        shown: these names by canonical names.
    """
    columns = suites.get(CONSISTENCY).columns
    by_name: dict[str, Metric] = {}

    def add(metric: Metric, name: str) -> None:
        by_name[name if name not in by_name else str(metric)] = metric

    for metric in over:
        if not isinstance(metric, OfMetric):
            usual = naming.usual(metric)
            column = columns.get(str(usual))
            name = naming.published_name(column, metric, usual) if column else str(metric)
            add(metric, name)
    for name, looked in of.items():
        for metric in over:
            if not isinstance(metric, OfMetric) or shown.get(metric.of, "") not in ("", name):
                continue
            # Verdicts flip, numbers spread; flags do both.
            unsuited = "number" if isinstance(metric, RunsFlip) else "label"
            if metric.of or looked.says != unsuited:
                add(dataclasses.replace(metric, of=name), f"{CONSISTENCY}_{name}.{metric.stat}")
    numeric = tuple(name for name, looked in of.items() if looked.says != "label")
    labels = tuple(name for name in of if name not in numeric)
    return ConsistencyPlan(by_name, (*numeric, *labels), tuple(map(str, over)))
