"""`ask`: from queries and a system to its answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import nullcontext, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from ragassay import formats
from ragassay.engine.run import Data
from ragassay.errors import InputError, UsageError, did_you_mean
from ragassay.formats import native
from ragassay.golden import QUERIES, GoldenSet, is_golden
from ragassay.judges.ledger import MEMORY, Ledger
from ragassay.samples import Sample
from ragassay.targets.ask_summary import AskSummary, summarise
from ragassay.targets.asking_systems import SystemsRun, questions_of
from ragassay.targets.target_factory import AskOptions, make_targets

T = TypeVar("T")
TOLD_EVERY_S = 0.1
"""How often progress is told."""


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

    def of(self, system: str) -> list[Sample]:
        """The samples of one system."""
        return [sample for sample in self.samples if sample.system == system]


def ask(
    queries: Data,
    target: Any,
    *,
    output: str | Path | None = None,
    ledger: str | Path | Ledger | None = None,
    progress: Callable[[int], None] | None = None,
    limit: int | None = None,
    **options: Any,
) -> Answers:
    """Asks a system, or several, every query.

    Args:
        queries: a golden set (its accepted items), a file that `ragassay.load` reads, a folder with
            ``queries.jsonl``, or samples or mappings. What systems made of the queries before is
            left out.
        target: a Python object (a function, a LangChain runnable, a LlamaIndex query engine), words
            as of ``--target``, a list of these, or a mapping that names them.
        output: a file for the samples (native JSON Lines). With several systems each has its own,
            whose name ends in the system's. It appears when all is asked.
        ledger: where answers are kept, each before it is used: what is there is not asked again.
            Left out: nowhere, because the code of a Python object may change under its name.
        progress: called with the number of samples done.
        limit: of the queries the first so many.
        options: further fields of `AskOptions`: ``repeat``, ``concurrency``, ``rpm``, ``timeout``,
            ``retries``, ``history``, ``warm_up``, ``refresh``, ``stream``, ``key_file``.

    Returns:
        The samples with a summary a system. A query without an answer is a sample with a
        ``failure``. Works the same inside a running event loop.

    Raises:
        InputError: queries or a mapping file that cannot be read.
        UsageError: an unknown option or target, or a target that cannot be asked at all.
    """
    chosen = _options(options)
    asked = questions_of(read_queries(queries, limit))
    targets = make_targets(target, chosen)
    files = {} if output is None else files_of(Path(output), [one.name for one in targets])
    with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger(ledger or MEMORY) as kept:
        run = SystemsRun(asked, targets, chosen, kept)
        made = _apart(run, progress)
    by_name = dict(zip([one.name for one in targets], made, strict=True))
    for name, path in files.items():
        native.write(by_name[name], path)
    return Answers(
        samples=tuple(sample for samples in made for sample in samples),
        summaries={
            one.name: summarise(
                one.name, one.fingerprint, by_name[one.name], run.from_ledger[one.name]
            )
            for one in targets
        },
        files=files,
    )


def _options(given: Mapping[str, Any]) -> AskOptions:
    known = [one.name for one in fields(AskOptions)]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"There are: {', '.join(known)}."
            raise UsageError(f"ask has no option {name!r}. {hint}")
    return AskOptions(**given)


def read_queries(queries: Data, limit: int | None = None) -> list[Sample]:
    """The samples that hold the queries.

    Args:
        queries: as of `ask`.
        limit: so many at most.

    Raises:
        InputError: they cannot be read.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"The limit must be at least 1, not {limit}.")
    if not isinstance(queries, str | Path):
        samples = list(formats.from_records(queries))
        return samples[:limit]
    path = Path(queries)
    if is_golden(path):
        accepted = GoldenSet.open(path).with_status("accepted")
        if not accepted:
            raise InputError(
                "none of its items is accepted",
                path=path,
                hint=f"Accept some (ragassay golden review), or name {path / QUERIES}.",
            )
        return [item.to_sample() for item in accepted][:limit]
    if path.is_dir() and (path / QUERIES).is_file():
        path = path / QUERIES
    elif path.is_dir() and not list(path.glob("*.tsv")) and not list(path.glob("*/*.tsv")):
        raise InputError(
            "is a folder without queries.jsonl", path=path, hint="Name the file of the queries."
        )
    return formats.load(path, limit=limit)


def files_of(output: Path, systems: Iterable[str]) -> dict[str, Path]:
    """The file of each system: of one the output itself, else ``answers-SYSTEM.jsonl``.

    Args:
        output: that was named.
        systems: their names.
    """
    names = list(systems)
    if len(names) == 1:
        return {names[0]: output}
    safe = {name: "".join(c if c.isalnum() or c in "._-" else "-" for c in name) for name in names}
    return {name: output.with_name(f"{output.stem}-{safe[name]}{output.suffix}") for name in names}


def _apart(run: SystemsRun, progress: Callable[[int], None] | None) -> list[list[Sample]]:
    """Runs on a loop in a thread of its own. An interrupt waits for what is in flight, because it
    is paid for; a second one does not."""
    future = in_thread(run.run())
    told = progress or (lambda n: None)
    try:
        while True:
            told(run.done)
            try:
                made = future.result(TOLD_EVERY_S)
            except FutureTimeout:
                if future.done():  # the error is the run's own
                    raise
                continue
            told(run.done)
            return made
    except BaseException:
        run.stop()
        with suppress(Exception):
            future.result()
        raise


def in_thread(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Runs a coroutine on an event loop of its own, in a thread that does not hold the process."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True, name="ragassay-ask").start()
    return done
