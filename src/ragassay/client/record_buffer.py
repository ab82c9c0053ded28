"""Records as the JSON that is sent, and those that wait: a program that logs does not."""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ragassay.base.errors import InputError, RagassayError, RagassayWarning, UsageError
from ragassay.client.service_shapes import (
    MOST_READ_WHOLE,
    NotFound,
    RequestRefused,
    Unauthorised,
    Unreachable,
)

MOST_BYTES = 64 * 1024**2
"""For all records that wait."""
BATCH_RECORDS, BATCH_BYTES = 500, 4 * 1024**2
GATHER_S = 0.5
"""Seconds for which a record waits for others to be sent with it."""
AWAY_S = 1.0
"""Seconds between two attempts while the service is away."""
CLOSE_S = 10.0
"""Seconds for which the end of the program waits at most."""

_LOG = logging.getLogger("ragassay.client")


def iso_time(time: datetime) -> str:
    """A time in ISO 8601; a `UsageError` where it names no zone."""
    if time.tzinfo is None:
        raise UsageError(f"{time} has no time zone. Give it one: time.replace(tzinfo=UTC).")
    return time.isoformat()


def record_json(record: Mapping[str, Any], number: int | None = None) -> str:
    """The JSON of a record, whose times may be `datetime`; its number, from 1, is for messages. A
    `UsageError` where it is no mapping, or a time in it names no zone; an `InputError` where JSON
    cannot hold a value, or the record is too large."""
    if not isinstance(record, Mapping):
        raise UsageError("A record is a mapping of fields to values.")
    parts, size = [], 0
    for field, value in record.items():
        try:
            part = f"{json.dumps(str(field))}: {_dumped(value)}"
            size += len(part.encode())
        except (TypeError, ValueError, RecursionError) as error:
            problem = "a number that is not finite, half a character, or too many lists in lists"
            raise InputError(
                f"holds {error if isinstance(error, TypeError) else problem}",
                line=number,
                field=str(field),
                hint="A record has texts, finite numbers, lists, dicts and times.",
            ) from error
        parts.append(part)
    if size > MOST_READ_WHOLE:
        problem = (
            f"the record has {size >> 20:,} MB; it may have at most {MOST_READ_WHOLE >> 20} MB"
        )
        raise InputError(problem, line=number)
    return f"{{{', '.join(parts)}}}"


def _dumped(value: Any) -> str:
    return json.dumps(value, allow_nan=False, default=_of_other, ensure_ascii=False)


def _of_other(value: Any) -> str:
    if isinstance(value, datetime):
        return iso_time(value)
    raise TypeError(f"a value of type {type(value).__name__}")


class RecordBuffer:
    """Sends records in batches, in a thread of its own, with a client that ``connect`` makes. Safe
    to share between threads. While the service is away, records wait. What is not logged after all
    is said by a warning of the logger ``ragassay.client``."""

    def __init__(self, connect: Any) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._waiting: dict[str, list[str]] = {}
        self._bytes = self._n_sending = 0
        self._hurries = self._is_closed = self._is_full = False
        self._thread: threading.Thread | None = None

    def add(self, task_id: str, record: Mapping[str, Any]) -> bool:
        """Takes a record of a task; whether there was room for it. Raises as `Client.log` does."""
        if not isinstance(record, Mapping):
            raise UsageError("log takes one record, a mapping. add_records takes several.")
        text = record_json({"id": uuid.uuid4().hex, "timestamp": time.time(), **record})
        with self._changed:
            if self._is_closed:
                raise UsageError(
                    "The client is closed. Make a new client, or log before you close it."
                )
            if self._bytes + len(text) > MOST_BYTES:
                if not self._is_full:
                    _LOG.warning("The buffer is full. Records are dropped until it has room.")
                self._is_full = True
                return False
            self._is_full = False
            self._waiting.setdefault(task_id, []).append(text)
            self._bytes += len(text)
            if self._thread is None:
                atexit.register(self.close)
            if self._thread is None or not self._thread.is_alive():  # it is the parent's
                self._thread = threading.Thread(target=self._run, name="ragassay-log", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def flush(self, seconds: float) -> bool:
        """Sends what waits now, for so many seconds at most; whether all is stored (or refused)."""
        with self._changed:
            self._hurries = True
            self._changed.notify_all()
            done = self._changed.wait_for(
                lambda: not self._waiting and not self._n_sending, seconds
            )
            self._hurries = False
        return done

    def close(self) -> None:
        """Sends what waits, and ends the thread. Takes `CLOSE_S` seconds at most."""
        atexit.unregister(self.close)
        self.flush(CLOSE_S)
        with self._changed:
            left = sum(map(len, self._waiting.values())) + self._n_sending
            self._waiting.clear()
            self._is_closed = True
            self._changed.notify_all()
        if left:
            _LOG.warning("%s records were not acknowledged: the service is away.", f"{left:,}")

    def _run(self) -> None:
        client = self._connect()
        try:
            while batch := self._next():
                task_id, texts = batch
                self._send(client, task_id, [json.loads(text) for text in texts])
                with self._changed:
                    self._bytes -= sum(map(len, texts))
                    self._n_sending = 0
                    self._changed.notify_all()
        finally:
            client.close()

    def _next(self) -> tuple[str, list[str]] | None:
        """The next batch; ``None`` at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._changed.wait_for(
                lambda: self._hurries or self._is_closed or self._has_batch(), GATHER_S
            )
            if self._is_closed:
                return None
            task_id, texts = next(iter(self._waiting.items()))
            n = size = 0
            while n < min(len(texts), BATCH_RECORDS) and (not n or size < BATCH_BYTES):
                size += len(texts[n])
                n += 1
            batch = texts[:n]
            del self._waiting[task_id]
            if rest := texts[n:]:
                self._waiting[task_id] = rest  # after those of other tasks
            self._n_sending = n
            return task_id, batch

    def _has_batch(self) -> bool:
        return any(len(texts) >= BATCH_RECORDS for texts in self._waiting.values())

    def _send(self, client: Any, task_id: str, records: list[Any]) -> None:
        while True:
            try:
                client.add_records(task_id, records)
                return
            except RagassayWarning as note:  # where warnings are errors; the records are stored
                _LOG.warning("%s", note)
                return
            except Unreachable:
                with self._changed:
                    if self._changed.wait_for(lambda: self._is_closed, AWAY_S):
                        return
            except RequestRefused as error:
                if len(records) > 1 and not isinstance(error, Unauthorised | NotFound):
                    # One of them may be to blame; a batch is stored as a whole or not at all.
                    middle = len(records) // 2
                    self._send(client, task_id, records[:middle])
                    self._send(client, task_id, records[middle:])
                    return
                _lost(records, error)
                return
            except RagassayError as error:
                _lost(records, error)
                return


def _lost(records: Sequence[Any], error: Exception) -> None:
    _LOG.warning("%s records were not logged: %s", f"{len(records):,}", error)
