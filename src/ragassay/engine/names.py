"""From a metric that a person names to the name that a run shows it under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay import suites
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics import naming


def shown(
    wanted: str | Sequence[str], metrics: Mapping[str, str], used: Iterable[str], what: str
) -> list[str]:
    """The shown names of the metrics that ``wanted`` lists, in order, each once.

    Args:
        wanted: shown names, canonical names, or any alias (UltraRAG's, or of the suites used).
        metrics: shown name -> canonical name of what there is.
        used: names of the suites whose aliases hold.
        what: says in the error where the metrics were looked for.

    Raises:
        UsageError: a name is unknown, or its metric is not there; the message lists what is.
    """
    local = {
        alias: target
        for name in used
        if name in suites.known()
        for alias, target in suites.get(name).aliases.items()
    }
    by_canonical = {canonical: name for name, canonical in metrics.items()}
    by_folded = {name.casefold(): name for name in reversed(list(metrics))}
    found: dict[str, None] = {}
    for word in naming.split(wanted):
        name = word if word in metrics else by_folded.get(word.casefold())
        if name is not None:
            found.setdefault(name)
            continue
        canonical = _canonical(word, local)
        present = [by_canonical[name] for name in canonical if name in by_canonical]
        if not present:
            hint = did_you_mean(word, metrics)
            raise UsageError(f"{word!r} is not in {what}. {hint} There are: {', '.join(metrics)}.")
        found.update(dict.fromkeys(present))
    return list(found)


def _canonical(word: str, local: Mapping[str, str]) -> list[str]:
    try:
        return [str(metric) for metric in naming.parse_all(word, local=local)]
    except UsageError:
        return []
