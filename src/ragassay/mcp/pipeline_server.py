"""A server folder in UltraRAG's layout: its tools, what they take and give, and ``build``.

    app = PipelineServer(__file__)

    @app.tool(output="q_ls,top_k->ret_psg")
    def retriever_search(q_ls: list[str], top_k: int) -> dict[str, list[list[str]]]:
        ...

    if __name__ == "__main__":
        app.run()

The folder holds ``parameter.yaml`` and ``src/NAME.py``, where NAME is the folder's name. It works
under ``ragassay run`` and under UltraRAG's own runner.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from ragassay.base.errors import InputError, RagassayError
from ragassay.base.yaml_files import marked, text_of
from ragassay.compat import ultrarag
from ragassay.compat.ultrarag.pipeline_tools import FLOWS, Flow

F = TypeVar("F", bound=Callable[..., Any])


class _Server(MCPServer[Any]):
    """A server that says what went wrong in a tool; a defect is also printed to standard error, and
    reported with its place."""

    async def call_tool(self, name: str, *rest: Any, **more: Any) -> Any:
        """Calls a tool; a `ToolError` says what is wrong."""
        try:
            return await super().call_tool(name, *rest, **more)
        except UnexpectedToolError as unexpected:
            error = unexpected.__cause__ or unexpected
            said = str(error)
            if not isinstance(error, RagassayError):
                traceback.print_exception(error, file=sys.stderr)
                frames = traceback.extract_tb(error.__traceback__)
                name_of, line = Path(frames[-1].filename).name, frames[-1].lineno
                said = f"{type(error).__name__}: {error} ({name_of}, line {line})"
            raise ToolError(f"Error executing tool {name}: {said}") from error


class PipelineServer:
    """A server of a pipeline.

    Args:
        file: of its program, ``__file__``.
        name: of the server; the name of the program's file when left out.
    """

    def __init__(self, file: str, name: str | None = None) -> None:
        self._file = Path(file).resolve()
        self.server: MCPServer[Any] = _Server(name or self._file.stem, log_level="WARNING")
        self._declared: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.server.add_tool(self.build)

    def tool(self, output: str) -> Callable[[F], F]:
        """Makes a tool of a function.

        Args:
            output: what it takes and gives, ``input,input->output``: inputs belong to the
                function's arguments by their place, outputs are keys of the dict that it returns
                (``None`` where it returns nothing).
        """

        def decorator(function: F) -> F:
            arguments = tuple(inspect.signature(function).parameters)
            Flow.declared(output, arguments, ())  # a mistake shows when the server starts
            self._declared[function.__name__] = (output, arguments)
            self.server.add_tool(function, structured_output=False)
            return function

        return decorator

    def build(self, parameter_file: str) -> str:
        """Write server.yaml beside the parameter file: what each tool takes and gives.

        Args:
            parameter_file: path of the server's parameter.yaml.
        """
        return str(self.write_flows(Path(parameter_file)))

    def write_flows(self, path: Path) -> Path:
        """Writes ``server.yaml`` beside a parameter file; an `InputError` where that is no
        mapping."""
        parameters = marked(text_of(path), path, later_wins=True).value or {}
        if not isinstance(parameters, Mapping):
            raise InputError("is not a mapping of parameters", path=path)
        body = {
            "path": str(self._file),
            "parameter": str(path),
            "tools": {
                name: Flow.declared(text, arguments, list(parameters)).to_entry()
                for name, (text, arguments) in self._declared.items()
            },
            "prompts": {},
        }
        written = path.with_name("server.yaml")
        written.write_text(yaml.safe_dump(body, sort_keys=False, allow_unicode=True), "utf-8")
        return written

    def run(self) -> None:
        """Serves over standard input and output, until they are closed."""
        self.server.run("stdio")


def evaluation_server(file: str) -> PipelineServer:
    """UltraRAG's server ``evaluation``, computed by ragassay.

    Args:
        file: of the program.
    """
    server = PipelineServer(file, "evaluation")
    for name, flow in FLOWS["evaluation"].items():
        server.tool(flow)(getattr(ultrarag, name))
    return server
