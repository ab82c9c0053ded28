"""From what a system returns (texts, mappings, objects of LangChain, LlamaIndex) to its reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, TypeVar

import orjson

from ragassay import formats
from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Reason
from ragassay.formats.records import answers_and_turns, passages as passage_records
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.http_chats import counted

_T = TypeVar("_T")

ANSWERS = ("answer", "result", "response", "output", "text", "content", "generated_answer")
_PASSAGES = (
    *("passages", "contexts", "context", "retrieved_contexts", "source_documents"),
    *("documents", "sources", "source_nodes"),
)
_NAMING = ("documents", "sources", "source_documents")
"""Those that may hold names of documents in place of texts."""
_USAGE = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "cost": ("cost",),
}
_OBJECT = re.compile(r'^[ \t]*(?=\{\s*")', re.MULTILINE)
"""A line on which a JSON object may begin."""
_HOW = "Return a text, or a mapping with 'answer' and 'passages'."
SHOWN = 200
"""Characters of a system's own words that a message shows."""


@dataclass(frozen=True, slots=True)
class SystemReply(Completion):
    """What a system answered: ``text`` is JSON where that was asked for; an empty ``answer`` says
    that it has none; ``passages`` are ``None`` where it does not say; ``first_token`` in seconds;
    ``not_found`` has paths that found no measurement, and where each is written."""

    answer: Answer = field(default_factory=lambda: Answer(""))
    passages: tuple[Passage, ...] | None = None
    latency: float = 0.0
    first_token: float | None = None
    cost: float | None = None
    version: str = ""
    not_found: Mapping[str, str] = field(default_factory=dict)


def foreign(detail: str) -> EndpointError:
    """The failure of a reply without an answer; the sentence says what came, and what to do."""
    return EndpointError(Reason.UNPARSABLE, detail)


def shown(text: str) -> str:
    """The beginning of a text on one line, as messages show it."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def reply_of(value: Any) -> SystemReply:
    """The reply that a returned value means: a text, an `Answer` or `Sample`, a mapping (also
    with ``reply``: what a generator of golden sets had to write), an object of LangChain or
    LlamaIndex. An `EndpointError` where it is none of these, or says that the system failed."""
    if isinstance(value, str | Answer):
        return SystemReply(None, answer=Answer(value) if isinstance(value, str) else value)
    if isinstance(value, Sample):
        if value.failure or value.answer is None:
            raise EndpointError(Reason.FAILED, f"it says: {value.failure or 'no answer'}")
        return SystemReply(None, answer=value.answer, passages=value.passages)
    if isinstance(value, Mapping):
        if isinstance(value.get("reply"), Mapping):
            return SystemReply(orjson.dumps(value["reply"], default=str).decode())
        return _of_mapping(value)
    if hasattr(value, "source_nodes"):
        text = getattr(value, "response", None)
        answer = str(value) if text is None else text
        return _of_mapping({"answer": answer, "passages": list(value.source_nodes or ())})
    if isinstance(getattr(value, "content", None), str | list):
        usage = getattr(value, "usage_metadata", None)
        response = getattr(value, "response_metadata", None) or {}
        version = response.get("model_name") or response.get("model") or ""
        parts = (p if isinstance(p, str) else str(p.get("text") or "") for p in value.content)
        return _of_mapping({"answer": "".join(parts), "usage": usage, "version": version})
    if isinstance(getattr(value, "text", None), str) and hasattr(value, "additional_kwargs"):
        return _of_mapping({"answer": value.text, "usage": value.additional_kwargs})
    raise foreign(f"it returned {kind_of(value)}, which holds no answer. {_HOW}")


def read_text(text: str) -> Any:
    """What a system wrote: the JSON object where the text is one, else the text. An `EndpointError`
    where an object breaks off, or other words surround a whole reply."""
    try:
        value = json.loads(text)
    except ValueError as error:
        why = getattr(error, "msg", "Extra data")  # a number of too many digits has none
        if re.match(r'\s*\{\s*"', text) and why != "Extra data":
            why = f"it wrote a JSON object that is not valid: {shown(text)!r}"
            raise foreign(f"{why}. Write the whole object, or the answer alone.") from error
        if other := _beside_reply(text):
            why = f"it wrote other words beside the JSON object with the answer: {shown(other)!r}"
            raise foreign(f"{why}. Write the object alone; logs go to standard error.") from error
        value = None
    return value if isinstance(value, dict) else text.strip()


def _beside_reply(text: str) -> str:
    """What a text holds beside a JSON object that is a whole reply (with an answer)."""
    for at in (match.end() for match in _OBJECT.finditer(text)):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            continue
        names = value.keys()
        if "answer" in names or (not names.isdisjoint(ANSWERS) and not names.isdisjoint(_PASSAGES)):
            return text[:at].strip() or text[end:].strip()
    return ""


def kind_of(value: Any) -> str:
    """What a value is, in words, with its article."""
    if value is None:
        return "nothing"
    if isinstance(value, str | Mapping):
        return "a text" if isinstance(value, str) else "a mapping"
    name = type(value).__name__
    return f"{'an' if name[:1].casefold() in 'aeiou' else 'a'} {name}"


def made_reply(
    answer: Any,
    passages: Any,
    *,
    citations: Any = None,
    usage: Mapping[str, Any] | None = None,
    version: str = "",
    how: Mapping[str, str] | None = None,
) -> SystemReply:
    """A reply of parts, in any shape that data files have; ``how`` is what to do if one is bad."""
    if citations and isinstance(answer, str):
        answer = {"text": answer, "citations": list(citations)}
    if isinstance(passages, list | tuple):
        passages = [_plain(passage) for passage in passages]
    answer_read = _read("answer", answers_and_turns.answer, answer, how)
    passages_read = _read("passages", passage_records.passages, passages, how)
    if answer_read is None:
        raise foreign("it returned null for the answer. Return an empty text if it has none.")
    numbers: dict[str, float | None] = {}
    for part, names in _USAGE.items():
        found = (number_of((usage or {}).get(name)) for name in names)
        numbers[part] = next((number for number in found if number is not None), None)
    input_tokens, output_tokens = (
        counted(numbers[f"{part}_tokens"]) for part in ("input", "output")
    )
    return SystemReply(
        None,
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        counted=None not in (input_tokens, output_tokens),
        answer=answer_read,
        passages=passages_read,
        cost=numbers["cost"],
        version=version,
    )


def _read(
    part: str, read: Callable[[Any, str], _T], value: Any, how: Mapping[str, str] | None
) -> _T:
    """A part of a reply, or the failure that says what to do."""
    try:
        return read(value, part)
    except InputError as error:
        shown_error = error if how is None else error.but(hint=None)
        problem, do = str(shown_error).rstrip("."), _HOW if how is None else how[part]
        raise foreign(f"its reply cannot be read: {problem}. {do}") from error


def _of_mapping(value: Mapping[str, Any]) -> SystemReply:
    if failure := value.get("failure") or value.get("error"):
        raise EndpointError(Reason.FAILED, f"it says: {shown(str(failure)).rstrip('.')}.")
    key = next((name for name in ANSWERS if name in value), None)
    if key is None:
        names = ", ".join(list(map(str, value))[:8]) or "no keys"
        raise foreign(f"it returned a mapping without an answer (it has {names}). {_HOW}")
    under = next((name for name in _PASSAGES if value.get(name) is not None), "")
    listed = value.get(under)
    if isinstance(listed, str):
        listed = [listed]
    if isinstance(listed, list) and under in _NAMING and formats.are_names(listed, under):
        listed = [{"id": item} for item in listed]
    answer = value[key]
    if not isinstance(answer, str | list | Mapping | Answer | None):
        answer = reply_of(answer).answer.text
    if isinstance(answer, Answer):
        answer = formats.to_record(Sample(id="reply", answer=answer))["answer"]
    usage = value.get("usage")
    inner = usage if isinstance(usage, Mapping) else dict.fromkeys(_USAGE, usage)
    measured = {name: item for name, item in inner.items() if item is not None}
    return made_reply(
        answer,
        listed,
        citations=value.get("citations"),
        usage={**value, **measured},
        version=str(value.get("version") or value.get("model") or ""),
    )


def _plain(item: Any) -> Any:
    """A passage as a record: documents of LangChain and nodes of LlamaIndex become mappings."""
    if type(item) is dict or isinstance(item, str):
        return item
    if isinstance(item, Passage):
        return {**asdict(item), "names": [*item.names]}
    if isinstance(item, tuple) and len(item) == 2:  # LangChain's (document, score)
        return {**_plain(item[0]), "score": float(item[1])}
    if hasattr(item, "page_content"):
        metadata = dict(getattr(item, "metadata", None) or {})
        return _record(item.page_content, getattr(item, "id", None), metadata)
    if hasattr(item, "node"):
        record = _plain(item.node)
        score = getattr(item, "score", None)
        return record if score is None else {**record, "score": float(score)}
    if hasattr(item, "node_id"):
        text = item.get_content() if hasattr(item, "get_content") else item.text
        return _record(text, item.node_id, dict(getattr(item, "metadata", None) or {}))
    return dict(item) if isinstance(item, Mapping) else item


def _record(text: str, name: Any, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "text": text,
        "document": metadata.get("document") or metadata.get("file_name") or metadata.get("source"),
        "id": name or metadata.get("id") or metadata.get("chunk_id"),
        "score": metadata.get("score"),
    }


def number_of(value: Any) -> float | None:
    """A measurement: a finite number that is not negative; ``None`` for everything else."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    number = float(value)
    return number if math.isfinite(number) and number >= 0 else None
