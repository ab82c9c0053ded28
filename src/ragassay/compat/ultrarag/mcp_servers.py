"""Servers of a pipeline that speak MCP: started as a process, or reached by a URL."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, Any, TextIO, cast

from ragassay.base.counts import either
from ragassay.base.errors import InputError, UsageError
from ragassay.compat.ultrarag import server_address
from ragassay.compat.ultrarag.pipeline_tools import REQUIRED, Flow, Progress, ServerError, Tool
from ragassay.compat.ultrarag.server_address import ServerAddress, entries_of, parameters_of

_SHOWN = 300
"""Characters of a server's own text that a message shows."""

_CACHES = shutil.ignore_patterns("__pycache__")

_TAIL = 8192
"""Bytes of what a server printed that are searched for its last line."""

logging.getLogger("mcp").addHandler(logging.NullHandler())  # errors hold what it says


class McpServer:
    """A server that answers."""

    def __init__(self, address: ServerAddress, client: Any, output: _Output) -> None:
        self._address, self._client, self._output = address, client, output
        self._call_s = address.timeout or server_address.CALL_S
        self.parameters: Mapping[str, Any] = {}
        self.tools: Mapping[str, Tool] = {}

    async def read_tools(self) -> None:
        """Asks for the tools, and a server of UltraRAG's layout for what they take and give."""
        result = await self._answer(self._client.list_tools(), server_address.START_S)
        self.tools = {tool.name: _of_schema(tool) for tool in result.tools}
        folder = self._address.folder
        if folder is not None:
            self.parameters = parameters_of(folder)
            tools, prompts = await self._built(folder)
            self.tools = {
                str(name): Tool(str(name), Flow.of_entry(entry), is_prompt=name in prompts)
                for name, entry in (*tools.items(), *prompts.items())
            }

    async def _built(self, folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What the server's ``build`` writes. It gets a copy of the folder, with the program beside
        the parameters, so that nothing in the folder changes."""
        if "build" not in self.tools:
            raise ServerError("it has no tool 'build', which says what its tools take.")
        with tempfile.TemporaryDirectory(prefix="ragassay-") as copy:
            place = Path(copy) / folder.resolve().name
            if (folder / "src").is_dir():  # one that runs elsewhere may have none
                shutil.copytree(folder / "src", place / "src", ignore=_CACHES)
            place.mkdir(exist_ok=True)
            parameters = place / "parameter.yaml"
            if (folder / "parameter.yaml").is_file():
                shutil.copyfile(folder / "parameter.yaml", parameters)
            else:
                parameters.write_text("{}\n", encoding="utf-8")
            arguments = {"parameter_file": str(parameters)}
            await self.call_tool(self.tools["build"], arguments, server_address.START_S, None)
            written = place / "server.yaml"
            if not written.is_file():
                raise ServerError(
                    "its tool 'build' wrote no server.yaml beside the parameter file."
                )
            try:
                return entries_of(written)
            except InputError as error:
                raise ServerError(
                    f"what its tool 'build' wrote, server.yaml, {error.problem}."
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
            raise ServerError(_sentence(problem or "the tool failed and says nothing"))
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

            call_s = address.timeout or server_address.CALL_S
            http = await stack.enter_async_context(
                httpx2.AsyncClient(
                    timeout=httpx2.Timeout(call_s, connect=server_address.START_S),
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
            async with asyncio.timeout(server_address.START_S):
                client = await stack.enter_async_context(
                    Client(transport, mode="legacy", message_handler=_ignored)
                )
        except (Exception, BaseExceptionGroup) as error:
            raise output.error(error, server_address.START_S) from error
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
            problem = "what it answers is no result of MCP"
        elif not isinstance(error, MCPError):
            problem = _cut(str(error)) or type(error).__name__
        elif error.code == CONNECTION_CLOSED and error.message == "Connection closed":
            problem = f"the server ended.{self._printed()}"
        elif error.code == PARSE_ERROR:
            problem = "what it answers is no message of MCP"
        else:
            problem = _cut(error.message) or f"it refuses with code {error.code}"
        return ServerError(_sentence(problem))

    def _printed(self) -> str:
        """A sentence with what the server printed last; empty where that is nothing."""
        if self.file.closed:
            return ""
        self.file.seek(max(0, self.file.seek(0, os.SEEK_END) - _TAIL))
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
