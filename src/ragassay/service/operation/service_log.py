"""The log of the service on standard error: a line an event, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from datetime import UTC, datetime
from typing import Any, Literal

from ragassay.base import printable
from ragassay.base.errors import RagassayWarning

LogForm = Literal["text", "json"]

_LOG = logging.getLogger("ragassay.service")


def log_event(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Writes a line.

    Args:
        event: what happened, in a word: ``request``, ``job`` ...
        level: of `logging`.
        facts: what else is to be known. No content of records, queries, answers or files.
    """
    if _LOG.isEnabledFor(level):
        words = (f"{name}={_word(value)}" for name, value in facts.items() if value is not None)
        _LOG.log(level, "%s", " ".join([event, *words]), extra={"facts": {"event": event, **facts}})


def start_log(form: LogForm | None) -> None:
    """Lets this process write to standard error, with the time and the level in each line.

    Args:
        form: of the lines; where left out, only warnings and errors are written, as text.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    # What is to be said of clients' data is said to them.
    warnings.simplefilter("ignore", RagassayWarning)
    logging.captureWarnings(True)
    for name in (_LOG.name, "uvicorn", "py.warnings"):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.WARNING)
    if form is not None:
        _LOG.setLevel(logging.INFO)


class _Json(logging.Formatter):
    """A line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        facts = getattr(record, "facts", {"event": record.getMessage()})
        if record.exc_info:
            facts = {**facts, "exception": self.formatException(record.exc_info)}
        return json.dumps({"time": _time(record), "level": _level(record), **facts}, default=str)


class _Text(logging.Formatter):
    """A line of text: time, level, event, then each fact that is known as ``name=value``; after it
    the traceback of a defect."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return printable.lines(f"{_time(record)} {_level(record)} {super().format(record)}")


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def _level(record: logging.LogRecord) -> str:
    return record.levelname.casefold()


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and text and not set(text) & set(' "=') else json.dumps(text)
