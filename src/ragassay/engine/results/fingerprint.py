"""What a run asked and expected, and the replies that were recorded, as numbers: two runs compare
only where the former agree and the latter differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from ragassay.base.sample import Sample

NO_REPLY = 0
"""In place of the number of a reply, where none was recorded."""

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
    return int.from_bytes(
        hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).digest()[:8], "big"
    )


def of_reply(sample: Sample) -> int:
    """64 bits for the reply that ``ragassay ask`` recorded in ``metadata["asked"]``: whose it
    is, when it came and how long it took; `NO_REPLY` where none was recorded."""
    asked = sample.metadata.get("asked")
    if not isinstance(asked, Mapping):
        return NO_REPLY
    reply = [asked.get(name) for name in ("fingerprint", "at", "latency")]
    if None in reply:
        return NO_REPLY
    return int.from_bytes(hashlib.sha256(repr(reply).encode()).digest()[:8], "big")


def of_run(asked: Iterable[int]) -> str:
    """16 digits for a set of queries, whatever their order and however often each was asked."""
    body = b"".join(number.to_bytes(8, "big") for number in sorted(set(asked)))
    return hashlib.sha256(body).hexdigest()[:16]


def differing(one: Sample, other: Sample) -> list[str]:
    """The names of the facts (`FACTS`) in which two samples of one query differ."""
    return [name for name in FACTS if getattr(one, name) != getattr(other, name)]
