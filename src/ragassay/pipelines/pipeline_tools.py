"""What the parts of a pipeline know of a server: its tools, and how one is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragassay.base.errors import RagassayError
from ragassay.compat.ultrarag.ultrarag_flow import Flow

Progress = Callable[[float, float | None, str], None]
"""Called with how much is done, of how much (``None``: not known), and a sentence."""


class ServerError(RagassayError):
    """What a server failed at: a start, a call."""


@dataclass(frozen=True)
class Tool:
    """A tool of a server.

    Attributes:
        name: of the tool.
        flow: where its arguments come from and what it gives. ``None`` for a tool that declares
            none: its arguments are variables of the same name, or else parameters.
        arguments: for each argument its default; `REQUIRED` where it has none.
        outputs: keys of the result, as far as they are known before the call; ``None`` where not.
        is_prompt: whether it is a prompt, whose messages are its output.
    """

    name: str
    flow: Flow | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] | None = None
    is_prompt: bool = False


REQUIRED: Any = object()


class Server(Protocol):
    """A server that is started."""

    parameters: Mapping[str, Any]
    """The defaults of its parameters."""
    tools: Mapping[str, Tool]

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls a tool.

        Args:
            tool: one of ours.
            arguments: by name.
            progress: told of what the server says.

        Raises:
            ServerError: the tool failed, or the server did.
        """
        ...

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
        """What a tool gives; ``None`` where that is not known.

        Args:
            tool: one of ours.
            arguments: those whose value is known before the pipeline runs.

        Raises:
            OptionError: an argument that the tool cannot take.
        """
        ...
