"""Sees every request: counts it, and writes a line of the log. The counts, and what the store
holds, as the text that Prometheus reads."""

from __future__ import annotations

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import get_args

from sqlalchemy import func, select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.client.service_shapes import Status
from ragassay.service.operation.service_log import log_event
from ragassay.service.store.database import Store
from ragassay.service.store.schema import jobs, records

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})

Requests = Counter[tuple[str, str, int]]
"""How many requests were answered, by method, route and status."""

_GAUGES = {
    "queue_age_seconds": "How long the oldest idle job has waited.",
    "records": "Records in the store, versions included.",
    "judge_requests": "Requests to judges that the jobs in the store have paid.",
    "judge_dollars": "What these cost, as far as prices are known.",
}


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


def count_store(store: Store) -> tuple[dict[str, int], dict[str, float]]:
    """How many jobs a store has, by status; and the value of each gauge."""
    calls, cost = jobs.c.progress["calls"].as_integer(), jobs.c.progress["cost"].as_float()
    statuses = store.rows(select(jobs.c.status, func.count()).group_by(jobs.c.status))
    [(since,)] = store.rows(select(func.min(jobs.c.updated)).where(jobs.c.status == "idle"))
    [(n_calls, dollars)] = store.rows(select(func.sum(calls), func.sum(cost)))
    [(n_records,)] = store.rows(select(func.count()).select_from(records))
    age = 0.0 if since is None else max(0.0, time.time() - since)
    gauges = dict(zip(_GAUGES, (age, n_records, n_calls or 0, dollars or 0.0), strict=True))
    return dict.fromkeys(get_args(Status), 0) | {row[0]: row[1] for row in statuses}, gauges


def metrics_text(requests: Requests, store: Store) -> str:
    """The metrics of this process, and of the store, which other processes may share, in
    Prometheus's text format 0.0.4."""
    answered = {
        f'method="{method}",route="{_escaped(route)}",status="{status}"': n
        for (method, route, status), n in sorted(dict(requests).items())
    }
    statuses, gauges = count_store(store)
    by_status = {f'status="{status}"': n for status, n in statuses.items()}
    texts = [
        _metric("ragassay_requests_total", "Requests that this process answered.", answered),
        _metric("ragassay_jobs", "Jobs in the store.", by_status),
        *(_metric(f"ragassay_{name}", _GAUGES[name], {"": n}) for name, n in gauges.items()),
    ]
    with suppress(OSError, IndexError, ValueError):  # Linux says it
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        memory = {"": pages * os.sysconf("SC_PAGE_SIZE")}
        texts.append(_metric("process_resident_memory_bytes", "Memory of this process.", memory))
    return "".join(texts)


def _metric(name: str, help_text: str, samples: Mapping[str, float]) -> str:
    """The lines of a metric, whose values are given by their labels."""
    kind = "counter" if name.endswith("_total") else "gauge"
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{f'{{{labels}}}' if labels else ''} {n}" for labels, n in samples.items()]
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r'["\\]', r"\\\g<0>", text).replace("\n", "\\n")
