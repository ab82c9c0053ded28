"""The body of a request as it comes in: how large it may be, how many values of JSON it may hold,
and how long it may take."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from starlette.types import Message, Receive

from ragassay.service.store import MOST_READ_WHOLE

_JSON_VALUES = 500_000
"""Values take more memory than their text: two bytes may be a list."""

WAIT_S = 30.0
"""Seconds without a byte of a body after which it is given up."""

_LATE = (
    408,
    f"No part of the body came for {WAIT_S:.0f} s. Send it again.",
)
_ESCAPED = re.compile(rb"\\.", re.DOTALL)

Refusal = tuple[int, str]
"""The status of an answer, and a sentence."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a body may hold.

    Attributes:
        most_bytes: of it.
        refusal: the answer to a larger one.
        most_values: of its JSON; any number where left out.
    """

    most_bytes: int
    refusal: Refusal
    most_values: int | None = None

    def against(self, length: str) -> Refusal | None:
        """The answer to a body that is announced to be too long.

        Args:
            length: as the header ``Content-Length`` says it.
        """
        return self.refusal if length.isdigit() and int(length) > self.most_bytes else None


def within(most_bytes: int) -> Bounds:
    """The bounds of a body that is no JSON.

    Args:
        most_bytes: of it.
    """
    size = f"{most_bytes // 1024**2:,} MB" if most_bytes >= 1024**2 else f"{most_bytes:,} bytes"
    return Bounds(most_bytes, (413, f"A request holds at most {size}. Send smaller batches."))


def of_json(most_bytes: int) -> Bounds:
    """The bounds of a body that is read as JSON as a whole.

    Args:
        most_bytes: of any body.
    """
    bounds = within(min(MOST_READ_WHOLE, most_bytes))
    return Bounds(bounds.most_bytes, bounds.refusal, _JSON_VALUES)


class BodyWithin:
    """Receives a body within its bounds. What is too much or too late is not handed on: the
    application sees a client that left.

    Args:
        receive: of the server.
        bounds: of the body.

    Attributes:
        refusal: the answer, where it is too much or too late.
    """

    def __init__(self, receive: Receive, bounds: Bounds) -> None:
        self.refusal: Refusal | None = None
        self._receive, self._bounds = receive, bounds
        self._left, self._values = bounds.most_bytes, _Values()
        self._is_whole = False

    async def __call__(self) -> Message:
        """The next message."""
        if self.refusal is None and not self._is_whole:
            try:
                message = await asyncio.wait_for(self._receive(), WAIT_S)
            except TimeoutError:
                self.refusal = _LATE
            else:
                self._count(message)
                if self.refusal is None:
                    return message
        if self.refusal is not None:
            return {"type": "http.disconnect"}  # so that nobody takes the part for the whole
        return await self._receive()  # that the client leaves

    def _count(self, message: Message) -> None:
        self._is_whole = not message.get("more_body", False)
        body, most = message.get("body", b""), self._bounds.most_values
        self._left -= len(body)
        if self._left < 0:
            self.refusal = self._bounds.refusal
        elif most is not None and self._values.add(body) > most:
            self.refusal = 413, f"A request holds at most {most:,} values. Send smaller batches."


class _Values:
    """Counts the values of a JSON text piece by piece, by the commas and brackets outside of its
    strings."""

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
