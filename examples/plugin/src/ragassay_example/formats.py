"""A format: transcripts, a line ``Q: ...`` for each sample and a line ``A: ...`` for its answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragassay import InputError, Sample
from ragassay.formats import NO, SURE, Format, Head, Mapper


def _sniff(head: Head) -> int:
    return SURE if head.suffix == ".transcript" else NO


def _read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    record: dict[str, str] = {}
    start = 0
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            mark, _, text = line.strip().partition(":")
            if mark == "Q":
                if record:
                    yield mapper.sample(record, start)
                record, start = {"id": str(number), "query": text.strip()}, number
            elif mark == "A" and record and "answer" not in record:
                record["answer"] = text.strip()
            elif line.strip():
                raise InputError("is neither a question nor its answer", path=path, line=number)
    if record:
        yield mapper.sample(record, start)


TRANSCRIPT = Format("transcript", "Lines Q: ... and A: ...", (".transcript",), _sniff, _read)
