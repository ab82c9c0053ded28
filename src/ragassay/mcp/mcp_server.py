"""The MCP server: its tools, over standard input and output or HTTP."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from ragassay import __version__
from ragassay.base.errors import RagassayError, did_you_mean, validation_problem
from ragassay.compat import ultrarag
from ragassay.mcp.agent_tools import AgentTools, AllowedFolders
from ragassay.mcp.pipeline_server import evaluation_server

_INSTRUCTIONS = (
    "ragassay evaluates RAG systems. To judge a change: validate_file on the data, run_suite on "
    "each system's file, compare_runs for a verdict with a test, explain_score for single samples. "
    "list_metrics says what each metric needs and means. A mean counts scored samples only: check "
    "n_scored and unscored. If the person who started the server named no judge, simple "
    "offline rules judge. evaluate, evaluate_trec, evaluate_trec_pvalue, get_data and build are "
    "UltraRAG's."
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
        for argument in arguments if name in tools else ():
            if argument not in parameters:
                said = f"{name} has no argument {argument!r}.", did_you_mean(argument, parameters)
                raise ToolError(" ".join(filter(None, (*said, takes))))
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
    for tool in (*_ultrarag_tools(folders), *AgentTools(folders, options.settings).all):
        server.add_tool(tool)
    return server


_EVALUATIONS: Mapping[Callable[..., Any], Sequence[str]] = {
    ultrarag.evaluate: (),
    ultrarag.evaluate_trec: ("run_path", "qrels_path"),
    ultrarag.evaluate_trec_pvalue: ("run_new_path", "run_old_path", "qrels_path"),
}
"""Functions that are tools as they are, each with the arguments that name a file to read."""


def _ultrarag_tools(folders: AllowedFolders) -> list[Callable[..., Any]]:
    """The tools as functions that reach only the files of these folders."""

    def get_data(benchmark: dict[str, Any]) -> dict[str, Any]:
        """Read columns of a JSONL, JSON or Parquet file; row N is the same record in every column.

        Args:
            benchmark: path (the file), key_map (for each column its field, such as {"q_ls":
                "question", "gt_ls": "golden_answers"}), limit (-1: all), shuffle, seed.
        """
        path = benchmark.get("path")
        if isinstance(path, str):  # else the call says what is missing
            benchmark = {**benchmark, "path": str(folders.existing(path, "benchmark.path"))}
        return ultrarag.get_data(benchmark)

    def build(parameter_file: str) -> str:
        """Write server.yaml beside a parameter.yaml, for UltraRAG's runner: what each tool of the
        evaluation takes and gives.

        Args:
            parameter_file: The parameter.yaml.
        """
        path = folders.existing(parameter_file, "parameter_file")
        folders.writable(str(path.with_name("server.yaml")), "parameter_file")
        program = path.parent / "src" / f"{path.parent.name}.py"
        return str(evaluation_server(str(program)).write_flows(path))

    evaluations = [_within(folders, *row) for row in _EVALUATIONS.items()]
    return [*evaluations, get_data, build]


def _within(
    folders: AllowedFolders, function: Callable[..., Any], reads: Sequence[str]
) -> Callable[..., Any]:
    """A function with the paths that it reads, and writes (``save_path``), inside of folders."""

    @functools.wraps(function)
    def tool(**arguments: Any) -> Any:
        for name in reads:
            arguments[name] = str(folders.existing(arguments[name], name))
        if path := arguments.get("save_path"):
            arguments["save_path"] = str(folders.writable(path, "save_path"))
        return function(**arguments)

    # An agent reads what the tool takes and gives, and no errors and sources.
    tool.__doc__ = inspect.cleandoc(function.__doc__ or "").partition("\nRaises:")[0]
    return tool
