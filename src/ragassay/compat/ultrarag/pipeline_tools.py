"""What a pipeline knows of its servers: their tools, what these take and give
(``input,input->output``), how one is called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragassay.base import packages
from ragassay.base.errors import RagassayError, UsageError

_SERVERS: Mapping[str, Any] = packages.table(__package__, "ultrarag_servers.yaml")

FLOWS: Mapping[str, Mapping[str, str]] = {
    name: server["tools"] for name, server in _SERVERS.items()
}
"""For each of UltraRAG's servers its tools, with what they take and give."""

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    name: server["parameters"] for name, server in _SERVERS.items()
}
"""For each server its parameters, with the values that its ``parameter.yaml`` has."""

Progress = Callable[[float, float | None, str], None]
"""Called with how much is done, of how much (``None``: not known), and a sentence."""

REQUIRED: Any = object()
"""The default of an argument that has none."""

_NOTHING = {"", "none"}
"""Inputs of a tool that takes nothing, and outputs of one that only changes its server."""


class ServerError(RagassayError):
    """What a server failed at: a start, a call."""


@dataclass(frozen=True)
class Flow:
    """What a tool takes and gives: for each argument where its value comes from (``$name`` is a
    parameter of the server, any other name a variable), and keys of the result, which become
    variables."""

    inputs: Mapping[str, str]
    outputs: tuple[str, ...]

    @classmethod
    def declared(cls, text: str, arguments: Sequence[str], parameters: Collection[str]) -> Flow:
        """Reads UltraRAG's form, such as ``pred_ls,gt_ls,metrics->eval_res``: inputs belong to the
        arguments by their place; one that is named like a parameter of the server is one."""
        before, arrow, after = text.partition("->")
        names, outputs = _names(before), _names(after)
        if not arrow or "" in (*names, *outputs):
            raise UsageError(f"A flow is written 'input,input->output', not {text!r}.")
        if len(names) > len(arguments):
            raise UsageError(
                f"The flow {text!r} has {len(names)} inputs, and the tool takes "
                f"{len(arguments)}: {', '.join(arguments) or 'none'}."
            )
        sources = [f"${name}" if name in parameters else name for name in names]
        return cls(dict(zip(arguments, sources, strict=False)), tuple(outputs))

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Flow:
        """Reads what a ``server.yaml`` says of a tool: ``input`` and ``output``."""
        outputs = map(str, entry.get("output") or [])
        inputs = {str(key): str(name) for key, name in (entry.get("input") or {}).items()}
        return cls(inputs, tuple(name for name in outputs if name.casefold() not in _NOTHING))

    def to_entry(self) -> dict[str, Any]:
        """What a ``server.yaml`` says of the tool."""
        return {"input": dict(self.inputs), "output": list(self.outputs)}


def _names(text: str) -> list[str]:
    is_nothing = text.strip().casefold() in _NOTHING
    return [] if is_nothing else [name.strip() for name in text.split(",")]


@dataclass(frozen=True)
class Tool:
    """A tool of a server: its flow, or (without one) its arguments, each with its default or
    `REQUIRED`. The output of a prompt are its messages."""

    name: str
    flow: Flow = Flow({}, ())
    arguments: Mapping[str, Any] = field(default_factory=dict)
    is_prompt: bool = False


class Server(Protocol):
    """A server that is started: the defaults of its parameters, and its tools."""

    parameters: Mapping[str, Any]
    tools: Mapping[str, Tool]

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """The result of a tool; a `ServerError` where the tool failed, or the server did."""
        ...

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """What a tool gives. One of the arguments (those whose value is known before the pipeline
        runs) that it cannot take raises an `OptionError`."""
        ...
