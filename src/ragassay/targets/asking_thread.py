"""Systems that are asked while something else is done, with their answers as they come."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeVar

import ragassay
from ragassay.files import atomic
from ragassay.formats import native
from ragassay.judges.ledger import Ledger
from ragassay.samples import Sample
from ragassay.targets.ask_summary import AskSummary, summarise
from ragassay.targets.asked_table import (
    HEADS,
    ask_table,
    cells,
    failure_lines,
    ledger_lines,
    note_lines,
)
from ragassay.targets.asking_systems import SystemsRun
from ragassay.targets.target import Target
from ragassay.targets.target_factory import AskOptions

T = TypeVar("T")
TOLD_EVERY_S = 0.1
"""How often progress is told, and how often those who wait for samples look."""

_YOUNG = 50_000
"""New objects after which Python looks for circles among them, while systems are asked."""

_collecting = threading.Lock()
_n_asking = 0
_thresholds = gc.get_threshold()


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
        return ragassay.reports.text_of(ask_table(list(self.summaries.values())))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        summaries = list(self.summaries.values())
        below = [*ledger_lines(summaries), *failure_lines(summaries), *note_lines(summaries)]
        return ragassay.reports.table_html(HEADS, cells(summaries), below)

    def of(self, system: str) -> list[Sample]:
        """The samples of one system."""
        return [sample for sample in self.samples if sample.system == system]


class _Interrupted(Exception):  # noqa: N818 - it is a signal
    """The asking was stopped; no file is written."""


class Arriving:
    """The samples of a system, in their order, while they come. Read by any thread, and as often as
    wanted: who reads waits for what is not there yet.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[Sample]:
        at = 0
        while True:
            over = self._ended.is_set()  # before looking: what came before the end is seen
            found = self.samples[at:]
            yield from found
            at += len(found)
            if found:
                continue
            if over:
                if self._error is not None:
                    raise self._error
                return
            # Nobody wakes a reader for a single sample: that would cost more than the sample.
            self._ended.wait(TOLD_EVERY_S)

    def end(self, error: BaseException | None = None) -> None:
        """There will be no more samples.

        Args:
            error: that ended the asking; readers get it after the samples.
        """
        self._error = error
        self._ended.set()


class Asking:
    """Systems that are asked in a thread of their own while the block runs.

    The end of the block waits for the last answer; an error in it stops the asking, and waits for
    what is in flight, because that is paid for. The files appear when all is asked.

    Attributes:
        arriving: the samples of each system.
        files: that are written, by system.

    Args:
        queries: what is asked; ids are distinct.
        targets: who is asked.
        options: how.
        ledger: where answers are kept.
        files: to write, by system.
    """

    def __init__(
        self,
        queries: Sequence[Sample],
        targets: Sequence[Target],
        options: AskOptions,
        ledger: Ledger,
        files: Mapping[str, Path],
    ) -> None:
        self.arriving = {one.name: Arriving() for one in targets}
        self._targets, self.files = targets, files
        self._lines: list[IO[bytes] | None] = []
        self._places = list(self.arriving.values())
        self._run = SystemsRun(queries, targets, options, ledger, self._take)
        self._asked: Future[None] | None = None

    @property
    def total(self) -> int:
        """Samples that there will be."""
        return self._run.total

    @property
    def done(self) -> int:
        """Samples that are there."""
        return self._run.done

    @property
    def failed(self) -> bool:
        """Whether the asking itself has ended with an error."""
        return self._asked is not None and self._asked.done() and bool(self._asked.exception())

    def __enter__(self) -> Asking:
        self._asked = _in_thread(self._ask())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.wait()
            return
        assert self._asked is not None
        self._run.stop()
        with suppress(Exception):
            self._asked.result()

    def wait(self, progress: Callable[[int], None] | None = None) -> Answers:
        """Waits until all is asked.

        Args:
            progress: called with the number of samples done.

        Returns:
            What came of it.

        Raises:
            RagassayError: a system cannot be asked at all, or the ledger or a file cannot be
                written.
        """
        assert self._asked is not None
        told = progress or (lambda n: None)
        while not self._asked.done():
            told(self.done)
            with suppress(FutureTimeout):
                self._asked.exception(TOLD_EVERY_S)
        self._asked.result()
        told(self.done)
        return Answers(
            samples=tuple(sample for one in self._places for sample in one.samples),
            summaries={
                one.name: summarise(
                    one.name,
                    one.fingerprint,
                    self.arriving[one.name].samples,
                    self._run.from_ledger[one.name],
                )
                for one in self._targets
            },
            files=self.files,
        )

    async def _ask(self) -> None:
        try:
            with ExitStack() as stack:
                for one in self._targets:
                    path = self.files.get(one.name)
                    if path is None:
                        self._lines.append(None)
                        continue
                    raw = stack.enter_context(atomic(path))
                    self._lines.append(stack.enter_context(native.packed(raw, path)))
                await self._run.run()
                if self._run.stopped:
                    raise _Interrupted
        except BaseException as error:
            for place in self._places:
                place.end(error)
            raise
        for place in self._places:
            place.end()

    def _take(self, at: int, sample: Sample) -> None:
        """Keeps a sample, in the order of the queries. On the loop that asks, which waits for
        replies most of the time: at the end it would cost extra.
        """
        lines = self._lines[at]
        if lines is not None:
            lines.write(native.dump(sample))
        self._places[at].samples.append(sample)


def _in_thread(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Runs a coroutine on an event loop of its own, in a thread that does not hold the process."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            with _seldom_collected():
                done.set_result(asyncio.run(work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True, name="ragassay-ask").start()
    return done


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Python looks for circles of objects less often while the block runs: what answers make stays,
    and all requests in flight wait for the search."""
    global _n_asking, _thresholds
    with _collecting:
        if _n_asking == 0:
            _thresholds = gc.get_threshold()
            if _thresholds[0]:  # 0: the user's program has switched it off
                gc.set_threshold(max(_YOUNG, _thresholds[0]), *_thresholds[1:])
        _n_asking += 1
    try:
        yield
    finally:
        with _collecting:
            _n_asking -= 1
            if _n_asking == 0:
                gc.set_threshold(*_thresholds)
