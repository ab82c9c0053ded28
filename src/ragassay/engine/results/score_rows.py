"""The scores of a result as a sequence of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, overload

from ragassay.samples import Identity, Sample

if TYPE_CHECKING:
    from ragassay.engine.results.result import Result, ScoreRow

KEPT = 100_000
"""Rows that are kept in memory once one of them was asked for by its number; of a larger result
each such request reads from the beginning."""

Rows = Mapping[str, "ScoreRow"]
"""A sample's rows by metric, under the names that the run shows."""


class ScoreRows(Sequence["ScoreRow"]):
    """Every score of a result, one row for each sample and metric, sample by sample.

    Going through all of them reads them as they come; nothing is kept.

    Args:
        read: begins to read the rows anew.
        n: how many there are.
    """

    def __init__(self, read: Callable[[], Iterator[ScoreRow]], n: int) -> None:
        self._read, self._n = read, n
        self._kept: list[ScoreRow] | None = None

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[ScoreRow]:
        return self._read() if self._kept is None else iter(self._kept)

    @overload
    def __getitem__(self, at: int) -> ScoreRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[ScoreRow]: ...

    def __getitem__(self, at: int | slice) -> ScoreRow | list[ScoreRow]:
        if self._kept is None and self._n <= KEPT:
            self._kept = list(self._read())
        if self._kept is not None:
            return self._kept[at]
        wanted = range(self._n)[at]
        if isinstance(wanted, int):
            return next(islice(self._read(), wanted, None))
        least = min(wanted, default=0)
        found = list(islice(self._read(), least, max(wanted, default=-1) + 1))
        return [found[n - least] for n in wanted]

    def __repr__(self) -> str:
        return f"<{self._n:,} scores: iterate, index or slice them>"


def by_sample(result: Result) -> Iterator[tuple[Identity, Rows]]:
    """Each sample's rows, in the order of evaluation."""
    for identity, rows in groupby(result.scores, lambda row: row.identity):
        yield identity, {row.metric: row for row in rows}


def with_samples(result: Result) -> Iterator[tuple[Identity, Sample | None, Rows]]:
    """Each sample's rows together with the sample (``None`` where it was not kept)."""
    samples = iter(result.samples)
    for identity, rows in by_sample(result):
        sample = next(samples, None)
        yield identity, sample if sample and sample.identity == identity else None, rows
