"""Sees every request: counts it, and writes a line of the log."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.service.operation.service_log import log_event

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The path of a request as the service defines it: without ids and words of a search, which may
    be content. ``other`` where it has no such path, or was refused before.

    Args:
        scope: of the request.
    """
    template = getattr(scope.get("route"), "path_format", None)
    if template is None:
        return "other"
    # A route knows its path within its router: what stands before is the router's own.
    own = template.format_map(scope["path_params"])
    return str(scope["path"].removesuffix(own) + template)


def log_problem(scope: Scope, error: Exception) -> None:
    """Notes what went wrong in the service, for the request's line of the log.

    Args:
        scope: of the request.
        error: that a request led to.
    """
    scope.setdefault("state", {})["problem"] = repr(error)


class RequestCounts:
    """How many requests were answered. Safe to share between threads."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._lock = threading.Lock()

    def add(self, method: str, route: str, status: int) -> None:
        """Counts a request.

        Args:
            method: of HTTP.
            route: the path as the service defines it, without ids.
            status: of the answer.
        """
        with self._lock:
            self._counts[method, route, status] += 1

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Method, route, status and number."""
        with self._lock:
            return sorted((*key, n) for key, n in self._counts.items())


class RequestsSeen:
    """Around the whole application.

    Args:
        app: that answers.
        counts: to be kept.
    """

    def __init__(self, app: ASGIApp, *, counts: RequestCounts) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), 500

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        except Exception as error:  # it is answered outside of this
            log_problem(scope, error)
            raise
        finally:
            route = route_of(scope)
            state = scope.get("state", {})
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._counts.add(method, route, status)
            log_event(
                "request",
                level=logging.INFO if status < 500 else logging.ERROR,
                method=method,
                route=route,
                status=status,
                seconds=round(time.monotonic() - begun, 4),
                token=state.get("token_name"),
                **({"error": state["problem"]} if "problem" in state else {}),
            )
