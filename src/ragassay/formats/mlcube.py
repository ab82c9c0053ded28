"""ML cube rows: id, time_id, input_1, retrieved_context_1 and a prediction ``MODEL@VERSION``.

The chunks of a context are joined by the task's separator, which the user names. A row with the
predictions of several models is one sample for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.formats import delimited, files
from ragassay.formats.aliases import FIELD_OF, folded
from ragassay.formats.base import NO, SURE, Format, Head
from ragassay.formats.records import Mapper
from ragassay.samples import Sample

_USUAL_SEPARATOR = "<<sep>>"


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a CSV or JSON Lines file of rows."""
    mapper.cells = True
    with files.opened(path) as stream:
        is_json = stream.read(64).lstrip()[:1] in (b"{", b"[")
    rows: Iterator[tuple[int, Any]] = (
        files.json_records(path, mapper.note) if is_json else delimited.rows(path)
    )
    for line, row in rows:
        models = [key for key in row if _is_model(key)]
        shared = {key: value for key, value in row.items() if key not in models}
        context = row.get("retrieved_context_1")
        if mapper.separator is None and isinstance(context, str) and _USUAL_SEPARATOR in context:
            mapper.note(
                f"contexts with {_USUAL_SEPARATOR!r} in them",
                f"Each counts as one passage; name the separator ('{_USUAL_SEPARATOR}') to cut it.",
                line,
            )
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


def _is_model(column: str) -> bool:
    name, at, version = column.partition("@")
    return bool(name and at and version)


def _sniff(head: Head) -> int:
    return SURE if head.has("input_1") or head.has("retrieved_context_1") else NO


FORMAT = Format(
    name="mlcube",
    title="ML cube RAG task rows (CSV or JSON Lines)",
    suffixes=(".csv", ".jsonl"),
    sniff=_sniff,
    read=read,
)
