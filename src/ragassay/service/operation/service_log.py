"""What an operator sees: the log on standard error (a line an event, as text or as JSON), every
request in it, and the counts of requests and jobs, as the text that Prometheus reads."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import warnings
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import func, select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragassay.base import printable
from ragassay.base.errors import RagassayWarning
from ragassay.client.service_shapes import Status
from ragassay.service.store.database import Store
from ragassay.service.store.schema import jobs

LogForm = Literal["text", "json"]

_LOG = logging.getLogger("ragassay.service")


def log_event(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Writes a line: what happened, in a word (``request``, ``job`` ...), and what else is to be
    known. No content of records, queries, answers or files."""
    if _LOG.isEnabledFor(level):
        words = (f"{name}={_word(value)}" for name, value in facts.items() if value is not None)
        _LOG.log(level, "%s", " ".join([event, *words]), extra={"facts": {"event": event, **facts}})


def start_log(form: LogForm | None) -> None:
    """Lets this process write to standard error, with the time and the level in each line; where no
    form is named, only warnings and errors, as text."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line(as_json=form == "json"))
    # What is to be said of clients' data is said to them.
    warnings.simplefilter("ignore", RagassayWarning)
    logging.captureWarnings(True)
    for name in (_LOG.name, "uvicorn", "py.warnings"):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.WARNING)
    if form is not None:
        _LOG.setLevel(logging.INFO)


class _Line(logging.Formatter):
    """A line of JSON; or of text: time, level, event, then each fact that is known as
    ``name=value``, and after it the traceback of a defect."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        at, level = moment.replace("+00:00", "Z"), record.levelname.casefold()
        if not self._as_json:
            return printable.lines(f"{at} {level} {super().format(record)}")
        facts = getattr(record, "facts", {"event": record.getMessage()})
        if record.exc_info:
            facts = {**facts, "exception": self.formatException(record.exc_info)}
        return json.dumps({"time": at, "level": level, **facts}, default=str)


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and text and not set(text) & set(' "=') else json.dumps(text)


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
    # A route knows its path within its router: what precedes it is the router's own.
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
