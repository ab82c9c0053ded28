"""What an endpoint takes for a model: found out once, remembered in the ledger.

A parameter (or way of structured output) that a server rejects is left out. It is remembered only
once the request without it was answered, because an error may mention a parameter that is not its
cause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.transport.endpoints import Endpoint, EndpointError
from ragassay.transport.sending import Sender

_LOOKED_BACK = 4  # earlier forms of a request under which its answer is looked for

T = TypeVar("T")
Send = Callable[[frozenset[str], Callable[[], bool] | None], Awaitable[T | None]]
"""Sends a request without the named parameters and modes, and calls `EndpointCapabilities.learn`
once it is answered, before the reply is read. Where the second argument is given, it is sent only
if that is true right before; the result is ``None`` where it is not."""


class EndpointCapabilities:
    """The parameters that one endpoint rejects for one model: ``dropped``, and its earlier values
    in ``before``, the latest first and the very first last. Used on one event loop."""

    def __init__(self, ledger: Ledger, endpoint: Endpoint, model: str, sender: Sender) -> None:
        self._ledger, self._endpoint, self._model = ledger, endpoint.url, model
        self._sender = sender
        self.dropped = endpoint.never
        self.before: tuple[frozenset[str], ...] = ()
        for name in ledger.rejected(endpoint.url, model):
            self._drop(self.dropped | {name})
        self.reopen()

    def reopen(self) -> None:
        """Makes it usable on another event loop."""
        self._settling = asyncio.Lock()

    async def exchange(self, send: Send[T]) -> T:
        """What ``send`` makes of the reply to a request in the form that the endpoint takes. The
        first request that is rejected for a parameter finds out alone what the endpoint takes."""
        while True:
            async with self._settling:
                dropped = self.dropped
            try:
                result = await send(dropped, lambda: self._is_current(dropped))  # noqa: B023
            except EndpointError as error:
                if not error.rejected - dropped:
                    raise
                self._sender.end_head_start()
                async with self._settling:
                    if self.dropped is dropped:
                        return await self._settle(send, dropped, error)
            else:
                if result is not None:
                    return result

    def _is_current(self, dropped: frozenset[str]) -> bool:
        return self.dropped is dropped and not self._settling.locked()

    async def _settle(self, send: Send[T], dropped: frozenset[str], rejection: EndpointError) -> T:
        """Sends a rejected request without each parameter that is rejected on the way."""
        while True:
            dropped |= rejection.rejected
            try:
                result = await send(dropped, None)
            except EndpointError as error:
                if error.rejected - dropped:
                    rejection = error
                    continue
                if error.reason is rejection.reason:  # no parameter was the cause
                    breaker = self._sender.breaker
                    breaker.failed(rejection.reason, rejection.detail, permanent=True)
                raise
            assert result is not None
            return result

    async def learn(self, dropped: frozenset[str]) -> None:
        """Stores what had to be dropped, before the answer itself is stored: when the run is
        resumed, it builds the very same request."""
        if new := dropped - self.dropped:
            await self._sender.kept(self._ledger.reject(self._endpoint, self._model, new))
            self._drop(dropped)

    def _drop(self, dropped: frozenset[str]) -> None:
        if dropped != self.dropped:
            *latest, first = (self.dropped, *self.before)
            self.before = (*latest[: _LOOKED_BACK - 1], first)
            self.dropped = dropped
