"""Streams: the events of a reply as they come, and whether it came to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragassay.targets.http_api.http_session import lines_of
from ragassay.targets.http_api.mapping_paths import each_path, value_at

if TYPE_CHECKING:
    import aiohttp

DONE = "[DONE]"
"""The event that ends a stream of OpenAI's protocol, and of many others."""

_BY_NAME = "event:"
"""Begins an end mark that is the name of an event."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a stream.

    Attributes:
        text: its data; empty where it has none.
        name: of the event, where server-sent events name it.
        is_complete: whether its end came: the blank line of a server-sent event, the end of the
            line.
    """

    text: str
    name: str = ""
    is_complete: bool = True

    @property
    def is_done(self) -> bool:
        """Whether it is the mark that nothing more comes."""
        return self.text.strip() == DONE


@dataclass(frozen=True, slots=True)
class EndMark:
    """What marks the end of a stream; `DONE` always does.

    Attributes:
        names: of server-sent events that are the last.
        paths: to what only an event at the end holds, neither null nor false nor empty.
    """

    names: frozenset[str]
    paths: tuple[str, ...]

    @classmethod
    def of(cls, written: str | Sequence[str]) -> EndMark:
        """The mark that a mapping writes: ``[DONE]``, ``event: NAME``, a path, or a list of these.

        Raises:
            ValueError: something in it is no path.
        """
        marks = [one.strip() for one in ([written] if isinstance(written, str) else written)]
        names = [one.removeprefix(_BY_NAME).strip() for one in marks if one.startswith(_BY_NAME)]
        paths = [one for one in marks if one != DONE and not one.startswith(_BY_NAME)]
        return cls(frozenset(names), tuple(one.text for one in each_path(paths)))

    def is_in(self, value: Any) -> bool:
        """Whether the value of an event holds the mark at one of the paths."""
        return any(value_at(value, path) for path in self.paths)


async def events_of(
    response: aiohttp.ClientResponse, server_sent: bool, shown: str
) -> AsyncIterator[Event]:
    """The events of a stream as they come.

    Args:
        response: whose body is read.
        server_sent: whether these are server-sent events; else each line is one.
        shown: what the system is called in messages.

    Raises:
        EndpointError: the stream does not end.
    """
    data: list[str] = []
    name = ""
    async for line, is_complete in lines_of(response, shown):
        if not server_sent:
            if line.strip():
                yield Event(line, is_complete=is_complete)
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line.strip():
            if data or name:
                yield Event("\n".join(data), name)
            data, name = [], ""
        elif line.lstrip().startswith(("<", "{")):
            yield Event(line)  # no stream, but a page of HTML or JSON
    if data:
        yield Event("\n".join(data), name, is_complete=False)
