"""What a ledger holds: one table, whose rows are of a few kinds.

A row of one kind replaces that of another one with the same key: an answer takes the place of the
failure that came before it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ragassay.base.errors import InputError

VERDICT, NO_VERDICT = "verdict", "no verdict"
"""An answer of a judge, and a failure that would come out the same again."""

VECTOR = "vector"
ANSWER, NO_ANSWER = "answer", "no answer"
"""An answer of a system under test, and a failure that is asked again."""

REJECTED = "rejected parameter"
"""A parameter that an endpoint does not take: learned from requests, so it is kept with them."""

END_OF_TIME = 1e11
"""A moment in seconds that no calendar here reaches."""

TABLE = "paid_answers"

# SQLite takes any name of a type, so PostgreSQL's serve both.
MAKE = (
    f"CREATE TABLE {TABLE} (key BYTEA PRIMARY KEY, kind TEXT NOT NULL, source TEXT NOT NULL, "
    "body BYTEA NOT NULL, created DOUBLE PRECISION NOT NULL)",
    f"CREATE INDEX {TABLE}_by_age ON {TABLE} (kind, created, key)",
)
SELECT = f"SELECT key, kind, source, body, created FROM {TABLE}"
KEEP = (
    f"INSERT INTO {TABLE} (key, kind, source, body, created) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, source = excluded.source, "
    "body = excluded.body, created = excluded.created"
)
KEEP_FAILURE = f"{KEEP} WHERE {TABLE}.kind = excluded.kind"
"""Keeps a row, but never in place of one of another kind: an answer was paid for."""


@dataclass(frozen=True, slots=True)
class Paid:
    """A row of a ledger.

    Attributes:
        kind: one of the kinds above.
        key: hexadecimal digits; of an answer the hash of the whole request.
        source: who was asked, as the kind names it; lines of text.
        facts: plain values.
        payload: what is no plain value, or is too long to be read each time.
        created: seconds since 1970.
    """

    kind: str
    key: str
    source: str
    facts: Mapping[str, Any]
    payload: bytes = b""
    created: float = field(default_factory=time.time)

    def row(self) -> Sequence[Any]:
        """The values of the row: the body is a line of JSON and then the payload."""
        body = orjson.dumps(self.facts) + b"\n" + self.payload
        return bytes.fromhex(self.key), self.kind, self.source, body, self.created

    @classmethod
    def of(cls, row: Sequence[Any]) -> Paid:
        """The row of these values.

        Raises:
            ValueError, TypeError, AttributeError: it is damaged.
        """
        key, kind, source, body, created = row
        facts, _, payload = body.partition(b"\n")
        values = orjson.loads(facts)
        if not (
            isinstance(values, dict) and isinstance(source, str) and 0 <= created < END_OF_TIME
        ):
            raise ValueError("its values are of the wrong kind")
        return cls(kind, key.hex(), source, values, payload, created)


def source_of(endpoint: str, model: str, *more: object) -> str:
    """The source of what a model at an endpoint said.

    Args:
        endpoint: its URL.
        model: its name there.
        more: what else tells two sources apart.
    """
    return "\n".join([endpoint, model, *map(str, more)])


def rejection(source: str, parameter: str, created: float) -> Paid:
    """The row of a parameter that an endpoint does not take for a model.

    Args:
        source: of the endpoint and the model.
        parameter: its name.
        created: rows are read in this order, and else by the parameter's name.
    """
    key = f"{source}\n{parameter}".encode().hex()
    return Paid(REJECTED, key, source, {"parameter": parameter}, created=created)


def damaged(path: str, problem: str) -> InputError:
    """The error for a ledger that holds what no ledger may hold.

    Args:
        path: of the ledger.
        problem: what is wrong in it.
    """
    return InputError(
        f"is damaged ({problem})",
        path=path,
        hint="Move it away and run again with a new one, or rescue its rows first with "
        "'sqlite3 FILE .recover'.",
    )
