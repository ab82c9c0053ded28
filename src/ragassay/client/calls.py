"""The calls of the service: what each one sends, and what it makes of the answer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from urllib.parse import quote

from pydantic import TypeAdapter

from ragassay.base.errors import UsageError, system_problem, warn_user
from ragassay.client.archives import unpack
from ragassay.client.record_buffer import iso_time, record_json
from ragassay.client.service_shapes import (
    FilePreview,
    Ingested,
    Job,
    Project,
    Report,
    ReportPreview,
    Started,
    Task,
    Upload,
)

if TYPE_CHECKING:
    from ragassay.client.clients import AsyncClient, Client

P = ParamSpec("P")
T = TypeVar("T")

Time = float | str | datetime
"""Seconds since 1970, ISO 8601 with a zone, or a time with one."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Any = None
    query: Mapping[str, Any] | None = None
    file: Path | None = None
    """Sent as the body, piece by piece; a folder as an archive of it."""
    as_bytes: bool = False
    """Whether the answer is a file; else it is JSON, or nothing."""
    once: bool = False
    """Whether it is not to be sent again where it may have been done."""


class _Method(Generic[P, T]):
    """A call as a method of both clients: `Client` gives its answer, `AsyncClient` awaits it."""

    def __init__(self, call: Callable[Concatenate[Any, P], Call[T]]) -> None:
        @wraps(call)
        def method(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
            return client._do(call(client, *args, **kwargs))

        # What readers and `inspect` see: the answer in place of the call.
        signature = inspect.signature(call)
        returned = str(signature.return_annotation).removeprefix("Call[").removesuffix("]")
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            return_annotation=returned
        )
        self._method = method

    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: Client, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncClient, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        return self._method if client is None else MethodType(self._method, client)


class Calls:
    """The calls that both clients have."""

    @_Method
    def create_project(self, name: str, description: str = "") -> Call[Project]:
        """Makes a project. No other one has its name; the description is for people."""
        body = {"name": name, "description": description}
        return Call("POST", "/projects", _shaped(Project), body)

    @_Method
    def list_projects(self) -> Call[list[Project]]:
        """The projects that the token may read, oldest first."""
        return Call("GET", "/projects", _shaped(list[Project]))

    @_Method
    def create_task(self, /, project_id: str, name: str, **options: Any) -> Call[Task]:
        """Makes a task of a project, in which no other one has its name.

        Args:
            project_id, name: of the project, and of the task.
            options: separator, single_chunk, default_answer, multi_turn, language, judge, budget.
        """
        body = {"name": name, "options": options}
        return Call("POST", _path("projects", project_id, "tasks"), _shaped(Task), body)

    @_Method
    def list_tasks(self, project_id: str) -> Call[list[Task]]:
        """The tasks of a project, oldest first."""
        return Call("GET", _path("projects", project_id, "tasks"), _shaped(list[Task]))

    @_Method
    def add_records(self, task_id: str, records: Sequence[Mapping[str, Any]]) -> Call[Ingested]:
        """Stores records of a task, all of them or none.

        Args:
            task_id: of the task.
            records: see docs/service.md; at most 10,000. Times may be `datetime` with a zone. What
                the service left out is said by warnings, and by ``notes`` of what is returned.

        Raises:
            InputError: JSON cannot hold a value; the error names its record and field.
        """
        texts = [record_json(record, number) for number, record in enumerate(records, 1)]
        body = {"records": [json.loads(text) for text in texts]}
        return Call("POST", _path("tasks", task_id, "records"), _ingested, body)

    @_Method
    def upload_file(self, task_id: str, path: str | Path) -> Call[Upload]:
        """Sends a file for a task, in any format that `ragassay run` reads; a `UsageError` where it
        cannot be read. It is not imported yet; see `preview_upload` and `import_upload`."""
        if Path(path).is_dir():
            raise UsageError(f"{path} is a folder. Name a file.")
        where, query = _path("tasks", task_id, "uploads"), {"file_name": Path(path).name}
        return Call("POST", where, _shaped(Upload), query=query, file=Path(path))

    @_Method
    def preview_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        *,
        delimiter: str | None = None,
        zone: str | None = None,
    ) -> Call[FilePreview]:
        """Looks at the first records of a file that was sent. Nothing is stored.

        Args:
            upload_id: of the file.
            columns: field -> column of the file, for names that are not known.
            format: of the file; found out where left out.
            delimiter: what separates the cells of CSV; found out where left out.
            zone: of times that name none, such as Europe/Berlin; UTC where left out.
        """
        body = _reading(columns, format, delimiter, zone)
        return Call("POST", _path("uploads", upload_id, "preview"), _shaped(FilePreview), body)

    @_Method
    def import_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        *,
        delimiter: str | None = None,
        zone: str | None = None,
        received_as_time: bool = False,
    ) -> Call[Ingested]:
        """Stores the records of a file that was sent, all of them or none.

        Args:
            upload_id: of the file.
            columns, format, delimiter, zone: as of `preview_upload`.
            received_as_time: a record without a time gets that of the import.
        """
        reading = _reading(columns, format, delimiter, zone)
        body = {**reading, "received_as_time": received_as_time}
        return Call("POST", _path("uploads", upload_id, "import"), _ingested, body, once=True)

    @_Method
    def delete_upload(self, upload_id: str) -> Call[None]:
        """Deletes a file that is not to be imported."""
        return Call("DELETE", _path("uploads", upload_id), _nothing)

    @_Method
    def preview_report(
        self, /, task_id: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> Call[ReportPreview]:
        """Says what a report of a task would hold and cost.

        Args:
            task_id: of the task.
            from_timestamp, to_timestamp: the interval, both ends included: seconds since 1970, ISO
                8601 with a zone, or a time with one.
            options: of the run: suite, metrics, judge, budget ...
        """
        body = {**_interval(from_timestamp, to_timestamp), "options": options}
        where = _path("tasks", task_id, "reports", "preview")
        return Call("POST", where, _shaped(ReportPreview), body)

    @_Method
    def create_report(
        self, /, task_id: str, name: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> Call[Started]:
        """Asks for a report over the records of an interval; its name is for people, and the other
        arguments are as of `preview_report`."""
        return _new_report(task_id, name, from_timestamp, to_timestamp, options)

    @_Method
    def list_reports(self, task_id: str) -> Call[list[Report]]:
        """The reports of a task, oldest first."""
        return Call("GET", _path("tasks", task_id, "reports"), _shaped(list[Report]))

    @_Method
    def get_report(self, report_id: str) -> Call[Report]:
        """A report."""
        return Call("GET", _path("reports", report_id), _shaped(Report))

    @_Method
    def delete_project(self, project_id: str) -> Call[None]:
        """Deletes a project with its tasks, records, files, reports and ledger."""
        return Call("DELETE", _path("projects", project_id), _nothing)

    @_Method
    def delete_task(self, task_id: str) -> Call[None]:
        """Deletes a task with its records, files and reports."""
        return Call("DELETE", _path("tasks", task_id), _nothing)

    @_Method
    def delete_record(self, task_id: str, record_id: str) -> Call[int]:
        """Deletes a record of a task with its versions; how many there were."""
        path = _path("tasks", task_id, "records", record_id)
        return Call("DELETE", path, lambda body: int(body["deleted"]) if body else 0)

    @_Method
    def delete_report(self, report_id: str) -> Call[None]:
        """Deletes a report with its run folder and its jobs."""
        return Call("DELETE", _path("reports", report_id), _nothing)

    @_Method
    def get_job(self, job_id: str) -> Call[Job]:
        """A job with its progress."""
        return Call("GET", _path("jobs", job_id), _shaped(Job))

    @_Method
    def list_jobs(self, /, **conditions: Any) -> Call[list[Job]]:
        """The jobs that fulfil all conditions: project_id, task_id, report_id, status."""
        query = {name: value for name, value in conditions.items() if value is not None}
        return Call("GET", "/jobs", _shaped(list[Job]), query=query)

    @_Method
    def cancel_job(self, job_id: str) -> Call[Job]:
        """Ends a job."""
        return Call("POST", _path("jobs", job_id, "cancel"), _shaped(Job), once=True)

    @_Method
    def retry_job(self, job_id: str) -> Call[Job]:
        """Starts a job that failed once more."""
        return Call("POST", _path("jobs", job_id, "retry"), _shaped(Job), once=True)

    @_Method
    def download_run(self, report_id: str, folder: str | Path) -> Call[Path]:
        """Downloads a report's run folder into a new or empty folder: `ragassay.open_run` reads
        it."""
        path = _path("reports", report_id, "run")
        return Call("GET", path, lambda content: _unpacked(content, Path(folder)), as_bytes=True)

    @_Method
    def upload_run(self, task_id: str, name: str, run: str | Path) -> Call[Report]:
        """Makes a report of a task, with a name for people, of a run folder that `ragassay run -o`
        made, or of a zip of it."""
        where = _path("tasks", task_id, "runs")
        return Call("POST", where, _shaped(Report), query={"name": name}, file=Path(run))

    @_Method
    def download_report(self, report_id: str, form: str, path: str | Path) -> Call[Path]:
        """Writes a report to a file (path), in the form html, markdown, csv, long-csv, jsonl,
        parquet, xlsx, png, svg ..."""
        return _download(_path("reports", report_id, "files", form), path)

    @_Method
    def compare_reports(self, /, new_id: str, old_id: str, **options: bool) -> Call[dict[str, Any]]:
        """Compares a report with a baseline, query by query; what `ragassay compare --json` prints.

        Args:
            new_id, old_id: of the report, and of the baseline's report.
            options: ``unpaired``: by the means of different queries, as of two intervals;
                ``force``: although metrics or queries differ; ``trust_offline``: with verdicts on
                what was judged offline.
        """
        return Call("GET", "/comparisons", dict, query=_compared(new_id, old_id, "json", options))

    @_Method
    def download_comparison(
        self, /, new_id: str, old_id: str, form: str, path: str | Path, **options: bool
    ) -> Call[Path]:
        """Writes a comparison of two reports to a file (path), in the form html, markdown or json;
        the other arguments are as of `compare_reports`."""
        return _download("/comparisons", path, _compared(new_id, old_id, form, options))

    @_Method
    def compute_rag_evaluation_report(
        self, task_id: str, report_name: str, from_timestamp: Time, to_timestamp: Time
    ) -> Call[str]:
        """Asks for a report by suite ragreport, as `create_report`; the id of its job."""
        call = _new_report(task_id, report_name, from_timestamp, to_timestamp, {})
        return Call(call.method, call.path, lambda body: call.read(body).job.id, call.body)

    @_Method
    def export_rag_evaluation_report(
        self, report_id: str, folder: str | Path, file_name: str
    ) -> Call[Path]:
        """Writes a report as an Excel workbook into a folder, which is made where it is missing.
        ``.xlsx`` is added to the name where it is not there."""
        name = file_name if file_name.endswith(".xlsx") else f"{file_name}.xlsx"
        return _download(_path("reports", report_id, "files", "xlsx"), Path(folder) / name)

    get_rag_evaluation_reports = list_reports


def _shaped(kind: type[T]) -> Callable[[Any], T]:
    """Reads an object, or a list; what a newer service adds is left out."""
    return TypeAdapter(kind).validate_python


def _new_report(
    task_id: str, name: str, start: Time, end: Time, options: Mapping[str, Any]
) -> Call[Started]:
    body = {"name": name, **_interval(start, end), "options": options}
    return Call("POST", _path("tasks", task_id, "reports"), _shaped(Started), body)


def _unpacked(archive: bytes, folder: Path) -> Path:
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name a new folder.")
    unpack(archive, folder)
    return folder


def _reading(
    columns: Mapping[str, str] | None, kind: str | None, delimiter: str | None, zone: str | None
) -> dict[str, Any]:
    """How a file is read."""
    return {"columns": dict(columns or {}), "format": kind, "delimiter": delimiter, "zone": zone}


def _ingested(body: Any) -> Ingested:
    done = Ingested.model_validate(body)
    for note in done.notes:
        warn_user(note)
    return done


def _nothing(body: Any) -> None:
    pass


def _path(*parts: str) -> str:
    if any(part in (".", "..", "") for part in parts):
        raise UsageError("An id may not be empty, '.' or '..'.")
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _interval(start: Time, end: Time) -> dict[str, float | str]:
    times = {"from_timestamp": start, "to_timestamp": end}
    return {name: iso_time(x) if isinstance(x, datetime) else x for name, x in times.items()}


def _compared(new_id: str, old_id: str, form: str, options: Mapping[str, bool]) -> dict[str, Any]:
    return {"new": new_id, "old": old_id, "form": form, **options}


def _download(where: str, path: str | Path, query: Mapping[str, Any] | None = None) -> Call[Path]:
    def save(content: bytes) -> Path:
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {system_problem(error)}.") from error
        return target

    return Call("GET", where, save, query=query, as_bytes=True)
