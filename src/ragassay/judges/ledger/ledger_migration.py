"""Makes the table of a ledger, and moves into it what a ledger of version 1 holds.

Version 1 had a table each for verdicts, vectors, answers of systems, their failures and rejected
parameters. A ledger from before systems were asked lacks some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from ragassay.judges.ledger import paid
from ragassay.judges.ledger.paid import Paid, damaged, rejection

_SOURCES = {
    "verdicts": ("endpoint", "model"),
    "vectors": ("endpoint", "model", "dimensions"),
    "rejected": ("endpoint", "model"),
    "failures": ("fingerprint",),
    "answers": ("fingerprint",),  # after the failures, whose place they take
}
"""The tables of version 1, and the columns that name a source."""

_PAGE = 500


def make(connection: Any, has_table: Callable[[str], bool], path: str) -> None:
    """Makes the table and moves older ones into it. For within a transaction.

    Args:
        connection: to the ledger.
        has_table: whether it has a table of this name.
        path: of the ledger.

    Raises:
        InputError: a row of version 1 is damaged.
    """
    for statement in paid.MAKE:
        connection.execute(statement)
    for table in filter(has_table, _SOURCES):
        last = 0
        while True:
            query = f"SELECT rowid, * FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}"
            cursor = connection.execute(query, (last,))
            names = [column[0] for column in cursor.description]
            page = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            if not page:
                break
            last = page[-1]["rowid"]
            try:
                rows = [_moved(table, row).row() for row in page]
            except (ValueError, TypeError, AttributeError) as error:
                raise damaged(path, f"a kept answer cannot be read: {error}") from error
            connection.executemany(paid.KEEP, rows)
        connection.execute(f"DROP TABLE {table}")


def _moved(table: str, row: dict[str, Any]) -> Paid:
    """A row of a table of version 1."""
    order = float(row.pop("rowid"))
    source = "\n".join(str(row.pop(name)) for name in _SOURCES[table])
    if table == "rejected":
        return rejection(source, row["parameter"], order)
    key, created = row.pop("key").hex(), row.pop("created")
    if table == "verdicts":
        kind = paid.VERDICT if row["reason"] is None else paid.NO_VERDICT
        row["dropped"] = orjson.loads(row["dropped"])
        return Paid(kind, key, source, row, row.pop("request"), created)
    if table == "vectors":
        facts = {"kind": "embedding", "reason": None, "output_tokens": 0, **row}
        return Paid(paid.VECTOR, key, source, facts, facts.pop("vector"), created)
    kind = paid.ANSWER if table == "answers" else paid.NO_ANSWER
    return Paid(kind, key, source, row, row.pop("record").encode(), created)
