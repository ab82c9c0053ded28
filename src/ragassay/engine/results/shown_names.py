"""Finds the name under which a run shows a metric, by any name of the metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.metrics.core import naming


def shown(
    wanted: str | Sequence[str],
    metrics: Mapping[str, str],
    used: Iterable[str],
    what: str,
    listed: str = "'ragassay report RUN' lists them",
) -> list[str]:
    """The shown names of the metrics that ``wanted`` lists, in order, each once."""
    local = suites.aliases_of(suites.get(name) for name in used if name in suites.all_suites())
    by_canonical = {canonical: name for name, canonical in metrics.items()}
    by_folded = {name.casefold(): name for name in reversed(list(metrics))}
    names: dict[str, None] = {}
    for word in naming.split(wanted):
        name = word if word in metrics else by_folded.get(word.casefold())
        if name is not None:
            names.setdefault(name)
            continue
        canonical = [str(metric) for metric in naming.known(word, local)]
        existing = [by_canonical[name] for name in canonical if name in by_canonical]
        if not existing:
            elsewhere = "" if canonical else suites.published_elsewhere(word)
            near = did_you_mean(word, metrics) or elsewhere
            few = f"There are: {', '.join(metrics)}."
            there = few if len(metrics) <= _MOST else f"There are {len(metrics)}; {listed}."
            raise UsageError(f"{word!r} is not in {what}. {near} {there}")
        names.update(dict.fromkeys(existing))
    return list(names)


_MOST = 20
"""Most names that an error lists; of more it has only the nearest."""
