"""Parts of a golden set: a sample, and a split, that keep the shares of each kind of query."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ragassay.base.errors import UsageError
from ragassay.golden.golden_item import GoldenItem

K = TypeVar("K", bound=Hashable)
_ALL = ()
"""Stands for all kinds together."""


def sampled(
    items: Sequence[GoldenItem], n: int, by: Sequence[str] = ("type",), seed: int = 0
) -> list[GoldenItem]:
    """A random part in which each kind has its share, in the order of the whole."""
    if not 1 <= n <= len(items):
        raise UsageError(f"{n} items cannot be drawn from {len(items)}.")
    source = random.Random(seed)
    kinds = _kinds(items, by)
    quota = shared_out({kind: n * len(ids) / len(items) for kind, ids in kinds.items()}, n)
    chosen = {one for kind, ids in kinds.items() for one in source.sample(ids, quota[kind])}
    return [item for item in items if item.id in chosen]


def shared_out(exact: Mapping[K, float], n: int) -> dict[K, int]:
    """Whole numbers in place of exact shares, by largest remainders: what is left goes to those
    whose shares were cut most, the first ones where these are equal."""
    quota = {one: int(share) for one, share in exact.items()}
    by_rest = sorted(exact, key=lambda one: quota[one] - exact[one])
    for one in by_rest[: n - sum(quota.values())]:
        quota[one] += 1
    return quota


def split(
    items: Sequence[GoldenItem],
    shares: Mapping[str, float],
    by: Sequence[str] = ("type",),
    seed: int = 0,
    groups: Sequence[int] | None = None,
) -> dict[str, list[GoldenItem]]:
    """Disjoint parts that hold all items, in which each kind has its share, as far as the groups
    allow it.

    Args:
        shares: name of each part with its share; they sum to 1.
        groups: of each item; those of one group stay in one part. Each item is one when left out.
    """
    shown = ", ".join(f"{name}={share:g}" for name, share in shares.items())
    if min(shares.values()) <= 0:
        raise UsageError(f"The shares {shown} are not all above 0.")
    if abs((total := sum(shares.values())) - 1) > 1e-9:
        raise UsageError(f"The shares {shown} sum to {total:.10g}, not to 1.")
    kind_of = {one: kind for kind, ids in _kinds(items, by).items() for one in ids}
    members: defaultdict[int, list[GoldenItem]] = defaultdict(list)
    for at, item in enumerate(items):
        members[at if groups is None else groups[at]].append(item)
    # Large groups come first: small ones even out what they leave.
    drawn = list(members.values())
    random.Random(seed).shuffle(drawn)
    drawn.sort(key=len, reverse=True)
    totals = Counter([*kind_of.values(), *[_ALL] * len(items)])
    held: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in shares}
    part_of: dict[str, str] = {}
    for group in drawn:
        counts = Counter([*(kind_of[item.id] for item in group), *[_ALL] * len(group)])

        def growth(name: str, counts: Counter[tuple[str, ...]] = counts) -> float:
            """How much the squared distances from what a part should hold grow by the group."""
            share = shares[name]
            return sum(
                n * (2 * (held[name][kind] / share - totals[kind]) + n / share)
                for kind, n in counts.items()
            )

        chosen = min(shares, key=growth)
        held[chosen].update(counts)
        part_of.update((item.id, chosen) for item in group)
    return {name: [item for item in items if part_of[item.id] == name] for name in shares}


def furthest(
    parts: Mapping[str, Sequence[GoldenItem]],
    shares: Mapping[str, float],
    by: Sequence[str] = ("type",),
) -> tuple[str, str, int, float]:
    """The part and the kind that are furthest from their share, how many items it holds, and how
    many would be its share."""
    kinds = _kinds([item for part in parts.values() for item in part], by)
    held = {name: _kinds(part, by) for name, part in parts.items()}
    differences = [
        (name, ", ".join(kind), len(held[name].get(kind, ())), shares[name] * len(ids))
        for name in parts
        for kind, ids in kinds.items()
    ]
    return max(differences, key=lambda one: abs(one[2] - one[3]))


def _kinds(items: Sequence[GoldenItem], by: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    unknown = [name for name in by if name not in GoldenItem.model_fields]
    if unknown:
        fields = ", ".join(GoldenItem.model_fields)
        raise UsageError(f"Items have no field {unknown[0]!r}. There are: {fields}.")
    kinds: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for item in items:
        kinds[tuple(str(getattr(item, name)) for name in by)].append(item.id)
    return dict(sorted(kinds.items()))
