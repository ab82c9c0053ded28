"""How the exports of a tool are read: traces, or a table of records that the tool evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ragassay.base.sample import Sample
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import opening
from ragassay.formats.traces.span_rows import rows
from ragassay.formats.traces.trace_spans import SpansOf, samples

Row = Mapping[str, Any]
"""One record of an export."""

Made = tuple[dict[str, Any], Mapping[str, Any] | None]
"""The fields of a sample, and what only chosen columns may reach into (`Mapper.sample`)."""

Making = Callable[[Row], Made]
"""Makes the fields of a sample of a record."""


def reader(
    tool: str,
    spans: SpansOf,
    records: Callable[[Row, Mapper], Making | None] = lambda first, mapper: None,
) -> Callable[[Path, Mapper], Iterator[Sample]]:
    """What reads the files of a tool, as `Format` has it.

    Args:
        tool: its name, for errors.
        spans: gives the spans of a record and its line; each trace then makes a sample.
        records: what makes a sample of each record, as the first record shows; ``None`` where a
            file holds spans, as all do by default.
    """

    def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
        listed = rows(path, mapper)
        first = list(islice(listed, 1))
        listed = chain(first, listed)
        made = records(first[0][1], mapper) if first else None
        if made is None:
            yield from samples(listed, spans, tool, mapper)
            return
        for line, row in listed:
            with opening.shaped(tool, path, line):
                record, beside = made(row)
            yield mapper.sample(record, line, beside)

    return read
