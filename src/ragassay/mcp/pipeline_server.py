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

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from ragassay.base.errors import InputError, RagassayError
from ragassay.base.yaml_files import marked, text_of
from ragassay.compat import ultrarag
from ragassay.compat.ultrarag.ultrarag_flow import Flow
from ragassay.compat.ultrarag.ultrarag_servers import FLOWS
from ragassay.mcp.calling import in_words

F = TypeVar("F", bound=Callable[..., Any])


class PipelineServer:
    """A server of a pipeline.

    Args:
        file: of its program, ``__file__``.
        name: of the server; the name of the program's file when left out.
    """

    def __init__(self, file: str, name: str | None = None) -> None:
        self._file = Path(file).resolve()
        self.server: MCPServer[Any] = MCPServer(name or self._file.stem, log_level="WARNING")
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
            self.server.add_tool(_with_readable_errors(function), structured_output=False)
            return function

        return decorator

    def build(self, parameter_file: str) -> str:
        """Write server.yaml beside the parameter file: what each tool takes and gives.

        Args:
            parameter_file: path of the server's parameter.yaml.
        """
        path = Path(parameter_file)
        with in_words():
            return str(self.write_flows(path))

    def write_flows(self, path: Path) -> Path:
        """Writes ``server.yaml``.

        Args:
            path: of the parameter file.

        Raises:
            InputError: it is not a mapping of parameters.
        """
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


def _with_readable_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its errors as sentences for the caller; a defect of its own is also printed
    to standard error, with its place."""

    if not inspect.iscoroutinefunction(function):
        return _errors_in_words()(function)

    @functools.wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        with _errors_in_words():
            return await function(*args, **kwargs)

    return awaited


@contextmanager
def _errors_in_words() -> Iterator[None]:
    try:
        yield
    except RagassayError as error:
        raise ToolError(str(error)) from error
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise ToolError(f"{type(error).__name__}: {error}{place}") from error
