"""Groups metrics and slices in the order in which reports show them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ragassay.base.counts import grouped as grouped
from ragassay.engine.results.summary import MetricSummary, Slice

_NUMERIC = re.compile(r"[+-]?\d+(\.\d+)?")


def sentences(form: str, pairs: Iterable[tuple[object, str]]) -> list[str]:
    """A sentence for each key, with its values.

    Args:
        form: of a sentence, with places for the key and its values.
        pairs: key and value.
    """
    return [form.format(key, ", ".join(values)) for key, values in grouped(pairs).items()]


def families(metrics: Iterable[MetricSummary]) -> dict[str, list[MetricSummary]]:
    """The metrics by family, in their order."""
    return grouped((metric.group or metric.family, metric) for metric in metrics)


def by_column(slices: Iterable[Slice]) -> dict[str, list[Slice]]:
    """The slices of each column: numbers (a turn, a year) by value, then the rest as they come."""
    pieces_of = grouped((piece.column, piece) for piece in slices)
    for pieces in pieces_of.values():
        pieces.sort(key=lambda piece: _numeric(piece.value))
    return pieces_of


def _numeric(text: str) -> float:
    return float(text) if _NUMERIC.fullmatch(text) else math.inf
