"""Servers of a pipeline: where they are, and those that speak MCP, as a process or at a URL."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TextIO, cast

from ragassay.base.errors import InputError, UsageError
from ragassay.base.printable import either
from ragassay.base.yaml_files import marked, text_of
from ragassay.compat.ultrarag.pipeline_file import Pipeline
from ragassay.compat.ultrarag.pipeline_tools import (
    FLOWS,
    REQUIRED,
    Flow,
    Progress,
    ServerError,
    Tool,
)

CALL_S, START_S = 3600.0, 120.0
"""Seconds for a call, and until a server says what its tools are."""

_SHOWN = 300
"""Characters of a server's own text that a message shows."""

_FORM = (
    "Write a folder with src/NAME.py and parameter.yaml, or servers/benchmark or "
    "servers/evaluation for the built-in ones."
)

_BINARIES = ("bin/python", "Scripts/python.exe")
"""Where a virtual environment has its interpreter."""

_OF_OURS = re.compile(r"^\s*(?:from|import) ragassay\b", re.MULTILINE)

logging.getLogger("mcp").addHandler(logging.NullHandler())  # errors hold what it says


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is: of this package (``builtin``), started here, or elsewhere; ``where`` is
    its name, folder, command or URL as it is shown. ``timeout`` are seconds for a call."""

    kind: Literal["builtin", "process", "url"]
    where: str
    command: tuple[str, ...] = ()
    folder: Path | None = None
    timeout: float | None = None


def address(pipeline: Pipeline, name: str) -> ServerAddress:
    """Where a server of a pipeline is: a folder (relative to the working directory, or to the
    pipeline's folder), or the built-in one where there is no such folder. The parameters of a
    folder may say, by ``path``, that its server runs at a URL."""
    place, text = ("servers", name), pipeline.servers[name]
    if not isinstance(text, str) or not text.strip():
        raise pipeline.marked.wrong(place, "is not the name of a folder", _FORM)
    tried = (Path(text), pipeline.path.parent / text)
    folder = next((path for path in tried if os.path.isdir(path)), None)  # noqa: PTH112 - never raises
    if folder is None:
        if Path(text).name in FLOWS:
            return ServerAddress("builtin", Path(text).name)
        raise pipeline.marked.wrong(place, f"there is no folder {text!r}", _FORM)
    url = _parameter_file(folder).get("path")
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return ServerAddress("url", url, folder=folder)
    program = folder / "src" / f"{folder.resolve().name}.py"
    if not program.is_file():
        problem = f"the folder {folder} has no src/{program.name}"
        raise pipeline.marked.wrong(place, problem, _FORM)
    return ServerAddress("process", str(folder), (_interpreter(program), str(program)), folder)


def of_command(words: list[str], timeout: float) -> ServerAddress:
    """The address of a server that a command starts."""
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"there is no program {words[0] if words else ''!r}")
    # "python" is the one that runs this: a virtual environment need not be activated.
    first = sys.executable if words[0] in ("python", "python3") else words[0]
    return ServerAddress("process", shlex.join(words), (first, *words[1:]), timeout=timeout)


def _interpreter(program: Path) -> str:
    """The interpreter of a server folder's program: ours for one that imports ragassay, else that
    of a ``.venv`` in or above its folder, else ``python`` on the path. UltraRAG's servers need
    versions of packages that conflict with ours."""
    if _OF_OURS.search(program.read_text(encoding="utf-8", errors="replace")):
        return sys.executable
    places = (above / ".venv" / name for above in program.resolve().parents for name in _BINARIES)
    of_folder = next((str(place) for place in places if place.is_file()), None)
    return of_folder or shutil.which("python") or shutil.which("python3") or sys.executable


def _parameter_file(folder: Path) -> dict[str, Any]:
    path = folder / "parameter.yaml"
    body = marked(text_of(path), path, later_wins=True).value if path.is_file() else None
    if not isinstance(body, dict | None):
        raise InputError("is not a mapping of parameters", path=path)
    return {str(name): value for name, value in (body or {}).items()}


class McpServer:
    """A server that answers."""

    def __init__(self, address: ServerAddress, client: Any, output: _Output) -> None:
        self._address, self._client, self._output = address, client, output
        self._call_s = address.timeout or CALL_S
        self.parameters: Mapping[str, Any] = {}
        self.tools: Mapping[str, Tool] = {}

    async def read_tools(self) -> None:
        """Asks for the tools, and a server of UltraRAG's layout for what they take and give."""
        result = await self._answer(self._client.list_tools(), START_S)
        self.tools = {tool.name: _of_schema(tool) for tool in result.tools}
        if self._address.folder is not None:
            own = _parameter_file(self._address.folder)
            self.parameters = {name: value for name, value in own.items() if name != "path"}
            self.tools = await self._built(self._address.folder)

    async def _built(self, folder: Path) -> Mapping[str, Tool]:
        """The tools and prompts that the server's ``build`` writes. It gets a copy of the folder,
        with the program beside the parameters, so that nothing in the folder changes."""
        if "build" not in self.tools:
            raise ServerError("it has no tool 'build', which says what its tools take.")
        with tempfile.TemporaryDirectory(prefix="ragassay-") as copy:
            place = Path(copy) / folder.resolve().name
            place.mkdir()
            if (folder / "src").is_dir():  # one that runs elsewhere may have none
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(folder / "src", place / "src", ignore=ignored)
            parameters, written = place / "parameter.yaml", place / "server.yaml"
            has_file = (folder / "parameter.yaml").is_file()
            parameters.write_bytes((folder / "parameter.yaml").read_bytes() if has_file else b"{}")
            arguments = {"parameter_file": str(parameters)}
            await self.call_tool(self.tools["build"], arguments, START_S, None)
            if not written.is_file():
                raise ServerError(
                    "its tool 'build' wrote no server.yaml beside the parameter file."
                )
            try:
                body = marked(text_of(written), written, later_wins=True).value
                return {
                    str(name): Tool(str(name), Flow.of_entry(entry), is_prompt=key == "prompts")
                    for key in ("tools", "prompts")
                    for name, entry in (body.get(key) or {}).items()
                }
            except (InputError, AttributeError, TypeError) as error:
                problem = getattr(error, "problem", "does not list tools with input and output")
                raise ServerError(
                    f"what its tool 'build' wrote, server.yaml, {problem}."
                ) from error

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """What the tool declares."""
        return tool.flow.outputs

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls a tool, or gets a prompt."""
        if tool.is_prompt:
            return await self._prompt(tool, arguments)
        result = await self.call_tool(tool, arguments, self._call_s, progress)
        texts = [item.text for item in result.content if getattr(item, "text", None) is not None]
        for body in (_parsed(texts[0]) if len(texts) == 1 else None, result.structured_content):
            if isinstance(body, dict):
                return body
        if not tool.flow.outputs:
            return {}
        shown = f": {_cut(texts[0])!r}" if texts else ""
        raise ServerError(f"the tool returned no JSON object{shown}.")

    async def _prompt(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        # The arguments of a prompt are texts.
        texts = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in arguments.items()
        }
        result = await self._answer(self._client.get_prompt(tool.name, texts), self._call_s)
        messages = [getattr(message.content, "text", "") for message in result.messages]
        return {tool.flow.outputs[0]: messages} if tool.flow.outputs else {}

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], seconds: float, progress: Progress | None
    ) -> Any:
        """What a tool returns, as the protocol has it."""

        async def tell(done: float, of: float | None, sentence: str | None) -> None:
            if progress is not None:
                progress(done, of, sentence or "")

        result = await self._answer(
            self._client.call_tool(tool.name, dict(arguments), progress_callback=tell), seconds
        )
        if result.is_error:
            text = " ".join(str(getattr(item, "text", "")) for item in result.content)
            problem = _cut(text.removeprefix(f"Error executing tool {tool.name}: "))
            raise ServerError(_sentence(problem or "the tool failed without a message"))
        return result

    async def _answer(self, request: Awaitable[Any], seconds: float) -> Any:
        self._output.status = ""
        try:
            async with asyncio.timeout(seconds):
                return await request
        except Exception as error:
            raise self._output.error(error, seconds) from error


@asynccontextmanager
async def started(address: ServerAddress) -> AsyncIterator[McpServer]:
    """A server of a pipeline, which is closed in the end; a `ServerError` where it does not
    answer."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        output = _Output(stack.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
        if address.kind == "url":
            import httpx2

            call_s = address.timeout or CALL_S
            http = await stack.enter_async_context(
                httpx2.AsyncClient(
                    timeout=httpx2.Timeout(call_s, connect=START_S),
                    event_hooks={"response": [output.note_status]},
                )
            )
            transport = streamable_http_client(
                address.where, http_client=http, max_sse_event_size=None
            )
        else:
            program, *arguments = address.command
            transport = stdio_client(
                StdioServerParameters(
                    command=program, args=arguments, env=dict(os.environ),
                    encoding_error_handler="replace",
                ),
                errlog=cast(TextIO, output.file),
            )  # fmt: skip
        try:
            async with asyncio.timeout(START_S):
                client = await stack.enter_async_context(
                    Client(transport, mode="legacy", message_handler=_ignored)
                )
        except (Exception, BaseExceptionGroup) as error:
            raise output.error(error, START_S) from error
        server = McpServer(address, client, output)
        await server.read_tools()
        yield server


class _Output:
    """What a server sends beside its messages: to standard error (``file``), or as a status of
    HTTP."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.status = ""

    async def note_status(self, response: Any) -> None:
        """Notes a status that refuses a message."""
        if response.request.method == "POST" and response.status_code >= 400:
            text = _cut((await response.aread()).decode(errors="replace"))
            shown = f": {text!r}" if text else ""
            self.status = f"it answers {response.status_code} {response.reason_phrase}{shown}"

    def error(self, error: BaseException, seconds: float) -> ServerError:
        """The sentence about a server that failed, or gave no answer in so many seconds."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, PARSE_ERROR
        from pydantic import ValidationError

        error = first_of(error)
        if isinstance(error, ServerError):
            return error
        if self.status:
            problem = self.status
        elif isinstance(error, TimeoutError):
            end = f"no answer within {seconds:g} {either(seconds == 1, 'second', 'seconds')}."
            problem = f"{end}{self._printed()}"
        elif isinstance(error, ValidationError):
            problem = "its answer is not a result of MCP"
        elif not isinstance(error, MCPError):
            problem = _cut(str(error)) or type(error).__name__
        elif error.code == CONNECTION_CLOSED and error.message == "Connection closed":
            problem = f"the server ended.{self._printed()}"
        elif error.code == PARSE_ERROR:
            problem = "its answer is not a message of MCP"
        else:
            problem = _cut(error.message) or f"it refuses with code {error.code}"
        return ServerError(_sentence(problem))

    def _printed(self) -> str:
        """A sentence with what the server printed last; empty where that is nothing."""
        if self.file.closed:
            return ""
        self.file.seek(max(0, self.file.seek(0, os.SEEK_END) - 8192))  # its last line is there
        lines = self.file.read().decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if re.search(r"\w", line)), "")
        return f" Its last words: {_cut(last)!r}." if last else ""


async def _ignored(message: object) -> None:
    """Takes what is no answer, such as a line of standard output that is no message."""


def first_of(error: BaseException) -> BaseException:
    """The error itself, or the first one of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def needs_mcp() -> None:
    """Says at once that the packages for MCP are not installed."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise UsageError("MCP needs a package: pip install 'ragassay[mcp]'.")


def _of_schema(tool: Any) -> Tool:
    """A tool by the schema of what it takes."""
    properties = tool.input_schema.get("properties") or {}
    required = set(tool.input_schema.get("required") or ())
    return Tool(
        tool.name,
        arguments={
            name: REQUIRED if name in required else schema.get("default")
            for name, schema in properties.items()
        },
    )


def _parsed(text: str) -> Any:
    """What a text holds as JSON. Numbers that JSON lacks (NaN) are ``None``, as they are when a
    variable is sent to a server or kept."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _cut(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[:_SHOWN]}..."
