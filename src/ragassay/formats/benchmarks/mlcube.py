"""ML cube rows: id, time_id, input_1, retrieved_context_1 and a prediction ``MODEL@VERSION``, or
the words of its pages: User Input, Context, Response.

The chunks of a context are joined by the task's separator, which the user names. A row with the
predictions of several models makes one sample for each of them. Rows with one
``session_id`` are turns of a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.sessions import with_earlier_turns
from ragassay.formats.sources import delimited, json_files, opening

_WORDS = ({"user_input"}, {"context", "retrieved_context"}, {"response"})
"""The components as ML cube's pages call them, each by one of its names."""


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a CSV or JSON Lines file of rows; rows of one session are its turns.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read, or a row names the answer or the system twice.
    """
    yield from with_earlier_turns(_rows(path, mapper))


def _rows(path: Path, mapper: Mapper) -> Iterator[Sample]:
    mapper.cells = True
    rows: Iterator[tuple[int, Any]] = (
        json_files.json_records(
            path, mapper.note, mapper.encoding, nested=True, is_record=mapper.reaches_into
        )
        if opening.is_json(path, mapper.encoding)
        else delimited.rows(path, mapper.encoding)
    )
    for line, row in rows:
        models = [key for key in row if all(key.partition("@"))]
        shared = {key: value for key, value in row.items() if key not in models}
        if not models:
            yield mapper.sample(shared, line)
        for other in shared if models else ():
            if FIELD_OF.get(folded(other)) in ("answer", "system"):
                raise InputError(
                    f"{other!r} stands beside {models[0]!r}, which holds the answer and names the "
                    "system",
                    path=path,
                    line=line,
                    field=other,
                    hint="Rename or remove one of them.",
                )
        for model in models:
            yield mapper.sample({**shared, "system": model, "answer": row[model]}, line)


def has_names(columns: Iterable[str]) -> bool:
    """Whether columns have ML cube's names. The words of its pages count only without a column of
    references or gold, because others use them too."""
    names = {folded(column) for column in columns}
    if names & {"input_1", "retrieved_context_1"}:
        return True
    labelled = any(FIELD_OF.get(name) in ("references", "gold", "gold_ids") for name in names)
    return all(names & words for words in _WORDS) and not labelled


def _sniff(head: Head) -> int:
    return SURE if has_names(head.columns) else NO


FORMAT = Format(
    name="mlcube",
    title="ML cube RAG task rows, or its words as columns (CSV or JSON Lines)",
    suffixes=(".csv", ".jsonl"),
    sniff=_sniff,
    read=read,
)
