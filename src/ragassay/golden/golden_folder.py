"""The folder of a golden set: its queries, its documents, and their manifest."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from ragassay.base.errors import InputError, UsageError
from ragassay.base.files import atomic, write_bytes
from ragassay.base.subsets import Subset
from ragassay.formats.sources.json_files import parse_json, whole_object
from ragassay.golden.documents import Document, load_documents, text_at
from ragassay.golden.golden_item import GoldenItem, GoldSpan, Status, wrong_record
from ragassay.texts.document_names import DocumentNames

QUERIES = "queries.jsonl"
DOCUMENTS = "documents"
MANIFEST = "documents.json"
LOCK = ".review.lock"
BUSY_S = 30.0
"""Seconds that a writer waits for another one."""


@dataclass
class GoldenSet:
    """A golden set; its documents may lie elsewhere (``documents_in``), and files that could not
    be read are left out: path, and why."""

    folder: Path
    items: list[GoldenItem]
    documents_in: Path | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> GoldenSet:
        """Reads a golden set; an `InputError` has the line and the field."""
        path = folder / QUERIES
        make = "ragassay golden import FILE --documents DOCUMENTS -o golden"
        if folder.is_file():
            raise InputError(
                "is a file: a golden set is a folder",
                path=folder,
                hint="If it holds references for the samples: "
                f"--references {shlex.quote(str(folder))}. To make a golden set of it: {make}.",
            )
        if not path.is_file():
            problem = f"holds no {QUERIES}: it is not a golden set"
            raise InputError(problem, path=folder, hint=f"Make one: {make}.")
        items = list(_items(path))
        for name, n in Counter(item.id for item in items).items():
            if n > 1:
                raise InputError(f"{n} items have the id {name!r}", path=path, field="id")
        manifest = _manifest(folder)
        elsewhere = manifest.get("folder")
        left_out = {
            str(value["path"]): str(value["why"]) for value in manifest.get("left_out") or []
        }
        made = cls(folder, items, None if elsewhere is None else folder / str(elsewhere), left_out)
        made._name_by_id(
            {str(record["id"]): str(record.get("path", record["id"])) for record in _listed(folder)}
        )
        return made

    @property
    def documents_folder(self) -> Path:
        """Where the documents are."""
        return self.documents_in or self.folder / DOCUMENTS

    def documents(self) -> dict[str, Document]:
        """The documents by id, without those that were left out when the set was made. Gold that
        names them otherwise (`DocumentNames`) has their ids afterwards, as it has after `open`
        where ``documents.json`` lists them."""
        documents = load_documents(self.documents_folder, self.left_out)
        self._name_by_id({name: document.path for name, document in documents.items()})
        return documents

    def _name_by_id(self, paths: Mapping[str, str]) -> None:
        """Writes gold's documents by their ids, given their paths by id."""
        names = DocumentNames(paths)
        for item in self.items:
            try:
                ids = [names.one(span.document) or span.document for span in item.gold or ()]
            except InputError as error:
                problem = f"gold of {item.id!r} names a document: {error.problem}"
                raise error.but(path=self.folder / QUERIES, problem=problem) from error
            item.gold = item.gold and [
                span if span.document == name else span.model_copy(update={"document": name})
                for span, name in zip(item.gold, ids, strict=True)
            ]

    def item(self, name: str) -> GoldenItem | None:
        """The item with an id; ``None`` where there is none."""
        return next((item for item in self.items if item.id == name), None)

    def with_status(self, *statuses: Status, where: Iterable[str] = ()) -> list[GoldenItem]:
        """The items of some statuses."""
        items = [item for item in self.items if item.status in statuses]
        return list(Subset(where).of(items, GoldenItem.fields, "item"))

    def save(self) -> None:
        """Writes ``queries.jsonl``: an item that has not changed keeps its line byte for byte."""
        with atomic(self.folder / QUERIES) as stream:
            for item in self.items:
                stream.write(orjson.dumps(item.to_record(), option=orjson.OPT_APPEND_NEWLINE))

    def save_manifest(self, documents: Mapping[str, Document]) -> None:
        """Writes ``documents.json``: which documents the spans count in."""
        where = self.documents_in
        body = {
            "folder": None if where is None else relative_folder(where, self.folder),
            "documents": [
                {
                    "id": document.id,
                    "path": document.path,
                    "sha256": document.sha256,
                    "loader": document.loader,
                    "characters": len(document.text),
                }
                for document in documents.values()
            ],
        }
        if self.left_out:
            body["left_out"] = [{"path": name, "why": why} for name, why in self.left_out.items()]
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        write_bytes(self.folder / MANIFEST, orjson.dumps(body, option=options))

    def known_documents(self) -> dict[str, str]:
        """For each document of the manifest the hash of the file that the spans count in."""
        return {str(record["id"]): str(record["sha256"]) for record in _listed(self.folder)}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds the lock of a golden set's folder, for whoever reads it, changes it and writes it:
    another writer waits. SQLite has a lock that works on every system, also for threads."""
    try:
        lock = sqlite3.connect(folder / LOCK, timeout=BUSY_S, isolation_level=None)
        with closing(lock):
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.OperationalError as error:
        raise UsageError(
            f"{folder} cannot be written now ({error}). Another program may be writing. Try again."
        ) from error


def is_golden(folder: Path) -> bool:
    """Whether a folder holds a golden set: queries, and a manifest of their documents."""
    return (folder / QUERIES).is_file() and (folder / MANIFEST).is_file()


def check_output(output: Path, *inputs: Path) -> None:
    """Refuses a place for results where a command would write over what it reads, or into a golden
    set."""
    place = Path(os.path.realpath(output))
    for path in inputs:
        own = Path(os.path.realpath(path))
        if place == own:
            raise UsageError(f"{output} is the input. Choose another name with -o.")
        if own in place.parents:
            raise UsageError(
                f"{output} lies in {path}, which is read. Choose another place with -o."
            )
    for folder in (place, *place.parents):
        if is_golden(folder):
            lies = "is a golden set" if folder == place else f"lies in the golden set {folder.name}"
            raise UsageError(f"{output} {lies}. Choose another place with -o.")


def schema() -> dict[str, Any]:
    """The JSON schema of a line of ``queries.jsonl``."""
    return GoldenItem.model_json_schema()


def with_contexts(items: Iterable[GoldenItem], documents: Mapping[str, Document]) -> None:
    """Fills in what is before and after each span whose text is where it says."""
    for item in items:
        item.gold = item.gold and [
            GoldSpan.of(
                span.document, documents[span.document].text, span.start, span.end, span.grade
            )
            if text_at(documents, span) == span.text
            else span
            for span in item.gold
        ]


def _items(path: Path) -> Iterator[GoldenItem]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            if line.strip():
                yield GoldenItem.model_validate(parse_json(line, path, number))
        except ValidationError as error:
            raise wrong_record(error, path, number) from error


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    return whole_object(path) if path.is_file() else {}


def _listed(folder: Path) -> list[dict[str, Any]]:
    return _manifest(folder).get("documents") or []


def relative_folder(of: Path, to: Path) -> str:
    """The path from one folder to another, as manifests and settings keep it."""
    return Path(os.path.relpath(of.resolve(), to.resolve())).as_posix()
