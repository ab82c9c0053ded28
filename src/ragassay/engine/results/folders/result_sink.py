"""Where a run's samples and outcomes go: into its folder, into memory, or nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome
from ragassay.engine.results.folders.folder_reading import read_rows, read_samples
from ragassay.engine.results.folders.run_folder import FolderWriter
from ragassay.engine.results.score_rows import ScoreRow

Scored = tuple[Sequence[Sample], Sequence[Sequence[Outcome]]]
"""A window's samples and, metric by metric, their outcomes."""


class ResultSink:
    """Takes windows as they are scored, and gives them back row by row.

    Args:
        names: of the metrics, in the order of the outcomes.
        writer: of the run's folder, where it has one.
        keep: whether samples and outcomes stay in memory where there is no folder.
        judge: the label of who is asked, for rows that have evidence.
    """

    def __init__(
        self, names: Iterable[str], writer: FolderWriter | None, *, keep: bool, judge: str = ""
    ) -> None:
        self._names, self._writer, self._judge = list(names), writer, judge
        self._windows: list[Scored] | None = [] if keep and writer is None else None

    @property
    def in_memory(self) -> bool:
        """Whether samples stay in memory."""
        return self._windows is not None

    def add(self, samples: Sequence[Sample], outcomes: Sequence[Sequence[Outcome]]) -> None:
        """Takes in a window of scored samples."""
        if self._writer is not None:
            for sample in samples:
                self._writer.add_sample(sample)
            for row in self._rows_of(samples, outcomes):
                self._writer.add_row(row)
        if self._windows is not None:
            self._windows.append((samples, outcomes))

    @property
    def rows(self) -> Callable[[], Iterator[ScoreRow]]:
        """Gives every score, sample by sample. Raises `UsageError` where nothing was kept."""
        return self._rows if self._writer is None else partial(read_rows, self._writer.folder)

    @property
    def samples(self) -> Callable[[], Iterator[Sample]]:
        """Gives the samples, in order. Raises as `rows` does."""
        return self._samples if self._writer is None else partial(read_samples, self._writer.folder)

    def _rows(self) -> Iterator[ScoreRow]:
        for samples, outcomes in self._stored_windows():
            yield from self._rows_of(samples, outcomes)

    def _samples(self) -> Iterator[Sample]:
        for samples, _ in self._stored_windows():
            yield from samples

    def _rows_of(
        self, samples: Sequence[Sample], outcomes: Sequence[Sequence[Outcome]]
    ) -> Iterator[ScoreRow]:
        for at, sample in enumerate(samples):
            for name, column in zip(self._names, outcomes, strict=True):
                yield ScoreRow.of(sample.identity, name, column[at], self._judge)

    def _stored_windows(self) -> Sequence[Scored]:
        if self._windows is None:
            raise UsageError("This result kept its summary only; evaluate with save=FOLDER.")
        return self._windows
