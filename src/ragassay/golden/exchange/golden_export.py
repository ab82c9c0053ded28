"""A golden set in the formats of other tools: those that `run` reads and that hold questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragassay.base.counts import plural
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.golden.documents import Document
from ragassay.golden.exchange import export_records
from ragassay.golden.exchange.export_files import (
    Record,
    delimited,
    json_file,
    json_lines,
    parquet,
    table,
    workbook,
)
from ragassay.golden.golden_item import GoldenItem

_Items = Sequence[GoldenItem]


@dataclass(frozen=True)
class Exported:
    """What an export writes.

    Attributes:
        files: bytes by name within the output; the output itself is a file called ``""``.
        rows: lines, rows or records with something of the items.
    """

    files: Mapping[str, bytes]
    rows: int


@dataclass(frozen=True)
class ExportFormat:
    """A format that a golden set can be written in.

    Attributes:
        ends: of names of such files, the usual one first; a folder has none.
        holds: what it holds of an item.
        needs: what an item must have to be in it.
        fields: of an item that must hold something for this.
        noun: what a line of it is.
        make: what is written of items. Takes what gives the documents, by id.
    """

    ends: tuple[str, ...]
    holds: str
    make: Callable[[_Items, Callable[[], Mapping[str, Document]]], Exported]
    needs: str = ""
    fields: tuple[str, ...] = ()
    noun: str = "record"

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder."""
        return not self.ends


def export_format(output: Path, chosen: str | None = None) -> str:
    """The format of an export: what was chosen, else what the end of the file's name says."""
    if chosen is not None and chosen not in EXPORTS:
        meant = did_you_mean(chosen, EXPORTS)
        there_are = f"There are {', '.join(EXPORTS)} (--format)."
        unknown = f"No format of 'golden export' is called {chosen!r}."
        raise UsageError(" ".join(filter(None, (unknown, meant, there_are))))
    end = output.suffix.casefold()
    by_end = {one: name for name in ("jsonl", *_TABLES) for one in EXPORTS[name].ends}
    kind = chosen or by_end.get(end, "jsonl")
    made = EXPORTS[kind]
    if end not in made.ends and not made.is_folder:
        ends = ", ".join(filter(None, made.ends))
        raise UsageError(
            f"{output}: export writes {kind} to a file whose name ends in {ends}. There are "
            f"{', '.join(EXPORTS)} (--format)."
        )
    return kind


def exported(items: _Items, kind: str, documents: Callable[[], Mapping[str, Document]]) -> Exported:
    """What is written of items."""
    made = EXPORTS[kind].make(items, documents)
    if not made.rows:
        raise InputError(f"none of its items has {EXPORTS[kind].needs}: there is nothing to write")
    return made


def _file(
    records: Callable[[GoldenItem], Iterable[Record]],
    write: Callable[[Sequence[Record]], bytes] = json_lines,
) -> Callable[..., Exported]:
    """One file of the records of all items."""

    def make(items: _Items, documents: object) -> Exported:
        every = [record for item in items for record in records(item)]
        return Exported({"": write(every)}, len(every))

    return make


def _judged(items: _Items) -> list[tuple[str, str, int]]:
    """Query, document and the highest grade of a span in it."""
    grades: dict[tuple[str, str], int] = {}
    for item in items:
        for span in item.gold or ():
            key = item.id, span.document
            grades[key] = max(span.grade, grades.get(key, 0))
    return [(*key, grade) for key, grade in grades.items()]


def _qrels(items: _Items, documents: object) -> Exported:
    # White space separates the columns.
    lines = [
        f"{'_'.join(query.split())} 0 {'_'.join(name.split())} {grade}\n"
        for query, name, grade in _judged(items)
    ]
    return Exported({"": "".join(lines).encode()}, len(lines))


_ONE_CELL = re.compile(r"[^\t\r\n]+")


def _beir(items: _Items, documents: Callable[[], Mapping[str, Document]]) -> Exported:
    judged = _judged(items)
    if not judged:
        return Exported({}, 0)
    # A title is a part of the text already.
    corpus = [{"_id": one.id, "title": "", "text": one.text} for one in documents().values()]
    for name in dict.fromkeys(name for query, document, _ in judged for name in (query, document)):
        if not name.strip() or not _ONE_CELL.fullmatch(name):
            raise InputError(
                f"the id {name!r} is blank, or holds a tab or a line end, which no qrels of BEIR "
                "hold",
                field="id",
                hint="Give it another id.",
            )
    files = {
        "corpus.jsonl": json_lines(corpus),
        "queries.jsonl": json_lines({"_id": item.id, "text": item.query} for item in items),
        # Its readers know no quotes.
        "qrels/test.tsv": "".join(
            "\t".join(map(str, row)) + "\n" for row in (("query-id", "corpus-id", "score"), *judged)
        ).encode(),
    }
    return Exported(files, len(judged))


def without_records(items: _Items, kind: str) -> dict[str, list[str]]:
    """The ids of the items of which a format has no record, by what they lack."""
    without: dict[str, list[str]] = {}
    for item in items:
        lacking = [
            noun
            for field, noun in _NEEDED
            if field in EXPORTS[kind].fields and not getattr(item, field)
        ]
        if lacking:
            without.setdefault(f"no {' and no '.join(lacking)}", []).append(item.id)
    return without


_NEEDED = (
    ("references", "reference"),
    ("negative_references", "wrong answer"),
    ("gold", "gold span"),
)
"""Fields that a format may need, and what an item has there."""


def left_out(items: _Items, kind: str) -> list[str]:
    """What a format cannot hold of items: ``2 further references``, ``type of 3 items``."""
    if kind not in _HOLDS:
        return []
    bare = {name for names in without_records(items, kind).values() for name in names}
    held = [item for item in items if item.id not in bare]
    holds = _HOLDS[kind]
    n_references = [len(item.references) for item in held]
    n_spans = sum(len(item.gold or ()) for item in held)
    by = sum(bool(one.by) for item in held for one in item.negative_references)
    n_wrong = sum(len(item.negative_references) for item in held)
    parts = (
        ("query", len(held), "query" in holds),
        ("reference", sum(n_references), "references" in holds or _ONE in holds),
        ("further reference", sum(max(0, n - 1) for n in n_references), _ONE not in holds),
        ("wrong answer", n_wrong, "negative_references" in holds),
        ("earlier turn", sum(len(item.history) for item in held), "history" in holds),
        ("gold span", n_spans, bool(_GOLD & holds)),
    )
    lacking = [plural(n, noun) for noun, n, is_held in parts if n and not is_held]
    if _GOLD & holds and n_spans:
        part = "documents, places and grades" if _TEXTS in holds else "texts and places"
        lacking.append(f"{part} of {plural(n_spans, 'gold span')}")
    if by and "negative_references" in holds:
        lacking.append(f"who said so of {plural(by, 'wrong answer')}")
    if "id" not in holds and held:
        lacking.append(f"{plural(len(held), 'id')} (they are tags there)")
    lost: dict[int, list[str]] = {}
    for field in _OTHERS:
        if field not in holds and (n := sum(_is_given(item, field) for item in held)):
            lost.setdefault(n, []).append(field)
    for n, fields in lost.items():
        names = " and ".join(filter(None, (", ".join(fields[:-1]), fields[-1])))
        lacking.append(f"{names} of {plural(n, 'item')}")
    return lacking


def _is_given(item: GoldenItem, field: str) -> bool:
    """Whether a field of an item holds more than its default; the default status is accepted."""
    usual = (
        "accepted"
        if field == "status"
        else GoldenItem.model_fields[field].get_default(call_default_factory=True)
    )
    return bool(getattr(item, field) != usual)


_ONE, _TEXTS, _GRADES = "first reference", "texts of gold", "grades of documents"
_GOLD = frozenset({_TEXTS, _GRADES})
_SIMPLE = frozenset({"id", "query", _ONE})
_HOLDS: Mapping[str, frozenset[str]] = {
    "ragas": _SIMPLE | {_TEXTS},
    "deepeval": _SIMPLE | {_TEXTS},
    "mtrag": frozenset({"id", "query", "history", "references", "answerability"}),
    "ultrarag": frozenset({"id", "query", "references"}),
    "ragchecker": _SIMPLE,
    "open_rag_eval": _SIMPLE,
    "langsmith": _SIMPLE | {"metadata"},
    "langfuse": _SIMPLE | {"metadata"},
    "mlflow": frozenset({"query", _ONE}),
    "beir": frozenset({"id", "query", _GRADES}),
    "qrels": frozenset({"id", _GRADES}),
    "pairs": frozenset({"id", "query", "references", "negative_references"}),
}
"""What formats hold of an item: its fields, or the parts of them that they have a place for. Those
that are not listed hold all of it."""
_COUNTED = frozenset({"id", "query", "history", "references", "negative_references", "gold"})
_OTHERS = tuple(name for name in GoldenItem.model_fields if name not in _COUNTED)
_JSON_LINES = (".jsonl", ".ndjson", ".json", "")
_CSV = partial(table, write=delimited)
_TSV = partial(table, write=partial(delimited, delimiter="\t"))
_TABLES = ("csv", "tsv", "parquet", "xlsx")
_EVERY = "every field of an item"
_AS_CELLS = f"{_EVERY}, lists as JSON in their cells"

EXPORTS: Mapping[str, ExportFormat] = {
    "jsonl": ExportFormat(_JSON_LINES, _EVERY, _file(export_records.native)),
    "csv": ExportFormat((".csv",), _AS_CELLS, _file(export_records.native, _CSV)),
    "tsv": ExportFormat((".tsv",), _AS_CELLS, _file(export_records.native, _TSV)),
    "parquet": ExportFormat(
        (".parquet", ".pq"), _AS_CELLS, _file(export_records.native, partial(table, write=parquet))
    ),
    "xlsx": ExportFormat(
        (".xlsx",), _AS_CELLS, _file(export_records.native, partial(table, write=workbook))
    ),
    "ragas": ExportFormat(
        _JSON_LINES, "query, first reference, texts of gold", _file(export_records.ragas)
    ),
    "deepeval": ExportFormat(
        (".json",),
        "goldens: query, first reference, texts of gold",
        _file(export_records.deepeval, json_file),
    ),
    "mtrag": ExportFormat(
        _JSON_LINES,
        "query with its history, references, answerability",
        _file(export_records.mtrag),
    ),
    "ultrarag": ExportFormat(_JSON_LINES, "query, references", _file(export_records.ultrarag)),
    "ragchecker": ExportFormat(
        (".json",),
        "query, first reference",
        _file(export_records.ragchecker, lambda records: json_file({"input_data": records})),
        "a reference",
        ("references",),
    ),
    "open_rag_eval": ExportFormat(
        (".csv",),
        "query, first reference: queries of its connectors, and its table of expected answers",
        _file(export_records.open_rag_eval, _CSV),
    ),
    "langsmith": ExportFormat(
        _JSON_LINES, "examples: query, first reference", _file(export_records.langsmith)
    ),
    "langfuse": ExportFormat(
        (".json",),
        "items of a data set: query, first reference",
        _file(export_records.langfuse, json_file),
    ),
    "mlflow": ExportFormat(
        _JSON_LINES, "evaluation data: query, first reference", _file(export_records.mlflow)
    ),
    "beir": ExportFormat(
        (),
        "a folder: documents, queries, grades of documents",
        _beir,
        "gold",
        ("gold",),
        "grade",
    ),
    "qrels": ExportFormat(
        (".txt", ".qrels", ".trec", ".tsv", ""),
        "TREC: grades of documents",
        _qrels,
        "gold",
        ("gold",),
        "grade",
    ),
    "pairs": ExportFormat(
        _JSON_LINES,
        "a line for each right and wrong answer of a query, to train an evaluator",
        _file(export_records.pairs),
        "both a reference and a wrong answer",
        ("references", "negative_references"),
        "pair",
    ),
}
"""The formats of `golden export`. Formats that hold only what systems did (traces, runs, results of
other tools) are read, and not written."""
