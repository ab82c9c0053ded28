"""The connections of the service: one whose client sends no whole request is closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

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
