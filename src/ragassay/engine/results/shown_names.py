"""From a metric that a person names to the name that a run shows it under."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ragassay import suites
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics.core import naming


def shown(
    wanted: str | Sequence[str],
    metrics: Mapping[str, str],
    used: Iterable[str],
    what: str,
    listed: str = "'ragassay report RUN' lists them",
) -> list[str]:
    """The shown names of the metrics that ``wanted`` lists, in order, each once.

    Args:
        wanted: shown names, canonical names, or any alias (UltraRAG's, or of the suites used).
        metrics: shown name -> canonical name of what there is.
        used: names of the suites whose aliases hold.
        what: says in the error where the metrics were looked for.
        listed: says where all of them stand, where they are too many for an error.

    Raises:
        UsageError: a name is unknown, or its metric is not there; the message lists what is there,
            or what of it comes nearest.
    """
    local = suites.aliases_of(suites.get(name) for name in used if name in suites.known())
    by_canonical = {canonical: name for name, canonical in metrics.items()}
    by_folded = {name.casefold(): name for name in reversed(list(metrics))}
    names: dict[str, None] = {}
    for word in naming.split(wanted):
        name = word if word in metrics else by_folded.get(word.casefold())
        if name is not None:
            names.setdefault(name)
            continue
        canonical = _canonical(word, local)
        present = [by_canonical[name] for name in canonical if name in by_canonical]
        if not present:
            aliases = [a for a in local if not by_canonical.keys().isdisjoint(_canonical(a, local))]
            hint = suites.published_elsewhere(word) if not canonical else ""
            if hint:
                hint = did_you_mean(word, metrics, at_least=_NEAR) or hint
            hint = hint or _there_are(word, metrics, listed, aliases)
            raise UsageError(f"{word!r} is not in {what}. {hint}")
        names.update(dict.fromkeys(present))
    return list(names)


def _there_are(word: str, known: Collection[str], listed: str, aliases: Collection[str]) -> str:
    """What there is; nearest may be a published name as well."""
    if len(known) <= _MOST:
        return f"{did_you_mean(word, [*known, *aliases])} There are: {', '.join(known)}."
    near = did_you_mean(word, [*known, *aliases], at_least=_LIKE)
    return f"{near} There are {len(known)} metrics; {listed}."


_MOST = 20
"""Names that an error lists; of more only the nearest."""

_LIKE, _NEAR = 0.4, 0.75
"""How alike names must be, from 0 to 1: to be named at all, and before anything else."""


def _canonical(word: str, local: Mapping[str, str]) -> list[str]:
    try:
        return [str(metric) for metric in naming.parse_all(word, local=local)]
    except UsageError:
        return []
