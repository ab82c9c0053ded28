"""``ragassay mcp``: tools for agents, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.cli.flags import takes_options


@takes_options("Judging", "Neural models", without=("data", "replay", "nuggets", "rubric"))
def mcp(folders: list[Path] | None = None, /, **run_options: Any) -> None:
    """Serve ragassay's tools to an agent, by MCP over standard input and output.

    The tools validate a file, run a suite, compare runs, explain a score and list metrics;
    UltraRAG's evaluate, evaluate_trec, evaluate_trec_pvalue, get_data and build are among them.
    They read and write below FOLDERS only. Who judges and what it may cost is said here, not by the
    agent. 'ragassay serve --mcp FOLDER' offers the same over HTTP.

    ```sh
    ragassay mcp
    ragassay mcp data runs --judge openai:gpt-4o --budget 5.00
    ```

    Args:
        folders: What the tools may read and write (default: the working directory).
    """
    from ragassay.compat.ultrarag.mcp_servers import needs_mcp

    needs_mcp()
    for folder in folders or ():
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder}.")
    from ragassay.mcp.mcp_server import McpOptions, create_server

    create_server(McpOptions(tuple(folders or [Path.cwd()]), run_options)).run("stdio")
