"""The identity of samples: ids for records that have none, and the error for a repeated
identity."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample, Turn
from ragassay.formats.format_words import OptionWords, wrong
from ragassay.formats.records.values.field_values import texts_of

LINE = "@line"
"""The column, given to every record where it is named, that holds the number of its line."""

_LATEST = 100
"""Samples that are kept to be compared with one that repeats their identity."""


class Identities:
    """Where each identity (id, system and repeat) was read."""

    def __init__(self) -> None:
        self._places: dict[int, int | tuple[Path | None, int]] = {}
        self._latest: dict[int, Sample] = {}

    def claim(self, sample: Sample, place: int | tuple[Path | None, int]) -> None:
        """Registers a sample by its line, or its file and line; one whose identity an earlier one
        has is an error."""
        key = hash((sample.id, sample.system, sample.repeat))
        if key in self._places:
            raise self._repeated(key, sample)
        self._places[key] = place
        self._latest[key] = sample
        if len(self._latest) > _LATEST:
            del self._latest[next(iter(self._latest))]

    def _repeated(self, key: int, sample: Sample) -> InputError:
        of = f" of system {sample.system!r}" if sample.system else ""
        earlier = self._places[key]
        where = earlier if isinstance(earlier, int) else f"{earlier[1]} of {earlier[0]}"
        query = sample.query or ""
        query = query if len(query) <= 80 else f"{query[:77]}..."
        if _are_rows_of_passages(self._latest.get(key), sample):
            return wrong("row_a_passage", query=query, of=of, where=where)
        if has_made_id(sample):
            choice = OptionWords().columns("id", LINE)
            return wrong("same_made_id", query=query, of=of, where=where, choice=choice)
        facts = {"id": sample.id, "repeat": sample.repeat, "of": of, "where": where}
        return wrong("same_identity", field="id", **facts)


def has_made_id(sample: Sample) -> bool:
    """Whether the id of a sample was made of its query, because its record has none."""
    return sample.query is not None and sample.id == made_id(sample.query, sample.history)


def made_id(query: str, history: tuple[Turn, ...]) -> str:
    """An id for a record that has none: a hash of its query and the turns before it."""
    content = orjson.dumps([query, [[turn.speaker, turn.text] for turn in history]])
    return f"q-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _are_rows_of_passages(earlier: Sample | None, sample: Sample) -> bool:
    """Whether two samples of one identity look like two passages of one request, a row each: they
    agree in all but the passages, or but texts of several words in unknown columns."""
    if earlier is None or sample.query is None:
        return False
    parts = ("query", "history", "answer", "references")
    if any(getattr(earlier, part) != getattr(sample, part) for part in parts):
        return False
    one, other = earlier.passages or (), sample.passages or ()
    if one or other:
        return one != other and len(one) <= 1 and len(other) <= 1
    texts = [
        {name: text for name, text in texts_of(each.metadata).items() if " " in text.strip()}
        for each in (earlier, sample)
    ]
    return texts[0] != texts[1]
