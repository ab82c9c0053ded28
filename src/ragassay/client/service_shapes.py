"""The shapes of what the service takes and answers: its clients have the same, and leave out what a
newer service adds. Errors of a client."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from ragassay.base import printable
from ragassay.base.errors import RagassayError

MOST_READ_WHOLE = 32 * 1024**2
"""Bytes that the service reads in one piece: a body of JSON, a line of JSON lines, a JSON or YAML
file of a run folder."""

Status = Literal["idle", "starting", "running", "completed", "incomplete", "error"]


def kept(text: str) -> str:
    """A text that a database can hold; a `ValueError` where it has NUL or half a character."""
    if "\0" in text or any("\ud800" <= name <= "\udfff" for name in text):
        raise ValueError("it holds the character NUL or half a character")
    return text


Line = Annotated[str, AfterValidator(kept)]
"""A text of a request that a database can hold."""


MOST_OF_A_NAME = 200
"""Characters."""


def named(text: str) -> str:
    """A name for people, without the blanks around it; a `ValueError` where it is empty, too long,
    or holds a line break or another control character."""
    name = text.strip()
    if not name:
        raise ValueError("a name is empty")
    if len(name) > MOST_OF_A_NAME:
        raise ValueError(f"a name has at most {MOST_OF_A_NAME} characters, not {len(name):,}")
    if printable.one_line(name) != name:
        raise ValueError("a name is one line, without control characters")
    return name


Name = Annotated[
    str,
    AfterValidator(named),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MOST_OF_A_NAME}),
]
"""A name in a request."""


class Project(BaseModel):
    """A project: what a team looks after together. Its ledger and budget are its own."""

    id: str
    name: str
    description: str = ""
    created: float = Field(description="seconds since 1970")


class TaskOptions(BaseModel):
    """What is true of all records of a task."""

    model_config = ConfigDict(frozen=True)

    separator: Line | None = Field(
        None, description="the text between chunks, where a retrieved context is a single string"
    )
    single_chunk: bool = Field(
        False, description="whether a retrieved context that is one string is one chunk"
    )
    default_answer: Line | None = Field(
        None,
        description="what the system says when it has no answer; such an answer counts as none",
    )
    multi_turn: bool = Field(
        False,
        description="whether records with one session_id in their metadata are turns of a "
        "conversation, in order of time",
    )
    language: Line | None = Field(None, description="of queries and answers, for people")
    judge: list[str] = Field(
        default_factory=list,
        description="names of judges of the service; its first one where empty",
    )
    data_schema: list[dict[str, Any]] | None = Field(
        None, description="columns of uploaded tables with their roles, as ML cube has them"
    )
    budget: str | None = Field(
        None, description="most that one report may spend: 5.00, '200 calls', '2M tokens'"
    )
    keep_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="days after which records (by their time) and reports are deleted; the service "
        "may say less",
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> TaskOptions:
        if self.single_chunk and self.separator:
            raise ValueError(
                f"the separator {self.separator!r} cuts contexts into chunks, and single_chunk "
                "keeps each whole: leave out either"
            )
        return self


class Task(BaseModel):
    """A task: one RAG system's records, and the reports over them."""

    id: str
    project_id: str
    name: str
    kind: Literal["rag"] = "rag"
    options: TaskOptions = TaskOptions()
    created: float = Field(description="seconds since 1970")


class Ingested(BaseModel):
    """What became of a batch.

    Attributes:
        new: records whose id was not there.
        changed: new versions of records that were there.
        unchanged: records that were there already, or that the batch holds before.
        empty_chunks: chunks without text; they keep their place among the chunks.
        notes: what the reader noticed, such as fields that it left out.
    """

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    empty_chunks: int = 0
    notes: list[str] = Field(default_factory=list)


class Upload(BaseModel):
    """A file that was sent, or is announced."""

    id: str
    task_id: str
    file_name: str = Field(description="as the client calls it")
    size: int | None = Field(description="bytes; null until the whole file was sent")
    created: float = Field(description="seconds since 1970")


class FilePreview(BaseModel):
    """A look at the beginning of an uploaded file."""

    format: str = Field(description="the format that was found, or asked for")
    columns: list[str] = Field(description="columns, or keys of the first records, in order")
    placed: dict[str, str] = Field(description="field of ours: column that holds it")
    unplaced: list[str] = Field(description="columns that become metadata")
    rows: list[dict[str, Any]] = Field(description="the first records as they are, cells cut")
    samples: list[dict[str, Any]] = Field(description="what becomes of them: native records")
    lacks_ids: bool = Field(description="whether records have no id: their content makes one")
    lacks_times: bool = Field(
        description="whether records have no time: map a column, or confirm `received_as_time`"
    )
    lacks_zone: bool = Field(
        False, description="whether times name no zone: they are read as UTC unless `zone` says so"
    )
    notes: list[str] = Field(description="what the reader noticed")
    problem: str | None = Field(None, description="why a record cannot be read")
    line: int | None = Field(None, description="of the problem")
    field: str | None = Field(None, description="of the problem")


class Progress(BaseModel):
    """How far a job is."""

    done: int = Field(0, description="records")
    total: int = Field(0, description="records")
    calls: int = Field(0, description="requests to judges, those in flight included")
    cost: float | None = Field(None, description="US dollars; null where no price is known")
    seconds: float = Field(0.0, description="that the records done took")

    @property
    def seconds_left(self) -> float | None:
        """For the records that are not done, at the rate so far; ``None`` before the first."""
        return (self.total - self.done) * self.seconds / self.done if self.done else None


class Job(BaseModel):
    """A job, as clients see it."""

    id: str
    kind: Literal["report", "ingest"]
    project_id: str
    project_name: str
    task_id: str
    task_name: str
    report_id: str | None
    status: Status
    progress: Progress
    error: str | None
    created: float = Field(description="seconds since 1970")
    updated: float = Field(description="seconds since 1970")
    cancelled: bool

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self.status in ("completed", "incomplete", "error")


class Report(BaseModel):
    """A report over the records of a task."""

    id: str
    task_id: str
    name: str
    status: Status
    from_timestamp: float | None = Field(description="seconds since 1970, inclusive")
    to_timestamp: float | None = Field(description="seconds since 1970, inclusive")
    options: dict[str, Any] = Field(description="options of the run, as in a configuration file")
    created: float = Field(description="seconds since 1970")
    headline: dict[str, Any] | None = Field(
        None,
        description="by metric: mean, low, high, n_scored, n_total, n_assumed (values for missing "
        "parts), mean_measured (the mean without them), signature (means with the same compare), "
        "n_systems, system (its name, where there is a single system), right (where known: name, "
        "mean, low, high of the report's share of right answers)",
    )
    error: str | None = Field(None, description="why it failed, or what it lacks")
    job_id: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether it can be read, also while it is tried again."""
        return self.headline is not None

    @property
    def compared(self) -> frozenset[str]:
        """The metrics by which it can be compared: the scored ones of a report on one system."""
        return frozenset(
            name
            for name, value in (self.headline or {}).items()
            if value.get("n_scored") and value.get("n_systems", 1) == 1
        )

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


class PreviewRange(BaseModel):
    """From ``low`` to ``high``; exact where they are equal."""

    model_config = ConfigDict(from_attributes=True)

    low: float
    high: float


class ReportPreview(BaseModel):
    """What a report would hold and cost."""

    n_records: int = Field(description="records of the interval")
    n_looked_at: int = Field(
        description="how many of them were looked at; the rest of this is about these"
    )
    metrics: dict[str, int] = Field(
        {}, description="by metric: how many of the records looked at it can score"
    )
    parts: dict[str, int] = Field(
        {}, description="by part (query, passages, answer ...): how many of these records have it"
    )
    lacking: dict[str, dict[str, int]] = Field(
        {}, description="by metric: what records lack that it needs, and how many do"
    )
    absent: dict[str, str] = Field(
        {}, description="by metric: what is not on this machine and how to get it"
    )
    judge: str | None = Field(None, description="who would be asked; null where nobody is")
    calls: PreviewRange | None = Field(None, description="requests to send, for all records")
    held: PreviewRange | None = Field(None, description="requests whose answer is paid already")
    cost: PreviewRange | None = Field(None, description="US dollars; null where no price is known")
    seconds: PreviewRange | None = Field(None, description="of asking")
    budget: Literal["fits", "may not fit", "does not fit", "no price known"] | None = Field(
        None, description="whether the calls fit into the budget; null without one"
    )
    notes: list[str] = Field([], description="further notes")


class Started(BaseModel):
    """A report that is being computed, and the job that does it."""

    report: Report
    job: Job


class RequestRefused(RagassayError):  # noqa: N818 - what happened, not a defect
    """The service did not do what was asked.

    Attributes:
        status: HTTP's.
        detail: a sentence that says what is wrong, and what to do.
        field: of the request or file, where one is wrong.
        line: of the file, where one is wrong.
    """

    def __init__(
        self, status: int, detail: str, field: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(f"{detail} (HTTP {status})" if status else detail)
        self.status, self.detail, self.field, self.line = status, detail, field, line


class Unauthorised(RequestRefused):
    """The token is missing or not valid (401), or does not allow it (403)."""


class NotFound(RequestRefused):
    """What the request names is not there (404)."""


class Unreachable(RequestRefused):
    """The service did not answer (status 0), or cannot work now (502, 503, 504). The client tried
    again, where that could do no harm."""


class JobFailed(RagassayError):  # noqa: N818
    """A job (``job_id``) ended without a result."""

    def __init__(self, job_id: str, why: str) -> None:
        super().__init__(f"The job {job_id} failed: {why}")
        self.job_id = job_id


class JobIncomplete(JobFailed):
    """A job ended with a result that lacks something; it can be read, and tried again."""

    def __init__(self, job_id: str, why: str) -> None:
        again = "allow_incomplete=True returns it anyway."
        RagassayError.__init__(self, f"The job {job_id} is incomplete: {why} {again}")
        self.job_id = job_id


class JobTimeout(RagassayError):  # noqa: N818
    """A job (``job_id``) did not end in the time that was given. It goes on."""

    def __init__(self, job_id: str, seconds: float, status: str) -> None:
        super().__init__(
            f"The job {job_id} is still {status} after {seconds:g} seconds. Wait again."
        )
        self.job_id = job_id
