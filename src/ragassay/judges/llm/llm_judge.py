"""The judge that asks a language model: a model at an endpoint. No question is asked twice: the
ledger keeps the answer.

The life of a question::

    request (prompt, parameters, schema) ──key──▶ ledger ──found──▶ JudgeAnswer, cached
        │ not found
        ▼
    slot, budget ──▶ endpoint ──▶ reply ──▶ valid? ──no──▶ one repair turn ──▶ Failure(unparsable)
                                              │ yes
                                              ▼
                                 ledger (committed) ──▶ JudgeAnswer
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import orjson
from typing_extensions import override

from ragassay.base import json_data
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance, provenance_of, to_record
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import JUDGE_ANSWER, Paid, unreadable
from ragassay.judges.llm.messages import (
    CUT,
    DEFAULTS,
    FORMS,
    Request,
    Unreadable,
    build,
    declines,
    described,
    lost,
    read,
    repair,
)
from ragassay.judges.question import Question, R_co, Reply, ReplyInParts
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints import Completion, Endpoint, EndpointError
from ragassay.transport.endpoints.endpoint import TIMEOUT_S, Message, Stopped
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.sending import BACKOFF_S, INTERRUPTED, Limiter, Sender, Tally

Reuse = Literal["all", "answers", "nothing"]
"""Which rows a run uses: all; only answers (failures are asked again); none."""

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""

_LOOKED_BACK = 4  # earlier forms of a request under which its answer is looked for

Found = JudgeAnswer[Any] | Failure


class LLMJudge(Judge):
    """A model behind an endpoint. ``limiter`` is shared by all judges of the endpoint.
    ``parameters`` are the user's (``None`` as a value leaves one out), ``identity`` is what the
    signature says in place of the label, ``language`` is that of explanations (empty: the query's),
    ``backoff`` the first wait before a retry in seconds; ``timeout`` is as of `Sender`. A
    `UsageError` for a budget in dollars without a price.

    What its server rejects (parameters, ways of structured output) is ``dropped``: found out once,
    and remembered in the ledger. ``before`` has its earlier values, the latest first and the very
    first last."""

    label: str = ""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        ledger: Ledger,
        limiter: Limiter | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        parameters: Mapping[str, Any] | None = None,
        label: str = "",
        identity: str = "",
        timeout: float = TIMEOUT_S,
        reuse: Reuse = "all",
        language: str = "",
        backoff: float = BACKOFF_S,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        self.endpoint, self.price = endpoint, price
        self.model, self.prompts = model, prompts or {}
        self.label = label or f"{endpoint.url}#{model}"
        self._identity = identity or self.label
        if budget is not None:
            budget.check_price(price, self.label, "its price (option price: 0.15,0.60), or ")
        self.parameters, self.language = dict(parameters or {}), language
        self.ledger, self.reuse = ledger, reuse
        account = None if budget is None else Account(budget, price)
        self.sender = Sender(endpoint, limiter, None, account, timeout=timeout, backoff=backoff)
        self.width = self.sender.limiter.most
        self.dropped = endpoint.never
        self.before: tuple[frozenset[str], ...] = ()
        for name in ledger.rejected(endpoint.url, model):
            self.drop(self.dropped | {name})
        self.settling = asyncio.Lock()  # belongs to one event loop
        # Requests that this run has asked again count for the rest of it; with the failure, where
        # the ledger keeps an older answer instead.
        self.renewed: dict[str, tuple[Reason, str] | None] = {}
        self.unread: set[str] = set()  # kinds of questions that had a reply without an answer
        self.flights: dict[tuple[str, str, int], asyncio.Task[Found]] = {}

    @property
    @override
    def signature(self) -> str:
        general = {**DEFAULTS, **self.parameters}
        sent = {name: value for name, value in general.items() if value is not None}
        dropped = self.without((*sent, *FORMS))
        parts = [
            f"{name}={sent[name]:g}" if isinstance(sent[name], float) else f"{name}={sent[name]}"
            for name in sorted(sent)
            if name not in dropped
        ]
        parts += [f"without={name}" for name in dropped]
        parts += [f"language={self.language}"] * bool(self.language)
        return f"{self._identity}({','.join(parts)})"

    @override
    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        asked = set(names)
        return tuple(name for name in lost(self.dropped) if name in asked)

    @override
    async def open(self) -> None:
        self.sender.resume()
        self.settling = asyncio.Lock()
        self.flights.clear()
        import jinja2  # noqa: F401 - now, and not while the first question waits

        await self.endpoint.open()

    @override
    async def drain(self) -> None:
        self.sender.stop(Reason.CONNECTION, INTERRUPTED)
        await asyncio.gather(*self.flights.values(), return_exceptions=True)

    @override
    async def close(self) -> None:
        await self.endpoint.close()

    @override
    def known(self, question: Question[Any], repeat: int = 0) -> Found | None:
        request = build(self, question, repeat, self.dropped)
        return _Exchange(self, question, repeat, request).stored()

    @override
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        name = (question.kind, question.key, repeat)
        flight = self.flights.get(name)
        if flight is None:
            request = build(self, question, repeat, self.dropped)
            exchange = _Exchange(self, question, repeat, request)
            self.flights[name] = flight = asyncio.ensure_future(exchange.outcome())
            flight.add_done_callback(lambda _: self.flights.pop(name, None))
        return await asyncio.shield(flight)

    def drop(self, dropped: frozenset[str]) -> None:
        """From now on leaves all of this out."""
        if dropped != self.dropped:
            *latest, first = (self.dropped, *self.before)
            self.before = (*latest[: _LOOKED_BACK - 1], first)
            self.dropped = dropped


@dataclass(eq=False)
class _Exchange:
    """One question on its way through one judge."""

    judge: LLMJudge
    question: Question[Any]
    repeat: int
    request: Request
    tally: Tally = field(default_factory=Tally)
    messages: Sequence[Message] = ()
    completion: Completion = Completion(None)

    async def outcome(self) -> Found:
        """The answer or failure; it is in the ledger if it is to be kept."""
        found = self.stored()
        if found is None:
            key, ledger = self.request.key, self.judge.ledger
            await ledger.claim(key)
            try:
                # Another process may have asked it while this one waited.
                found = self.stored() or await self._asked()
            except Stopped as stop:
                # What ended the asking of all questions is not kept as a failure of this one.
                found = await self._ended((stop.reason, stop.detail), stopped=True)
            except EndpointError as error:
                found = await self._ended((error.reason, error.detail))
            finally:
                ledger.release(key)
        if isinstance(found, JudgeAnswer):
            self.judge.sender.breaker.usable = True
        return found

    def stored(self) -> Found | None:
        """The kept result of the request, or of one that was sent in its place before the endpoint
        had rejected as much as now; ``None`` where there is none that the run may use, or that the
        question still allows."""
        judge, question, repeat = self.judge, self.question, self.repeat
        before = (build(judge, question, repeat, dropped) for dropped in judge.before)
        for request in chain((self.request,), before):
            key = request.key
            renewed = key in judge.renewed
            if judge.reuse == "nothing" and not renewed:
                continue
            failure = judge.renewed.get(key)
            if failure is not None:
                left_out = lost(request.dropped)
                source = Provenance(judge.label, request=key, cached=True, dropped=left_out)
                return Failure(question, *failure, source, repeat)
            row = judge.ledger.get(key)
            asks_again = judge.reuse == "answers" and not renewed
            if row is None or (asks_again and row.reason is not None):
                continue
            try:
                sent = orjson.loads(zlib.decompress(row.payload))
                record = {**row.facts, "judge": judge.label, "request": key, "cached": True}
                provenance = provenance_of({**record, "messages": sent["messages"]})
                if row.reason is not None:
                    reason, detail = Reason(row.reason), row.facts["detail"]
                    return Failure(question, reason, detail, provenance, repeat)
            except (zlib.error, ValueError, TypeError, KeyError) as error:
                raise unreadable(judge.ledger.path, error) from error
            answer = _valid(question, row)
            # Asking again may bring the fields that are lost.
            in_part = asks_again and isinstance(answer, ReplyInParts) and bool(answer.lost)
            if answer is not None and not in_part:
                return JudgeAnswer(question, answer, provenance, repeat)
        return None

    async def _asked(self) -> Found:
        """The result of asking the endpoint, in the form that it takes: the first request that is
        rejected for a parameter finds out alone what that is."""
        judge, found = self.judge, None
        try:
            while found is None:
                async with judge.settling:
                    dropped = judge.dropped
                try:
                    current = lambda: judge.dropped is dropped and not judge.settling.locked()  # noqa: B023,E731
                    found = await self._send(dropped, current)
                except EndpointError as error:
                    if not error.rejected - dropped:
                        raise
                    judge.sender.ahead.set()
                    async with judge.settling:
                        if judge.dropped is dropped:
                            found = await self._settled(dropped, error)
        except Unreadable as first:
            return await self._repaired(first)
        finally:
            judge.sender.ahead.set()
        return found

    async def _settled(self, dropped: frozenset[str], rejection: EndpointError) -> Found:
        """Sends a rejected request without each parameter that is rejected on the way."""
        while True:
            dropped |= rejection.rejected
            try:
                found = await self._send(dropped)
            except EndpointError as error:
                if error.rejected - dropped:
                    rejection = error
                    continue
                if error.reason is rejection.reason:  # no parameter was the cause
                    breaker = self.judge.sender.breaker
                    breaker.failed(rejection.reason, rejection.detail, permanent=True)
                raise
            assert found is not None
            return found

    async def _send(
        self, dropped: frozenset[str], current: Callable[[], bool] | None = None
    ) -> Found | None:
        """Sends the request without what is dropped; ``None`` where it is not ``current`` right
        before, so that nothing was sent."""
        if dropped != self.request.dropped:
            self.request = build(self.judge, self.question, self.repeat, dropped)
            # What the endpoint takes has just been found out: this may have been asked before.
            if (found := self.stored()) is not None:
                if new := dropped - self.judge.dropped:
                    await self._learn(new)
                return found
        request = self.request
        self.messages = request.prompt.messages
        sizes = request.input_tokens, request.output_tokens
        send = self.judge.sender.send
        return await send(request.body, self._received, self.tally, *sizes, current)

    async def _learn(self, new: frozenset[str]) -> None:
        """Stores what else had to be dropped, before the answer itself is stored: when the run is
        resumed, it builds the very same request. Only an answered request shows it, because an
        error may mention a parameter that is not its cause."""
        judge = self.judge
        await judge.sender.kept(judge.ledger.reject(judge.endpoint.url, judge.model, new))
        judge.drop(self.request.dropped)

    async def _received(self, completion: Completion) -> Found:
        """The answer or the refusal that a reply holds; it is kept before this returns."""
        if new := self.request.dropped - self.judge.dropped:
            await self._learn(new)
        self.completion = completion
        if completion.refusal:
            return await self._ended((Reason.REFUSED, _declined(completion.refusal)))
        if completion.finish == "filtered":
            return await self._ended((Reason.REFUSED, "the endpoint's filter withheld the reply"))
        cut = completion.finish == "length"
        return await self._ended(read(self.question, completion.text, cut=cut))

    async def _repaired(self, first: Unreadable) -> JudgeAnswer[Any] | Failure:
        """The result of the repair turn, or what the replies hold without it."""
        bad, problem = self.completion.text, str(first)
        prompt = repair(self.request.prompt, bad, problem)
        self.messages = prompt.messages
        body = json_data.dumps(self.judge.endpoint.body(prompt))
        sizes = self.request.input_tokens + len(bad or "") / 4 + 100, self.request.output_tokens
        rest, said = first.rest, ""
        try:
            asked = await self.judge.sender.send(body, self._received, self.tally, *sizes)
            assert asked is not None
            return asked
        except Unreadable as second:
            rest, said = second.rest or rest, self.completion.text or ""
            also = "" if str(second) == problem else f" (at first: {problem})"
            problem = f"no valid answer, even when asked again: {second}{also}."
            if str(second) == CUT:  # models that think may need more tokens
                sent = self.request.prompt.parameters
                most = sent.get("max_tokens") or sent.get("max_completion_tokens")
                now = f"now {most}" if most else "the endpoint has its own limit"
                problem += f" Raise --max-tokens ({now})."
            problem += described(said, self.question)
        except EndpointError as error:
            if error.reason is not Reason.CONTEXT_TOO_LONG:
                raise
            # The question itself did fit: what is stored is that its reply was no good.
            problem = f"no valid answer: {problem}"
        if rest is not None:
            return await self._ended(rest)
        if declines(said):
            return await self._ended((Reason.REFUSED, _declined(said)))
        self.judge.unread.add(self.question.kind)
        # A question of another kind, which is on its way, may get the first usable reply.
        if self.judge.unread.issuperset(kind for kind, *_ in self.judge.flights):
            self.judge.sender.breaker.unusable(problem)
        return await self._ended((Reason.UNPARSABLE, problem))

    async def _ended(
        self, result: Reply | tuple[Reason, str], *, stopped: bool = False
    ) -> JudgeAnswer[Any] | Failure:
        """An answer, or a failure with its reason; durable when this returns, unless the failure is
        passing. A failure does not replace an answer that is still valid: this run has its failure,
        other runs the answer."""
        judge, question, tally, request = self.judge, self.question, self.tally, self.request
        tokens = tally.input_tokens, tally.output_tokens
        provenance = Provenance(
            judge.label,
            tally.model,
            judge.prompt_hash(question),
            request.key,
            self.messages,
            self.completion.text or self.completion.refusal or "",
            *tokens,
            judge.price.cost(*tokens) if judge.price and tally.counted else None,
            tally.seconds,
            tally.attempts,
            dropped=lost(request.dropped),
        )
        if isinstance(result, Reply):
            asked: Found = JudgeAnswer(question, result, provenance, self.repeat)
            old = failure = None
        else:
            asked = Failure(question, *result, provenance, self.repeat, stopped=stopped)
            if stopped or asked.reason.passing:
                return asked
            old, failure = judge.ledger.get(request.key), result
        stays = old is not None and _valid(question, old) is not None
        stale = old is not None and old.reason is None and not stays
        # Made on the ledger's thread, because compression takes time.
        writing = judge.ledger.keep(lambda: [_row(asked, request, judge)], stale=stale)
        await judge.sender.kept(writing)
        if judge.reuse != "all":
            judge.renewed[request.key] = failure if stays else None
        return asked


def _row(asked: Found, request: Request, judge: LLMJudge) -> Paid:
    """What the ledger keeps: messages (with a repair turn), parameters and schema packed."""
    made, prompt = asked.provenance, request.prompt
    facts = to_record(asked, is_vote=True)
    del facts["messages"], facts["cached"]
    sent = {
        "messages": made.messages,
        "parameters": prompt.parameters,
        "mode": prompt.mode,
        "schema": prompt.schema,
    }
    return Paid(
        request.key,
        JUDGE_ANSWER,
        judge.endpoint.url,
        judge.model,
        asked.question.kind,
        facts,
        zlib.compress(json_data.dumps(sent), _COMPRESSION),
        facts.get("reason"),
        made.input_tokens,
        made.output_tokens,
        made.cost,
    )


def _valid(question: Question[Any], row: Paid) -> Any:
    """The answer in a row; ``None`` where it holds none that is valid now."""
    try:
        answer = orjson.dumps(row.facts["answer"])
        return question.check(question.reply.model_validate_json(answer))
    except ValueError:
        return None


def _declined(words: str) -> str:
    return f"the model declined: {' '.join(words.split())[:200]}"
