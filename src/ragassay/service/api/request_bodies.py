"""Connections and bodies as they come in: how large a body may be, how many values of JSON it may
hold, and how long it may take; a connection whose client sends no whole request is closed."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Receive
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ragassay.client.service_shapes import MOST_READ_WHOLE

_JSON_VALUES = 500_000
"""Values take more memory than their text: two bytes may be a list."""
WAIT_S = 30.0
"""Seconds without a byte of a body after which it is given up."""
WHOLE_S = 20.0
"""Seconds in which a body is to come that is no file; a longer one gets more."""
LEAST_RATE = 10_000
"""Bytes for which a body gets another second."""

_LATE = 408, "The body came too slowly. Send it again."
_ESCAPED = re.compile(rb"\\.", re.DOTALL)

Refusal = tuple[int, str]
"""The status of an answer, and a sentence."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a body may hold: bytes, and values of its JSON (any number where left out); the answer
    to a larger one. A file may take as long as it needs, but for `WAIT_S` without a byte."""

    most_bytes: int
    refusal: Refusal
    most_values: int | None = None
    is_file: bool = False

    def against(self, length: str) -> Refusal | None:
        """The answer to a body whose ``Content-Length`` is too long."""
        return self.refusal if length.isdigit() and int(length) > self.most_bytes else None


def within(most_bytes: int, *, is_file: bool = False) -> Bounds:
    """The bounds of a body that is no JSON."""
    size = f"{most_bytes // 1024**2:,} MB" if most_bytes >= 1024**2 else f"{most_bytes:,} bytes"
    refusal = 413, f"A request holds at most {size}. Send smaller batches."
    return Bounds(most_bytes, refusal, is_file=is_file)


def of_json(most_bytes: int) -> Bounds:
    """The bounds of a body that is read as JSON as a whole."""
    bounds = within(min(MOST_READ_WHOLE, most_bytes))
    return Bounds(bounds.most_bytes, bounds.refusal, _JSON_VALUES)


class BodyWithin:
    """Receives a body within its bounds, which may be set before it is read. If it is too large or
    late, the application sees a client that left, and ``refusal`` is the answer."""

    def __init__(
        self, receive: Receive, bounds: Bounds | None = None, *, has_body: bool = True
    ) -> None:
        self.bounds = bounds or within(0)
        self.refusal: Refusal | None = None
        self.is_whole = not has_body
        self._receive, self._is_read = receive, False
        self._begun, self._n, self._values = time.monotonic(), 0, _Values()

    async def __call__(self) -> Message:
        """The next message."""
        if self._is_read and self.refusal is None:
            return await self._receive()  # that the client leaves
        message: Message = {}
        if self.refusal is None:
            try:
                message = await asyncio.wait_for(self._receive(), self._patience)
                self._count(message)
            except TimeoutError:
                self.refusal = _LATE
        # Nobody is to take a part for the whole.
        return message if self.refusal is None else {"type": "http.disconnect"}

    @property
    def _patience(self) -> float:
        """Seconds to wait for the next message."""
        if self.bounds.is_file:
            return WAIT_S
        due = self._begun + WHOLE_S + self._n / LEAST_RATE
        return min(WAIT_S, max(0.0, due - time.monotonic()))

    def _count(self, message: Message) -> None:
        """Refuses the body where a further part of it is too much."""
        self._is_read = self.is_whole = not message.get("more_body", False)
        body, most = message.get("body", b""), self.bounds.most_values
        self._n += len(body)
        if self._n > self.bounds.most_bytes:
            self.refusal = self.bounds.refusal
        elif most is not None and self._values.add(body) > most:
            self.refusal = 413, f"A request holds at most {most:,} values. Send smaller batches."


class _Values:
    """Counts the values of a JSON text piece by piece, by commas and brackets outside strings."""

    def __init__(self) -> None:
        self._n, self._in_string, self._is_escaped = 0, False, False

    def add(self, piece: bytes) -> int:
        """The number so far, with a further piece of the text."""
        if self._is_escaped:
            piece = piece[1:] if piece else b"\\"
        piece = _ESCAPED.sub(b"", piece)
        self._is_escaped = piece.endswith(b"\\")
        parts = piece.split(b'"')
        outside = b"".join(parts[self._in_string :: 2])
        self._in_string ^= len(parts) % 2 == 0
        self._n += sum(map(outside.count, (b",", b"[", b"{")))
        return self._n


LOOK_S = 20.0
"""Seconds between two looks at a connection."""


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, which waits for the rest of a request's head for ever: here a connection
    is closed that at two looks had no request that is being answered, and no other one between
    them."""

    _next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Looks at the connection from now on."""
        super().connection_made(transport)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """Looks no more."""
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        self._next_look = self.loop.call_later(LOOK_S, self._look, self.cycle)

    def _look(self, before: Any) -> None:
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.cycle is before:
            self.transport.close()
        else:
            self._look_later()
