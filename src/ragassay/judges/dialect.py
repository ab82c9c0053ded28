"""What an endpoint takes for a model: found out once, remembered in the ledger.

Servers differ in the parameters and in the ways of structured output that they know. What one
rejects is left out; a rejection counts once the request without it was answered, so that an error
which merely mentions a parameter teaches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from ragassay.judges.endpoints.base import Completion, Endpoint, EndpointError
from ragassay.judges.ledger import Ledger
from ragassay.judges.requests import Request

Build = Callable[[frozenset[str]], Request]
"""The request without the named parameters and modes."""

Send = Callable[[Request, Callable[[], bool] | None], Awaitable[Completion | None]]
"""Sends a request, if the question still holds right before; ``None`` where it does not."""


class Dialect:
    """The parameters that one endpoint rejects for one model. Used on one event loop.

    Attributes:
        dropped: names of rejected parameters and modes.
    """

    def __init__(self, ledger: Ledger, endpoint: Endpoint, model: str) -> None:
        self._ledger, self._endpoint, self._model = ledger, endpoint.url, model
        self.dropped = ledger.rejected(endpoint.url, model) | endpoint.never
        self.reopen()

    def reopen(self) -> None:
        """Makes it usable on another event loop."""
        self._settling = asyncio.Lock()

    async def exchange(
        self, build: Build, send: Send, settling: Callable[[], None]
    ) -> tuple[Request, Completion]:
        """The reply to a request, and the request as it was taken.

        The first who is turned away for a parameter finds out alone what the endpoint takes, and
        all others wait for that: many first requests settle with few further ones.

        Args:
            build: makes the request.
            send: sends it.
            settling: called when the finding out begins.

        Raises:
            EndpointError: there is no reply, for another reason than what was rejected.
        """
        while True:
            if self._settling.locked():
                async with self._settling:
                    pass
            known = self.dropped
            request = build(known)
            try:
                completion = await send(request, partial(self._still, known))
            except EndpointError as error:
                if not error.rejected - known:
                    raise
                async with self._settling:
                    settling()
                    if self.dropped is not known:
                        continue  # somebody else has found out in the meantime
                    return await self._settle(build, send, known | error.rejected)
            if completion is not None:
                return request, completion

    def _still(self, dropped: frozenset[str]) -> bool:
        """Whether a request without these may go out: nothing else is known, or is being found
        out."""
        return self.dropped is dropped and not self._settling.locked()

    async def _settle(
        self, build: Build, send: Send, dropped: frozenset[str]
    ) -> tuple[Request, Completion]:
        while True:
            request = build(dropped)
            try:
                completion = await send(request, None)
            except EndpointError as error:
                if not error.rejected - dropped:
                    raise
                dropped |= error.rejected
                continue
            assert completion is not None
            await self._ledger.reject(self._endpoint, self._model, dropped - self.dropped)
            self.dropped = dropped
            return request, completion
