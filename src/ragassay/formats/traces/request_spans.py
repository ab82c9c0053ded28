"""One span of a trace: a step of a request, whichever tool recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RETRIEVAL, RERANK, TOOL, MODEL, OTHER = "retrieval", "rerank", "tool", "model", "other"

_KINDS = {
    **dict.fromkeys(("retriever", "retrieval", "vector_search"), RETRIEVAL),
    **dict.fromkeys(("reranker", "rerank"), RERANK),
    **dict.fromkeys(("tool", "execute_tool", "function"), TOOL),
    **dict.fromkeys(("llm", "chat", "chat_model", "generation", "text_completion"), MODEL),
    **dict.fromkeys(("generate_content", "completion"), MODEL),
}


def kind_of(name: Any) -> str:
    """The kind of a span, by the name that a tool gives it.

    Args:
        name: in any case, also in quotes.
    """
    return _KINDS.get(str(name or "").strip('"').casefold(), OTHER)


@dataclass(frozen=True)
class Span:
    """One step of a request.

    Attributes:
        line: 1-based line or record number in the file.
        id: of the step.
        parent: id of the step that it is part of; ``None`` for the request itself.
        trace: id of the request; empty where only ``parent`` says which one it is.
        kind: one of `RETRIEVAL`, `RERANK`, `TOOL`, `MODEL`, `OTHER`.
        name: what it is called.
        start: when it began, as the tool writes it.
        inputs, outputs: its inputs and outputs.
        documents: what it retrieved, where the tool stores that apart from ``outputs``.
        error: why it failed.
        fields: further fields of the request's record, by our names.
        clock: what the tool calls its ``timestamp``, for errors.
        metadata: of the request.
        served: what it took (`served.measured`).
        own: metadata and tags that the makers of the system gave the step, by their own names.
        beside: further values that only chosen columns may read, as ``inputs`` and ``outputs``.
    """

    line: int
    id: str
    parent: str | None = None
    trace: str = ""
    kind: str = OTHER
    name: str = ""
    start: Any = None
    inputs: Any = None
    outputs: Any = None
    documents: Any = None
    error: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    clock: str = "timestamp"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    served: Mapping[str, float] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        above = None if self.parent is None or self.parent == "" else str(self.parent)
        object.__setattr__(self, "parent", above)
