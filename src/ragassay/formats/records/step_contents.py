"""What steps of a request hold: question and answer, documents in the shapes of traces, and what
the request took (time, tokens, cost), by the names in ``metadata["asked"]`` that the metrics of the
suite ``serving`` read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

import orjson

from ragassay.base.errors import InputError
from ragassay.formats.records import answers_and_turns, field_values
from ragassay.formats.records.field_names import NAMES
from ragassay.formats.records.field_values import EXACT, LAST_TIME, timestamp, unpacked

_LISTS = NAMES["documents"]
_TEXTS = (*NAMES["passage.text"], "pageContent", "snippet", "_node_content")
"""Under which names an output holds its documents, and a document its text."""


def unwrapped(value: Any) -> Any:
    """The output of a step, without the ``{"output": ...}`` that LangSmith puts around one, and of
    Elasticsearch's ``{"hits": {"hits": [...]}}`` the object with the list."""
    value = unpacked(value)
    while isinstance(value, Mapping) and name_of_list(value) is None:
        inner = [unpacked(value.get(name)) for name in ("output", *_LISTS)]
        if [*value] != ["output"]:
            inner = [each for each in inner if name_of_list(each) is not None]
        if not inner:
            break
        value = inner[0]
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
        listed = [unpacked(value.get(name)) for name in _LISTS]
        return any(isinstance(item, list) and are_documents(item) for item in listed)
    return isinstance(value, list) and bool(value) and all(map(_is_document, _flat(value)))


_SPEAKERS = ("human", "ai", "system", "tool")


def _is_document(item: Any) -> bool:
    item = unpacked(item)
    if isinstance(item, dict) and ("role" in item or item.get("type") in _SPEAKERS):
        return False
    # Of an object without a known text a document is its JSON.
    return isinstance(item, str) or isinstance(_document(item), dict)


def within(*values: Any) -> list[Any] | None:
    """The documents that the first of some inputs or outputs holds in a list under a known name;
    ``None`` where none of them is an object with such a list."""
    for value in map(unwrapped, values):
        if (name := name_of_list(value)) is not None:
            listed, ids = _listed(unpacked(value[name]), name), unpacked(value.get("ids"))
            ids = _flat(ids) if isinstance(ids, list) else []  # beside texts, as Chroma writes them
            if len(ids) == len(listed) and all(isinstance(text, str) for text in listed):
                return [{"id": key, "text": text} for key, text in zip(ids, listed, strict=True)]
            return listed
    return None


def name_of_list(value: Any) -> str | None:
    """Under which name an object holds documents in a list; ``None`` where under none."""
    if not isinstance(value, Mapping):
        return None
    return next((name for name in _LISTS if isinstance(unpacked(value.get(name)), list)), None)


_NAME = re.compile(r"https?://\S+|[^\n,;:!?]{1,80}\.[A-Za-z]{2,4}\d?|[!-~]*[\d_/#-][!-~]*")
"""An address, the name of a file, or an id: no text that could support an answer."""

_WORDS = re.compile(r"(?:[!-~\u00c0-\u052f]+ ){0,3}[!-~\u00c0-\u052f]+(?<![.!?])")
"""A few words that are no sentence, in a script that parts words by blanks."""


def are_names(items: list[Any], under: str = "") -> bool:
    """Whether a list in an output names documents in place of holding their texts: file names,
    addresses, ids; under ``sources`` also a few words that are no sentence."""
    texts = [item for item in items if isinstance(item, str)]
    others = [text for text in texts if not _NAME.fullmatch(text)]
    if others and under == "sources":
        others = [other for other in others if not _WORDS.fullmatch(other)]
    return bool(texts) and len(texts) == len(items) and not others


def _flat(items: list[Any]) -> list[Any]:
    """The documents in a list that may hold a list for each query (Chroma), not pairs of a document
    and its score."""
    lists = [item for item in items if isinstance(item, list)]
    nested = len(lists) == len(items) and not any(map(field_values.is_number, chain(*lists)))
    return [*chain(*lists)] if nested else items


def _listed(items: list[Any], under: str = "") -> list[Any]:
    items = _flat(items)
    if are_names(items, under):
        return [{"id": item} for item in items]
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
    for name in ("document", "node", "_node_content", *(() if _has_text(item) else _AROUND)):
        inner = unpacked(item.get(name))
        if isinstance(inner, dict) and (name not in _AROUND or _has_text(inner)):
            names = (*NAMES["passage.score"], *NAMES["passage.id"])
            others = {key: item[key] for key in names if item.get(key) is not None}
            made = _document(inner)
            return {**made, **others} if isinstance(made, dict) else made
    made = {key: value for key, value in item.items() if key not in ("type", "embedding")}
    made["metadata"] = unpacked(item.get("metadata"))
    for name in ("pageContent", "snippet"):
        if name in made:
            made.setdefault("text", made.pop(name))
    if "id_" in made:
        made.setdefault("id", made.pop("id_"))
    if not _has_text(item) and not made.get("id"):
        # Nothing in it is known as its text: all of it is.
        return orjson.dumps(item, default=str).decode()
    return {key: value for key, value in made.items() if value is not None}


_AROUND = ("payload", "metadata", "_source", "entity", "fields", "properties")
"""Where vector databases keep the text of a document: Qdrant, Pinecone, Elasticsearch, Milvus."""


def _has_text(item: Mapping[str, Any]) -> bool:
    return any(isinstance(item.get(name), str) for name in _TEXTS)


def asked(value: Any) -> dict[str, Any]:
    """What a system was asked, as fields of a record: the ``messages`` of a conversation, or the
    ``query`` and, where they stand beside it, the turns before it (``chat_history``)."""
    content = _content(value, NAMES["question"], _messages)
    if isinstance(content, list):
        # The conversation ends with the question; what a model answered stands in the outputs.
        return {"messages": content}
    parsed = unpacked(value)
    fields_of_value = parsed if isinstance(parsed, Mapping) and content is not None else {}
    turns = (_turns(unpacked(fields_of_value.get(name))) for name in NAMES["history"])
    # It may end with the query.
    fields = {"query": content, "chat_history": next(filter(None, turns), None)}
    return {name: field for name, field in fields.items() if field is not None}


def _turns(value: Any) -> list[Any] | None:
    if not isinstance(value, list):
        return None
    return value if answers_and_turns.are_pairs(value) else _messages(value)


def answer(value: Any) -> str | None:
    """The answer in the outputs of a system: a text, else a number as a text; else ``None``."""
    content = _content(value, NAMES["answer"], _last_agent)
    if content is None:
        parsed = unpacked(value)
        is_object = isinstance(parsed, Mapping)
        values = [parsed.get(name) for name in NAMES["answer"]] if is_object else [parsed]
        numbers = (item for item in values if field_values.is_number(item) and abs(item) < EXACT)
        content = next((field_values.text(item, "") for item in numbers), None)
    return content if isinstance(content, str) else None


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
        content = [argument for argument in arguments if isinstance(argument, str)]
        return content[0] if len(content) == 1 else _content(arguments, names, of_messages)
    if "lc" in value:
        return _content(value.get("kwargs"), names, of_messages)
    if isinstance(value.get("parts"), list):
        return of_messages([value]) or _content(value["parts"], names, of_messages)
    texts = [text for text in value.values() if isinstance(text, str)]
    return texts[0] if len(value) == 1 and texts else None


def _messages(listed: list[Any]) -> list[Any] | None:
    """The list, where it is one of messages, without the objects of OpenInference around them."""
    if listed and all(isinstance(value, list) for value in listed):
        return _messages(listed[0])
    inner = (record.get("message") if isinstance(record, dict) else None for record in listed)
    pairs = zip(listed, inner, strict=True)
    listed = [message if isinstance(message, dict) else value for value, message in pairs]
    return listed if listed and all(map(_has_role, listed)) else None


def _last_agent(listed: list[Any]) -> str | None:
    """The text of the last message of the agent."""
    for message in reversed(_messages(listed) or ()):
        with suppress(InputError):  # one that only calls a tool
            for turn in answers_and_turns.conversation([message], "").turns:
                if turn.speaker == "agent" and turn.text:
                    return turn.text
    return None


def _has_role(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "lc" in value and isinstance(value.get("id"), list) and value["id"]:
        return True
    has_text = any(key in value for key in ("content", "parts", "text", "tool_calls", "data"))
    return has_text and isinstance(value.get("role", value.get("type")), str)


def scores(written: Any) -> dict[str, Any]:
    """Scores by ``score.NAME``, of a list of objects with names or an object by name."""
    if isinstance(written, list):
        written = {row["name"]: row for row in written if isinstance(row, dict) and row.get("name")}
    made: dict[str, Any] = {}
    for name, said in written.items() if isinstance(written, dict) else ():
        values = map(unpacked, map(said.get, NAMES["score"])) if isinstance(said, dict) else [said]
        made[f"score.{name}"] = next((value for value in values if value is not None), None)
    return {name: value for name, value in made.items() if value is not None}


def failure(error: Any) -> tuple[Any, str]:
    """Why a step failed, in one line, and the whole text where that says more. Of a text with a
    traceback the line is the exception at its end, or else what comes before the traceback."""
    if not isinstance(error, str):
        return error, ""
    before, *traces = error.split(_TRACEBACK)
    line = error
    if traces:
        # Frames are indented; the exception comes after them, and its message may have more lines.
        ends = [text for text in traces[-1].splitlines() if text.strip() and not text[0].isspace()]
        line = ends[0] if ends else before
    line = " ".join((line if line.strip() else error).split())
    return line, "" if line == error.strip() else error


_TRACEBACK = "Traceback (most recent call last):"


def number(value: Any) -> float | None:
    """A finite number, also as its text; ``None`` where it is none."""
    with suppress(ValueError):
        if field_values.is_number(value) or isinstance(value, str):
            return parsed if math.isfinite(parsed := float(value)) else None
    return None


def measured(
    *, start: Any = None, end: Any = None, first_token: Any = None, **numbers: Any
) -> dict[str, float]:
    """What a step took: those of the numbers that are known (``latency`` in seconds, also as
    ``2.50s``, ``latency_ms``, counts of tokens, ``cost`` in US dollars), and the seconds between
    the times, which are in any unit since 1970 or in ISO 8601. A number below 0 is not known;
    ``total_tokens`` are given only where one of the two kinds is not."""
    times: list[float | None] = [None] * 3
    for at, moment in enumerate((start, end, first_token)):
        with suppress(InputError):
            times[at] = timestamp(of_any_unit(moment), "")
    began, ended, answered = times
    values: dict[str, float | None] = {}
    for name, value in numbers.items():
        shown = _SHOWN.fullmatch(value) if isinstance(value, str) else None
        values[name] = number(value if shown is None else shown[1])
    milliseconds = values.pop("latency_ms", None)
    if milliseconds is not None and values.get("latency") is None:
        values["latency"] = milliseconds / 1000
    if began is not None:
        for name, moment in (("latency", ended), ("first_token", answered)):
            if moment is not None and values.get(name) is None:
                values[name] = round(moment - began, 6)
    known = {name: value for name, value in values.items() if value is not None and value >= 0}
    if {"input_tokens", "output_tokens"} <= known.keys():
        known.pop("total_tokens", None)
    return known


_SHOWN = re.compile(r"\s*([\d.]+)\s*s\s*")
"""A time as pages show it: ``2.50s``."""


def of_any_unit(value: Any) -> Any:
    """A time that counts seconds, milliseconds, microseconds or nanoseconds since 1970, in seconds:
    the first of them by which it lies in the years to 9999. What is no number stays as it is."""
    count = number(value)
    while count is not None and count > LAST_TIME:
        count /= 1000
    return value if count is None else count
