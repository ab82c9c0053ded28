"""Names of other tools' metrics: which of ours is the same, or comes nearest and how it differs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ragassay.base import package_files


@dataclass(frozen=True)
class PeerMetric:
    """A metric of another tool.

    Attributes:
        tool: the tool.
        names: what it calls the metric.
        differs: in what they differ.
        ours: the name of our metric that is the same or comes nearest; empty where none does.
        same: whether the definition is the same for every sample.
    """

    tool: str
    names: tuple[str, ...]
    differs: str
    ours: str = ""
    same: bool = False


@cache
def peer_metrics() -> tuple[PeerMetric, ...]:
    """All of them, in the order of the file."""
    rows = package_files.table("ragassay.suites", "peers/peer_names.yaml")
    return tuple(PeerMetric(**{**row, "names": tuple(row["names"])}) for row in rows)


@cache
def peer_aliases() -> Mapping[str, str]:
    """The names that stand for a metric of ours, since the definition is the same."""
    return {name: one.ours for one in peer_metrics() if one.same for name in one.names}


def peer_advice(name: str) -> str:
    """What tools call a metric so, which of ours comes nearest, and how it differs; empty where no
    tool is known to."""
    wanted = _folded(re.split(r"[(@.]", name, maxsplit=1)[0])
    meant = [one for one in peer_metrics() if wanted in map(_folded, one.names)]
    if not meant:
        return ""
    nearest = {one.ours for one in meant}
    alike = nearest.pop() if len(nearest) == 1 else ""
    first = f" {alike} comes nearest." if alike else ""
    listed = " ".join(
        f"{one.tool}: {'' if alike or not one.ours else f'{one.ours} comes nearest. '}{one.differs}"
        for one in meant
    )
    return f"{name!r} is a metric of other tools.{first} {listed} See docs/coming-from.md."


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("metric")
