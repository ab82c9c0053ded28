"""Objects in memory that hold a text: documents and messages of LangChain, nodes of LlamaIndex, and
whatever has the same attributes. No package of theirs is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def fields_of(value: Any) -> Any:
    """An object of a data class or of pydantic as a mapping; any other value unchanged."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="python")
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return value


def held(value: Any) -> Any:
    """What an object holds: a document or node its text, metadata, id and score; a message (which
    has a role or type) that and its content; a data class its fields. Any other value is returned
    unchanged."""
    message = _message(value)
    return message or _document(value) or fields_of(value)


def text_of(value: Any) -> Any:
    """As `held`, but of a message alone its text: as an answer or a query it has no role."""
    message = _message(value)
    return message["content"] if message else held(value)


def _document(value: Any) -> dict[str, Any] | None:
    node = getattr(value, "node", value)
    if isinstance(getattr(value, "page_content", None), str):
        text = value.page_content
    elif callable(getattr(node, "get_content", None)):
        text = node.get_content()
    else:
        text = _first(value, "text", "content")
    if not isinstance(text, str):
        return None
    parts = {
        "id": _first(value, "id", "doc_id", "document_id") or _first(node, "node_id"),
        "metadata": _first(node, "metadata", "meta"),
        "score": _first(value, "score"),
    }
    return {"text": str(text)} | {name: one for name, one in parts.items() if one not in (None, {})}


def _first(value: Any, *names: str) -> Any:
    """The first of these attributes that an object has; ``None`` where it has none."""
    return next((one for name in names if (one := getattr(value, name, None)) is not None), None)


def _message(value: Any) -> dict[str, Any] | None:
    content = getattr(value, "content", None)
    role = _first(value, "role", "type")
    if isinstance(content, list):  # parts of a message
        texts = [one.get("text") if isinstance(one, Mapping) else one for one in content]
        content = "".join(one for one in texts if isinstance(one, str))
    if role is None or not isinstance(content, str) or callable(_first(value, "get_content")):
        return None
    return {"content": content, "role": str(getattr(role, "value", role))}
