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
from ragassay.base.errors import RagassayError, did_you_mean
from ragassay.base.problem_words import validation_problem
from ragassay.mcp.agent_tools import AgentTools
from ragassay.mcp.allowed_folders import AllowedFolders
from ragassay.mcp.ultrarag_tools import ultrarag_tools

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
    """The folders whose files the tools may read and write, and options of `RunConfig` for every
    run: the judge, the budget, the ledger."""

    folders: tuple[Path, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


class _Server(MCPServer[Any]):
    """A server whose tools are plain functions: the schema is that of their signature and
    docstring, a thread of the library runs them, and every refusal is one sentence."""

    async def list_tools(self) -> list[Any]:
        """The tools; their schemas say that there are no further arguments."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any, **more: Any) -> Any:
        """Calls a tool. A `ToolError` says what is wrong, and what to do."""
        tools = {tool.name: tool for tool in await self.list_tools()}
        schema = tools[name].input_schema if name in tools else {}
        parameters = list(schema.get("properties") or ())
        takes = f"It takes: {', '.join(parameters)}."
        if name in tools and (unknown := [one for one in arguments if one not in parameters]):
            hint = did_you_mean(unknown[0], parameters)
            lacking = [one for one in schema.get("required", ()) if one not in arguments]
            needs = f", and needs {lacking[0]!r}" if lacking else ""
            sentences = (f"{name} has no argument {unknown[0]!r}{needs}.", hint, takes)
            raise ToolError(" ".join(filter(None, sentences)))
        try:
            return await super().call_tool(name, arguments, *rest, **more)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, RagassayError | OSError):  # which a person can mend
                raise ToolError(f"Error executing tool {name}: {cause}") from error
            if not isinstance(cause, ValidationError):
                raise
            first = cause.errors()[0]
            problem = f"{name}: {validation_problem(cause)}"
            if first["type"] == "missing":
                problem = f"{name} needs the argument {str(first['loc'][0])!r}"
            raise ToolError(f"{problem}. {takes}") from error


def create_server(options: McpOptions) -> MCPServer[Any]:
    """The server with all its tools."""
    server: MCPServer[Any] = _Server(
        "ragassay",
        title="ragassay",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    logging.getLogger("mcp").setLevel(logging.WARNING)
    folders = AllowedFolders(options.folders)
    for tool in (*ultrarag_tools(folders), *AgentTools(folders, options.settings).all):
        server.add_tool(tool)
    return server
