"""A golden set in the formats of other tools that hold questions, and records as the bytes of files
(JSON Lines, JSON, CSV, Parquet, Excel workbooks)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import orjson

from ragassay.base import packages
from ragassay.base.errors import InputError, UsageError, did_you_mean, extra_needed
from ragassay.base.printable import grouped
from ragassay.base.sample import Turn
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem

Record = dict[str, Any]
Rows = Sequence[Sequence[str]]

LONGEST_CELL = 32_767
"""Characters that Excel holds in a cell."""


def json_lines(records: Iterable[Record]) -> bytes:
    """A line for each record."""
    return b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)


def json_file(value: Any) -> bytes:
    """One value, indented."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def table(records: Sequence[Record], write: Callable[[Sequence[str], Rows], bytes]) -> bytes:
    """A table with a row for each record; lists and objects are JSON in their cells."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return write(names, [[_cell(record.get(name)) for name in names] for record in records])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def delimited(names: Sequence[str], rows: Rows, delimiter: str = ",") -> bytes:
    """A table as text."""
    text = io.StringIO()
    plain = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(text, csv.unix_dialect, delimiter=delimiter)
    for row in (names, *rows):
        # Before Python 3.13, a carriage return alone is not quoted, and ends a line.
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return text.getvalue().encode()


def parquet(names: Sequence[str], rows: Rows) -> bytes:
    """A Parquet file of texts; an empty cell is null."""
    import polars as pl

    stream = io.BytesIO()
    columns = {name: [row[at] or None for row in rows] for at, name in enumerate(names)}
    pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).write_parquet(stream)
    return stream.getvalue()


def workbook(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str = "queries",
    widths: Sequence[int] = (),
    filled: int = 0,
) -> bytes:
    """An Excel workbook of texts. With ``widths`` of the columns, in characters, texts are wrapped;
    ``filled`` is the column that people fill in."""
    with extra_needed("An Excel workbook needs its package", "excel"):
        import xlsxwriter
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        head = book.add_format({"bold": True, "bottom": 1})
        text = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
        text = text if widths else None
        sheet = book.add_worksheet(title)
        sheet.freeze_panes(1, filled + 1)
        for column, width in enumerate(widths or [24] * len(names)):
            sheet.set_column(column, column, width, text)
        for place, row in enumerate([names, *rows]):
            for column, cell in enumerate(row):
                if len(cell) > LONGEST_CELL:
                    raise InputError(
                        f"the item {row[0]!r} has more than {LONGEST_CELL:,} characters, which no "
                        "cell of a workbook holds",
                        field=names[column],
                        hint="Write a CSV file.",
                    )
                # As text, also where it looks like a formula or an address.
                sheet.write_string(place, column, cell, text if place else head)
    return stream.getvalue()


_Items = Sequence[GoldenItem]
_Documents = Callable[[], Mapping[str, Document]]


@dataclass(frozen=True)
class Exported:
    """What an export writes: bytes by name within the output (the output itself is a file called
    ``""``), and how many lines, rows or records have something of the items."""

    files: Mapping[str, bytes]
    rows: int


@dataclass(frozen=True)
class ExportFormat:
    """A row of ``exports.yaml``, which says what its fields are."""

    file: str
    record: Mapping[str, Any] | None = None
    holds: Sequence[str] = ()
    needs: Sequence[str] = ()
    noun: str = "record"

    @property
    def ends(self) -> tuple[str, ...]:
        """How names of such files end, the usual one first; none: it is a folder."""
        return WRITERS[self.file][0]

    @property
    def parts(self) -> frozenset[str]:
        """What it holds of an item, by the names of `parts_of`; empty for every field."""
        return frozenset(self.holds) or frozenset(_named(self.record or {}))

    def has(self, item: GoldenItem) -> bool:
        """Whether an item has what a record needs."""
        return all(getattr(item, field) for field in self.needs)

    def records(self, item: GoldenItem) -> list[Record]:
        """The records of an item."""
        if self.record is None:
            return [item.to_record()]
        if not self.has(item):
            return []
        every = _pairs(item) if "right" in self.parts else [parts_of(item)]
        return [_filled(self.record, parts) for parts in every]


def parts_of(item: GoldenItem) -> Record:
    """What records may hold of an item, by name; ``None`` for what it does not have."""
    asked = Turn("user", item.query)
    return {
        **{name: getattr(item, name) for name in ("id", "query", "references", "metadata")},
        "id as a tag": item.id,
        "first": next(iter(item.references), None),
        "texts": [span.text for span in item.gold] if item.gold else None,
        "turns": [asdict(turn) for turn in (*item.history, asked)],
        "targets": [{"speaker": "agent", "text": reference} for reference in item.references],
        "labels": None if item.answerability is None else [item.answerability.upper()],
    }


def _pairs(item: GoldenItem) -> Iterator[Record]:
    """The same for each right and wrong answer."""
    for right, wrong in product(item.references, item.negative_references):
        yield {**parts_of(item), "right": right, "wrong": wrong.text, "kind": wrong.kind}


def _filled(record: Mapping[str, Any], parts: Record) -> Record:
    filled: Record = {}
    for key, name in record.items():
        if isinstance(name, dict):
            filled[key] = _filled(name, parts)
        elif name is None:
            filled[key] = None
        elif not (name.endswith("?") and parts[name[:-1]] is None):
            filled[key] = parts[name.rstrip("?")]
    return filled


def _named(record: Mapping[str, Any]) -> Iterator[str]:
    for name in filter(None, record.values()):
        yield from _named(name) if isinstance(name, dict) else (name.rstrip("?"),)


def export_format(output: Path, chosen: str | None = None) -> str:
    """The name of the format of an export: what was chosen, else by the end of the file's name."""
    if chosen is not None and chosen not in EXPORTS:
        meant = did_you_mean(chosen, EXPORTS)
        there_are = f"There are {', '.join(EXPORTS)} (--format)."
        raise UsageError(f"No format of 'golden export' is called {chosen!r}. {meant} {there_are}")
    end = output.suffix.casefold()
    by_end = {
        end: name for name, export in EXPORTS.items() if not export.parts for end in export.ends
    }
    kind = chosen or by_end.get(end, "jsonl")
    ends = EXPORTS[kind].ends
    if ends and end not in ends:
        raise UsageError(
            f"{output}: export writes {kind} to a file whose name ends in "
            f"{', '.join(filter(None, ends))}. There are {', '.join(EXPORTS)} (--format)."
        )
    return kind


def exported(items: _Items, kind: str, documents: _Documents) -> Exported:
    """What is written of items in a format; ``documents`` is called where it holds them."""
    chosen = EXPORTS[kind]
    made = WRITERS[chosen.file][1](items, chosen, documents)
    if not made.rows:
        needs = " and ".join(chosen.needs)
        raise InputError(f"none of its items has {needs}: there is nothing to write")
    return made


def _of_records(
    write: Callable[[Sequence[Record]], bytes], items: _Items, chosen: ExportFormat, _: _Documents
) -> Exported:
    records = [record for item in items for record in chosen.records(item)]
    return Exported({"": write(records)}, len(records))


def _judged(items: _Items) -> list[tuple[str, str, int]]:
    """Query, document and the highest grade of a span in it."""
    grades = grouped(
        ((item.id, span.document), span.grade) for item in items for span in item.gold or ()
    )
    return [(*key, max(of_document)) for key, of_document in grades.items()]


def _qrels(items: _Items, _: ExportFormat, documents: _Documents) -> Exported:
    # White space separates the columns.
    lines = [
        f"{'_'.join(query.split())} 0 {'_'.join(name.split())} {grade}\n"
        for query, name, grade in _judged(items)
    ]
    return Exported({"": "".join(lines).encode()}, len(lines))


_ONE_CELL = re.compile(r"[^\t\r\n]+")


def _beir(items: _Items, _: ExportFormat, documents: _Documents) -> Exported:
    judged = _judged(items)
    if not judged:
        return Exported({}, 0)
    # A title is a part of the text already.
    corpus = [
        {"_id": document.id, "title": "", "text": document.text}
        for document in documents().values()
    ]
    for name in dict.fromkeys(name for query, document, _ in judged for name in (query, document)):
        if not name.strip() or not _ONE_CELL.fullmatch(name):
            raise InputError(
                f"the id {name!r} is blank, or holds a tab or a line end, which no qrels of BEIR "
                "hold",
                field="id",
                hint="Give it another id.",
            )
    # Its readers know no quotes.
    rows = [("query-id", "corpus-id", "score"), *judged]
    files = {
        "corpus.jsonl": json_lines(corpus),
        "queries.jsonl": json_lines({"_id": item.id, "text": item.query} for item in items),
        "qrels/test.tsv": "".join("\t".join(map(str, row)) + "\n" for row in rows).encode(),
    }
    return Exported(files, len(judged))


_HELD: Mapping[str, frozenset[str]] = {
    "query": frozenset({"query", "turns"}),
    "history": frozenset({"turns"}),
    "references": frozenset({"first", "references", "targets", "right"}),
    "negative_references": frozenset({"wrong"}),
    "gold": frozenset({"texts", "grades"}),
    "answerability": frozenset({"labels"}),
}
"""The parts that hold a field of an item, where they are not called as it is."""


def left_out(items: _Items, kind: str) -> list[str]:
    """The fields of items that a format cannot hold. Items without a record do not count."""
    parts = EXPORTS[kind].parts
    held = [item for item in items if EXPORTS[kind].has(item)]
    bare = GoldenItem(id="-", query="-", status="accepted")
    return [
        field
        for field in GoldenItem.model_fields
        if parts
        and parts.isdisjoint(_HELD.get(field, {field}))
        and any(getattr(item, field) != getattr(bare, field) for item in held)
    ]


_Write = Callable[[_Items, ExportFormat, _Documents], Exported]
WRITERS: Mapping[str, tuple[tuple[str, ...], _Write]] = {
    "lines": ((".jsonl", ".ndjson", ".json", ""), partial(_of_records, json_lines)),
    "json": ((".json",), partial(_of_records, json_file)),
    "ragchecker": (
        (".json",),
        partial(_of_records, lambda records: json_file({"input_data": records})),
    ),
    "csv": ((".csv",), partial(_of_records, partial(table, write=delimited))),
    "tsv": (
        (".tsv",),
        partial(_of_records, partial(table, write=partial(delimited, delimiter="\t"))),
    ),
    "parquet": ((".parquet", ".pq"), partial(_of_records, partial(table, write=parquet))),
    "xlsx": ((".xlsx",), partial(_of_records, partial(table, write=workbook))),
    "qrels": ((".txt", ".qrels", ".trec", ".tsv", ""), _qrels),
    "beir": ((), _beir),
}
"""How names of files end, the usual one first (a folder has none), and what writes them."""

EXPORTS: Mapping[str, ExportFormat] = {
    name: ExportFormat(**row)
    for name, row in packages.table("ragassay.golden", "exports.yaml").items()
}
"""The formats of `golden export`."""
