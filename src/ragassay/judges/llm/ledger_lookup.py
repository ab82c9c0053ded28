"""Finds and keeps the answers to requests in the ledger, as one run may use it: the one place where
a verdict becomes a row of the ledger, and a row a verdict."""

from __future__ import annotations

import zlib
from typing import Any, Literal

import orjson

from ragassay.base.score import Reason
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import VERDICT, Paid, unreadable
from ragassay.judges.llm.requests import Request
from ragassay.judges.question import Question
from ragassay.judges.reply import ReplyInParts
from ragassay.judges.verdict import Failure, Provenance, Verdict, provenance_of, to_record

Reuse = Literal["all", "answers", "nothing"]
"""Which rows a run uses: all; only answers (failures are asked again); none."""

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""


class LedgerLookup:
    """The ledger as one judge sees it; what was asked again in a run counts for the rest of it."""

    def __init__(self, ledger: Ledger, label: str, address: tuple[str, str], reuse: Reuse) -> None:
        self._ledger, self._label, self._reuse = ledger, label, reuse
        self._address = address
        # By request; with its failure, where the ledger keeps an older answer instead.
        self._renewed: dict[bytes, tuple[Reason, str] | None] = {}

    def find(
        self, question: Question[Any], repeat: int, request: Request
    ) -> Verdict[Any] | Failure | None:
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
        return Verdict(question, answer, provenance, repeat)

    async def keep(self, asked: Verdict[Any] | Failure, sent: bytes) -> None:
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

    def _row(self, asked: Verdict[Any] | Failure, sent: bytes) -> Paid:
        provenance = asked.provenance
        record = to_record(asked)
        for name in ("about", "messages", "cached"):  # what the payload or the question says
            record.pop(name, None)
        return Paid(
            provenance.request,
            VERDICT,
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
