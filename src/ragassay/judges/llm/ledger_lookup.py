"""Finds and stores the results of requests in the ledger, as one run may use it."""

from __future__ import annotations

from typing import Any, Literal, cast

import orjson

from ragassay.base.score import Reason
from ragassay.judges.ledger.entry import PROVENANCE, Entry, commit, find
from ragassay.judges.ledger.store import Ledger
from ragassay.judges.llm.requests import Request
from ragassay.judges.question import Question
from ragassay.judges.reply import ReplyInParts
from ragassay.judges.verdict import Failure, Provenance, Verdict
from ragassay.transport.endpoints.endpoint import Message

Reuse = Literal["all", "answers", "nothing"]
"""Which entries a run uses: all; only answers (failures are asked again); none."""


class LedgerLookup:
    """The ledger as one judge sees it. Results that were asked for again in this run are used for
    the rest of it.

    Args:
        ledger: where answers are kept.
        label: of the judge.
        reuse: what counts.
    """

    def __init__(self, ledger: Ledger, label: str, reuse: Reuse) -> None:
        self._ledger, self._label, self._reuse = ledger, label, reuse
        # By request; with its failure, where the ledger keeps an older answer instead.
        self._renewed: dict[bytes, tuple[Reason, str] | None] = {}

    def find(
        self, question: Question[Any], repeat: int, request: Request
    ) -> Verdict[Any] | Failure | None:
        """The stored result of a request, where the run may use it.

        Args:
            question: that is asked.
            repeat: which time it is asked, from 0.
            request: as it would be sent.

        Returns:
            ``None`` where there is none, or where the question no longer allows the stored answer.
        """
        key = bytes.fromhex(request.key)
        renewed = key in self._renewed
        if self._reuse == "nothing" and not renewed:
            return None
        failure = self._renewed.get(key)
        if failure is not None:
            source = Provenance(self._label, request=request.key, cached=True, dropped=request.lost)
            return Failure(question, *failure, source, repeat)
        entry = find(self._ledger, request.key)
        if entry is None:
            return None
        provenance = Provenance(
            self._label,
            model=entry.answered_by,
            request=entry.key,
            messages=cast("list[Message]", orjson.loads(entry.request)["messages"]),
            cached=True,
            **{name: getattr(entry, name) for name in PROVENANCE},
        )
        asks_again = self._reuse == "answers" and not renewed
        if entry.reason is not None:
            result = Failure(question, Reason(entry.reason), entry.detail, provenance, repeat)
            return None if asks_again else result
        answer = _valid(question, entry)
        if answer is None or (asks_again and _lost_by_the_judge(answer)):
            return None
        return Verdict(question, answer, provenance, repeat)

    async def keep(self, question: Question[Any], entry: Entry) -> None:
        """Stores the result of a request. It is durable when this returns.

        A failure does not replace an answer that is still valid: the ledger keeps the answer for
        other runs, and this run has its failure.

        Args:
            question: that is asked.
            entry: result of the request.

        Raises:
            UsageError: the ledger cannot be written any more.
        """
        old = None if entry.reason is None else find(self._ledger, entry.key)
        stays = old is not None and _valid(question, old) is not None
        stale = old is not None and old.reason is None and not stays
        await commit(self._ledger, entry, stale=stale)
        if self._reuse != "all":
            failure = (Reason(entry.reason), entry.detail) if entry.reason and stays else None
            self._renewed[bytes.fromhex(entry.key)] = failure


def _valid(question: Question[Any], entry: Entry) -> Any:
    """The answer of an entry; ``None`` where it holds none that is valid now."""
    try:
        return question.check(question.reply.model_validate_json(entry.answer or b""))
    except ValueError:
        return None


def _lost_by_the_judge(answer: Any) -> bool:
    """Whether a field of the answer had no valid value: asking again may bring one."""
    return isinstance(answer, ReplyInParts) and bool(answer.lost)
