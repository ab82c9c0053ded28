"""From samples and metrics to outcomes, a bounded window at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from ragassay.metrics.base import Metric, Window
from ragassay.samples import Sample
from ragassay.scores import Outcome

T = TypeVar("T")

WINDOW = 1024
"""Samples that are scored together. Larger windows share more work and hold more text in memory."""


def score_stream(
    samples: Iterable[Sample], metrics: Sequence[Metric], size: int = WINDOW
) -> Iterator[tuple[Sequence[Sample], list[Sequence[Outcome]]]]:
    """Yields each window's samples with one list of outcomes a metric, in the metrics' order."""
    for batch in _batched(samples, size):
        window = Window(batch)
        yield window.samples, [window.outcomes(metric) for metric in metrics]


def _batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    iterator = iter(items)
    while batch := tuple(islice(iterator, size)):
        yield batch
