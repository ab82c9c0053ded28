"""Servers of a pipeline that speak MCP: started as a process, or reached by a URL."""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from ragassay.compat.ultrarag import Flow
from ragassay.counts import plural
from ragassay.errors import InputError, UsageError
from ragassay.pipelines.pipeline_tools import REQUIRED, Progress, ServerError, Tool
from ragassay.pipelines.server_address import ServerAddress, entries_of, parameters_of

START_S = 60.0
"""Seconds that a server may take until it answers."""

_SHOWN = 300
"""Characters of a server's own words that a message shows."""


class McpServer:
    """A server that answers.

    Args:
        address: where it is.
        client: connected to it.
        words: what it printed.
    """

    def __init__(self, address: ServerAddress, client: Any, words: _Words) -> None:
        self._address, self._client, self._words = address, client, words
        self.parameters: Mapping[str, Any] = {}
        self.tools: Mapping[str, Tool] = {}

    async def look(self) -> None:
        """Asks what tools there are, and a server folder also what they take and give.

        Raises:
            ServerError: it does not say.
        """
        try:
            listed = {
                tool.name: _of_schema(tool) for tool in (await self._client.list_tools()).tools
            }
        except Exception as error:
            raise self._failed(error) from error
        self.tools = listed
        folder = self._address.folder
        if folder is not None:
            self.parameters = parameters_of(folder)
            tools, prompts = await self._built(folder)
            self.tools = {
                str(name): Tool(
                    str(name), Flow.of_entry(entry),
                    listed[name].arguments if name in listed else {}, is_prompt=name in prompts,
                )
                for name, entry in (*tools.items(), *prompts.items())
            }  # fmt: skip

    async def _built(self, folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What the server's ``build`` writes: it is given a copy of the parameters, so that nothing
        of the folder changes."""
        if "build" not in self.tools:
            raise ServerError(f"{folder} has no tool 'build', which says what its tools take.")
        with tempfile.TemporaryDirectory(prefix="ragassay-") as made:
            parameters = Path(made) / "parameter.yaml"
            if (folder / "parameter.yaml").is_file():
                shutil.copyfile(folder / "parameter.yaml", parameters)
            else:
                parameters.write_text("{}\n", encoding="utf-8")
            await self.asked(
                self.tools["build"], {"parameter_file": str(parameters)}, START_S, None
            )
            for place in (Path(made), folder):
                written = place / "server.yaml"
                if written.is_file():
                    try:
                        return entries_of(written.read_text(encoding="utf-8"), written)
                    except InputError as error:
                        raise ServerError(str(error)) from error
        raise ServerError(f"{folder}: its tool 'build' wrote no server.yaml.")

    def outputs(self, tool: Tool, parameters: Mapping[str, Any]) -> tuple[str, ...] | None:
        """What the tool declares; ``None`` where it declares nothing.

        Args:
            tool: one of ours.
            parameters: of this server, which do not matter.
        """
        del parameters
        return tool.flow.outputs if tool.flow is not None else tool.outputs

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls a tool, or gets a prompt.

        Args:
            tool: one of ours.
            arguments: by name.
            progress: is told what the server says of it.

        Raises:
            ServerError: what the server says, or that it says nothing.
        """
        if tool.is_prompt:
            return await self._prompt(tool, arguments)
        result = await self.asked(tool, arguments, self._address.timeout, progress)
        outputs = () if tool.flow is None else tool.flow.outputs
        body = result.structured_content
        texts = [item.text for item in result.content if getattr(item, "text", None) is not None]
        if len(texts) == 1:
            try:
                body = json.loads(texts[0])
            except ValueError:
                body = body if isinstance(body, dict) else None
        if isinstance(body, dict):
            return body
        if not outputs and tool.flow is not None:
            return {}
        said = f": {_cut(texts[0])!r}" if texts else ""
        raise ServerError(f"the tool returned no JSON object{said}.")

    async def _prompt(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        # The arguments of a prompt are texts.
        texts = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in arguments.items()
        }
        try:
            result = await self._client.get_prompt(tool.name, texts)
        except Exception as error:
            raise self._failed(error) from error
        assert tool.flow is not None
        messages = [getattr(message.content, "text", "") for message in result.messages]
        return {tool.flow.outputs[0]: messages} if tool.flow.outputs else {}

    async def asked(
        self, tool: Tool, arguments: Mapping[str, Any], seconds: float, progress: Progress | None
    ) -> Any:
        """What a tool returns, as the protocol has it.

        Args:
            tool: one of ours.
            arguments: by name.
            seconds: that it may take.
            progress: is told what the server says of it.

        Raises:
            ServerError: the tool failed, or the server did.
        """

        async def told(done: float, of: float | None, sentence: str | None) -> None:
            if progress is not None:
                progress(done, of, sentence or "")

        try:
            result = await self._client.call_tool(
                tool.name, dict(arguments), read_timeout_seconds=seconds, progress_callback=told
            )
        except Exception as error:
            raise self._failed(error) from error
        if result.is_error:
            text = " ".join(str(getattr(item, "text", "")) for item in result.content)
            words = _cut(text.removeprefix(f"Error executing tool {tool.name}: ")).rstrip(".")
            raise ServerError(f"{words or 'the tool failed and says nothing'}.")
        return result

    def _failed(self, error: BaseException) -> ServerError:
        return failed(error, self._words, self._address)


@asynccontextmanager
async def started(address: ServerAddress) -> AsyncIterator[McpServer]:
    """A server of a pipeline, which is closed in the end.

    Raises:
        ServerError: it does not start or does not answer.
    """
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    logging.getLogger("mcp").addHandler(logging.NullHandler())
    words = _Words()
    async with AsyncExitStack() as stack:
        if address.kind == "url":
            import httpx2

            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=dict(address.headers), timeout=address.timeout)
            )
            transport = streamable_http_client(address.where, http_client=http)
        else:
            printed = stack.enter_context(words.file())
            program, *arguments = address.command
            transport = stdio_client(
                StdioServerParameters(
                    command=program, args=arguments, env={**os.environ, **address.env}
                ),
                errlog=printed,
            )
        try:
            client = await stack.enter_async_context(
                Client(
                    transport, mode="legacy", read_timeout_seconds=START_S,
                    message_handler=words.heard,
                )
            )  # fmt: skip
        except (Exception, BaseExceptionGroup) as error:
            raise failed(error, words, address) from error
        server = McpServer(address, client, words)
        await server.look()
        yield server


class _Words:
    """What a server printed: to standard error, and to standard output, which is the protocol's."""

    def __init__(self) -> None:
        self._file: TextIO | None = None
        self._stray: list[str] = []

    def file(self) -> TextIO:
        """Where standard error goes."""
        self._file = cast(TextIO, tempfile.TemporaryFile("w+", errors="replace"))  # noqa: SIM115
        return self._file

    async def heard(self, message: object) -> None:
        """Notes a line of standard output that is no message."""
        if isinstance(message, Exception):
            errors: list[Any] = getattr(message, "errors", list)()
            given = errors[0].get("input") if errors else str(message)
            self._stray.append(str(given))

    def told(self) -> str:
        """What was printed, as a sentence."""
        if self._stray:
            return (
                "It prints to standard output, which belongs to the protocol: "
                f"{_cut(self._stray[0])!r}. Print to standard error."
            )
        if self._file is None or self._file.closed:
            return ""
        self._file.flush()
        self._file.seek(0)
        lines = [line.strip() for line in self._file if line.strip()]
        return f"Its last words: {_cut(lines[-1])!r}." if lines else ""


def failed(error: BaseException, words: _Words, address: ServerAddress) -> ServerError:
    """The sentence about a server that failed.

    Args:
        error: what was raised.
        words: what the server printed.
        address: where it is.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ServerError):
        return error
    if isinstance(error, FileNotFoundError):
        what = f"there is no program {address.command[0]!r}"
    elif "imed out" in str(error) or isinstance(error, TimeoutError):
        what = f"no answer within {plural(round(address.timeout), 'second')}"
    elif "losed" in str(error):
        what = "the server ended"
    else:
        what = _cut(str(getattr(error, "message", "") or error) or type(error).__name__)
    return ServerError(" ".join(filter(None, (f"{what}.".replace("..", "."), words.told()))))


def needs_mcp() -> None:
    """Says at once that the packages for MCP are not installed.

    Raises:
        UsageError: they are not.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise UsageError("MCP needs a package: pip install 'ragassay[mcp]'.")


def _of_schema(tool: Any) -> Tool:
    """A tool by the schemas of what it takes and gives."""
    properties = tool.input_schema.get("properties") or {}
    required = set(tool.input_schema.get("required") or ())
    gives = (tool.output_schema or {}).get("properties")
    return Tool(
        tool.name,
        arguments={
            name: REQUIRED if name in required else schema.get("default")
            for name, schema in properties.items()
        },
        outputs=tuple(gives) if gives else None,
    )


def _cut(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[:_SHOWN]}..."
