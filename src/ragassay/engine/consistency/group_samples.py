"""The samples of a run's second step: each holds the runs of one query by one system."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from ragassay.base.counts import grouped
from ragassay.base.errors import warn_user
from ragassay.base.files import cannot_write
from ragassay.base.sample import Sample
from ragassay.base.strict_json import dumps
from ragassay.engine.results import fingerprint
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.formats import Mapper, to_record
from ragassay.metrics.consistency.runs import SCORES, UNSCORED

_ABSENT: Mapping[str, Any] = {name: getattr(Sample(id="none"), name) for name in fingerprint.FACTS}

_WITHOUT_GIVEN: Mapping[str, Any] = {name: {} for name in ("given", "given_by", "given_unscored")}
"""Values that records brought: the first step has read them."""


class OnDisk:
    """Samples in a file without a name, which is deleted when the stack is left. Eight bytes for
    each stay in memory.

    Args:
        stack: closes the file.
        output: where there is room for it: the run's folder, else the system's for such files.

    Raises:
        UsageError: the folder cannot be written to.
    """

    def __init__(self, stack: ExitStack, output: str | None) -> None:
        folder = None if output is None else Path(output)
        try:
            file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the stack closes it
            stack.enter_context(file)
        except OSError as error:
            raise cannot_write(folder or Path(tempfile.gettempdir()), error) from error
        self._file = cast(BinaryIO, file)
        self._starts = array("Q")
        self._mapper = Mapper()

    def extend(self, samples: Sequence[Sample]) -> None:
        """Writes them at the end."""
        self._file.seek(0, 2)
        for sample in samples:
            self._starts.append(self._file.tell())
            self._file.write(dumps(to_record(sample)) + b"\n")

    def __getitem__(self, at: int) -> Sample:
        self._file.seek(self._starts[at])
        return self._mapper.sample(orjson.loads(self._file.readline()), at + 1)


StoredSamples = OnDisk | list[Sample]


def group_samples(
    columns: ScoreColumns, samples: StoredSamples, of: Sequence[str]
) -> Iterator[Sample]:
    """One sample for each query and system, in the order of their first runs. A `RagassayWarning`
    reports groups whose runs do not ask or expect the same.

    Args:
        columns: the scores of the first step.
        samples: its samples.
        of: the metrics whose scores the group brings.
    """
    for rows in rows_of(columns).values():
        rows.sort(key=lambda at: columns.identities[at][2])
        runs = [samples[at] for at in rows]
        if any(fingerprint.differing(runs[0], run) for run in runs[1:]):
            warn_user(
                "Queries whose runs do not ask or expect the same: 1. They count as one query "
                "nevertheless, for their id is the same."
            )
        yield _group(runs, _given(columns, rows, of))


def rows_of(columns: ScoreColumns) -> dict[tuple[str, str], list[int]]:
    """The numbers of the samples of each query and system, in the order of the first."""
    return grouped((identity[:2], at) for at, identity in enumerate(columns.identities))


def _given(columns: ScoreColumns, rows: Sequence[int], of: Sequence[str]) -> dict[str, Any]:
    """The values of the metrics for each run, and the reasons where there are none."""
    scores: dict[str, Any] = {SCORES: {n: [columns.value(n, at) for at in rows] for n in of}}
    reasons = {name: [columns.reason(name, at) for at in rows] for name in of}
    unscored = {
        name: [None if reason is None else str(reason) for reason in of_runs]
        for name, of_runs in reasons.items()
        if any(of_runs)
    }
    return scores | ({UNSCORED: unscored} if unscored else {})


def _group(runs: Sequence[Sample], given: Mapping[str, Any]) -> Sample:
    """The query as its first run has it, with the results of each run. Data that all runs have in
    common is held once.
    """
    first = runs[0]
    shared = {
        name: value
        for name, value in first.metadata.items()
        if all(name in run.metadata and run.metadata[name] == value for run in runs)
    }
    bare = tuple(
        replace(
            run,
            metadata={name: value for name, value in run.metadata.items() if name not in shared},
            **_WITHOUT_GIVEN,
            **{n: v for n, v in _ABSENT.items() if getattr(run, n) == getattr(first, n)},
        )
        for run in runs
    )
    return replace(
        first,
        repeat=0,
        passages=None,
        answer=None,
        timestamp=None,
        failure=first.failure if all(run.failure for run in runs) else None,
        metadata=shared,
        **{**_WITHOUT_GIVEN, "given": given},
        runs=bare,
    )
