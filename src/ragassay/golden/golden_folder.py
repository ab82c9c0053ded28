"""The folder of a golden set: its queries, its documents, their manifest and a card."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import atomic
from ragassay.golden.documents import Document, load_documents
from ragassay.golden.golden_item import GoldenItem, GoldSpan, Status

QUERIES = "queries.jsonl"
DOCUMENTS = "documents"
MANIFEST = "documents.json"
CARD = "card.md"


@dataclass
class GoldenSet:
    """A golden set.

    Attributes:
        folder: where it is.
        items: in the order of the file.
        documents_in: folder of the documents, where they lie elsewhere.
    """

    folder: Path
    items: list[GoldenItem]
    documents_in: Path | None = None

    @classmethod
    def open(cls, folder: Path) -> GoldenSet:
        """Reads a golden set.

        Args:
            folder: that holds ``queries.jsonl``.

        Raises:
            InputError: it is none, or a line is wrong; with the line and the field.
        """
        path = folder / QUERIES
        if not path.is_file():
            raise InputError(
                f"holds no {QUERIES}: it is no golden set",
                path=folder,
                hint=f"Make one: ragassay golden import FILE -o {folder}.",
            )
        items = list(_items(path))
        for name, n in Counter(item.id for item in items).items():
            if n > 1:
                raise InputError(f"{n} items have the id {name!r}", path=path, field="id")
        manifest = _manifest(folder)
        elsewhere = manifest.get("folder")
        return cls(folder, items, None if elsewhere is None else folder / str(elsewhere))

    def documents(self) -> dict[str, Document]:
        """The documents by id.

        Raises:
            InputError: there are none, or one cannot be read.
        """
        return load_documents(self.documents_in or self.folder / DOCUMENTS)

    def with_status(self, *statuses: Status) -> list[GoldenItem]:
        """The items of some statuses.

        Args:
            statuses: that count.
        """
        return [item for item in self.items if item.status in statuses]

    def save(self) -> None:
        """Writes ``queries.jsonl``: an item that has not changed keeps its line byte for byte."""
        with atomic(self.folder / QUERIES) as stream:
            for item in self.items:
                stream.write(orjson.dumps(item.to_record(), option=orjson.OPT_APPEND_NEWLINE))

    def save_manifest(self, documents: Mapping[str, Document]) -> None:
        """Writes ``documents.json``: which documents the spans count in.

        Args:
            documents: by id.
        """
        where = self.documents_in
        body = {
            "folder": None if where is None else _relative(where, self.folder),
            "documents": [
                {
                    "id": one.id,
                    "path": one.path,
                    "sha256": one.sha256,
                    "loader": one.loader,
                    "characters": len(one.text),
                    "seen": datetime.now(UTC).date().isoformat(),
                }
                for one in documents.values()
            ],
        }
        with atomic(self.folder / MANIFEST) as stream:
            stream.write(orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def save_card(self, made: str) -> None:
        """Writes ``card.md``, unless a person's is there.

        Args:
            made: how the set was made, in a sentence.
        """
        path = self.folder / CARD
        if path.exists():
            return
        counts = Counter(item.status for item in self.items)
        kinds = Counter(item.type or "no type" for item in self.items)
        lines = [
            f"# {self.folder.resolve().name}",
            "",
            "What it is for: (write it here)",
            "",
            f"How it was made: {made}",
            "",
            f"Items: {len(self.items)} ({_counted(counts)}).",
            "",
            f"Types: {_counted(kinds)}.",
            "",
            "Agreement of reviewers: not measured.",
            "",
            "Licence: (write it here)",
        ]
        with atomic(path) as stream:
            stream.write(("\n".join(lines) + "\n").encode())

    def known_documents(self) -> dict[str, str]:
        """For each document of the manifest the hash of the file that the spans count in."""
        listed = _manifest(self.folder).get("documents") or []
        return {str(one["id"]): str(one["sha256"]) for one in listed}


def is_golden(folder: Path) -> bool:
    """Whether a folder holds a golden set: queries, and a manifest of their documents."""
    return (folder / QUERIES).is_file() and (folder / MANIFEST).is_file()


def schema() -> dict[str, Any]:
    """The JSON schema of a line of ``queries.jsonl``."""
    return GoldenItem.model_json_schema()


def with_contexts(items: Iterable[GoldenItem], documents: Mapping[str, Document]) -> None:
    """Fills in what stands before and after each span whose text stands where it says.

    Args:
        items: are changed.
        documents: by id.
    """
    for item in items:
        item.gold = item.gold and [
            GoldSpan.of(one.document, text, one.start, one.end, one.grade)
            if (text := _text(documents, one.document))[one.start : one.end] == one.text
            else one
            for one in item.gold
        ]


def _text(documents: Mapping[str, Document], name: str) -> str:
    return documents[name].text if name in documents else ""


def _items(path: Path) -> Iterator[GoldenItem]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield GoldenItem.model_validate(orjson.loads(line))
            except orjson.JSONDecodeError as error:
                raise InputError(f"is not JSON ({error})", path=path, line=number) from error
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(map(str, first["loc"])) or None
                said = str(first["msg"]).removeprefix("Value error, ")
                raise InputError(said, path=path, line=number, field=field) from error


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        body = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error})", path=path) from error
    if not isinstance(body, dict):
        raise InputError("is not a manifest of documents", path=path)
    return body


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _counted(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(counts.items(), key=lambda one: -one[1]))
