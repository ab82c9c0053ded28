"""From samples and metrics to outcomes, a bounded window at a time.

Metrics that ask a judge are asked ahead: while one window's arithmetic is done, the questions of
the next windows are already out. Everything else is arithmetic over whole windows.
"""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import islice
from typing import TypeVar

from ragassay.judges import Asker
from ragassay.metrics.core import AllSamples, JudgedMetric, Metric, Window
from ragassay.models import Models
from ragassay.samples import Sample
from ragassay.scores import Outcome

T = TypeVar("T")

WINDOW = 1024
"""Samples that are scored together. Larger windows share more work and hold more text in memory."""

MODELLED_WINDOW = 32
"""Where a neural model measures: enough to fill its batches, and how far it is shows."""

JUDGED_WINDOW = 128
AHEAD = 4
"""Windows whose questions may be out at once: enough to keep every slot of an endpoint busy while
the slowest reply of the first window is awaited."""

Judged = Mapping[JudgedMetric, Sequence[Outcome]]


def score_stream(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    asker: Asker | None = None,
    size: int | None = None,
    models: Models | None = None,
    whole: AllSamples | None = None,
) -> Iterator[tuple[Sequence[Sample], list[Sequence[Outcome]]]]:
    """Yields each window's samples with one list of outcomes a metric, in the metrics' order.

    Where samples can be read only once, and ``whole`` cannot open them again, metrics that take
    all of them are unscored.
    """
    judged = judged_among(metrics)
    shared = models or Models(), whole or AllSamples(None)
    batches = _batched(samples, size or (JUDGED_WINDOW if judged else WINDOW))
    if not judged or asker is None:
        for batch in batches:
            yield _scored(Window(batch, asker, *shared), metrics)
        return
    out: deque[tuple[Sequence[Sample], Future[Judged]]] = deque()
    for batch in batches:
        out.append((batch, asker.submit(judge_all(batch, judged, asker))))
        if len(out) >= AHEAD:
            yield _scored(_joined(*out.popleft(), asker, *shared), metrics)
    while out:
        yield _scored(_joined(*out.popleft(), asker, *shared), metrics)


def judged_among(metrics: Iterable[Metric]) -> list[JudgedMetric]:
    """The metrics that ask a judge, those among the others' inputs included."""
    found: dict[JudgedMetric, None] = {}
    for metric in metrics:
        if isinstance(metric, JudgedMetric):
            found[metric] = None
        found.update(dict.fromkeys(judged_among(metric.inputs)))
    return list(found)


async def judge_all(
    samples: Sequence[Sample], judged: Sequence[JudgedMetric], asker: Asker
) -> Judged:
    """All judged metrics of a window, sample by sample and with one memory for their questions."""
    scope = asker.scope()

    async def every(sample: Sample) -> Sequence[Outcome]:
        return await asyncio.gather(*(metric.outcome(sample, scope) for metric in judged))

    found = await asyncio.gather(*(asker.whole(partial(every, sample)) for sample in samples))
    return {metric: [row[at] for row in found] for at, metric in enumerate(judged)}


def _joined(
    samples: Sequence[Sample],
    judged: Future[Judged],
    asker: Asker,
    models: Models,
    whole: AllSamples,
) -> Window:
    window = Window(samples, asker, models, whole)
    for metric, outcomes in judged.result().items():
        window.put(metric, outcomes)
    return window


def _scored(
    window: Window, metrics: Sequence[Metric]
) -> tuple[Sequence[Sample], list[Sequence[Outcome]]]:
    found = [window.outcomes(metric) for metric in metrics]
    for metric in _reached(metrics):
        for said in metric.remarks(window):
            warnings.warn(said, stacklevel=2)
    return window.samples, found


def _reached(metrics: Iterable[Metric]) -> dict[Metric, None]:
    """The metrics and all that they are made of, each once."""
    found: dict[Metric, None] = {}
    for metric in metrics:
        found[metric] = None
        found.update(_reached(metric.inputs))
    return found


def _batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    iterator = iter(items)
    while batch := tuple(islice(iterator, size)):
        yield batch
