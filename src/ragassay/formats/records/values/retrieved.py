"""The outputs of retrieval steps and tools, as passages: documents in the shapes of traces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from ragassay.formats.records.values.cells import unpacked

LISTS = (
    *("documents", "source_documents", "retrieved_documents", "retrieved_contexts", "contexts"),
    *("context", "passages", "chunks", "docs", "nodes", "source_nodes", "matches", "hits"),
    *("results", "retrieval_context", "sources"),
)
"""Under which names an output holds its documents."""

_TEXTS = ("text", "content", "page_content", "pageContent", "passage", "chunk", "snippet")


def unwrapped(value: Any) -> Any:
    """The output of a step, without the object ``{"output": ...}`` that LangSmith puts around an
    output that is no object."""
    value = unpacked(value)
    while isinstance(value, Mapping) and [*value] == ["output"]:
        value = unpacked(value["output"])
    return value


def documents(value: Any) -> list[Any]:
    """The documents in an output, each as a text or an object that `passages` reads: of a list, an
    object that holds one, JSON of either, or a text, which is one document."""
    value = unwrapped(value)
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return _listed(value)
    if isinstance(value, dict):
        listed = within(value)
        return [_document(value)] if listed is None else listed
    return [str(value)]


def are_documents(value: Any) -> bool:
    """Whether an output has the shape of documents: a list of texts or of objects with a text, or
    an object with such a list. Messages have none."""
    value = unwrapped(value)
    if isinstance(value, Mapping):
        listed = [unpacked(value.get(name)) for name in LISTS]
        return any(isinstance(one, list) and are_documents(one) for one in listed)
    return isinstance(value, list) and bool(value) and all(map(_is_document, value))


_SPEAKERS = ("human", "ai", "system", "tool")


def _is_document(item: Any) -> bool:
    item = unpacked(item)
    if isinstance(item, dict) and ("role" in item or item.get("type") in _SPEAKERS):
        return False
    # Of an object without a known text a document is its JSON.
    return isinstance(item, str) or isinstance(_document(item), dict)


def within(value: Any) -> list[Any] | None:
    """The documents that an object holds in a list; ``None`` where it holds no such list."""
    value = unwrapped(value)
    name = name_of_list(value)
    return None if name is None else _listed(unpacked(value[name]), name)


def name_of_list(value: Any) -> str | None:
    """Under which name an object holds documents in a list; ``None`` where it holds no such
    list."""
    if not isinstance(value, Mapping):
        return None
    return next((name for name in LISTS if isinstance(unpacked(value.get(name)), list)), None)


_NAME = re.compile(r"https?://\S+|[^\n,;:!?]{1,80}\.[A-Za-z]{2,4}\d?|[!-~]*[\d_/#-][!-~]*")
"""An address, the name of a file, or an id: no text that could support an answer."""


_WORDS = re.compile(r"(?:[!-~\u00c0-\u052f]+ ){0,3}[!-~\u00c0-\u052f]+(?<![.!?])")
"""A few words that are no sentence, in a script that parts words by blanks."""


def are_names(items: list[Any], under: str = "") -> bool:
    """Whether a list names documents in place of holding their texts: file names, addresses, ids;
    as ``sources`` also a few words that are no sentence.

    Args:
        items: that an output holds.
        under: the name of the list; may be empty.
    """
    return bool(items) and all(
        isinstance(one, str)
        and (_NAME.fullmatch(one) or (under == "sources" and _WORDS.fullmatch(one)))
        for one in items
    )


def _listed(items: list[Any], under: str = "") -> list[Any]:
    if are_names(items, under):
        return [{"id": one} for one in items]
    return [_document(item) for item in items]


def _document(item: Any) -> Any:
    item = unpacked(item)
    if isinstance(item, list) and item:  # a document with its score
        score = item[1] if len(item) == 2 and isinstance(item[1], int | float) else None
        made = _document(item[0])
        return made if score is None or not isinstance(made, dict) else {**made, "score": score}
    if not isinstance(item, dict):
        return item if item is None else str(item)
    if "lc" in item and isinstance(item.get("kwargs"), dict):  # LangChain's own JSON
        return _document(item["kwargs"])
    for name in ("document", "node"):
        if isinstance(item.get(name), dict):
            others = {key: item[key] for key in ("score", "id") if item.get(key) is not None}
            return {**_document(item[name]), **others}
    made = {key: value for key, value in item.items() if key not in ("type", "embedding")}
    made["metadata"] = unpacked(item.get("metadata"))
    for name in ("pageContent", "snippet"):
        if name in made:
            made.setdefault("text", made.pop(name))
    if "id_" in made:
        made.setdefault("id", made.pop("id_"))
    if not any(isinstance(item.get(name), str) for name in _TEXTS) and not made.get("id"):
        # Nothing in it is known as its text: all of it is.
        return orjson.dumps(item, default=str).decode()
    return {key: value for key, value in made.items() if value is not None}
