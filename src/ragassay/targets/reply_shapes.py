"""From what a system returns to a `SystemReply`: texts, mappings, our samples, and the objects of
LangChain and LlamaIndex, which are known by their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay import formats
from ragassay.errors import RagassayError
from ragassay.samples import Answer, Passage, Sample
from ragassay.scores import Reason
from ragassay.targets.target import SystemReply, foreign, shown
from ragassay.transport.endpoints import EndpointError, counted

_ANSWERS = ("answer", "result", "response", "output", "text", "content", "generated_answer")
_PASSAGES = (
    *("passages", "contexts", "context", "retrieved_contexts", "source_documents"),
    *("documents", "sources", "source_nodes"),
)
_USAGE = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}
_HOW = "Return a text, or a mapping with 'answer' and 'passages'."


def reply_of(value: Any) -> SystemReply:
    """The reply that a returned value stands for.

    Args:
        value: a text; an `Answer` or a `Sample`; a mapping with ``answer`` and, where there are,
            ``passages``, ``citations``, ``usage``, ``cost``, ``version`` (and their other names);
            a message or document chain's result of LangChain; a response of LlamaIndex.

    Raises:
        EndpointError: it is none of these, or says that the system failed.
    """
    if isinstance(value, str):
        return SystemReply(None, answer=Answer(value))
    if isinstance(value, Answer):
        return SystemReply(None, answer=value)
    if isinstance(value, Sample):
        if value.failure or value.answer is None:
            raise EndpointError(Reason.FAILED, f"it says: {value.failure or 'no answer'}")
        return SystemReply(None, answer=value.answer, passages=value.passages)
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if hasattr(value, "source_nodes"):
        text = getattr(value, "response", None)
        fields = {"answer": str(value) if text is None else text}
        return _of_mapping({**fields, "passages": list(value.source_nodes or ())})
    if isinstance(getattr(value, "content", None), str | list):
        usage = getattr(value, "usage_metadata", None)
        told = getattr(value, "response_metadata", None) or {}
        version = told.get("model_name") or told.get("model") or ""
        return _of_mapping({"answer": _text(value.content), "usage": usage, "version": version})
    given = "nothing" if value is None else f"a {type(value).__name__}"
    raise foreign(f"it returned {given}, which holds no answer. {_HOW}")


def made_reply(
    answer: Any,
    passages: Any,
    *,
    citations: Any = None,
    usage: Mapping[str, Any] | None = None,
    version: str = "",
) -> SystemReply:
    """A reply of parts, in any of the shapes that data files have.

    Args:
        answer: a text, or statements with citations.
        passages: texts or objects; ``None`` where there are none.
        citations: ids of the passages that the whole answer cites.
        usage: ``input_tokens``, ``output_tokens`` and ``cost``, where they are told.
        version: of the system.

    Raises:
        EndpointError: a part has a shape that nobody knows.
    """
    if citations and isinstance(answer, str):
        answer = {"text": answer, "citations": list(citations)}
    if isinstance(passages, list | tuple):
        passages = [_plain(one) for one in passages]
    try:
        said = formats.answer_values.answer(answer, "answer")
        found = formats.passages.passages(passages, "passages")
    except RagassayError as error:
        raise foreign(f"its reply cannot be read: {str(error).rstrip('.')}. {_HOW}") from error
    if said is None:
        raise foreign("it returned null for the answer. Return an empty text where it has none.")
    told = usage or {}
    tokens = {part: _counted(told, names) for part, names in _USAGE.items()}
    cost = told.get("cost")
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool)
    return SystemReply(
        None,
        input_tokens=tokens["input_tokens"] or 0,
        output_tokens=tokens["output_tokens"] or 0,
        counted=None not in tokens.values(),
        answer=said,
        passages=found,
        cost=float(cost) if is_cost and cost is not None and 0 <= cost < float("inf") else None,
        version=version,
    )


def _of_mapping(value: Mapping[str, Any]) -> SystemReply:
    failure = value.get("failure") or value.get("error")
    if failure:
        raise EndpointError(Reason.FAILED, f"it says: {shown(str(failure)).rstrip('.')}.")
    key = next((name for name in _ANSWERS if name in value), None)
    if key is None:
        names = ", ".join(list(map(str, value))[:8]) or "no keys"
        raise foreign(f"it returned a mapping without an answer (it has {names}). {_HOW}")
    listed = next((value[name] for name in _PASSAGES if value.get(name) is not None), None)
    if isinstance(listed, str):
        listed = [listed]
    answer = value[key]
    if not isinstance(answer, str | list | Mapping | Answer | None):
        answer = reply_of(answer).answer.text
    if isinstance(answer, Answer):
        parts = [{"text": one.text, "citations": list(one.citations)} for one in answer.statements]
        answer = {"text": answer.text, "statements": parts} if parts else answer.text
    usage = {**value, **(value.get("usage") or {})}
    return made_reply(
        answer,
        listed,
        citations=value.get("citations"),
        usage=usage,
        version=str(value.get("version") or value.get("model") or ""),
    )


def _plain(item: Any) -> Any:
    """A passage as a record: documents of LangChain and nodes of LlamaIndex become mappings."""
    if isinstance(item, Passage):
        names = ("id", "text", "score", "document", "start", "end")
        return {name: getattr(item, name) for name in names if getattr(item, name) is not None}
    if isinstance(item, tuple) and len(item) == 2:  # LangChain's (document, score)
        return {**_plain(item[0]), "score": float(item[1])}
    if hasattr(item, "page_content"):
        metadata = dict(getattr(item, "metadata", None) or {})
        return _record(item.page_content, getattr(item, "id", None), metadata)
    if hasattr(item, "node"):
        made = _plain(item.node)
        score = getattr(item, "score", None)
        return made if score is None else {**made, "score": float(score)}
    if hasattr(item, "node_id"):
        text = item.get_content() if hasattr(item, "get_content") else item.text
        return _record(text, item.node_id, dict(getattr(item, "metadata", None) or {}))
    return dict(item) if isinstance(item, Mapping) else item


def _record(text: str, name: Any, metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        "document": metadata.get("document") or metadata.get("file_name") or metadata.get("source"),
        "id": name or metadata.get("id") or metadata.get("chunk_id"),
        "score": metadata.get("score"),
    }
    return {"text": text, **{key: value for key, value in kept.items() if value is not None}}


def _counted(told: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((n for name in names if (n := counted(told.get(name))) is not None), None)


def _text(content: str | list[Any]) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    return "".join(one if isinstance(one, str) else str(one.get("text") or "") for one in content)
