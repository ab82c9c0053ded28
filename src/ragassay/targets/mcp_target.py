"""A system that is a tool of an MCP server."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

from ragassay.base.errors import RagassayError, UsageError, meant_or_all
from ragassay.base.score import Reason
from ragassay.compat.ultrarag.mcp_servers import (
    McpServer,
    ServerAddress,
    first_of,
    needs_mcp,
    of_command,
    started,
)
from ragassay.compat.ultrarag.pipeline_tools import REQUIRED, ServerError, Tool
from ragassay.targets import target
from ragassay.targets.reply_shapes import read_text
from ragassay.targets.target import PASSAGES, Request, Stopwatch, Target
from ragassay.transport.endpoints import EndpointError


class McpTarget(Target):
    """A tool of a server that is started here (``COMMAND#tool``) or runs elsewhere (``URL#tool``).
    The query is its argument ``query`` or ``question``, or the only one without a default."""

    def __init__(self, where: str, timeout: float, name: str | None = None) -> None:
        needs_mcp()
        place, _, tool = where.rpartition("#")
        if not place or not tool:
            raise UsageError(f"Which tool of {where}? Name it: mcp:{where.rstrip('#')}#TOOL.")
        is_url = re.match(r"https?://", place) is not None
        shown = target.without_secrets(place) if is_url else place
        super().__init__(name or tool, f"mcp:{shown}#{tool}")
        self._where, self._tool_name, self._timeout = where, tool, timeout
        if is_url:
            self._address = ServerAddress("url", place, timeout=timeout)
        else:
            try:
                self._address = of_command(shlex.split(place), timeout=timeout)
            except (ValueError, UsageError) as error:  # a quotation mark without its second one
                raise UsageError(f"The target mcp:{where} cannot be read: {error}.") from error
        self._stack = AsyncExitStack()
        self._server: McpServer | None = None
        self._tool: Tool | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """Server and tool."""
        return {"kind": "mcp", "where": f"mcp:{self._where}"}

    @property
    def takes_passages(self) -> bool:
        """Whether the tool has an argument for them."""
        return self._tool is not None and not PASSAGES.isdisjoint(self._tool.arguments)

    async def open(self) -> None:
        """Starts the server and looks for the tool."""
        try:
            self._server = await self._stack.enter_async_context(started(self._address))
        except (ServerError, BaseExceptionGroup) as error:
            raise UsageError(f"The target {self.url} does not start: {first_of(error)}") from error
        self._tool = self._server.tools.get(self._tool_name)
        if self._tool is None:
            hint = meant_or_all(self._tool_name, self._server.tools)
            raise UsageError(f"The target {self.url}: the server has no such tool. {hint}")
        self._arguments(Request("", ""))

    async def close(self) -> None:
        """Ends the server."""
        with suppress(RagassayError, BaseExceptionGroup):
            await self._stack.aclose()

    async def call(self, request: Request, watch: Stopwatch) -> Any:
        """Calls the tool."""
        assert self._server is not None and self._tool is not None
        try:
            result = await self._server.call_tool(
                self._tool, self._arguments(request), self._timeout, None
            )
        except ServerError as error:
            reason = Reason.TIMEOUT if "no answer within" in str(error) else Reason.FAILED
            raise EndpointError(reason, str(error)) from error
        return _value(result)

    def _arguments(self, request: Request) -> dict[str, Any]:
        assert self._tool is not None
        takes = self._tool.arguments
        needed = [name for name, default in takes.items() if default is REQUIRED]
        question = target.question_among(takes, needed)
        if question is None:
            listed = ", ".join(takes) or "none"
            problem = f"which argument is the query? The tool takes {listed}; call it 'query'."
            raise UsageError(f"The target {self.url}: {problem}")
        return request.arguments(takes, question, request.messages[:-1])


def _value(result: Any) -> Any:
    structured = result.structured_content
    texts = [item.text for item in result.content if getattr(item, "text", None) is not None]
    if isinstance(structured, dict) and set(structured) != {"result"}:
        return structured
    return read_text("\n".join(texts))
