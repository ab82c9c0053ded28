"""The MCP server: its tools, over standard input and output or HTTP."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from ragassay import __version__
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


def create_server(options: McpOptions) -> MCPServer[Any]:
    """The server with all its tools.

    Args:
        options: how it is offered.
    """
    server: MCPServer[Any] = MCPServer(
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
