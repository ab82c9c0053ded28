"""What a ledger holds: one table, whose rows are of a few kinds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import orjson

from ragassay.base.errors import InputError

JUDGE_ANSWER, VECTOR, ANSWER = "verdict", "vector", "answer"
"""What a judge, an embedder and a system under test answered, or why not."""

REJECTED = "rejected parameter"
"""A parameter that an endpoint does not take: learned from requests, so it is kept with them."""

EMBEDDING = "embedding"  # what statistics and options call a vector, beside the kinds of questions
END_OF_TIME = 1e11  # a moment in seconds that no calendar here reaches

_OF_JUDGE_ANSWERS = {"version", "key", "repeat", "answer", "latency", "attempts"}


@dataclass(frozen=True, slots=True)
class Paid:
    """A row of a ledger. What is counted or chosen has a column of its own.

    ``key`` is hexadecimal, of an answer the hash of the whole request; ``source`` who was asked
    (the URL of an endpoint, the fingerprint of a system); ``name`` that of the model or system;
    ``subject`` the kind of question, `EMBEDDING`, a query's id or the rejected parameter.
    ``payload`` is what is too long to be read each time: the request in zlib, the vector.
    ``reason`` says why there is no answer; ``cost`` is in US dollars."""

    key: str
    kind: str
    source: str
    name: str
    subject: str
    facts: Mapping[str, Any]
    payload: bytes = b""
    reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    created: float = field(default_factory=time.time)

    @classmethod
    def of(cls, row: Sequence[Any]) -> Paid:
        """The row of these values; a `ValueError`, `TypeError` or `AttributeError` where it is
        damaged."""
        key, kind, source, name, subject, facts, *others = row
        values = orjson.loads(facts)
        lacks_none = isinstance(values, dict) and (
            kind != JUDGE_ANSWER or values.keys() >= _OF_JUDGE_ANSWERS
        )
        if not (lacks_none and 0 <= others[-1] < END_OF_TIME):
            raise ValueError("its values are of the wrong kind")
        return cls(key.hex(), kind, source, name, subject, values, *others)


TABLE = "paid_answers"
COLUMNS = [item.name for item in fields(Paid)]
FACTS = COLUMNS.index("facts")
_LISTED = ", ".join(COLUMNS)

# SQLite takes any name of a type, so PostgreSQL's serve both.
MAKE = (
    f"CREATE TABLE {TABLE} (key BYTEA PRIMARY KEY, kind TEXT NOT NULL, source TEXT NOT NULL, "
    "name TEXT NOT NULL, subject TEXT NOT NULL, facts BYTEA NOT NULL, payload BYTEA NOT NULL, "
    "reason TEXT, input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, "
    "cost DOUBLE PRECISION, created DOUBLE PRECISION NOT NULL)",
    # Whoever counts reads this index alone, and neither prompts nor replies.
    f"CREATE INDEX {TABLE}_counted ON {TABLE} (kind, created, key, source, name, subject, reason, "
    "input_tokens, output_tokens, cost)",
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM {TABLE}"
KEEP = (
    f"INSERT INTO {TABLE} ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) "
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in COLUMNS[1:])} "
    f"WHERE ? OR excluded.reason IS NULL OR {TABLE}.reason IS NOT NULL"
)
"""Keeps a row. Its last value: whether even a failure replaces an answer (that is not valid)."""


def rejection(endpoint: str, model: str, parameter: str, created: float) -> Paid:
    """The row of a parameter that an endpoint does not take for a model."""
    key = "\n".join((endpoint, model, parameter)).encode().hex()
    return Paid(key, REJECTED, endpoint, model, parameter, {}, created=created)


def unreadable(path: str, error: Exception) -> InputError:
    """The error for a row that no ledger may hold."""
    return damaged(path, f"a kept answer cannot be read: {error}")


def damaged(path: str, problem: str) -> InputError:
    """The error for a ledger that holds what no ledger may hold."""
    return InputError(
        f"is damaged ({problem})",
        path=path,
        hint="Move it away and run again with a new ledger, or rescue its rows first with "
        "'sqlite3 FILE .recover'.",
    )
