"""MT-RAG's tasks, predictions and evaluated records: JSON Lines of conversations.

The aliases know its fields: ``task_id``, ``input`` (the conversation; its last user turn is the
query), ``contexts``, ``targets``, ``predictions``, ``metrics``, and the answerability label in both
spellings, at the top or inside ``input[-1].enrichments``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.formats import native
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples; among contexts with one score the ids decide, descending, as in the benchmark's
    own evaluation of retrieval.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a record cannot be read.
    """
    for sample in native.read(path, mapper):
        tied = groupby(sample.passages or (), key=lambda one: one.score)
        ordered = [
            one
            for score, group in tied
            for one in (
                group if score is None else sorted(group, key=lambda x: x.id or "", reverse=True)
            )
        ]
        yield replace(sample, passages=tuple(ordered)) if ordered else sample


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
    read=read,
)
