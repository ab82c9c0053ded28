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
        time, level = moment.replace("+00:00", "Z"), record.levelname.casefold()
        if not self._as_json:
            return printable.lines(f"{time} {level} {super().format(record)}")
        facts = getattr(record, "facts", {"event": record.getMessage()})
        if record.exc_info:
            facts = {**facts, "exception": self.formatException(record.exc_info)}
        return json.dumps({"time": time, "level": level, **facts}, default=str)


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and text and not set(text) & set(' "=') else json.dumps(text)
