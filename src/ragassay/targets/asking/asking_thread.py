"""Systems that are asked while something else is done, with their answers as they come."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from ragassay.base.files import atomic
from ragassay.base.note import drawing
from ragassay.base.sample import Sample
from ragassay.formats import native
from ragassay.targets.asking.ask_summary import AskSummary, summarise
from ragassay.targets.asking.asked_table import asked_report
from ragassay.targets.asking.systems_run import SystemsRun
from ragassay.user_code.background_loop import run

LOOK_EVERY_S = 0.1
"""Seconds between two reports of progress, and between two looks for new samples."""

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
        return drawing().text_of(asked_report(list(self.summaries.values())))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return drawing().html_of(asked_report(list(self.summaries.values())))

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
            new = self.samples[at:]
            yield from new
            at += len(new)
            if new:
                continue
            if over:
                if self._error is not None:
                    raise self._error
                return
            # Nobody wakes a reader for a single sample: that would cost more than the sample.
            self._ended.wait(LOOK_EVERY_S)

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
        run: what is asked of whom.
        files: to write, by system.
    """

    def __init__(self, run: SystemsRun, files: Mapping[str, Path]) -> None:
        self._run, self.files = run, files
        self.arriving = {one.name: Arriving() for one in run.targets}
        self._streams: dict[str, IO[bytes]] = {}
        self._asked: Future[None] | None = None

    @property
    def total(self) -> int:
        """Samples that there will be."""
        return self._run.total

    @property
    def done(self) -> int:
        """Samples that are done."""
        return self._run.done

    @property
    def failed(self) -> bool:
        """Whether the asking itself has ended with an error."""
        return self._asked is not None and self._asked.done() and bool(self._asked.exception())

    def __enter__(self) -> Asking:
        self._asked = run(self._ask())
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
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
        tell = progress or (lambda n: None)
        while not self._asked.done():
            tell(self.done)
            with suppress(FutureTimeout):
                self._asked.exception(LOOK_EVERY_S)
        self._asked.result()
        tell(self.done)
        samples = {name: one.samples for name, one in self.arriving.items()}
        summaries = {
            one.name: summarise(
                one.name, one.fingerprint, samples[one.name], self._run.from_ledger[one.name]
            )
            for one in self._run.targets
        }
        return Answers(tuple(chain.from_iterable(samples.values())), summaries, self.files)

    async def _ask(self) -> None:
        try:
            with _seldom_collected(), ExitStack() as stack:
                for name, path in self.files.items():
                    raw = stack.enter_context(atomic(path))
                    self._streams[name] = stack.enter_context(native.packed(raw, path))
                await self._run.run(self._take)
                if self._run.stopped:
                    raise _Interrupted
        except BaseException as error:
            for place in self.arriving.values():
                place.end(error)
            raise
        for place in self.arriving.values():
            place.end()

    def _take(self, sample: Sample) -> None:
        """Keeps a sample, in the order of the queries. On the loop that asks, which waits for
        replies most of the time: at the end it would cost extra.
        """
        if sample.system in self._streams:
            self._streams[sample.system].write(native.dump(sample))
        self.arriving[sample.system].samples.append(sample)


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
