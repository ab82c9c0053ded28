"""The servers ``benchmark`` and ``evaluation`` that need no process: UltraRAG's tools, in ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import ArgumentError, OptionError, RagassayError
from ragassay.compat.ultrarag import ultrarag_evaluation
from ragassay.compat.ultrarag.pipeline_tools import (
    FLOWS,
    PARAMETERS,
    Flow,
    Progress,
    ServerError,
    Tool,
)
from ragassay.compat.ultrarag.ultrarag_benchmark import checked, get_data

_FUNCTIONS: Mapping[str, Callable[..., Mapping[str, Any]]] = {
    "get_data": get_data,
    **{tool: getattr(ultrarag_evaluation, tool) for tool in FLOWS["evaluation"]},
}


class BuiltinServer:
    """One of the servers that this package brings: a name of `FLOWS`."""

    def __init__(self, name: str) -> None:
        self.parameters: Mapping[str, Any] = PARAMETERS[name]
        self.tools: Mapping[str, Tool] = {}
        for tool, flow in FLOWS[name].items():
            arguments = list(inspect.signature(_FUNCTIONS[tool]).parameters)
            self.tools[tool] = Tool(tool, Flow.declared(flow, arguments, self.parameters))

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns of the key map for ``get_data``, else what the tool declares."""
        if tool.name == "get_data" and "benchmark" in arguments:
            try:
                return tuple(checked(arguments["benchmark"]).key_map)
            except ArgumentError as error:
                raise OptionError("benchmark", str(error)) from error
        for name, value in arguments.items():
            ultrarag_evaluation.check_argument(tool.name, name, value)
        return tool.flow.outputs

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls the function here and now: an interrupt ends it at once."""
        try:
            if tool.name != "get_data":
                self.outputs(tool, arguments)  # which checks them
            return _FUNCTIONS[tool.name](**arguments)
        except RagassayError as error:
            raise ServerError(str(error)) from error
