"""The log of the service on standard error: a line an event, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

LogForm = Literal["text", "json"]

_LOG = logging.getLogger("ragassay.service")


def log_event(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Writes a line.

    Args:
        event: what happened, in a word: ``request``, ``job`` ...
        level: of `logging`.
        facts: what else is to be known. No content of records, queries, answers or files.
    """
    _LOG.log(level, event, extra={"facts": facts})


def start_log(form: LogForm | None) -> None:
    """Lets this process write to standard error, with the time and the level in each line.

    Args:
        form: of the lines; where left out, only warnings and errors are written, as text.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    for name in (_LOG.name, "uvicorn"):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.WARNING)
    if form is not None:
        _LOG.setLevel(logging.INFO)


class _Json(logging.Formatter):
    """A line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return json.dumps(_facts_of(self, record), default=str)


class _Text(logging.Formatter):
    """A line of text: time, level, event, then each fact that is known as ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        facts = _facts_of(self, record)
        first = [facts.pop(name) for name in ("time", "level", "event")]
        words = (f"{name}={_word(value)}" for name, value in facts.items() if value is not None)
        return " ".join([*first, *words])


def _facts_of(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, Any]:
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    facts = {
        "time": moment.replace("+00:00", "Z"),
        "level": record.levelname.casefold(),
        "event": record.getMessage(),
        **getattr(record, "facts", {}),
    }
    if record.exc_info:
        facts["exception"] = formatter.formatException(record.exc_info)
    return facts


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and text and not set(text) & set(' "=') else json.dumps(text)
