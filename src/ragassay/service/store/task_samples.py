"""The records of a task as its reports see them, by what is true of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragassay.formats import with_earlier_turns
from ragassay.samples import Sample
from ragassay.service.store.projects import TaskOptions


def samples_of_task(samples: Iterable[Sample], options: TaskOptions) -> Iterator[Sample]:
    """Samples whose answer is none where it is the task's default answer, and with the turns before
    them in their session where the task's records are turns.

    Args:
        samples: in order of time.
        options: of the task.
    """
    default = _plain(options.default_answer or "")
    for sample in with_earlier_turns(samples) if options.multi_turn else samples:
        if default and sample.answer is not None and _plain(sample.answer.text) == default:
            sample = replace(sample, answer=None)
        yield sample


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")
