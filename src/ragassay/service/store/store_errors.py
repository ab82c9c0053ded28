"""What the store refuses, by kind: each is one sentence that says what to do."""

from __future__ import annotations

from ragassay.base.errors import UsageError


class NotThere(UsageError):  # noqa: N818 - it is said as "there is no ..."
    """There is no project, task, record, report or job of this id."""

    def __init__(self, kind: str, key: str) -> None:
        super().__init__(f"There is no {kind} {key!r}.")


class Conflict(UsageError):  # noqa: N818
    """What is asked does not go with what is there: a name that is taken, a job that has ended."""


class StoreUnavailable(UsageError):  # noqa: N818
    """The database or its disk cannot be used: it is not reachable, full or read-only."""
