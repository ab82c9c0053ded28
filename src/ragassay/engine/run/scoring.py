"""From samples and metrics to outcomes, a bounded window at a time. Judged metrics run ahead: while
one window's arithmetic is computed, the questions of the next windows are sent already."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from ragassay.base.errors import warn_user
from ragassay.base.sample import ABSTAINING, Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.judges.asking import Asker
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import AllSamples, Metric, Window, reached
from ragassay.models.run_models import Models

T = TypeVar("T")

WINDOW = 1024
"""Samples that are scored together. Larger windows share more work and hold more text in memory."""

MODELLED_WINDOW = 32
"""Where a neural model measures: enough to fill its batches, small enough to show the progress."""

JUDGED_WINDOW = 128
AHEAD = 4
"""Windows whose questions may be in flight at once: enough to keep every slot of an endpoint busy
while the first window waits for its slowest reply."""

Judged = Mapping[JudgedMetric, Sequence[Outcome]]


def score_stream(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    asker: Asker | None = None,
    size: int | None = None,
    models: Models | None = None,
    all_samples: AllSamples | None = None,
) -> Iterator[tuple[Sequence[Sample], list[Sequence[Outcome]]]]:
    """Scores samples, a window at a time."""
    judged = judged_among(metrics)
    shared = models or Models(), all_samples or AllSamples(None)
    waiting: deque[tuple[Window, Future[Judged] | None]] = deque()

    def scored() -> tuple[Sequence[Sample], list[Sequence[Outcome]]]:
        window, asked = waiting.popleft()
        for one, judged_outcomes in ({} if asked is None else asked.result()).items():
            window.put(one, judged_outcomes)
        outcomes: list[Sequence[Outcome]] = [
            list(map(excused, window.samples, window.outcomes(metric))) for metric in metrics
        ]
        remarks = (one for metric in reached(metrics) for one in metric.remarks(window))
        for remark in dict.fromkeys(remarks):  # metrics of one family share theirs
            warn_user(remark)
        return window.samples, outcomes

    for batch in batched(samples, size or (JUDGED_WINDOW if judged else WINDOW)):
        asked = asker.submit(judge_all(batch, judged, asker)) if judged and asker else None
        waiting.append((Window(batch, asker, *shared), asked))
        if asked is None or len(waiting) >= AHEAD:
            yield scored()
    while waiting:
        yield scored()


def excused(sample: Sample, outcome: Outcome) -> Outcome:
    """An outcome, not the system's doing where it need not have given what a metric looks at: the
    query is labelled unanswerable or conversational, or the data set gave it no passages."""
    if not isinstance(outcome, Unscored) or not outcome.reason.by_system:
        return outcome
    is_prescribed = outcome.reason is Reason.NOTHING_RETRIEVED and sample.passages_prescribed
    if sample.answerability in ABSTAINING or is_prescribed:
        return replace(outcome, reason=outcome.reason.excused)
    return outcome


def judged_among(metrics: Iterable[Metric]) -> list[JudgedMetric]:
    """The metrics that ask a judge, those among the others' inputs included."""
    return [metric for metric in reached(metrics) if isinstance(metric, JudgedMetric)]


async def judge_all(
    samples: Sequence[Sample], judged: Sequence[JudgedMetric], asker: Asker
) -> Judged:
    """Computes all judged metrics of a window, sample by sample. A question that several ask is
    asked once."""
    scope = asker.scope()

    async def every(sample: Sample) -> Sequence[Outcome]:
        return await asyncio.gather(*(metric.outcome(sample, scope) for metric in judged))

    rows = await asyncio.gather(
        *(asker.finish_sample(partial(every, sample)) for sample in samples)
    )
    return {metric: [row[at] for row in rows] for at, metric in enumerate(judged)}


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in tuples of `size`; the last may be shorter."""
    iterator = iter(items)
    while batch := tuple(islice(iterator, size)):
        yield batch
