"""What a run asked and expected, as numbers: two runs compare only where these agree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragassay.samples import Sample

FACTS = (
    "query",
    "history",
    "references",
    "reference_groups",
    "negative_references",
    "gold",
    "answerability",
)
"""The parts of a sample that belong to the query, not to the system."""


def of_sample(sample: Sample) -> int:
    """64 bits of the hash of a sample's query id and facts, the same in every process."""
    facts = [sample.id, *(getattr(sample, name) for name in FACTS)]
    return int.from_bytes(_digest(repr(facts).encode("utf-8", "surrogatepass"))[:8], "big")


def of_run(asked: Iterable[int]) -> str:
    """16 digits for a set of queries, whatever their order and however often each was asked."""
    body = b"".join(number.to_bytes(8, "big") for number in sorted(set(asked)))
    return _digest(body).hex()[:16]


def differing(one: Sample, other: Sample) -> list[str]:
    """The names of the facts (`FACTS`) in which two samples of one query differ.

    Args:
        one: a sample.
        other: another of the same query.
    """
    return [name for name in FACTS if getattr(one, name) != getattr(other, name)]


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()
