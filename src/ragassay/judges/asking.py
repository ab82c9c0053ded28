"""Asking: an `Asker` a run (it remembers, counts, and hands each answer to whoever keeps the
evidence), an `Ask` for each metric and sample."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from ragassay.base.printable import either, share
from ragassay.base.score import Reason
from ragassay.judges.judge import Judge
from ragassay.judges.judge_answer import Failure, JudgeAnswer, evidence_id
from ragassay.judges.panel import disagreed
from ragassay.judges.question import Question
from ragassay.judges.reply import R, ReplyInParts
from ragassay.user_code.background_loop import Background

T = TypeVar("T")

CLOSING_S = 10.0  # patience with a loop that does not end

IN_PART = ", in part"
"""Follows a reason that is not of a missing answer but of a missing part of one."""

AnswerOrFailure = JudgeAnswer[Any] | Failure
_Memory = dict[Hashable, Any]
"""What is asked and built in a window: the task, of what is built with its `Ask`."""


class Unanswered(Exception):  # noqa: N818 - it is an outcome, not an error
    """A question that a metric cannot do without was not answered."""

    def __init__(self, failure: Failure, detail: str = "") -> None:
        self.reason: Reason = failure.reason
        self.failure = failure
        self.detail = detail or failure.detail
        super().__init__(self.detail)


@dataclass
class Usage:
    """What a run asked for, and what that cost.

    ``calls`` are requests sent, retries and repairs included; tokens and ``cost`` (US dollars) are
    of what was sent now; ``unpriced`` counts the calls without a price. ``lost_votes`` counts, by
    reason, votes that a panel which answered went without for a passing reason. ``in_part`` counts
    answers that lack a part (`ReplyInParts`). ``details`` has a sentence for each reason; for those
    of answers in part under ``REASON, in part``. ``disagreed`` counts questions on which a panel's
    members said different things."""

    questions: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    votes: int = 0
    lost_votes: Counter[str] = field(default_factory=Counter)
    in_part: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)
    disagreed: int = 0

    def add(self, asked: AnswerOrFailure) -> None:
        """Counts an answer (of a panel: those of its members)."""
        self.questions += 1
        if isinstance(asked, Failure):
            self.failures[str(asked.reason)] += 1
            self._keep_detail(asked)
        elif isinstance(asked.answer, ReplyInParts) and asked.answer.lost:
            first = next(iter(asked.answer.lost.values()))
            self.in_part[str(first.reason)] += 1
            self.details.setdefault(f"{first.reason}{IN_PART}", first.detail)
        self.disagreed += bool(asked.votes) and disagreed(asked)
        self.votes += len(asked.votes)
        # A failure that makes the run incomplete is shown itself: its votes are not counted again.
        is_shown = isinstance(asked, Failure) and asked.reason.incomplete
        for vote in () if is_shown else asked.votes:
            if isinstance(vote, Failure) and vote.reason.passing:
                self.lost_votes[str(vote.reason)] += 1
                self._keep_detail(vote)
        for answer in asked.votes or (asked,):
            provenance = answer.provenance
            if provenance.cached:
                self.cached += 1
            elif provenance.request and provenance.attempts:
                self.calls += provenance.attempts
                self.input_tokens += provenance.input_tokens
                self.output_tokens += provenance.output_tokens
                self.cost += provenance.cost or 0.0
                self.unpriced += provenance.attempts * (provenance.cost is None)

    def _keep_detail(self, failure: Failure) -> None:
        reason = str(failure.reason)
        said = self.details.get(reason, "")
        if failure.stopped or not said:
            self.details[reason] = failure.detail
        elif failure.reason is Reason.UNSUPPORTED and failure.detail not in said:
            self.details[reason] = f"{said}; {failure.detail}"  # a kind of question each


class Asker:
    """Asks one judge on behalf of many metrics. Use as a context manager, or call `close`.

    ``waiting`` questions are asked and not answered yet; ``judged`` samples have all their answers
    (``progress`` is called with it each time). In ``context`` metrics look up what is not in their
    sample: ``nuggets`` maps a query id to its nugget bank."""

    def __init__(
        self,
        judge: Judge,
        *,
        keep: Callable[[AnswerOrFailure], None] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        self.judge = judge
        self.usage = Usage()
        self.waiting = 0
        self.ending = False
        self.judged = 0
        self.progress: Callable[[int], None] | None = None
        self.context = dict(context or {})
        self._keep = keep
        self._recorded: set[int] = set()
        self._passing: dict[str, Failure] = {}
        self._room: asyncio.Semaphore
        self._background: Background | None = None

    def __enter__(self) -> Asker:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None:
                self.drain()
        finally:
            self.close()

    def start(self) -> None:
        """Opens the judge; done by the first `submit` where it was not."""
        if self._background is not None:
            return
        self._background = Background()
        self.ending = False
        self._room = asyncio.Semaphore(self.judge.width)
        try:
            self.submit(self.judge.open()).result()
        except BaseException:
            self.close()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine on the background loop, from any thread."""
        self.start()
        assert self._background is not None
        return self._background.submit(work)

    def drain(self) -> None:
        """Sends nothing new, and waits for the requests in flight, because they are paid for. The
        judge's own deadline bounds the wait, and a Ctrl-C ends it.
        """
        if self._background is not None and not self.ending:
            self.ending = True
            self.submit(self.judge.drain()).result()

    async def finish_sample(self, work: Callable[[], Awaitable[T]]) -> T:
        """Asks all questions about one sample, as soon as there is room: as many samples are open
        as the judge takes questions at once, so that money finishes samples instead of beginning
        many."""
        async with self._room:
            outcome = await work()
        if not self.ending:
            self.judged += 1
            if self.progress is not None:
                self.progress(self.judged)
        return outcome

    def close(self) -> None:
        """Ends what is asked, and closes the judge. A closed asker starts again when it is used."""
        background = self._background
        if background is None:
            return
        try:
            background.close(CLOSING_S)
            background.submit(self.judge.close()).result(CLOSING_S)
        except TimeoutError:
            pass  # something holds the loop; its thread ends with the process
        finally:
            self._background = None

    def scope(self) -> Ask:
        """An `Ask` with a fresh memory, for one window."""
        return Ask(self, {})

    async def ask(self, question: Question[Any], repeat: int) -> AnswerOrFailure:
        """What the judge says; the first time it is counted, and given to who keeps evidence."""
        if self._passing and (before := self._passing.get(evidence_id(question, repeat))):
            return before  # a run asks once, so all of its scores rest on the same evidence
        self.waiting += 1
        try:
            asked = await self.judge.answer(question, repeat)
        finally:
            self.waiting -= 1
        name = int(asked.id.replace(".", ""), 16)  # a number takes half the memory of its digits
        if name not in self._recorded:
            self._recorded.add(name)
            if isinstance(asked, Failure) and asked.reason.passing:
                self._passing[asked.id] = asked
            self.usage.add(asked)
            if self._keep is not None:
                self._keep(asked)
        return asked


class Ask:
    """What a metric asks with: ``answer = await ask(RelevanceGrade(query, passage))``. Those of one
    window share a memory: each question is asked once, however many metrics ask it."""

    def __init__(self, asker: Asker, memory: _Memory, language: str = "") -> None:
        self.asker = asker
        self._memory, self._language = memory, language
        self._evidence: dict[str, None] = {}

    def ask(self, language: str = "") -> Ask:
        """Another one of this window, with no evidence yet; about a sample that states its
        language."""
        return Ask(self.asker, self._memory, language)

    @property
    def evidence(self) -> tuple[str, ...]:
        """Ids of the answers asked for so far, in order, each once."""
        return tuple(self._evidence)

    @property
    def context(self) -> Mapping[str, Any]:
        """See `Asker.context`."""
        return self.asker.context

    async def __call__(self, question: Question[R], repeat: int = 0) -> R:
        """The answer."""
        judge_answer = await self.judge_answer(question, repeat)
        if isinstance(judge_answer, Failure):
            raise Unanswered(judge_answer)
        return judge_answer.answer

    async def judge_answer(
        self, question: Question[R], repeat: int = 0
    ) -> JudgeAnswer[R] | Failure:
        """The answer on a question, or the failure."""
        self._evidence[evidence_id(question, repeat)] = None
        if self._language:
            question = question.stated(self._language)
        if not self.asker.judge.remembered:
            return await self.asker.judge.answer(question, repeat)
        key = question, repeat
        if key not in self._memory:
            self._memory[key] = asyncio.ensure_future(self.asker.ask(question, repeat))
        return cast("JudgeAnswer[R] | Failure", await asyncio.shield(self._memory[key]))

    async def each(self, questions: Sequence[Question[R]]) -> list[R]:
        """The answers to several questions, asked side by side; an `Unanswered` where one has
        none."""
        judge_answers = await asyncio.gather(*map(self.judge_answer, questions))
        failed = [found for found in judge_answers if isinstance(found, Failure)]
        if failed:
            have = either(len(failed), "has", "have")
            detail = f"{share(len(failed), len(judge_answers), 'question')} {have} no answer"
            detail += f": {failed[0].detail}"
            raise Unanswered(failed[0], detail if len(judge_answers) > 1 else "")
        return [cast("JudgeAnswer[R]", found).answer for found in judge_answers]

    async def once(self, build: Callable[..., Coroutine[Any, Any, T]], *args: Hashable) -> T:
        """The result of ``await build(ask, *args)``, computed once a window, with its evidence;
        raises `Unanswered` where the build did."""
        key = build, args, self._language
        if key not in self._memory:
            ask = self.ask(self._language)
            self._memory[key] = asyncio.ensure_future(build(ask, *args)), ask
        building, ask = self._memory[key]
        try:
            return cast("T", await asyncio.shield(building))
        finally:
            self._evidence.update(ask._evidence)
