"""Warnings about rows of questions that lack something."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.errors import CountedFact, warn_user

_SHOWN = 5
"""Rows that a warning names."""


def warn_of_rows(rows: Sequence[int], fact: str, then: str = "") -> None:
    """Warns of rows, where there are any.

    Args:
        rows: their numbers, from 0.
        fact: what is true of them, with ``{n}`` and ``{one|several}`` (`CountedFact`).
        then: what follows from that, after the numbers of the rows.
    """
    if rows:
        numbers = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
        warn_user(CountedFact(f"{fact} (counted from 0: {numbers}){then}.", len(rows)))
