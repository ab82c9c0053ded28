"""Sentences with counts: one is singular."""

from __future__ import annotations

from ragassay.base.counts import either, plural, share


def test_one_of_each_noun_is_singular() -> None:
    assert [plural(n, "query") for n in (0, 1, 2, 1234)] == [
        *("0 queries", "1 query", "2 queries", "1,234 queries")
    ]
    assert share(1, 1, "sample") == "1 of 1 sample" and share(1, 3, "run") == "1 of 3 runs"
    assert [either(n, "has", "have") for n in (0, 1, 2)] == ["have", "has", "have"]
