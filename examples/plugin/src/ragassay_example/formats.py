"""A format: transcripts, with a line ``Q: ...`` and a line ``A: ...`` for each sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragassay.errors import InputError
from ragassay.formats import NO, SURE, Format, Head, Mapper
from ragassay.samples import Sample


def _sniff(head: Head) -> int:
    return SURE if head.suffix == ".transcript" else NO


def _read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    query = None
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            mark, _, text = line.strip().partition(":")
            if mark == "Q":
                query = text.strip()
            elif mark == "A" and query is not None:
                record = {"id": str(number), "query": query, "answer": text.strip()}
                yield mapper.sample(record, number)
            elif line.strip():
                raise InputError("begins neither with Q: nor with A:", path=path, line=number)


TRANSCRIPT = Format("transcript", "Lines Q: ... and A: ...", (".transcript",), _sniff, _read)
