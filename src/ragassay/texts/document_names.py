"""Which document a name means, and which conversation a sample belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ragassay.base.errors import InputError
from ragassay.base.printable import few
from ragassay.base.sample import Sample

_ENDING = re.compile(r"(?<=.)\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)

Parts = tuple[str, ...]


class DocumentNames:
    """Finds documents by their names; ``paths`` are theirs, by id. A name means the document with
    this id; else that with this path, with or without the ending; else that whose path ends with
    the name or ends it: the one with most folders in common."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._ids = paths.keys()
        # By the last parts of their paths, and by all parts.
        self._by_tail: dict[Parts, list[tuple[Parts, str]]] = {}
        self._by_path: dict[Parts, list[tuple[Parts, str]]] = {}
        for document_id, path in paths.items():
            parts = _parts(path)
            of_document = (parts, document_id)
            for last in _forms(parts):
                for n in range(len(parts)):
                    self._by_tail.setdefault((*parts[n:-1], last), []).append(of_document)
                self._by_path.setdefault((*parts[:-1], last), []).append(of_document)
        self._known: dict[str, tuple[str, ...]] = {}

    def find(self, name: str) -> tuple[str, ...]:
        """The ids of the documents that a name may mean: several where it is ambiguous."""
        if name not in self._known:
            self._known[name] = (name,) if name in self._ids else self._alike(_parts(name))
        return self._known[name]

    def one(self, name: str | None) -> str | None:
        """The id of the document that a name means; ``None`` where it means none of them."""
        found = self.find(name) if name else ()
        if len(found) > 1:
            problem = f"{name!r} may be any of {len(found)} documents ({few(found)})"
            raise InputError(problem, field="document", hint="Name it with its folder.")
        return found[0] if found else None

    def _alike(self, parts: Parts) -> tuple[str, ...]:
        for n in range(len(parts)):
            index = self._by_path if n else self._by_tail
            found = {
                document_id: (len(other) == len(parts), other[-1] == parts[-1])
                for last in _forms(parts)
                for other, document_id in index.get((*parts[n:-1], last), ())
                if _same_file(other[-1], parts[-1])
            }
            if found:
                best = max(found.values())
                return tuple(text for text, alike in found.items() if alike == best)
        return ()


def same_document(name: str, other: str) -> bool:
    """Whether two names may be of one document, as `DocumentNames` matches them."""
    return bool(DocumentNames({other: other}).find(name))


def _parts(path: str) -> Parts:
    """The folders and the name of a path or address."""
    return tuple(part for part in re.split(r"[/\\]+", path.strip()) if part not in ("", "."))


def _forms(parts: Parts) -> set[str]:
    """The last part, with and without its ending."""
    return {form for last in parts[-1:] for form in (last, _ENDING.sub("", last))}


def _same_file(text: str, other: str) -> bool:
    """Whether two names of files are the same, or one is the other without its ending."""
    return text == other or other == _ENDING.sub("", text) or text == _ENDING.sub("", other)


CONVERSATION_KEYS = ("conversation", "conversation_id")  # metadata that intervals are clustered by

TURN_ID = re.compile(r"(?P<conversation>.+?)(?:<::>|::)\d+", re.S)
"""An id with a conversation and a turn, ``CONVERSATION<::>3`` (as MT-RAG has it) or with ``::``."""


def named_conversation(sample: Sample) -> str | None:
    """The conversation that a sample's metadata names."""
    for key in CONVERSATION_KEYS:
        value = sample.metadata.get(key)
        if isinstance(value, str | int) and value != "":
            return str(value)
    return None


def conversations_of_ids(names: Sequence[str]) -> list[str] | None:
    """Each id's conversation, or an id that holds none itself; ``None`` unless there are two
    conversations or more, and one of them has two turns."""
    found = ((name, TURN_ID.fullmatch(name)) for name in names)
    turns = {name: turn["conversation"] for name, turn in found if turn is not None}
    if not 1 < len({*turns.values()}) < len(turns):
        return None
    return [turns.get(name, f"id {name}") for name in names]
