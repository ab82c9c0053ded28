"""Parts of a golden set: a sample, and a split, that keep the shares of each kind of query."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ragassay.errors import UsageError
from ragassay.golden.golden_item import GoldenItem


def sampled(
    items: Sequence[GoldenItem], n: int, by: Sequence[str] = ("type",), seed: int = 0
) -> list[GoldenItem]:
    """A random part in which each kind has its share, in the order of the whole.

    Args:
        items: to choose from.
        n: how many.
        by: fields that tell kinds apart.
        seed: of the choice.

    Raises:
        UsageError: fewer items than asked for, or an unknown field.
    """
    if not 1 <= n <= len(items):
        raise UsageError(f"{n} items cannot be drawn from {len(items)}.")
    source = random.Random(seed)
    kinds = _kinds(items, by)
    exact = {kind: n * len(ids) / len(items) for kind, ids in kinds.items()}
    quota = {kind: int(share) for kind, share in exact.items()}
    # What is left goes to the kinds whose shares were cut most.
    by_rest = sorted(exact, key=lambda kind: (quota[kind] - exact[kind], kind))
    for kind in by_rest[: n - sum(quota.values())]:
        quota[kind] += 1
    chosen = {one for kind, ids in kinds.items() for one in source.sample(ids, quota[kind])}
    return [item for item in items if item.id in chosen]


def split(
    items: Sequence[GoldenItem],
    shares: Mapping[str, float],
    by: Sequence[str] = ("type",),
    seed: int = 0,
) -> dict[str, list[GoldenItem]]:
    """Disjoint parts that hold all items, in which each kind has its share.

    Args:
        items: to divide.
        shares: name of each part with its share; they sum to 1.
        by: fields that tell kinds apart.
        seed: of the division.

    Raises:
        UsageError: shares that do not sum to 1, or an unknown field.
    """
    if abs(sum(shares.values()) - 1) > 1e-9 or min(shares.values()) <= 0:
        raise UsageError(f"The shares {dict(shares)} are not all above 0 or do not sum to 1.")
    source = random.Random(seed)
    parts: dict[str, set[str]] = {name: set() for name in shares}
    done = 0
    for ids in _kinds(items, by).values():
        source.shuffle(ids)
        for one in ids:
            done += 1
            need = {name: share * done - len(parts[name]) for name, share in shares.items()}
            parts[max(need, key=lambda part: need[part])].add(one)
    return {name: [item for item in items if item.id in parts[name]] for name in shares}


def _kinds(items: Sequence[GoldenItem], by: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """The ids of each kind, in the order of the kinds' names."""
    unknown = [name for name in by if name not in GoldenItem.model_fields]
    if unknown:
        fields = ", ".join(GoldenItem.model_fields)
        raise UsageError(f"Items have no field {unknown[0]!r}. There are: {fields}.")
    kinds: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for item in items:
        kinds[tuple(str(getattr(item, name)) for name in by)].append(item.id)
    return dict(sorted(kinds.items()))
