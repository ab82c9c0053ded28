"""What a check of a golden set found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "look"]

Told = tuple[str, str, Severity]
"""The id of a query, a sentence about it, and how grave it is."""


@dataclass(frozen=True)
class Finding:
    """Something about an item.

    Attributes:
        check: which check found it.
        item: the query's id; empty where it is about the set.
        sentence: what it is.
        severity: ``error``: it is wrong; ``look``: a person should look.
    """

    check: str
    item: str
    sentence: str
    severity: Severity
