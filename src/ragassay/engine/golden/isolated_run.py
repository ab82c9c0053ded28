"""Tells failures of retrieval from failures of generation.

The generator is run twice: with what was retrieved, and with the gold passages. A query that is
right with the gold passages only fails by its retrieval; one that is wrong with them fails by its
generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragassay.engine.comparison import compare
from ragassay.engine.results import Comparison, Result
from ragassay.errors import UsageError, did_you_mean

RIGHT, RETRIEVAL, GENERATION, DESPITE = "right", "retrieval", "generation", "despite"
CLASSES: Mapping[str, str] = {
    RIGHT: "right with what was retrieved and with the gold passages",
    RETRIEVAL: "right with the gold passages only: retrieval failed",
    GENERATION: "wrong with the gold passages, too: generation failed",
    DESPITE: "right with what was retrieved only",
}


@dataclass(frozen=True)
class Isolated:
    """A full run beside an isolated one.

    Attributes:
        metric: that says what is right.
        threshold: value from which an answer is right.
        queries: ids of each class of `CLASSES`.
        unscored: queries that lack a score in one of the runs.
        comparison: the isolated run (A) tested against the full one (B).
    """

    metric: str
    threshold: float
    queries: Mapping[str, tuple[str, ...]]
    unscored: int
    comparison: Comparison


def isolated(full: Result, alone: Result, metric: str, threshold: float = 0.5) -> Isolated:
    """Puts each query of two runs into its class.

    Args:
        full: the run with what was retrieved.
        alone: the run of the same generator with the gold passages.
        metric: that both runs have; higher is better.
        threshold: value from which an answer is right.

    Raises:
        UsageError: a run lacks the metric, or the runs share no query.
    """
    values = [_values(run, metric) for run in (full, alone)]
    shared = [name for name in values[0] if name in values[1]]
    if not shared:
        raise UsageError("The two runs share no query.")
    queries: dict[str, list[str]] = {name: [] for name in CLASSES}
    unscored = 0
    for name in shared:
        retrieved, gold = values[0][name], values[1][name]
        if retrieved is None or gold is None:
            unscored += 1
            continue
        kind = {
            (True, True): RIGHT,
            (False, True): RETRIEVAL,
            (False, False): GENERATION,
            (True, False): DESPITE,
        }[retrieved >= threshold, gold >= threshold]
        queries[kind].append(name)
    comparison = compare(alone, full, metrics=[metric], force=True)
    found = {kind: tuple(names) for kind, names in queries.items()}
    return Isolated(metric, threshold, found, unscored, comparison)


def _values(run: Result, metric: str) -> dict[str, float | None]:
    """The metric of each query; of several repeats their mean, ``None`` where one is unscored."""
    if metric not in run.columns.metrics:
        hint = did_you_mean(metric, run.columns.metrics)
        raise UsageError(f"{run.name} has no metric {metric!r}. {hint}")
    found: dict[str, list[float | None]] = {}
    for row, (name, _, _) in enumerate(run.columns.identities):
        value = run.columns.value(metric, row)
        found.setdefault(name, []).append(float(value) if isinstance(value, int | float) else None)
    return {
        name: None
        if None in values
        else sum(value for value in values if value is not None) / len(values)
        for name, values in found.items()
    }
