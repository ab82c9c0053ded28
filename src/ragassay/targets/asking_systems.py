"""Asks systems: every query, as often as wanted, of one system or of several side by side."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from ragassay import __version__
from ragassay.errors import UsageError
from ragassay.judges.ledger import Ledger, SystemAnswers
from ragassay.samples import Passage, Sample, Turn
from ragassay.scores import Reason
from ragassay.targets.measurements import STOPPED, answered, failed, kept_of, read, written
from ragassay.targets.target import Request, SystemReply, Target
from ragassay.targets.target_factory import AskOptions
from ragassay.transport import INTERRUPTED, Limiter, Sender, SendRequest, Stopped, Tally
from ragassay.transport.endpoints import Completion, EndpointError

ALIKE = 16
"""So many failures of one kind in a row, before the first answer, end the asking of a system."""

_ADVICE = {
    Reason.TIMEOUT: "Raise --timeout, or look at why the system is slow.",
    Reason.CONNECTION: "Start the system and run the same command again: it asks what is missing.",
}


@dataclass
class _System:
    """A target, and how it is asked."""

    target: Target
    sender: Sender
    answers: SystemAnswers
    has_answered: bool = False
    alike: int = 0
    last: Reason | None = None

    def learn(self, error: EndpointError | None) -> None:
        """Stops a system that answers nothing, with one sentence in place of thousands."""
        if error is None:
            self.has_answered = True
        if error is None or self.has_answered or isinstance(error, Stopped):
            return
        self.alike = self.alike + 1 if error.reason is self.last else 1
        self.last = error.reason
        if self.alike >= ALIKE:
            self.sender.stop(
                error.reason,
                f"{error.detail.rstrip('. ')} (the first {self.alike} queries failed like that, so "
                "no more are asked).",
            )


class SystemsRun:
    """Asks every query of every system, and makes a sample of each answer.

    For each query and repeat the systems are asked one right after the other, in turns first, so
    that load and drift hit them alike. What the ledger holds is not asked.

    Attributes:
        done: samples that are there.
        from_ledger: for each system how many of its answers were there before.

    Args:
        queries: what is asked; ids are distinct.
        targets: who is asked.
        options: how.
        ledger: where answers are kept, each before it is used.
    """

    def __init__(
        self,
        queries: Sequence[Sample],
        targets: Sequence[Target],
        options: AskOptions,
        ledger: Ledger,
    ) -> None:
        self._queries, self._options, self._ledger = queries, options, ledger
        self._targets = targets
        self._systems: list[_System] = []
        self._tasks: dict[tuple[int, str, int], asyncio.Task[Sample]] = {}
        self._by_turns = {_words(one): one for one in reversed(queries)}
        self.done = 0
        self.from_ledger: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def total(self) -> int:
        """Samples that there will be."""
        return len(self._queries) * len(self._targets) * self._options.repeat

    def stop(self) -> None:
        """Asks nothing new; what is in flight is waited for. From any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and all is stopped
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        for system in self._systems:
            system.sender.stop(Reason.CONNECTION, INTERRUPTED)

    async def run(self) -> list[list[Sample]]:
        """For each system its samples, in the order of repeats and queries.

        Raises:
            RagassayError: a system cannot be asked at all, or the ledger cannot be written.
        """
        self._loop = asyncio.get_running_loop()
        options = self._options
        async with AsyncExitStack() as stack:
            for target in self._targets:
                # A limiter's own pace is for endpoints that serve many; -j is what is wanted here.
                limiter = Limiter(options.concurrency, rpm=options.rpm)
                sender = Sender(
                    target, limiter, timeout=options.timeout, attempts=options.retries + 1
                )
                answers = SystemAnswers(self._ledger, target.name, target.fingerprint)
                self._systems.append(_System(target, sender, answers))
            await self._open(stack)
            units = self._units()
            workers = min(options.concurrency, self.total)
            await _all(self._work(units) for _ in range(workers))
        return [
            [
                self._tasks[at, query.id, repeat].result()
                for repeat in range(options.repeat)
                for query in self._queries
            ]
            for at in range(len(self._systems))
        ]

    async def _open(self, stack: AsyncExitStack) -> None:
        """Opens the systems, and warms those up that something is to be asked of."""
        for system in self._systems:
            # Also where opening fails halfway: what was started ends.
            stack.push_async_callback(system.target.close)
            await system.target.open()
            if self._options.gold_passages and not system.target.takes_passages:
                raise UsageError(
                    f"The target {system.target.url} takes no passages, so it cannot be given the "
                    "gold ones. Give it a place for them ({{passages}} in a mapping file, a "
                    "parameter called passages)."
                )
        for query in self._queries[: self._options.warm_up]:
            for system in self._systems:
                body = self._request(query, query.history, 0).body()
                try:
                    async with asyncio.timeout(self._options.timeout):
                        await system.target.send(body)
                except (EndpointError, TimeoutError):
                    continue  # the same shows when the query is asked

    def _units(self) -> Iterator[tuple[Sample, int, list[int]]]:
        """What one worker takes at a time: a query, its repeat, and the systems in their order."""
        order = list(range(len(self._systems)))
        for repeat in range(self._options.repeat):
            for query in self._queries:
                yield query, repeat, list(order)
                order.append(order.pop(0))

    async def _work(self, units: Iterator[tuple[Sample, int, list[int]]]) -> None:
        for query, repeat, order in units:
            for at in order:
                await self._task(at, query, repeat)
                self.done += 1

    def _task(self, at: int, query: Sample, repeat: int) -> asyncio.Task[Sample]:
        key = (at, query.id, repeat)
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._sample(at, query, repeat))
        return self._tasks[key]

    def _request(self, query: Sample, history: tuple[Turn, ...], repeat: int) -> Request:
        passages = _gold(query) if self._options.gold_passages else None
        return Request(query.id, query.query_text, history, repeat, query.metadata, passages)

    async def _sample(self, at: int, query: Sample, repeat: int) -> Sample:
        """The answer of a system as a sample, or its failure."""
        system, name = self._systems[at], self._systems[at].target.name
        told: dict[str, Any] = {
            "fingerprint": system.target.fingerprint,
            "ragassay": __version__,
            **({"history": "own"} if self._options.history == "own" and query.history else {}),
            **({"passages": "gold"} if self._options.gold_passages else {}),
        }
        tally = Tally()
        try:
            history = await self._history(at, query, repeat)
            body = self._request(query, history, repeat).body()
            record = None if self._options.refresh else system.answers.find(body)
            if record is not None:
                self.from_ledger[name] += 1
                kept = read(record)
            else:
                kept = await self._asked(system, query.id, repeat, body, tally)
            if self._options.gold_passages:
                given = tuple(Passage(text) for text in _gold(query))
                kept = replace(kept, passages=given)
            return answered(query, name, repeat, history, kept, told)
        except EndpointError as error:
            advice = _ADVICE.get(error.reason, "")
            interrupted = "" if error.detail == INTERRUPTED else advice
            detail = " ".join(filter(None, (f"{error.detail.rstrip('.')}.", interrupted)))
            measured = {"attempts": tally.attempts, "seconds": round(tally.seconds, 3), **told}
            reason = STOPPED if isinstance(error, Stopped) else str(error.reason)
            return failed(query, name, repeat, reason, detail, measured)

    async def _asked(
        self, system: _System, query: str, repeat: int, body: bytes, tally: Tally
    ) -> Sample:
        """An answer, which is in the ledger by then."""

        async def receive(completion: Completion) -> Sample:
            assert isinstance(completion, SystemReply)
            kept = kept_of(completion, tally, time.time())
            await system.answers.keep(body, query, repeat, written(kept))
            return kept

        try:
            kept = await system.sender.send(SendRequest(body, 0, 0, tally, receive))
        except EndpointError as error:
            system.learn(error)
            raise
        system.learn(None)
        assert kept is not None
        return kept

    async def _history(self, at: int, query: Sample, repeat: int) -> tuple[Turn, ...]:
        """The earlier turns that a system is given."""
        users = [place for place, turn in enumerate(query.history) if turn.speaker == "user"]
        if self._options.history == "given" or not users:
            return query.history
        last = users[-1]
        words = (*(query.history[place].text for place in users[:-1]), query.history[last].text)
        earlier = self._by_turns.get(words)
        if earlier is None or not _is_before(earlier, query):
            name = f"{query.id}/turn-{len(users)}"
            facts = {"query": query.history[last].text, "history": query.history[:last]}
            earlier = Sample(id=name, metadata=query.metadata, **facts)  # type: ignore[arg-type]
        said = await asyncio.shield(self._task(at, earlier, repeat))
        if said.answer is None:
            kind, _, why = str(said.failure).partition(": ")
            if kind == STOPPED:
                raise Stopped(Reason.CONNECTION, why)
            raise EndpointError(Reason(kind), f"its earlier turn {earlier.id!r} failed: {why}")
        before = said.history
        return (*before, Turn("user", earlier.query_text), Turn("agent", said.answer.text))


def _gold(query: Sample) -> tuple[str, ...]:
    """The texts of a query's gold passages."""
    return tuple(one.text for one in query.gold or () if one.grade > 0 and one.text)


def _words(query: Sample) -> tuple[str, ...]:
    """What the user said up to and with a query."""
    said = (turn.text for turn in query.history if turn.speaker == "user")
    return (*said, query.query_text)


def _is_before(earlier: Sample, query: Sample) -> bool:
    """Whether a query of the data is an earlier turn of another: their turns agree."""
    return query.history[: len(earlier.history)] == earlier.history


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Runs coroutines side by side; the first error of one ends them all."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def questions_of(samples: Sequence[Sample]) -> list[Sample]:
    """The queries of samples: without what systems made of them, each once.

    Args:
        samples: of any data; those of several systems or repeats share their queries.

    Raises:
        UsageError: there is none, one has no text, or two differ under one id.
    """
    found: dict[str, Sample] = {}
    for sample in samples:
        if not sample.query_text.strip():
            raise UsageError(f"The record {sample.id!r} has no query, so there is nothing to ask.")
        metadata = {k: v for k, v in sample.metadata.items() if k not in ("asked", "no_answer")}
        bare = replace(
            sample, system="", repeat=0, answer=None, passages=None, failure=None,
            metadata=metadata, given={}, given_by={}, given_unscored={}, runs=(),
        )  # fmt: skip
        first = found.setdefault(sample.id, bare)
        if (first.query, first.history) != (bare.query, bare.history):
            raise UsageError(
                f"Two records with the id {sample.id!r} ask different things: {first.query!r} and "
                f"{bare.query!r}. Give each query an id of its own."
            )
    if not found:
        raise UsageError("There is no query to ask.")
    return list(found.values())
