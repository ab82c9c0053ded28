"""The LLM judge: any model behind an endpoint, asked once for each question, ever.

The life of a question::

    request (prompt, parameters, schema) ──key──▶ ledger ──found──▶ Verdict, cached
        │ not found
        ▼
    slot, budget ──▶ endpoint ──▶ reply ──▶ valid? ──no──▶ one repair turn ──▶ Failure(unparsable)
                                              │ yes
                                              ▼
                                 ledger (committed) ──▶ Verdict
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal, cast

import orjson

from ragassay import strict
from ragassay.errors import RagassayError, UsageError
from ragassay.judges import requests
from ragassay.judges.breaker import Breaker
from ragassay.judges.budget import Budget
from ragassay.judges.dialect import Current, Dialect, Learnt
from ragassay.judges.endpoints.base import Completion, Endpoint, EndpointError
from ragassay.judges.judge import Judge
from ragassay.judges.ledger import Entry, Ledger
from ragassay.judges.limits import Limiter
from ragassay.judges.prices import Price
from ragassay.judges.question import Message, Question, R_co
from ragassay.judges.replies import Unreadable, declines, read
from ragassay.judges.requests import Request
from ragassay.judges.sending import BACKOFF_S, INTERRUPTED, Parcel, Sender, Tally
from ragassay.judges.verdict import Failure, Provenance, Verdict
from ragassay.scores import Reason

DEFAULTS: Mapping[str, Any] = {"temperature": 0.0, "seed": 42}
"""Sampling unless a question or the user says otherwise."""

Reuse = Literal["all", "answers", "nothing"]
"""What of the ledger counts: everything; only answers (failures are asked again); nothing."""

_AT_WORK = 4
"""Requests that are built at once for each that may be in flight: those who wait hold no prompt."""


class LLMJudge(Judge):
    """A model behind an endpoint.

    Args:
        endpoint: the server and its protocol.
        model: the model's name there.
        label: what outputs call it; made from URL and model where left out.
        ledger: where answers are kept.
        limiter: the endpoint's pace, shared by all judges of this endpoint.
        breaker: the endpoint's health; one of its own where left out.
        budget: of the run.
        price: of the model, ``None`` where it is not known.
        parameters: the user's sampling parameters; ``None`` as a value leaves one out.
        timeout: seconds for one request, see `Sender`.
        reuse: what of the ledger counts.
        backoff: seconds of the first wait before a retry.

    Raises:
        UsageError: a budget in dollars, and no price.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        ledger: Ledger,
        limiter: Limiter | None = None,
        breaker: Breaker | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        parameters: Mapping[str, Any] | None = None,
        label: str = "",
        timeout: float = 120.0,
        reuse: Reuse = "all",
        backoff: float = BACKOFF_S,
    ) -> None:
        if budget is not None and budget.needs_prices and price is None:
            raise UsageError(
                f"The budget is in dollars, and no price of {model!r} is known. Give its price "
                "(--price 0.15,0.60), or a budget in calls or tokens (--budget '200 calls')."
            )
        self.endpoint, self.price = endpoint, price
        self._model = model
        self._label = label or f"{endpoint.url}#{model}"
        self._ledger = ledger
        self._parameters = dict(parameters or {})
        self._reuse = reuse
        self._renewed: set[str] = set()
        self._dialect = Dialect(ledger, endpoint, model)
        self._limiter = limiter or Limiter()
        self._sender = Sender(
            endpoint,
            self._limiter,
            breaker or Breaker(),
            budget,
            price,
            timeout=timeout,
            backoff=backoff,
        )
        self._flights: dict[tuple[str, int], asyncio.Task[Verdict[Any] | Failure]] = {}
        self._gate = asyncio.Semaphore(self._limiter.most * _AT_WORK)
        self._draining = False

    @property
    def label(self) -> str:
        """``openai:gpt-4o``, ``http://localhost:8000/v1#model``."""
        return self._label

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def signature(self) -> str:
        """Label, sampling parameters, and what the endpoint did not take of them.

        A question may have parameters of its own (they belong to its version).
        """
        dropped = self._dialect.dropped
        sent = {**DEFAULTS, **self._parameters}
        parts = [
            f"{name}={sent[name]:g}" if isinstance(sent[name], float) else f"{name}={sent[name]}"
            for name in sorted(sent)
            if sent[name] is not None and name not in requests.lost(dropped)
        ]
        parts += [f"without={name}" for name in requests.lost(dropped)]
        return f"{self._label}({','.join(parts)})"

    async def open(self) -> None:
        """Makes it usable on this event loop."""
        self._draining = False
        self._sender.resume()
        self._dialect.reopen()
        self._flights.clear()
        self._gate = asyncio.Semaphore(self._limiter.most * _AT_WORK)
        import jinja2  # noqa: F401 - now, and not while the first question waits

        await self.endpoint.open()

    async def drain(self) -> None:
        """Sends nothing new, and waits for what is in flight: it is paid, and kept."""
        self._draining = True
        self._sender.stop(Reason.CONNECTION, INTERRUPTED)
        await asyncio.gather(*self._flights.values(), return_exceptions=True)

    async def close(self) -> None:
        """Ends the connections."""
        await self.endpoint.close()

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure | None:
        """What the ledger says, or ``None`` where the question would have to be sent."""
        return self._found(question, repeat, self._build(question, repeat, self._dialect.dropped))

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The verdict: from the ledger, from the same question in flight, or asked now."""
        name = (question.key, repeat)
        flight = self._flights.get(name)
        if flight is None:
            flight = asyncio.ensure_future(self._answered(question, repeat))
            self._flights[name] = flight
            flight.add_done_callback(lambda _: self._flights.pop(name, None))
        return await asyncio.shield(flight)

    async def _answered(self, question: Question[Any], repeat: int) -> Verdict[Any] | Failure:
        async with self._gate:
            if self._draining:
                made = Provenance(self._label, attempts=0)
                return Failure(question, Reason.CONNECTION, INTERRUPTED, made, repeat)
            request = self._build(question, repeat, self._dialect.dropped)
            found = self._found(question, repeat, request)
            if found is not None:
                return found
            return await _Asking(self, question, repeat, request).outcome()

    def _build(self, question: Question[Any], repeat: int, dropped: frozenset[str]) -> Request:
        parameters = requests.sampling(question, DEFAULTS, self._parameters)
        return requests.build(self.endpoint, self._model, question, repeat, parameters, dropped)

    def _found(
        self, question: Question[Any], repeat: int, request: Request
    ) -> Verdict[Any] | Failure | None:
        """What the ledger has under a request's key, where it counts."""
        renewed = request.key in self._renewed
        if self._reuse == "nothing" and not renewed:
            return None
        entry = self._ledger.find(request.key)
        if entry is None:
            return None
        made = Provenance(
            self._label,
            entry.answered_by,
            entry.prompt_hash,
            entry.key,
            cast("list[Message]", orjson.loads(entry.request)["messages"]),
            entry.reply,
            entry.input_tokens,
            entry.output_tokens,
            entry.cost,
            entry.latency,
            entry.attempts,
            cached=True,
            dropped=entry.dropped,
        )
        if entry.reason is not None:
            if self._reuse == "answers" and not renewed:
                return None
            return Failure(question, Reason(entry.reason), entry.detail, made, repeat)
        try:
            answer = question.check(question.reply.model_validate_json(entry.answer or b""))
        except ValueError:
            return None  # a younger version is stricter: ask again
        return Verdict(question, answer, made, repeat)


class _Asking:
    """One question on its way through one judge."""

    def __init__(
        self, judge: LLMJudge, question: Question[Any], repeat: int, request: Request
    ) -> None:
        self.judge, self.question, self.repeat, self.request = judge, question, repeat, request
        self.tally = Tally()
        self.messages: list[Message] = list(request.prompt.messages)
        self.completion = Completion(None)

    async def outcome(self) -> Verdict[Any] | Failure:
        """The verdict or failure, in the ledger where it is to stay there."""
        dialect, sender = self.judge._dialect, self.judge._sender
        try:
            try:
                return await dialect.exchange(self._rebuilt, self._send, sender.open_road)
            except Unreadable as problem:
                return await self._repaired(str(problem))
        except EndpointError as error:
            return await self._failed(error.reason, error.detail)
        finally:
            sender.open_road()

    def _rebuilt(self, dropped: frozenset[str]) -> Request:
        if dropped != self.request.dropped:
            self.request = self.judge._build(self.question, self.repeat, dropped)
            self.messages = list(self.request.prompt.messages)
        return self.request

    async def _send(
        self, request: Request, current: Current | None, learnt: Learnt | None
    ) -> Verdict[Any] | Failure | None:
        async def received(completion: Completion) -> Verdict[Any] | Failure:
            if learnt is not None:
                await learnt()
            return await self._taken(completion)

        longest = self._longest(request)
        return await self.judge._sender.send(
            Parcel(request.body, request.input_tokens, longest, self.tally, received, current)
        )

    def _longest(self, request: Request) -> float:
        """About how many tokens the reply has at most."""
        given = request.prompt.parameters
        most = given.get("max_tokens") or given.get("max_completion_tokens")
        return min(most, self.question.output_tokens) if most else self.question.output_tokens

    async def _repaired(self, problem: str) -> Verdict[Any] | Failure:
        """What comes of the repair turn."""
        bad = self.completion.text
        prompt = requests.repair(self.request, bad, problem)
        self.messages = list(prompt.messages)
        body = strict.dumps(self.judge.endpoint.body(prompt))
        tokens = self.request.input_tokens + len(bad or "") / 4 + 100
        longest = self._longest(self.request)
        try:
            found = await self.judge._sender.send(
                Parcel(body, tokens, longest, self.tally, self._taken)
            )
        except Unreadable as second:
            if declines(self.completion.text):
                said = " ".join((self.completion.text or "").split())[:200]
                return await self._failed(Reason.REFUSED, f"the model declined: {said}")
            also = "" if str(second) == problem else f" (at first: {problem})"
            return await self._failed(
                Reason.UNPARSABLE, f"no valid answer, even when asked again: {second}{also}"
            )
        except EndpointError as error:
            if error.reason is Reason.CONTEXT_TOO_LONG:
                # The question did fit: what is kept is that its reply was no good.
                return await self._failed(Reason.UNPARSABLE, f"no valid answer: {problem}")
            raise
        assert found is not None
        return found

    async def _taken(self, completion: Completion) -> Verdict[Any] | Failure:
        """The verdict that a reply holds, or the refusal that it is; kept before this returns.

        Raises:
            Unreadable: it is neither.
        """
        self.completion = completion
        if completion.refusal:
            said = " ".join(completion.refusal.split())[:200]
            return await self._failed(Reason.REFUSED, f"the model declined: {said}")
        if completion.finish == "filtered":
            return await self._failed(Reason.REFUSED, "the endpoint's filter withheld the reply")
        answer = read(self.question, completion.text, cut=completion.finish == "length")
        entry = self._entry(None, "", strict.dumps(answer.model_dump(mode="json")))
        await self._commit(entry)
        return Verdict(self.question, answer, self._provenance(), self.repeat)

    async def _failed(self, reason: Reason, detail: str) -> Failure:
        if not reason.passing:
            await self._commit(self._entry(reason, detail, None))
        return Failure(self.question, reason, detail, self._provenance(), self.repeat)

    async def _commit(self, entry: Entry) -> None:
        try:
            await self.judge._ledger.commit(entry)
        except RagassayError as error:
            # What cannot be kept would be paid for again: nothing more is sent.
            self.judge._sender.stop(Reason.CONNECTION, str(error))
            raise
        if self.judge._reuse != "all":
            self.judge._renewed.add(entry.key)

    def _provenance(self) -> Provenance:
        tally = self.tally
        return Provenance(
            self.judge.label,
            tally.model,
            self.question.prompt_hash(self.judge.model),
            self.request.key,
            self.messages,
            self.reply,
            tally.input_tokens,
            tally.output_tokens,
            self._cost(),
            tally.seconds,
            tally.attempts,
            dropped=self.request.lost,
        )

    @property
    def reply(self) -> str:
        """The raw text that came last."""
        return self.completion.text or self.completion.refusal or ""

    def _cost(self) -> float | None:
        price, tally = self.judge.price, self.tally
        if price is None or not tally.counted:
            return None
        return price.cost(tally.input_tokens, tally.output_tokens)

    def _entry(self, reason: Reason | None, detail: str, answer: bytes | None) -> Entry:
        tally, question = self.tally, self.question
        return Entry(
            key=self.request.key,
            kind=question.kind,
            version=question.version,
            question=question.key,
            repeat=self.repeat,
            endpoint=self.judge.endpoint.url,
            model=self.judge.model,
            answered_by=tally.model,
            prompt_hash=question.prompt_hash(self.judge.model),
            reason=None if reason is None else str(reason),
            detail=detail,
            request=self.request.record(self.messages),
            reply=self.reply,
            answer=answer,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            cost=self._cost(),
            latency=tally.seconds,
            attempts=tally.attempts,
            dropped=self.request.lost,
            created=time.time(),
        )
