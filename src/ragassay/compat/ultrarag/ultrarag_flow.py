"""How a tool of UltraRAG's servers declares what it takes from a pipeline and what it gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.base.errors import UsageError

_NOTHING = {"", "none"}
"""Inputs of a tool that takes nothing, and outputs of one that only changes its server."""


@dataclass(frozen=True)
class Flow:
    """What a tool takes and gives.

    Attributes:
        inputs: for each argument of the tool where its value comes from: ``$name`` is a parameter
            of the server, any other name a variable of the pipeline.
        outputs: keys of the tool's result, which become variables.
    """

    inputs: Mapping[str, str]
    outputs: tuple[str, ...]

    @classmethod
    def declared(cls, text: str, arguments: Sequence[str], parameters: Collection[str]) -> Flow:
        """Reads UltraRAG's form, such as ``pred_ls,gt_ls,metrics->eval_res``.

        Args:
            text: names of inputs and outputs; inputs belong to the arguments by their place.
            arguments: names of the tool's arguments.
            parameters: names of the server's parameters; an input of such a name is one.

        Raises:
            UsageError: there is no ``->``, an empty name, or more inputs than arguments.
        """
        before, arrow, after = text.partition("->")
        names, outputs = _names(before), _names(after)
        if not arrow or "" in (*names, *outputs):
            raise UsageError(f"A flow is written 'input,input->output', not {text!r}.")
        if len(names) > len(arguments):
            raise UsageError(
                f"The flow {text!r} has {len(names)} inputs, and the tool takes "
                f"{len(arguments)}: {', '.join(arguments) or 'none'}."
            )
        return cls(
            {
                argument: f"${name}" if name in parameters else name
                for argument, name in zip(arguments, names, strict=False)
            },
            tuple(outputs),
        )

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Flow:
        """Reads what a ``server.yaml`` says of a tool.

        Args:
            entry: with ``input`` and ``output``.
        """
        outputs = entry.get("output") or []
        inputs = {str(key): str(name) for key, name in (entry.get("input") or {}).items()}
        return cls(inputs, tuple(name for name in map(str, outputs) if not _is_nothing(name)))

    def to_entry(self) -> dict[str, Any]:
        """What a ``server.yaml`` says of the tool."""
        return {"input": dict(self.inputs), "output": list(self.outputs)}


def _names(text: str) -> list[str]:
    return [] if _is_nothing(text.strip()) else [name.strip() for name in text.split(",")]


def _is_nothing(name: str) -> bool:
    return name.casefold() in _NOTHING
