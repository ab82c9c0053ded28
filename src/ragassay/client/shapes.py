"""What the service answers with."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

Status = Literal["idle", "starting", "running", "completed", "incomplete", "error"]


@dataclass(frozen=True)
class Project:
    """A project: the tasks of a team."""

    id: str
    name: str
    description: str
    created: float


@dataclass(frozen=True)
class Task:
    """A task: one RAG system's records, and the reports over them."""

    id: str
    project_id: str
    name: str
    options: dict[str, Any]
    created: float
    kind: str = "rag"


@dataclass(frozen=True)
class Ingested:
    """Counts of a stored batch: records by outcome, and chunks without text."""

    new: int
    changed: int
    unchanged: int
    empty_chunks: int


@dataclass(frozen=True)
class Upload:
    """A file that was sent and is not imported yet."""

    id: str
    task_id: str
    file_name: str
    size: int
    created: float


@dataclass(frozen=True)
class FilePreview:
    """The beginning of a file.

    Attributes:
        format: that was detected.
        columns: of the file.
        placed: column by field of ours.
        unplaced: columns that become metadata.
        rows: the first records as they are.
        samples: the first records as they would be stored.
        lacks_ids: whether records lack an id; it is then made of their content.
        lacks_times: whether records lack a time; name its column, or confirm the time of receipt.
        notes: what the reader noticed.
        problem, line, field: why a record cannot be read, and where.
    """

    format: str
    columns: list[str]
    placed: dict[str, str]
    unplaced: list[str]
    rows: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    lacks_ids: bool
    lacks_times: bool
    notes: list[str]
    problem: str | None = None
    line: int | None = None
    field: str | None = None


@dataclass(frozen=True)
class Progress:
    """How far a job is: records, requests to judges, US dollars."""

    done: int = 0
    total: int = 0
    calls: int = 0
    cost: float | None = None


@dataclass(frozen=True)
class Job:
    """A job and its state."""

    id: str
    kind: str
    project_id: str
    project_name: str
    task_id: str
    task_name: str
    report_id: str | None
    status: Status
    progress: Progress
    error: str | None
    created: float
    updated: float
    cancelled: bool

    @property
    def has_ended(self) -> bool:
        """Whether it is completed, incomplete or failed."""
        return self.status in ("completed", "incomplete", "error")


@dataclass(frozen=True)
class Report:
    """A report.

    Its headline has by metric mean, low, high, n_scored and n_total, and n_assumed and
    mean_measured: how many values stand for missing parts, and the mean without them.
    """

    id: str
    task_id: str
    name: str
    status: Status
    from_timestamp: float | None
    to_timestamp: float | None
    options: dict[str, Any]
    created: float
    headline: dict[str, Any] | None = None
    error: str | None = None
    job_id: str | None = None

    @property
    def creation_datetime(self) -> datetime:
        """When it was asked for, in UTC."""
        return datetime.fromtimestamp(self.created, UTC)

    @property
    def from_datetime(self) -> datetime | None:
        """Where its interval begins, in UTC."""
        return _time(self.from_timestamp)

    @property
    def to_datetime(self) -> datetime | None:
        """Where its interval ends, in UTC."""
        return _time(self.to_timestamp)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class ReportPreview:
    """What a report would hold and cost.

    Attributes:
        n_records, n_looked_at: records of the interval, and those that the rest is made from.
        metrics: by metric: how many of the records looked at it can score.
        parts: by part of a record: how many of these have it.
        lacking: by metric: what records lack that it needs, and how many do.
        absent: by metric: what is not on the service's machine.
        judge: who would be asked.
        calls, held, cost, seconds: ``{"low": ..., "high": ...}``: requests to send, those whose
            answer is paid already, US dollars, seconds of asking; ``None`` where not known.
        budget: whether the calls fit into it.
        notes: further facts, a sentence each.
    """

    n_records: int
    n_looked_at: int
    metrics: dict[str, int]
    parts: dict[str, int]
    lacking: dict[str, dict[str, int]]
    absent: dict[str, str]
    judge: str | None
    calls: dict[str, float] | None
    held: dict[str, float] | None
    cost: dict[str, float] | None
    seconds: dict[str, float] | None
    budget: str | None
    notes: list[str]


@dataclass(frozen=True)
class Started:
    """A report that is being computed, and the job that does it."""

    report: Report
    job: Job = dataclasses.field(repr=False)
