"""The LLM judge: a model at an endpoint. No question is asked twice: the ledger keeps the answer.

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
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Literal

import orjson
from typing_extensions import override

from ragassay.base import strict_json
from ragassay.base.score import Reason
from ragassay.judges.judge import Judge
from ragassay.judges.judge_answer import Failure, JudgeAnswer, Provenance, provenance_of, to_record
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import JUDGE_ANSWER, Paid, unreadable
from ragassay.judges.llm import requests
from ragassay.judges.llm.endpoint_capabilities import EndpointCapabilities
from ragassay.judges.llm.replies import CUT, Unreadable, declines, described, read
from ragassay.judges.llm.requests import Request
from ragassay.judges.question import Question
from ragassay.judges.reply import R_co, Reply, ReplyInParts
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints import Completion, Endpoint, EndpointError
from ragassay.transport.endpoints.endpoint import TIMEOUT_S, Message, Stopped
from ragassay.transport.limits import Limiter
from ragassay.transport.prices import Price
from ragassay.transport.sending import BACKOFF_S, INTERRUPTED, Sender, Tally

Reuse = Literal["all", "answers", "nothing"]
"""Which rows a run uses: all; only answers (failures are asked again); none."""

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""


class LLMJudge(Judge):
    """A model behind an endpoint. ``limiter`` is shared by all judges of the endpoint.
    ``parameters`` are the user's (``None`` as a value leaves one out), ``identity`` stands in the
    signature in place of the label, ``language`` is that of explanations (empty: the query's),
    ``backoff`` the first wait before a retry in seconds; ``timeout`` is as of `Sender`. A
    `UsageError` for a budget in dollars without a price."""

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
        self._parameters, self._language = dict(parameters or {}), language
        self._ledger = ledger
        self._lookup = _LedgerLookup(ledger, self.label, (endpoint.url, model), reuse)
        account = Account(budget, price)
        self._sender = Sender(endpoint, limiter, None, account, timeout=timeout, backoff=backoff)
        self._capabilities = EndpointCapabilities(ledger, endpoint, model, self._sender)
        self._flights: dict[tuple[str, int], asyncio.Task[JudgeAnswer[Any] | Failure]] = {}

    @property
    @override
    def width(self) -> int:
        return self._sender.limiter.most

    @property
    @override
    def signature(self) -> str:
        general = {**requests.DEFAULTS, **self._parameters}
        sent = {name: value for name, value in general.items() if value is not None}
        dropped = self.without((*sent, *requests.FORMS))
        parts = [
            f"{name}={sent[name]:g}" if isinstance(sent[name], float) else f"{name}={sent[name]}"
            for name in sorted(sent)
            if name not in dropped
        ]
        parts += [f"without={name}" for name in dropped]
        parts += [f"language={self._language}"] * bool(self._language)
        return f"{self._identity}({','.join(parts)})"

    @override
    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        asked = set(names)
        return tuple(name for name in requests.lost(self._capabilities.dropped) if name in asked)

    @override
    async def open(self) -> None:
        self._sender.resume()
        self._capabilities.reopen()
        self._flights.clear()
        import jinja2  # noqa: F401 - now, and not while the first question waits

        await self.endpoint.open()

    @override
    async def drain(self) -> None:
        self._sender.stop(Reason.CONNECTION, INTERRUPTED)
        await asyncio.gather(*self._flights.values(), return_exceptions=True)

    @override
    async def close(self) -> None:
        await self.endpoint.close()

    @override
    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure | None:
        request = self._build(question, repeat, self._capabilities.dropped)
        return self._stored(question, repeat, request)

    @override
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        name = (question.key, repeat)
        flight = self._flights.get(name)
        if flight is None:
            flight = asyncio.ensure_future(self._find_or_ask(question, repeat))
            self._flights[name] = flight
            flight.add_done_callback(lambda _: self._flights.pop(name, None))
        return await asyncio.shield(flight)

    async def _find_or_ask(
        self, question: Question[Any], repeat: int
    ) -> JudgeAnswer[Any] | Failure:
        request = self._build(question, repeat, self._capabilities.dropped)
        judge_answer = self._stored(question, repeat, request)
        if judge_answer is None:
            async with self._ledger.lease(request.key):
                # Another process may have asked it while this one waited.
                judge_answer = self._stored(question, repeat, request)
                if judge_answer is None:
                    judge_answer = await _Exchange(self, question, repeat, request).outcome()
        if isinstance(judge_answer, JudgeAnswer):
            self._sender.breaker.usable()
        return judge_answer

    def _stored(
        self, question: Question[Any], repeat: int, request: Request
    ) -> JudgeAnswer[Any] | Failure | None:
        """The stored result of a request, or of one that was sent in its place before the endpoint
        had rejected as much as now: that names what it was asked without."""
        earlier = (self._build(question, repeat, dropped) for dropped in self._capabilities.before)
        results = (self._lookup.find(question, repeat, one) for one in chain((request,), earlier))
        return next((result for result in results if result is not None), None)

    def _build(self, question: Question[Any], repeat: int, dropped: frozenset[str]) -> Request:
        own = self.prompts.get(question.kind, "")
        chosen, language = self._parameters, self._language
        return requests.build(
            self.endpoint, self.model, question, repeat, chosen, dropped, language, own
        )


class _Exchange:
    """One question on its way through one judge."""

    def __init__(
        self, judge: LLMJudge, question: Question[Any], repeat: int, request: Request
    ) -> None:
        self.judge, self.question, self.repeat, self.request = judge, question, repeat, request
        self.looked_up = request.key
        self.tally = Tally()
        self.messages: list[Message] = list(request.prompt.messages)
        self.completion = Completion(None)

    async def outcome(self) -> JudgeAnswer[Any] | Failure:
        """The answer or failure; it is in the ledger if it is to be kept."""
        try:
            try:
                return await self.judge._capabilities.exchange(self._send)
            except Unreadable as first:
                return await self._repaired(first)
        except Stopped as stop:
            # What ended the asking of all questions is not kept as a failure of this one.
            return Failure(
                self.question,
                stop.reason,
                stop.detail,
                self._provenance(),
                self.repeat,
                stopped=True,
            )
        except EndpointError as error:
            return await self._failed(error.reason, error.detail)
        finally:
            self.judge._sender.end_head_start()

    async def _send(
        self, dropped: frozenset[str], current: Callable[[], bool] | None
    ) -> JudgeAnswer[Any] | Failure | None:
        """Sends the request without what is dropped; see `EndpointCapabilities.exchange`."""
        if dropped != self.request.dropped:
            self.request = self.judge._build(self.question, self.repeat, dropped)
            self.messages = list(self.request.prompt.messages)
        request = self.request
        if request.key != self.looked_up:
            # What the endpoint takes has just been found out: this may have been asked before.
            self.looked_up = request.key
            stored = self.judge._lookup.find(self.question, self.repeat, request)
            if stored is not None:
                await self.judge._capabilities.learn(dropped)
                return stored
        sizes = request.input_tokens, request.output_tokens
        sending = self.judge._sender.send
        return await sending(request.body, self._received, self.tally, *sizes, current)

    async def _received(self, completion: Completion) -> JudgeAnswer[Any] | Failure:
        """The answer or the refusal that a reply holds; it is kept before this returns."""
        await self.judge._capabilities.learn(self.request.dropped)
        self.completion = completion
        if completion.refusal:
            return await self._failed(Reason.REFUSED, _declined(completion.refusal))
        if completion.finish == "filtered":
            return await self._failed(Reason.REFUSED, "the endpoint's filter withheld the reply")
        cut = completion.finish == "length"
        return await self._answered(read(self.question, completion.text, cut=cut))

    async def _repaired(self, first: Unreadable) -> JudgeAnswer[Any] | Failure:
        """The result of the repair turn, or what the replies hold without it."""
        bad, problem = self.completion.text, str(first)
        prompt = requests.repair(self.request, bad, problem)
        self.messages = list(prompt.messages)
        body = strict_json.dumps(self.judge.endpoint.body(prompt))
        sizes = self.request.input_tokens + len(bad or "") / 4 + 100, self.request.output_tokens
        rest, said = first.rest, ""
        try:
            asked = await self.judge._sender.send(body, self._received, self.tally, *sizes)
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
            return await self._answered(rest)
        if declines(said):
            return await self._failed(Reason.REFUSED, _declined(said))
        self.judge._sender.breaker.unusable(problem)
        return await self._failed(Reason.UNPARSABLE, problem)

    async def _answered(self, answer: Reply) -> JudgeAnswer[Any]:
        judge_answer = JudgeAnswer(self.question, answer, self._provenance(), self.repeat)
        await self._keep(judge_answer)
        return judge_answer

    async def _failed(self, reason: Reason, detail: str) -> Failure:
        failure = Failure(self.question, reason, detail, self._provenance(), self.repeat)
        if not reason.passing:
            await self._keep(failure)
        return failure

    async def _keep(self, asked: JudgeAnswer[Any] | Failure) -> None:
        sent = self.request.record(self.messages)
        await self.judge._sender.kept(self.judge._lookup.keep(asked, sent))

    def _provenance(self) -> Provenance:
        tally, price, last = self.tally, self.judge.price, self.completion
        tokens = tally.input_tokens, tally.output_tokens
        return Provenance(
            self.judge.label,
            tally.model,
            self.judge.prompt_hash(self.question),
            self.request.key,
            self.messages,
            last.text or last.refusal or "",
            *tokens,
            price.cost(*tokens) if price and tally.counted else None,
            tally.seconds,
            tally.attempts,
            dropped=self.request.lost,
        )


def _declined(words: str) -> str:
    return f"the model declined: {' '.join(words.split())[:200]}"


class _LedgerLookup:
    """The ledger as one judge sees it; what was asked again in a run counts for the rest of it."""

    def __init__(self, ledger: Ledger, label: str, address: tuple[str, str], reuse: Reuse) -> None:
        self._ledger, self._label, self._reuse = ledger, label, reuse
        self._address = address
        # By request; with its failure, where the ledger keeps an older answer instead.
        self._renewed: dict[bytes, tuple[Reason, str] | None] = {}

    def find(
        self, question: Question[Any], repeat: int, request: Request
    ) -> JudgeAnswer[Any] | Failure | None:
        """The kept result of a request; ``None`` where there is none that the run may use, or where
        the question no longer allows the kept answer."""
        key = bytes.fromhex(request.key)
        renewed = key in self._renewed
        if self._reuse == "nothing" and not renewed:
            return None
        failure = self._renewed.get(key)
        if failure is not None:
            source = Provenance(self._label, request=request.key, cached=True, dropped=request.lost)
            return Failure(question, *failure, source, repeat)
        row = self._ledger.get(request.key)
        asks_again = self._reuse == "answers" and not renewed
        if row is None or (asks_again and row.reason is not None):
            return None
        try:
            sent = orjson.loads(zlib.decompress(row.payload))
            record = {**row.facts, "judge": self._label, "request": row.key, "cached": True}
            provenance = provenance_of({**record, "messages": sent["messages"]})
            if row.reason is not None:
                detail = row.facts["detail"]
                return Failure(question, Reason(row.reason), detail, provenance, repeat)
        except (zlib.error, ValueError, TypeError, KeyError) as error:
            raise unreadable(self._ledger.path, error) from error
        answer = _valid(question, row)
        if answer is None or (asks_again and isinstance(answer, ReplyInParts) and answer.lost):
            return None  # asking again may bring the fields that are lost
        return JudgeAnswer(question, answer, provenance, repeat)

    async def keep(self, asked: JudgeAnswer[Any] | Failure, sent: bytes) -> None:
        """Keeps the result of a request. It is durable when this returns. A failure does not
        replace an answer that is still valid: this run has its failure, other runs the answer."""
        key = asked.provenance.request
        failure = (asked.reason, asked.detail) if isinstance(asked, Failure) else None
        old = None if failure is None else self._ledger.get(key)
        stays = old is not None and _valid(asked.question, old) is not None
        stale = old is not None and old.reason is None and not stays
        # Made on the ledger's thread, because compression takes time.
        await self._ledger.keep(lambda: [self._row(asked, sent)], stale=stale)
        if self._reuse != "all":
            self._renewed[bytes.fromhex(key)] = failure if stays else None

    def _row(self, asked: JudgeAnswer[Any] | Failure, sent: bytes) -> Paid:
        provenance = asked.provenance
        record = to_record(asked)
        for name in ("about", "messages", "cached"):  # what the payload or the question says
            record.pop(name, None)
        return Paid(
            provenance.request,
            JUDGE_ANSWER,
            *self._address,
            asked.question.kind,
            record,
            zlib.compress(sent, _COMPRESSION),
            record.get("reason"),
            provenance.input_tokens,
            provenance.output_tokens,
            provenance.cost,
        )


def _valid(question: Question[Any], row: Paid) -> Any:
    """The answer in a row; ``None`` where it holds none that is valid now."""
    try:
        answer = orjson.dumps(row.facts["answer"])
        return question.check(question.reply.model_validate_json(answer))
    except ValueError:
        return None
