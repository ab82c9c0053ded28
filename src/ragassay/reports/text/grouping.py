"""Groups metrics and slices in the order in which reports show them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ragassay.engine.results import MetricSummary, Slice

_NUMERIC = re.compile(r"[+-]?\d+(\.\d+)?")


def families(metrics: Iterable[MetricSummary]) -> dict[str, list[MetricSummary]]:
    """The metrics by family, in their order."""
    by_family: dict[str, list[MetricSummary]] = {}
    for metric in metrics:
        by_family.setdefault(metric.group or metric.family, []).append(metric)
    return by_family


def by_column(slices: Iterable[Slice]) -> dict[str, list[Slice]]:
    """The slices of each column: numbers (a turn, a year) by value, then the rest as they come."""
    pieces_of: dict[str, list[Slice]] = {}
    for piece in slices:
        pieces_of.setdefault(piece.column, []).append(piece)
    for pieces in pieces_of.values():
        pieces.sort(key=lambda piece: _numeric(piece.value))
    return pieces_of


def _numeric(text: str) -> float:
    return float(text) if _NUMERIC.fullmatch(text) else math.inf
