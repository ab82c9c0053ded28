"""A system as a run asks it: its limits and account, its requests, the samples that come of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from ragassay import formats
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Passage, Sample, Turn
from ragassay.base.score import Reason
from ragassay.formats import native
from ragassay.formats.records.passages import IN_QUERIES, refuse_ids
from ragassay.judges.ledger.system_answers import KeptFailure, SystemAnswers
from ragassay.targets.reply_shapes import SystemReply, foreign
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Request,
    Target,
)
from ragassay.transport.budget import Account, Reservation
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.endpoint import Stopped
from ragassay.transport.sending import UNUSABLE_IN_A_ROW, Sender, Tally

ALIKE_ADDRESSES = 5
"""So many refusals of the address or the key in a row, before the first answer, end the asking of a
system; so do `UNUSABLE_IN_A_ROW` other failures of one kind."""

MOST_WAYS = 5
"""Different failures that are listed one by one; the others are counted."""

_ADVICE = {
    Reason.TIMEOUT: "Raise --timeout, or find out why the system is slow.",
    Reason.CONNECTION: "Start the system and repeat the same 'ragassay ask'.",
    Reason.FAILED: "Correct that and repeat the same 'ragassay ask'.",
    Reason.RATE_LIMITED: "Ask more slowly (--rpm, -j), or try more often (--retries).",
    Reason.SERVER_ERROR: "Check the system's log. If it has too much to do, lower -j or --rpm, "
    "or raise --retries.",
}
_CUT = "Check the system's log and repeat the same 'ragassay ask'."

_CHARACTERS = 3.0
"""A request's characters to a token: rather too few than too many."""

_WRITTEN = 1_000
"""Tokens that an answer of a model with a list price takes, until there is a longer one."""

_MISSING = {
    "dollars": "what an answer costs. Let it report that in US dollars: in a mapping file "
    "'usage: {cost: PATH}', else the key 'cost' beside 'answer'.",
    "tokens": "how many an answer takes. Let it report that: in a mapping file 'usage: "
    "{input_tokens: PATH, output_tokens: PATH}', else 'usage' with these keys beside 'answer'.",
}
"""What a system does not report of its answers, and how it can, by the unit of the budget."""

_VARYING = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.)*' | (?<!\w)"(?:[^"\\]|\\.)*" | (?<!status[ ])\b[\w-]*\d[\w-]*""",
    re.VERBOSE,
)
"""What may differ between failures of one way: words that are quoted, numbers, identifiers."""


@dataclass
class System:
    """A target, and how it is asked: limits and retries, its answers in the ledger, an account
    (``None``: as much as it takes). ``facts`` are recorded with each of its answers."""

    target: Target
    sender: Sender
    answers: SystemAnswers
    facts: Mapping[str, Any]
    account: SystemAccount | None

    def learn(self, error: EndpointError | None) -> None:
        """Takes note of why a request has no answer (``None``: it has one). A system that answers
        nothing is stopped, with one sentence in place of thousands."""
        if error is None:
            self.sender.breaker.usable = True
        # The queries that are left may all be bad ones; a key may have expired since.
        elif not isinstance(error, Stopped) and (
            not self.answers.has_answered or isinstance(error, RefusedKeyError)
        ):
            most = ALIKE_ADDRESSES if isinstance(error, RefusedAddressError) else UNUSABLE_IN_A_ROW
            self.sender.breaker.unusable(
                error.detail, error.reason, kind=type(error), most=most, sentence=_given_up
            )


def _given_up(details: Sequence[str]) -> str:
    """Why no more are asked of a system that answered none of its first queries."""
    ways = distinct_failures(details)[:MOST_WAYS]
    listed = "; ".join(f"{n} of them: {text.rstrip('. ')}" for text, n in ways)
    return f"the first {len(details)} queries failed, so no more are asked. {listed}."


def failure_text(error: EndpointError) -> str:
    """What a failure says, and what to do about it where that is known."""
    advice = _CUT if isinstance(error, CutReplyError) else _ADVICE.get(error.reason, "")
    words = f"{error.detail.rstrip('.')}. {advice}"
    return words.rstrip().encode("utf-8", "replace").decode()  # it may quote anything


def distinct_failures(details: Iterable[str]) -> list[tuple[str, int]]:
    """The ways in which something failed, the most frequent first: first sentence and count."""
    ways: dict[str, tuple[str, int]] = {}
    for detail in details:
        way = _VARYING.sub("", detail)
        first, n = ways.get(way, (detail, 0))
        ways[way] = first, n + 1
    return sorted(ways.values(), key=lambda value: -value[1])


class SystemAccount(Account):
    """What one system may spend of a budget that all share, by what its answers took so far. Until
    the first answer shows that, one request is sent alone (unless its model has a list price)."""

    _dearest: float | None = None
    _longest: int | None = None

    def learn(self, measured: Mapping[str, Any]) -> None:
        """Takes note of what an answer of an earlier run took: this run need not find out."""
        is_counted = "input_tokens" in measured and "output_tokens" in measured
        tokens = measured["input_tokens"] + measured["output_tokens"] if is_counted else None
        self._note(measured.get("cost"), tokens)

    def _note(self, cost: float | None, tokens: int | None) -> None:
        """Raises what the dearest and the longest answer took."""
        if cost is not None:
            self._dearest = max(self._dearest or 0.0, cost)
        if tokens is not None:
            self._longest = max(self._longest or 0, tokens)

    def settle(
        self, pay: Reservation, completion: Completion | None, *, free: bool, sent: bool
    ) -> str | None:
        """Ends a reservation with the cost and the tokens of the answer; see `Account`."""
        if completion is None:
            # One that nobody knows the price of had reserved all that was left.
            unknown = self._dearest is None and self.price is None
            return super().settle(pay, None, free=free or unknown, sent=sent)
        assert isinstance(completion, SystemReply)
        counted = completion.input_tokens + completion.output_tokens
        self._note(completion.cost, counted if completion.counted else None)
        # An answer without its cost or tokens counts like the dearest and longest so far.
        cost = self._dearest if completion.cost is None else completion.cost
        tokens = counted if completion.counted else self._longest
        # Where an answer gives one of the two counts of tokens, that one counts.
        self.budget.settle(pay, cost, max(tokens or 0, counted))
        for unit, amount in {"dollars": cost, "tokens": tokens}.items():
            if amount is None and getattr(self.budget, unit) is not None:
                other = "tokens, which it reports ('2M tokens'), or " if completion.counted else ""
                return (
                    f"the budget is in {unit}, and the system does not report {_MISSING[unit]} Or "
                    f"give a budget in {other}calls ('200 calls')."
                )
        return None

    def likely(
        self, body: bytes, input_tokens: float, output_tokens: float
    ) -> tuple[float | None, int]:
        """Dollars and tokens of a request by earlier answers, as far as can be known."""
        budget, read = self.budget, len(body) / _CHARACTERS
        dollars, tokens = self._dearest, self._longest
        if self.price is not None:
            dollars = max(dollars or 0.0, self.price.cost(read, _WRITTEN))
            tokens = max(tokens or 0, int(read) + _WRITTEN)
        if dollars is None:
            dollars = max(0.0, (budget.dollars or 0.0) - budget.spent_dollars)
        if tokens is None:
            tokens = max(1, (budget.tokens or 0) - budget.spent_tokens)
        return dollars, tokens

    def spent(self, dollars: float | None, tokens: int) -> Stopped:
        """Why a request does not fit any more, and what to do."""
        spent = f"the budget is spent ({self.budget.describe()}), or too little is left"
        again = "The same 'ragassay ask' asks what is missing, with a budget of its own."
        return Stopped(Reason.BUDGET, f"{spent}. {again}")


ASKED = "asked"
"""The key of the metadata."""

STOPPED = "stopped"
"""The type of failure of queries that were not asked."""

NO_ANSWER = "no_answer"
"""Metadata of a sample whose system said that it has no answer: as in Open RAG Eval's files."""

FAILED_BEFORE = "failed_before"
"""Key of what is recorded: how often a query failed in earlier runs, before it was asked again."""

NOT_ASKED = "not_asked"
"""Key of what is recorded: why a query that failed in an earlier run was not asked again."""

_NO_SYSTEM: Mapping[str, Any] = {
    "system": "", "repeat": 0, "answer": None, "passages": None, "passages_prescribed": False,
    "failure": None, "given": {}, "given_by": {}, "given_unscored": {}, "runs": (),
}  # fmt: skip
"""The fields that a system filled, as they are where none did."""


def questions_of(samples: Sequence[Sample]) -> list[Sample]:
    """The queries of samples: without what systems made of them, each once. A `UsageError` where
    there is none, one has no text, or two differ under one id."""
    queries: dict[str, Sample] = {}
    for sample in samples:
        if not sample.query_text.strip():
            raise UsageError(f"The record {sample.id!r} has no query, so there is nothing to ask.")
        metadata = {k: v for k, v in sample.metadata.items() if k not in (ASKED, NO_ANSWER)}
        bare = replace(sample, metadata=metadata, **_NO_SYSTEM)
        first = queries.setdefault(sample.id, bare)
        if (first.query, first.history) != (bare.query, bare.history):
            two = f"{first.query!r} and {bare.query!r}. Give each query an id of its own."
            raise UsageError(f"Two records with the id {sample.id!r} ask different things: {two}")
    if not queries:
        raise UsageError("There is no query to ask.")
    return list(queries.values())


def request_of(query: Sample, history: tuple[Turn, ...], repeat: int, *, gold: bool) -> Request:
    """What a system is sent: with the texts of the gold passages, where it is to be given them."""
    passages = (passage.text for passage in query.gold or () if passage.grade > 0 and passage.text)
    given = tuple(passages) if gold else None
    return Request(query.id, query.query_text, history, repeat, query.metadata, given)


def read(record: str) -> Sample:
    """What `AskedQuery.stored` made, from the JSON of a ledger."""
    (stored,) = formats.from_records([orjson.loads(record)])
    return stored


@dataclass
class AskedQuery:
    """The asking of a query, once, of one system. The request is ``None`` while an earlier turn has
    no answer; ``before`` are its failures in earlier runs."""

    query: Sample
    repeat: int
    system: System
    facts: Mapping[str, Any]
    tally: Tally = field(default_factory=Tally)
    request: Request | None = None
    body: bytes = b""
    before: KeptFailure = KeptFailure(0, "")

    def stored(self, reply: SystemReply, at: float) -> Sample:
        """The answer alone, whose metadata is what was measured of it; ``at`` is the time."""
        measured: dict[str, Any] = {
            "latency": round(reply.latency, 6),
            "first_token": None if reply.first_token is None else round(reply.first_token, 6),
            # 0 is a measurement (an empty answer) where the reply gives both; else it means none.
            "input_tokens": reply.input_tokens if reply.counted else reply.input_tokens or None,
            "output_tokens": reply.output_tokens if reply.counted else reply.output_tokens or None,
            "cost": reply.cost,
            "attempts": self.tally.attempts,
            "waited": round(self.tally.waited, 3) or None,
            FAILED_BEFORE: self.before.times or None,
            "version": reply.version or None,
            "not_found": dict(reply.not_found) or None,
            "at": round(at, 3),
        }
        metadata = {name: value for name, value in measured.items() if value is not None}
        return Sample(id="reply", answer=reply.answer, passages=reply.passages, metadata=metadata)

    def record(self, stored: Sample) -> str:
        """What `stored` made as JSON, for a ledger."""
        try:
            return native.dump(stored).decode()
        except InputError as error:
            why = "the reply cannot be kept: it is not valid Unicode (half a surrogate pair)"
            raise foreign(f"{self.system.target.url}: {why}. Correct how it cuts texts.") from error

    def answered(self, stored: Sample) -> Sample:
        """The query with the answer that a ledger keeps."""
        assert self.request is not None
        metadata = {**self.query.metadata, ASKED: {**stored.metadata, **self.facts}}
        if stored.answer is not None and not stored.answer.text.strip():
            metadata[NO_ANSWER] = True
        given = self.request.passages
        if given is None:
            refuse_ids(self.query.gold, stored.passages, "gold", IN_QUERIES)
        at, asked_at = self.query.timestamp, stored.metadata["at"]
        return replace(
            self._of_system(metadata),
            history=self.request.history,
            answer=stored.answer,
            passages=stored.passages if given is None else tuple(map(Passage, given)),
            passages_prescribed=given is not None,
            timestamp=asked_at if at is None else at,
        )

    def failed(self, reason: str, detail: str, measured: Mapping[str, Any]) -> Sample:
        """The query with the failure of the system: its type, a sentence, and what was measured; or
        with its earlier answer, whose record says the same."""
        asked = {"failure": reason, "detail": detail, **measured, **self.facts}
        if (record := self.system.answers.find(self.body)) is not None:
            earlier = read(record)
            return self.answered(replace(earlier, metadata={"at": earlier.metadata["at"], **asked}))
        if self.before.times and NOT_ASKED not in measured:
            asked[FAILED_BEFORE] = self.before.times
        sample = self._of_system({**self.query.metadata, ASKED: asked})
        return replace(sample, failure=f"{reason}: {detail}")

    def _of_system(self, metadata: Mapping[str, Any]) -> Sample:
        name = self.system.target.name
        return replace(self.query, system=name, repeat=self.repeat, metadata=metadata)
