"""How similar two lists of items are: as sets, and as rankings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def jaccard(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Items in both over items in either, 0 to 1; ``None`` where both are empty."""
    left, right = set(one), set(other)
    either = len(left | right)
    return len(left & right) / either if either else None


def rank_biased_overlap(
    one: Sequence[Hashable], other: Sequence[Hashable], p: float = 0.9
) -> float | None:
    """Extrapolated rank-biased overlap of two rankings, 0 (disjoint) to 1 (identical).

    It is the expected share of items found in both lists by a reader who goes on to the next rank
    with probability ``p``; beyond the ends of the lists, the agreement at their end is assumed to
    continue. Lists may differ in length. An item that occurs twice counts at its first rank.

    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, eq. 32.

    Returns:
        The overlap; ``None`` where both lists are empty, 0 where one is.
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"p lies between 0 and 1, not at {p}")
    short, long = sorted((list(dict.fromkeys(one)), list(dict.fromkeys(other))), key=len)
    if not short:
        return 0.0 if long else None
    s, n = len(short), len(long)
    common, total, weight = 0, 0.0, 1.0
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    at_s = 0
    for depth in range(1, n + 1):
        weight *= p
        item = long[depth - 1]
        seen_long.add(item)
        common += item in seen_short
        if depth <= s:
            mate = short[depth - 1]
            seen_short.add(mate)
            common += mate in seen_long
        if depth == s:
            at_s = common
        total += common / depth * weight
        if depth > s:
            total += at_s * (depth - s) / (s * depth) * weight
    beyond = ((common - at_s) / n + at_s / s) * weight
    return min(1.0, max(0.0, (1.0 - p) / p * total + beyond))
