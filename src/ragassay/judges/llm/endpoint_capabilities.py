"""What an endpoint takes for a model: found out once, remembered in the ledger.

Servers differ in the parameters and in the ways of structured output that they know. A parameter
that one rejects is left out. It is remembered only once the request without it was answered,
because an error may mention a parameter that is not its cause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.transport.endpoints import Endpoint, EndpointError
from ragassay.transport.sending import Sender

_LOOKED_BACK = 4
"""Earlier forms of a request under which its answer is looked for."""

T = TypeVar("T")
Send = Callable[[frozenset[str], bool], Awaitable[T | None]]
"""Sends a request without the named parameters and modes, and calls `EndpointCapabilities.learn`
once it is answered, before the reply is read. Where the second argument is set, it is sent only if
that is `EndpointCapabilities.still` what is known right before; ``None`` where it is not."""


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
        self._turned_away = 0
        self._answered = self._doubtful = False

    async def exchange(self, send: Send[T]) -> T:
        """What ``send`` makes of the reply to a request in the form that the endpoint takes.

        The first request that is rejected for a parameter finds out alone what the endpoint takes,
        and all others wait for that: so many first requests cost few further ones. Where it turns
        out that no parameter was the cause, and no request had an answer yet, the others follow one
        by one until one has.
        """
        while True:
            if self._turned_away:
                async with self._settling:
                    pass
                continue
            dropped = self.dropped
            rejection: EndpointError | None = None
            if not self._doubtful:
                try:
                    result = await send(dropped, True)
                except EndpointError as error:
                    if not error.rejected - dropped:
                        raise
                    rejection = error
                else:
                    if result is not None:
                        self._answered = True
                        return result
                    continue
            self._turned_away += 1
            try:
                async with self._settling:
                    self._sender.end_head_start()
                    if self.dropped is not dropped:
                        continue  # somebody else has found out in the meantime
                    return await self._settle(send, dropped, rejection)
            finally:
                self._turned_away -= 1

    def still(self, dropped: frozenset[str]) -> bool:
        """Whether a request without these may go out: nothing else is known, and no rejected
        request is finding out what the endpoint takes, or waits to do so."""
        return self.dropped is dropped and not self._turned_away

    async def _settle(
        self, send: Send[T], dropped: frozenset[str], rejection: EndpointError | None
    ) -> T:
        """Sends a request, which may have been rejected already, without each parameter that is
        rejected on the way."""
        while True:
            if rejection is not None:
                dropped |= rejection.rejected
            try:
                result = await send(dropped, False)
            except EndpointError as error:
                if error.rejected - dropped:
                    rejection = error
                    continue
                alike = rejection is not None and error.reason is rejection.reason
                self._doubtful = alike and not self._answered
                if rejection is not None and alike:
                    breaker = self._sender.breaker
                    breaker.failed(rejection.reason, rejection.detail, permanent=True)
                raise
            assert result is not None
            self._answered, self._doubtful = True, False
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
