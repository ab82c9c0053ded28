"""Who may do what: tokens, hosts, origins."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException as StarletteException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.base.errors import RagassayError
from ragassay.service.api.problems import UNAVAILABLE, Answer, sentence_of
from ragassay.service.api.request_bodies import BodyWithin, Bounds, of_json, within
from ragassay.service.store.database import Store
from ragassay.service.store.tokens import Token, TokenScope, find_token, is_closed

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

SESSION = "ragassay_token"
"""The cookie that holds the token of a browser."""
EXPIRED = "This token has expired. Ask the operator of the service for a new one."
MISSING = (
    "Send a token as 'Authorization: Bearer TOKEN'. Who runs the service makes one ('ragassay "
    "token create')"
)
_SAFE = ("GET", "HEAD", "OPTIONS")
_UNKNOWN_BYTES = 4 * 1024
"""Largest body of a request without a token: a sign-in's is smaller."""
_PORTS = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """What a request's token allows; without one (this machine) everything."""

    def __init__(self, token: Token | None) -> None:
        self.token = token

    def check(self, scope: TokenScope, project_id: str | None) -> None:
        """Refuses with 403 what `may` does not allow."""
        if not self.may(scope, project_id):
            raise HTTPException(403, f"This token may not {scope} here. Ask for a token that may")

    def may(self, scope: TokenScope, project_id: str | None) -> bool:
        """Whether it may read or write in a project; ``None`` for what belongs to none."""
        return self.token is None or self.token.may(scope, project_id)


def access_of(request: Request) -> Access:
    """What a request may do; 401 without a valid token, where one is needed."""
    known: Access | None = getattr(request.state, "access", None)
    if known is not None:
        return known
    store: Store = request.app.state.store
    value = _token_value(request)
    token = find_token(store, value) if value else None
    if token is not None and not token.is_over:
        request.state.token_name = token.name  # for the log
        return Access(token)
    # A client may send a token although none is needed.
    is_local = request.client is None or is_loopback(request.client.host)
    if is_local and (request.app.state.open or not is_closed(store)):
        return Access(None)
    detail = MISSING if token is None else EXPIRED
    raise HTTPException(401, detail, {"WWW-Authenticate": "Bearer"})


def _token_value(request: Request) -> str:
    """The token that a request carries; empty where it carries none."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.casefold() == "bearer":
        return value.strip()
    return request.headers.get("x-api-key", "").strip() or request.cookies.get(SESSION, "")


class Guard:
    """Around the whole application: hosts and origins (a page of another site must not reach a
    server on this machine), tokens, sizes and headers. The token is looked at before the body is
    read; the paths in ``files`` read a file piece by piece."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        most_bytes: int,
        asks: Callable[[Request], Access],
        files: Sequence[re.Pattern[str]] = (),
    ) -> None:
        self._app, self._most, self._asks, self._files = app, most_bytes, asks, files
        self._hosts = LOOPBACK | {host.casefold() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        body = BodyWithin(receive, has_body="transfer-encoding" in headers or length != "0")
        guarded_send = _with_headers(send, body)
        refusal = self._refusal(scope["method"], headers)
        if refusal is None and ("\0" in scope["path"] or b"%00" in scope["query_string"]):
            refusal = 422, "The address holds an invalid character (%00)."  # PostgreSQL's
        if refusal is None:
            bounds = await self._bounds(scope)
            refusal = bounds.against(length)
        if refusal is not None:
            await self._answer(scope, *refusal)(scope, receive, guarded_send)
            return
        body.bounds = bounds

        async def answer(message: Message) -> None:
            if body.refusal is None:
                await guarded_send(message)
            elif message["type"] == "http.response.start":
                # Whatever the application makes of the part that it was given.
                await self._answer(scope, *body.refusal)(scope, receive, guarded_send)

        await self._app(scope, body, answer)

    async def _bounds(self, scope: Scope) -> Bounds:
        """What the body of a request may hold, by who sends it."""
        if any(path.match(scope["path"]) for path in self._files):
            return within(self._most, is_file=True)
        if scope["method"] in _SAFE:
            return within(_UNKNOWN_BYTES)
        request = Request(scope)
        try:
            request.state.access = await run_in_threadpool(self._asks, request)
        except HTTPException as error:
            return Bounds(_UNKNOWN_BYTES, (error.status_code, sentence_of(error)))
        except RagassayError:  # the route says so, and logs it
            return Bounds(_UNKNOWN_BYTES, (503, UNAVAILABLE))
        return of_json(self._most)

    def _answer(self, scope: Scope, status: int, detail: str) -> Response:
        """The answer to a refused request, as the application answers its other errors."""
        request = Request(scope)
        handle: Answer = request.app.exception_handlers[StarletteException]
        return handle(request, HTTPException(status, detail))

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Why a request is refused for the name that it asks, or the page that it comes from."""
        host = headers.get("host", "")
        if _place_of(f"//{host}")[0] not in self._hosts:
            return 403, (
                "The service does not have this name (Host). Use its own name, or start it with "
                "'ragassay serve --name NAME'."
            )
        origin = headers.get("origin")
        if method not in _SAFE and origin is not None:
            scheme = origin.partition(":")[0].casefold()
            if _place_of(origin) != _place_of(f"{scheme}://{host}"):
                return 403, "A page of another site may not call this service (Origin)."
        return None


def _with_headers(send: Send, body: BodyWithin) -> Callable[[Message], Awaitable[None]]:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            if not body.is_whole:  # the server would read the rest of it, only to drop it
                headers["Connection"] = "close"
        await send(message)

    return guarded


def _place_of(url: str) -> tuple[str, int | None]:
    """The host of an address, and its port."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").casefold(), parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", None
