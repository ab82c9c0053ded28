"""What came of asking: the samples of each system, while they come and at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.targets.asking.ask_summary import AskSummary
from ragassay.targets.asking.asked_table import asked_report

LOOK_EVERY_S = 0.1
"""Seconds between two reports of progress, and between two looks for new samples."""


@dataclass(frozen=True)
class Answers:
    """What came of asking.

    Attributes:
        samples: for each system and query, and for each repeat, a sample with the answer or the
            failure. ``metadata["asked"]`` holds what was measured.
        summaries: by system.
        files: that were written, by system.
    """

    samples: tuple[Sample, ...]
    summaries: Mapping[str, AskSummary]
    files: Mapping[str, Path]

    @property
    def complete(self) -> bool:
        """Whether there is an answer to each query."""
        return all(one.answered == one.asked for one in self.summaries.values())

    def __repr__(self) -> str:
        return f"<Answers: systems={len(self.summaries)} samples={len(self.samples)}>"

    def __str__(self) -> str:
        """A table with a row for each system, and why answers are missing."""
        from ragassay.reports.notebook import text_of

        return text_of(asked_report(list(self.summaries.values())))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from ragassay.reports.notebook import html_of

        return html_of(asked_report(list(self.summaries.values())))

    def of(self, system: str) -> list[Sample]:
        """The samples of one system."""
        return [sample for sample in self.samples if sample.system == system]


class Arriving:
    """The samples of a system, in their order, while they come. Read by any thread, and as often as
    wanted: who reads waits for what is not there yet, and gets the error that ended the asking.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[Sample]:
        at = 0
        while True:
            over = self._ended.is_set()  # before looking: what came before the end is seen
            new = self.samples[at:]
            yield from new
            at += len(new)
            if over and not new:
                if self._error is not None:
                    raise self._error
                return
            # Nobody wakes a reader for a single sample: that would cost more than the sample.
            if not new:
                self._ended.wait(LOOK_EVERY_S)

    def end(self, error: BaseException | None) -> None:
        """There will be no more samples; ``error`` ended the asking."""
        self._error = error
        self._ended.set()
