"""Runs and qrels that are no text table: JSON ``{query: {document: number}}`` (ranx, pytrec_eval,
mteb), JSON Lines and Parquet with a row for each query and document (BEIR and mteb on Hugging Face,
ranx, PyTerrier)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragassay.base.errors import InputError
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.sources import json_files, opening, standard_input
from ragassay.formats.sources.json_values import parse_json, whole_object
from ragassay.formats.sources.opening import opened

if TYPE_CHECKING:
    import polars as pl

_NAMES = {
    "query": ("query", "query_id", "query-id", "qid", "q_id"),
    "document": ("document", "document_id", "doc_id", "corpus-id", "corpus_id", "docno", "docid"),
    "score": ("score",),
    "grade": ("grade", "relevance", "rel", "label", "score"),
}
"""What columns are called."""


def chosen(names: Iterable[str], number: str) -> dict[str, str] | None:
    """The columns of query, document and number (``score`` or ``grade``) among these names;
    ``None`` where one is missing."""
    known = {name.casefold(): name for name in names}
    found = {
        part: next((known[name] for name in _NAMES[part] if name in known), "")
        for part in ("query", "document", number)
    }
    return found if all(found.values()) else None


def is_mapping(value: Any) -> bool:
    """Whether a JSON value begins like ``{query: {document: number}}``; what is no number is an
    error for who reads it."""
    if not isinstance(value, Mapping):
        return False
    inner = list(islice(value.values(), 20))
    if not all(isinstance(one, Mapping) for one in inner):
        return False
    values = [value for one in inner for value in islice(one.values(), 20)]
    return any(map(_is_number, values)) and not any(
        isinstance(value, Mapping | list) for value in values
    )


def read_other(path: Path, number: str) -> pl.DataFrame | None:
    """A frame of ``query``, ``document`` and the number, in the order of the file; ``None`` where
    the file is text with columns. The number is a ``score``, or a ``grade``, which is whole."""
    with opened(path) as stream:
        start = stream.read(64).lstrip()
    if start[:4] == b"PAR1":
        return _of_parquet(path, number)
    first = json_files.first_record(path) if start[:1] in (b"{", b"[") else {}
    if not first and ".json" not in "".join(path.suffixes):
        return None  # columns, of which the first may begin so
    if chosen(first, number):
        query, document, value = (chosen(first, number) or {}).values()
        rows: Iterable[tuple[int, Any, Any, Any]] = (
            (line, record.get(query), record.get(document), record.get(value))
            for line, record in json_files.json_records(path)
        )
    elif is_mapping(first):
        rows = _of_mapping(whole_object(path), path)
    else:
        parse_json(opening.read_all(path), path)
        raise wrong("no_trec_json", path=path, number=number)
    return _frame(rows, number, path)


def _of_mapping(value: Mapping[str, Any], path: Path) -> Iterator[tuple[int, str, str, Any]]:
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            raise wrong("no_documents", path=path, field=query)
        for document, number in documents.items():
            yield 0, query, document, number


def _of_parquet(path: Path, number: str) -> pl.DataFrame:
    import polars as pl

    with opening.by_polars(path, "Parquet"):
        frame = pl.read_parquet(standard_input.on_disk(path), glob=False)
    names = chosen(frame.columns, number)
    if names is None:
        columns = ", ".join(frame.columns)
        raise wrong("no_trec_columns", path=path, columns=columns, number=number)
    rows = frame.select(names.values()).iter_rows()
    return _frame(((at, *row) for at, row in enumerate(rows, 1)), number, path)


def _frame(rows: Iterable[tuple[int, Any, Any, Any]], number: str, path: Path) -> pl.DataFrame:
    import polars as pl

    kept: list[tuple[str, str, float]] = []
    for at, query, document, value in rows:
        place: dict[str, Any] = {"path": path, "line": at or None}
        for name, one in (("query", query), ("document", document)):
            if not isinstance(one, str | int) or isinstance(one, bool) or one == "":
                raise wrong("no_id", field=name, id=one, **place)
        if (fault := _fault(value, number)) is not None:
            where = f"query {query!r}, document {document!r}"
            raise fault.but(problem=f"{where}: {fault.problem}", **place)
        kept.append((str(query), str(document), value))
    if not kept:
        raise wrong("no_query", path=path)
    kind = pl.Int64() if number == "grade" else pl.Float64()
    columns = cast("Any", {"query": pl.String(), "document": pl.String(), number: pl.Float64()})
    return pl.DataFrame(kept, schema=columns, orient="row", strict=False).cast({number: kind})


def _fault(value: Any, number: str) -> InputError | None:
    if not _is_number(value):
        return unexpected(value, "a finite number", number)
    is_broken = number == "grade" and value != int(value)
    return not_whole(str(value)) if is_broken else None


def _is_number(value: Any) -> bool:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return good and abs(value) < float("inf")


def not_whole(shown: str) -> InputError:
    """The error for a grade that is no whole number, as trec_eval's measures need them."""
    return wrong("broken_grade", field="grade", shown=shown)
