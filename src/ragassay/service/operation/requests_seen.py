"""Sees every request: counts it, and writes a line of the log. The counts, and the jobs of the
store, as the text that Prometheus reads."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from typing import get_args

from sqlalchemy import func, select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.client.service_shapes import Status
from ragassay.service.operation.service_log import log_event
from ragassay.service.store.database import Store
from ragassay.service.store.schema import jobs

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})

Requests = Counter[tuple[str, str, int]]
"""How many requests were answered, by method, route and status."""


def log_problem(scope: Scope, error: Exception) -> None:
    """Notes what went wrong in the service, for the request's line of the log."""
    scope.setdefault("state", {})["problem"] = repr(error)


class RequestsSeen:
    """Around the whole application: fills ``counts``."""

    def __init__(self, app: ASGIApp, *, counts: Requests) -> None:
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
            route, state = _route_of(scope), scope.get("state", {})
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._counts[method, route, status] += 1
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


def _route_of(scope: Scope) -> str:
    """The path of a request as the service defines it: without ids and words of a search, which may
    be content. ``other`` where it has no such path, or was refused before."""
    template = getattr(scope.get("route"), "path_format", None)
    if template is None:
        return "other"
    # A route knows its path within its router: what stands before is the router's own.
    own = template.format_map(scope["path_params"])
    return str(scope["path"].removesuffix(own) + template)


def metrics_text(requests: Requests, store: Store) -> str:
    """The requests of this process, and the jobs of the store, which other processes may share, in
    Prometheus's text format 0.0.4."""
    statuses = store.rows(select(jobs.c.status, func.count()).group_by(jobs.c.status))
    [(since,)] = store.rows(select(func.min(jobs.c.updated)).where(jobs.c.status == "idle"))
    counts = dict.fromkeys(get_args(Status), 0) | {row[0]: row[1] for row in statuses}
    age = 0.0 if since is None else max(0.0, time.time() - since)
    lines = ["# TYPE ragassay_requests_total counter"]
    for (method, route, status), n in sorted(dict(requests).items()):
        labels = f'method="{method}",route="{_escaped(route)}",status="{status}"'
        lines.append(f"ragassay_requests_total{{{labels}}} {n}")
    lines.append("# TYPE ragassay_jobs gauge")
    lines += [f'ragassay_jobs{{status="{status}"}} {n}' for status, n in counts.items()]
    lines += ["# TYPE ragassay_queue_age_seconds gauge", f"ragassay_queue_age_seconds {age}"]
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r'["\\]', r"\\\g<0>", text).replace("\n", "\\n")
