"""RAGChecker's inputs and results: a JSON object with one list of records."""

from __future__ import annotations

from ragassay.formats import native
from ragassay.formats.format import NO, SURE, Format, Head


def _sniff(head: Head) -> int:
    for name in ("results", "input_data"):
        inner = head.record.get(name)
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            return SURE if {"query_id", "gt_answer"} <= inner[0].keys() else NO
    return NO


FORMAT = Format(
    name="ragchecker",
    title="RAGChecker inputs and results (JSON)",
    suffixes=(".json",),
    sniff=_sniff,
    read=native.read,
)
