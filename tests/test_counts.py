"""Sentences with counts: one is singular."""

from __future__ import annotations

from dataclasses import replace

from ragassay.base.counts import either, plural, share
from reports_examples import pair
from terminal_text import said as said_below


def test_one_of_each_noun_is_singular() -> None:
    assert [plural(n, "query") for n in (0, 1, 2, 1234)] == [
        *("0 queries", "1 query", "2 queries", "1,234 queries")
    ]
    assert share(1, 1, "sample") == "1 of 1 sample" and share(1, 3, "run") == "1 of 3 runs"
    assert [either(n, "has", "have") for n in (0, 1, 2)] == ["have", "has", "have"]


def test_one_metric_is_not_corrected_across_metrics() -> None:
    comparison = pair(12)[0]
    tested = [d for d in comparison.differences if d.p_adjusted is not None]
    assert len(tested) > 1
    one = replace(comparison, differences=tuple(tested[:1]), n_tested=1)
    assert "are corrected for" in " ".join(said_below(comparison, full=True))
    said = " ".join(said_below(one, full=True))
    assert "are corrected for" not in said and "1 metric" not in said
    assert "each metric's own test at the 5 % level" in said
