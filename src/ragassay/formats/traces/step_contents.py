"""The question, the answer and the passages in the inputs and outputs of a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.formats.records.values import field_values, messages, retrieved
from ragassay.formats.records.values.cells import unpacked
from ragassay.formats.records.values.field_values import EXACT

_QUESTION = (
    *("question", "query", "user_input", "input", "user_query", "user_message", "message"),
    *("prompt", "text", "q", "content", "inputs", "kwargs", "input_value", "value"),
)
_ANSWER = (
    *("answer", "output", "response", "result", "generation", "output_text", "text", "completion"),
    *("content", "message", "outputs", "final_answer", "output_value", "value", "return_value"),
)
_HISTORY = ("chat_history", "history", "conversation_history", "messages")
_AGENTS = frozenset({"assistant", "ai", "aimessage", "aimessagechunk", "agent", "model"})


def asked(value: Any) -> dict[str, Any]:
    """What a system was asked, as fields of a record: the ``messages`` of a conversation, or the
    ``query`` and, where they stand beside it, the turns before it (``chat_history``).

    Args:
        value: its inputs, also as JSON in a text.
    """
    content = _content(value, _QUESTION, _messages)
    if isinstance(content, list):
        # The conversation ends with the question; what a model answered stands in the outputs.
        return {"messages": content}
    parsed = unpacked(value)
    fields_of_value = parsed if isinstance(parsed, Mapping) and content is not None else {}
    turns = (_turns(unpacked(fields_of_value.get(name))) for name in _HISTORY)
    # It may end with the query.
    fields = {"query": content, "chat_history": next(filter(None, turns), None)}
    return {name: one for name, one in fields.items() if one is not None}


def _turns(value: Any) -> list[Any] | None:
    if not isinstance(value, list):
        return None
    return value if messages.are_pairs(value) else _messages(value)


def answer(value: Any) -> str | None:
    """The answer in the outputs of a system: a text, else a number as a text; ``None`` where there
    is neither.

    Args:
        value: its outputs, also as JSON in a text.
    """
    content = _content(value, _ANSWER, _last_agent)
    if content is None:
        parsed = unpacked(value)
        values: list[Any] = [parsed]
        if isinstance(parsed, Mapping):
            values = [parsed.get(name) for name in _ANSWER]
        numbers = (one for one in values if field_values.is_number(one) and abs(one) < EXACT)
        content = next((field_values.text(one, "") for one in numbers), None)
    return content if isinstance(content, str) else None


def passages(*values: Any) -> list[Any] | None:
    """The documents that the first of some inputs or outputs holds in a list under a known name.

    Args:
        values: in the order in which they are looked at.
    """
    lists = (retrieved.within(value) for value in values)
    return next((listed for listed in lists if listed is not None), None)


def _content(value: Any, names: tuple[str, ...], of_messages: Any) -> Any:
    """What a value says: the text under the first of these names that holds one, also within
    others; of messages what ``of_messages`` makes of them. ``None`` where there is nothing."""
    value = unpacked(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        content = of_messages(value)
        if content is None and len(value) == 1:
            return _content(value[0], names, of_messages)
        return content
    if not isinstance(value, Mapping):
        return None
    for name in ("messages", "choices", "generations", "chat_history"):
        listed = unpacked(value.get(name))
        if name == "chat_history" and any(key in value for key in names):
            continue
        if isinstance(listed, list) and listed:
            content = of_messages(listed)
            if content is None and name != "messages":
                content = _content(listed[0], names, of_messages)
            if content is not None:
                return content
    for name in names:
        if (content := _content(value.get(name), names, of_messages)) is not None:
            return content
    arguments = value.get("args")
    if isinstance(arguments, list):  # of a function that Langfuse observes
        content = [one for one in arguments if isinstance(one, str)]
        return content[0] if len(content) == 1 else _content(arguments, names, of_messages)
    if "lc" in value:
        return _content(value.get("kwargs"), names, of_messages)
    if isinstance(value.get("parts"), list):
        return _content([value], names, of_messages)
    texts = [one for one in value.values() if isinstance(one, str)]
    return texts[0] if len(value) == 1 and texts else None


def _messages(listed: list[Any]) -> list[Any] | None:
    """The list, where it is one of messages."""
    if listed and all(isinstance(one, list) for one in listed):
        return _messages(listed[0])
    listed = [_bare(one) for one in listed]
    return listed if listed and all(_role(one) is not None for one in listed) else None


def _last_agent(listed: list[Any]) -> str | None:
    """The text of the last message of the agent."""
    turns = _messages(listed)
    for one in reversed(turns or ()):
        if str(_role(one)).casefold() not in _AGENTS:
            continue
        inner = one.get("kwargs", one.get("data", one))
        content = inner.get("content", inner.get("parts")) if isinstance(inner, dict) else None
        if isinstance(content, list):
            texts = [
                part if isinstance(part, str) else part.get("text") or part.get("content")
                for part in content
                if isinstance(part, str) or part.get("type", "text") in ("text", "output_text")
            ]
            content = "\n".join(text for text in texts if isinstance(text, str)) or None
        if isinstance(content, str) and content:
            return content
    return None


def _bare(one: Any) -> Any:
    """A message without the object that OpenInference puts around it."""
    return one["message"] if isinstance(one, dict) and isinstance(one.get("message"), dict) else one


def _role(one: Any) -> str | None:
    if not isinstance(one, dict):
        return None
    if "lc" in one and isinstance(one.get("id"), list) and one["id"]:
        return str(one["id"][-1])
    has_text = any(key in one for key in ("content", "parts", "text", "tool_calls", "data"))
    role = one.get("role", one.get("type"))
    return role if has_text and isinstance(role, str) else None


def failure(error: Any) -> tuple[Any, str]:
    """Why a step failed, in one line, and the whole text where that says more.

    Of a text with a traceback the line is the exception at its end; of one that was cut before its
    end, what stands before the traceback.

    Args:
        error: what the trace says; what is no text stays as it is.
    """
    if not isinstance(error, str):
        return error, ""
    before, *traces = error.split(_TRACEBACK)
    line = error
    if traces:
        # Frames are indented; the exception comes after them, and its message may have more lines.
        ends = [one for one in traces[-1].splitlines() if one.strip() and not one[0].isspace()]
        line = ends[0] if ends else before
    line = " ".join((line if line.strip() else error).split())
    return line, "" if line == error.strip() else error


_TRACEBACK = "Traceback (most recent call last):"
