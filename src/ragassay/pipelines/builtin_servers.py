"""The servers ``benchmark`` and ``evaluation`` that need no process: UltraRAG's tools, in ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import ArgumentError, OptionError, RagassayError
from ragassay.compat import ultrarag
from ragassay.compat.ultrarag.ultrarag_flow import Flow
from ragassay.compat.ultrarag.ultrarag_servers import FLOWS, PARAMETERS
from ragassay.pipelines.pipeline_tools import Progress, ServerError, Tool

NAMES = tuple(FLOWS)


class BuiltinServer:
    """One of the servers that this package brings.

    Args:
        name: one of `NAMES`.
    """

    def __init__(self, name: str) -> None:
        self._functions: dict[str, Callable[..., dict[str, Any]]] = {
            tool: getattr(ultrarag, tool) for tool in FLOWS[name]
        }
        self.parameters: Mapping[str, Any] = PARAMETERS[name]
        self.tools: Mapping[str, Tool] = {
            tool: Tool(
                tool,
                Flow.declared(
                    FLOWS[name][tool], list(inspect.signature(function).parameters), self.parameters
                ),
            )
            for tool, function in self._functions.items()
        }

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The columns of the key map for ``get_data``, else what the tool declares.

        Args:
            tool: one of ours.
            arguments: those whose value is known before the pipeline runs.

        Raises:
            OptionError: an argument that the tool cannot take.
        """
        if tool.name == "get_data":
            if "benchmark" not in arguments:
                return None
            try:
                key_map = ultrarag.key_map_of(arguments["benchmark"])
                ultrarag.checked(arguments["benchmark"])
            except ArgumentError as error:
                raise OptionError("benchmark", str(error)) from error
            return tuple(key_map)
        for name, value in arguments.items():
            ultrarag.check_argument(tool.name, name, value)
        assert tool.flow is not None
        return tool.flow.outputs

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls the function here and now: an interrupt ends it at once.

        Args:
            tool: one of ours.
            arguments: by name.
            progress: is told nothing.

        Raises:
            ServerError: what the function says.
        """
        try:
            if tool.name != "get_data":
                for name, value in arguments.items():
                    ultrarag.check_argument(tool.name, name, value)
            return self._functions[tool.name](**arguments)
        except RagassayError as error:
            raise ServerError(str(error)) from error
