"""MT-RAG's tasks, predictions and evaluated records: JSON Lines of conversations.

The aliases know its fields: ``task_id``, ``input`` (the conversation; its last user turn is the
query), ``contexts``, ``targets``, ``predictions``, ``metrics``, and the answerability label in both
spellings, at the top or inside ``input[-1].enrichments``.
"""

from __future__ import annotations

from ragassay.formats import native
from ragassay.formats.format import NO, SURE, Format, Head


def _sniff(head: Head) -> int:
    fits = (
        head.container == "json"
        and head.has("task_id")
        and isinstance(head.record.get("input"), list)
    )
    return SURE if fits else NO


FORMAT = Format(
    name="mtrag",
    title="MT-RAG tasks, predictions and evaluated records (JSON Lines)",
    suffixes=(".jsonl", ".json"),
    sniff=_sniff,
    read=native.read,
)
