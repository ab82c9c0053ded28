"""The metrics of a run, or of a comparison, that the terminal shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ragassay import suites
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import Summary


def left_out(summary: Summary, used: Sequence[str]) -> list[str]:
    """The names of the metrics that are not in the headline of their suite.

    Of a suite of which only some metrics were computed, all are shown: they were asked for by name.

    Args:
        summary: of a run.
        used: names of the suites of the run.
    """
    by_canonical = {one.metric: name for name, one in summary.metrics.items()}
    shown: set[str] = set()
    own_metrics: dict[str, None] = {}
    for name in used:
        suite = suites.all_suites().get(name)
        if suite is None:
            continue
        own = [str(metric) for metric in suite.resolve()]
        if suite.headline and by_canonical.keys() >= set(own):
            own_metrics |= dict.fromkeys(own)
            shown.update(suite.headline)
        else:
            shown.update(own)
    return [by_canonical[one] for one in own_metrics if one not in shown]


def without(summary: Summary, names: Collection[str]) -> Summary:
    """The summary without some of its metrics; nothing else changes."""
    metrics = {name: one for name, one in summary.metrics.items() if name not in names}
    return replace(summary, metrics=metrics)


def only(comparison: Comparison, names: Collection[str]) -> Comparison:
    """The comparison with some of its metrics; what was tested together stays as it is."""
    differences = tuple(one for one in comparison.differences if one.name in names)
    notes = tuple(
        replace(note, names=kept)
        for note in comparison.notes
        if (kept := tuple(name for name in note.names if name in names)) or not note.names
    )
    return replace(comparison, differences=differences, notes=notes)
