"""Named sets of metrics with the names and conventions of a published system.

A suite is one file in this package that defines ``SUITE``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from ragassay import discovery
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics import naming
from ragassay.metrics.base import Metric


@dataclass(frozen=True)
class Suite:
    """A named set of metrics.

    Attributes:
        name: what ``--suite`` takes.
        title: one line for people.
        source: the published system or paper.
        metrics: the names of its metrics, in order; local aliases may be used.
        aliases: published names that hold inside this suite only, with what they stand for.
        columns: the published column name of a metric, by the metric's canonical name. Metrics
            without one are shown under their own name.
        published: what ``--published`` changes: names with their replacement; a name without
            parameters stands for the metric with any, a full name (``ChunkP@5``) for that one.
        steps: a published step for metrics that have one, by the name used in ``metrics``.
        notes: what a reader of the numbers should know.
    """

    name: str
    title: str
    source: str
    metrics: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    published: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    steps: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    def resolve(
        self,
        names: str | Sequence[str] | None = None,
        *,
        ks: Sequence[int] | None = None,
        published: bool = False,
    ) -> list[Metric]:
        """The metrics to compute: those named, or all of the suite's.

        Raises:
            UsageError: an unknown name, or a parameter out of range.
        """
        wanted = names if names is not None else self.metrics
        local = dict(self.aliases)
        if published:
            local |= self.published
        found = naming.parse_all(wanted, ks=ks, local=local)
        if published:
            renamed = [self.published.get(str(metric)) for metric in found]
            found = [
                naming.parse(name, local) if name else metric
                for name, metric in zip(renamed, found, strict=True)
            ]
        return found


@cache
def known() -> Mapping[str, Suite]:
    """Every suite by name."""
    found: dict[str, Suite] = {}
    for module in discovery.modules(__name__):
        suite: Suite = module.SUITE
        found[suite.name] = suite
    return found


def get(name: str) -> Suite:
    """The suite called ``name``.

    Raises:
        UsageError: there is none; the message has the nearest match.
    """
    suites = known()
    if name not in suites:
        hint = did_you_mean(name, suites)
        raise UsageError(f"Unknown suite {name!r}. {hint} There are: {', '.join(suites)}.")
    return suites[name]


__all__ = ["Suite", "get", "known"]
