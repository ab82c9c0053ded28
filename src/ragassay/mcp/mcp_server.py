"""The MCP server: its tools, over standard input and output or HTTP."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from ragassay import __version__
from ragassay.base.errors import did_you_mean
from ragassay.base.problem_words import validation_problem
from ragassay.mcp import agent_tools, ultrarag_tools
from ragassay.mcp.allowed_folders import AllowedFolders

_INSTRUCTIONS = (
    "ragassay evaluates RAG systems. To judge a change: validate_file on the data, run_suite on "
    "each system's file, compare_runs for a verdict with a test, explain_score for single samples. "
    "list_metrics says what each metric needs and means. A mean counts scored samples only: look "
    "at n_scored and unscored. Where the person who started the server named no judge, judged "
    "metrics are answered offline, by rules about words. evaluate, evaluate_trec, "
    "evaluate_trec_pvalue, get_data and build are UltraRAG's."
)


@dataclass(frozen=True)
class McpOptions:
    """How the server is offered.

    Attributes:
        folders: whose files the tools may read and write; none where empty.
        settings: options of `RunConfig` for every run: the judge, the budget, the ledger.
    """

    folders: tuple[Path, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


class _Server(MCPServer[Any]):
    """A server that refuses wrong and unknown arguments in a sentence."""

    async def list_tools(self) -> list[Any]:
        """The tools; their schemas say that there are no further arguments."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any, **more: Any) -> Any:
        """Calls a tool.

        Args:
            name: of the tool.
            arguments: by name.
            *rest: as the base class has it.
            **more: as the base class has it.

        Raises:
            ToolError: what is wrong, and what to do.
        """
        tools = {tool.name: tool for tool in await self.list_tools()}
        schema = tools[name].input_schema if name in tools else {}
        parameters = list(schema.get("properties") or ())
        if name in tools and (unknown := [one for one in arguments if one not in parameters]):
            hint = did_you_mean(unknown[0], parameters)
            lacking = [one for one in schema.get("required", ()) if one not in arguments]
            needs = f", and needs {lacking[0]!r}" if lacking else ""
            takes = f"It takes: {', '.join(parameters)}."
            sentences = (f"{name} has no argument {unknown[0]!r}{needs}.", hint, takes)
            raise ToolError(" ".join(filter(None, sentences)))
        try:
            return await super().call_tool(name, arguments, *rest, **more)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(_refusal(name, error.__cause__, parameters)) from error


def _refusal(name: str, error: ValidationError, parameters: list[str]) -> str:
    """What is wrong with the arguments of a tool, in one sentence, and what it takes."""
    first = error.errors()[0]
    field = ".".join(str(piece) for piece in first["loc"][:1])
    if first["type"] == "missing":
        problem = f"{name} needs the argument {field!r}"
    else:
        problem = f"{name}: {validation_problem(error)}"
    return f"{problem}. It takes: {', '.join(parameters)}."


def create_server(options: McpOptions) -> MCPServer[Any]:
    """The server with all its tools.

    Args:
        options: how it is offered.
    """
    server: MCPServer[Any] = _Server(
        "ragassay",
        title="ragassay",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    logging.getLogger("mcp").setLevel(logging.WARNING)
    folders = AllowedFolders(options.folders)
    ultrarag_tools.add(server, folders)
    agent_tools.add(server, folders, options.settings)
    return server
