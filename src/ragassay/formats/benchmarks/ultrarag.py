"""UltraRAG's results: JSON Lines with a question, golden answers and a predicted answer."""

from __future__ import annotations

from ragassay.formats import native
from ragassay.formats.format import NO, SURE, Format, Head


def _sniff(head: Head) -> int:
    wanted = head.has("golden_answers") and not head.has("retrieved_contexts")
    return SURE if head.container == "json" and wanted else NO


FORMAT = Format(
    name="ultrarag",
    title="UltraRAG result JSON Lines (question, golden_answers, pred_answer)",
    suffixes=(".jsonl", ".json"),
    sniff=_sniff,
    read=native.read,
)
