"""The calls of the service: what each one sends, and what it makes of the answer.

`Client` and `AsyncClient` have them as methods.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ragassay.base.errors import UsageError, warn_user
from ragassay.base.problem_words import system_problem
from ragassay.client.client_requests import Call, several, shaped
from ragassay.client.record_json import iso_time, record_json
from ragassay.client.run_folders import unpack
from ragassay.client.shapes import (
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

Time = float | str | datetime
"""Seconds since 1970, ISO 8601 with a zone, or a time with one."""


def create_project(name: str, description: str = "") -> Call[Project]:
    """Makes a project.

    Args:
        name: not that of another project.
        description: for people.
    """
    body = {"name": name, "description": description}
    return Call("POST", "/projects", shaped(Project), body)


def list_projects() -> Call[list[Project]]:
    """The projects that the token may read, oldest first."""
    return Call("GET", "/projects", several(Project))


def create_task(project_id: str, name: str, **options: Any) -> Call[Task]:
    """Makes a task.

    Args:
        project_id: of the project.
        name: not that of another task of the project.
        options: separator, single_chunk, default_answer, multi_turn, language, judge, budget.
    """
    body = {"name": name, "options": options}
    return Call("POST", _path("projects", project_id, "tasks"), shaped(Task), body)


def list_tasks(project_id: str) -> Call[list[Task]]:
    """The tasks of a project, oldest first."""
    return Call("GET", _path("projects", project_id, "tasks"), several(Task))


def add_records(task_id: str, records: Sequence[Mapping[str, Any]]) -> Call[Ingested]:
    """Stores records, all of them or none.

    Args:
        task_id: of the task.
        records: see docs/service.md; at most 10,000. Times may be `datetime` with a zone. What the
            service left out of them is said by warnings, and by ``notes`` of what is returned.

    Raises:
        InputError: JSON cannot hold a value; the error names its record and field.
    """
    texts = [record_json(one, number) for number, one in enumerate(records, 1)]
    body = {"records": [json.loads(text) for text in texts]}
    return Call("POST", _path("tasks", task_id, "records"), _ingested, body)


def upload_file(task_id: str, path: str | Path) -> Call[Upload]:
    """Sends a file, which is not imported yet; see `preview_upload` and `import_upload`.

    Args:
        task_id: of the task.
        path: of the file, in any format that `ragassay run` reads.

    Raises:
        UsageError: it cannot be read.
    """
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder. Name a file.")
    query = {"file_name": Path(path).name}
    return Call(
        "POST", _path("tasks", task_id, "uploads"), shaped(Upload), query=query, file=Path(path)
    )


def preview_upload(
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
    body = {"columns": dict(columns or {}), "format": format, "delimiter": delimiter, "zone": zone}
    return Call("POST", _path("uploads", upload_id, "preview"), shaped(FilePreview), body)


def import_upload(
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
    body = {
        "columns": dict(columns or {}),
        "format": format,
        "delimiter": delimiter,
        "zone": zone,
        "received_as_time": received_as_time,
    }
    path = _path("uploads", upload_id, "import")
    return Call("POST", path, _ingested, body, once=True)


def delete_upload(upload_id: str) -> Call[None]:
    """Deletes a file that is not to be imported."""
    return _deletion("uploads", upload_id)


def preview_report(
    task_id: str, from_timestamp: Time, to_timestamp: Time, **options: Any
) -> Call[ReportPreview]:
    """Says what a report would hold and cost.

    Args:
        task_id: of the task.
        from_timestamp, to_timestamp: seconds since 1970, ISO 8601 with a zone, or a time with one;
            inclusive.
        options: of the run: suite, metrics, judge, budget ...
    """
    body = {**_interval(from_timestamp, to_timestamp), "options": options}
    return Call("POST", _path("tasks", task_id, "reports", "preview"), shaped(ReportPreview), body)


def create_report(
    task_id: str, name: str, from_timestamp: Time, to_timestamp: Time, **options: Any
) -> Call[Started]:
    """Asks for a report over the records of an interval.

    Args:
        task_id: of the task.
        name: for people.
        from_timestamp, to_timestamp: seconds since 1970, ISO 8601 with a zone, or a time with one;
            inclusive.
        options: of the run: suite, metrics, judge, budget ...
    """
    body = {
        "name": name,
        **_interval(from_timestamp, to_timestamp),
        "options": options,
    }

    return Call("POST", _path("tasks", task_id, "reports"), shaped(Started), body)


def list_reports(task_id: str) -> Call[list[Report]]:
    """The reports of a task, oldest first."""
    return Call("GET", _path("tasks", task_id, "reports"), several(Report))


def get_report(report_id: str) -> Call[Report]:
    """A report."""
    return Call("GET", _path("reports", report_id), shaped(Report))


def delete_project(project_id: str) -> Call[None]:
    """Deletes a project with its tasks, records, files, reports and ledger."""
    return _deletion("projects", project_id)


def delete_task(task_id: str) -> Call[None]:
    """Deletes a task with its records, files and reports."""
    return _deletion("tasks", task_id)


def delete_record(task_id: str, record_id: str) -> Call[int]:
    """Deletes a record with its versions; how many there were.

    Args:
        task_id: of the task.
        record_id: of the record.
    """
    path = _path("tasks", task_id, "records", record_id)
    return Call("DELETE", path, lambda body: int(body["deleted"]) if body else 0)


def delete_report(report_id: str) -> Call[None]:
    """Deletes a report with its run folder and its jobs."""
    return _deletion("reports", report_id)


def get_job(job_id: str) -> Call[Job]:
    """A job, and how far it is."""
    return Call("GET", _path("jobs", job_id), shaped(Job))


def list_jobs(**conditions: Any) -> Call[list[Job]]:
    """The jobs that fulfil all conditions: project_id, task_id, report_id, status."""
    query = {name: value for name, value in conditions.items() if value is not None}
    return Call("GET", "/jobs", several(Job), query=query)


def cancel_job(job_id: str) -> Call[Job]:
    """Ends a job."""
    return Call("POST", _path("jobs", job_id, "cancel"), shaped(Job), once=True)


def retry_job(job_id: str) -> Call[Job]:
    """Starts a job that failed once more."""
    return Call("POST", _path("jobs", job_id, "retry"), shaped(Job), once=True)


def download_run(report_id: str, folder: str | Path) -> Call[Path]:
    """Downloads a report's run folder: `ragassay.open_run` reads it.

    Args:
        report_id: of the report.
        folder: a new or empty folder.
    """
    path = _path("reports", report_id, "run")
    return Call("GET", path, lambda content: unpack(content, Path(folder)), as_bytes=True)


def upload_run(task_id: str, name: str, run: str | Path) -> Call[Report]:
    """Makes a report of a run folder that `ragassay run -o` made.

    Args:
        task_id: of the task.
        name: of the report, for people.
        run: the folder, or a zip, a tar or a tar.gz of it.
    """
    where = _path("tasks", task_id, "runs")
    return Call("POST", where, shaped(Report), query={"name": name}, file=Path(run))


def download_report(report_id: str, form: str, path: str | Path) -> Call[Path]:
    """Downloads a report as a file.

    Args:
        report_id: of the report.
        form: html, markdown, csv, long-csv, jsonl, parquet, xlsx, png, svg ...
        path: of the file to write.
    """
    return _download(_path("reports", report_id, "files", form), path)


def compare_reports(new_id: str, old_id: str, **options: bool) -> Call[dict[str, Any]]:
    """Compares two reports, query by query; what `ragassay compare --json` prints of them.

    Args:
        new_id: of the report.
        old_id: of the baseline's report.
        options: ``unpaired``: by the means of different queries, as of two intervals; ``force``:
            although metrics or queries differ; ``trust_offline``: with
            verdicts on what was judged offline.
    """
    return Call("GET", "/comparisons", dict, query=_compared(new_id, old_id, "json", options))


def download_comparison(
    new_id: str, old_id: str, form: str, path: str | Path, **options: bool
) -> Call[Path]:
    """Downloads a comparison of two reports as a file.

    Args:
        new_id, old_id, options: as of `compare_reports`.
        form: html, markdown or json.
        path: of the file to write.
    """
    return _download("/comparisons", path, _compared(new_id, old_id, form, options))


def compute_rag_evaluation_report(
    task_id: str, report_name: str, from_timestamp: Time, to_timestamp: Time
) -> Call[str]:
    """Asks for a report by suite ragreport; the id of its job. See `create_report`.

    Args:
        task_id: of the task.
        report_name: for people.
        from_timestamp, to_timestamp: the interval.
    """
    call = create_report(task_id, report_name, from_timestamp, to_timestamp)
    return Call(call.method, call.path, lambda body: call.read(body).job.id, call.body)


def export_rag_evaluation_report(report_id: str, folder: str | Path, file_name: str) -> Call[Path]:
    """Writes a report as an Excel workbook.

    Args:
        report_id: of the report.
        folder: made where it is missing.
        file_name: ``.xlsx`` is added where it is not there.
    """
    name = file_name if file_name.endswith(".xlsx") else f"{file_name}.xlsx"
    return download_report(report_id, "xlsx", Path(folder) / name)


def _ingested(body: Any) -> Ingested:
    done = Ingested.model_validate(body)
    for note in done.notes:
        warn_user(note)
    return done


def _path(*parts: str) -> str:
    if any(part in (".", "..", "") for part in parts):
        raise UsageError("An id is empty, '.' or '..'. Give the id of what is meant.")
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _interval(start: Time, end: Time) -> dict[str, float | str]:
    return {"from_timestamp": _moment(start), "to_timestamp": _moment(end)}


def _moment(time: Time) -> float | str:
    return iso_time(time) if isinstance(time, datetime) else time


def _deletion(kind: str, key: str) -> Call[None]:
    return Call("DELETE", _path(kind, key), lambda body: None)


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
