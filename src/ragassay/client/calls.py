"""The calls that there are, each as the request that it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ragassay.client.client_requests import Call, several, shaped
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

Time = float | str
"""Seconds since 1970, or ISO 8601 with a zone."""


def create_project(name: str, description: str = "") -> Call[Project]:
    """Makes a project.

    Args:
        name: not that of another project.
        description: for people.
    """
    body = {"name": name, "description": description}
    return Call("POST", "/projects", shaped(Project), body)


def list_projects() -> Call[list[Project]]:
    """The projects that the token may read."""
    return Call("GET", "/projects", several(Project))


def create_task(project_id: str, name: str, options: Mapping[str, Any]) -> Call[Task]:
    """Makes a task.

    Args:
        project_id: of the project.
        name: not that of another task of the project.
        options: of the task.
    """
    body = {"name": name, "options": dict(options)}
    return Call("POST", f"/projects/{_part(project_id)}/tasks", shaped(Task), body)


def list_tasks(project_id: str) -> Call[list[Task]]:
    """The tasks of a project."""
    return Call("GET", f"/projects/{_part(project_id)}/tasks", several(Task))


def log(task_id: str, records: Sequence[Mapping[str, Any]]) -> Call[Ingested]:
    """Stores records.

    Args:
        task_id: of the task.
        records: at most 10,000.
    """
    body = {"records": [dict(one) for one in records]}
    return Call("POST", f"/tasks/{_part(task_id)}/records", shaped(Ingested), body)


def upload_file(task_id: str, path: str | Path) -> Call[Upload]:
    """Sends a file.

    Args:
        task_id: of the task.
        path: of the file.
    """
    where, name = f"/tasks/{_part(task_id)}/uploads", Path(path).name
    return Call("POST", where, shaped(Upload), query={"file_name": name}, file=Path(path))


def preview_upload(
    upload_id: str, columns: Mapping[str, str] | None, format_name: str | None
) -> Call[FilePreview]:
    """Looks at the beginning of a file.

    Args:
        upload_id: of the file.
        columns: field -> column.
        format_name: of the file; found out where ``None``.
    """
    body = {"columns": dict(columns or {}), "format": format_name}
    return Call("POST", f"/uploads/{_part(upload_id)}/preview", shaped(FilePreview), body)


def import_upload(
    upload_id: str,
    columns: Mapping[str, str] | None,
    format_name: str | None,
    received_as_time: bool,
) -> Call[Ingested]:
    """Stores the records of a file.

    Args:
        upload_id: of the file.
        columns: field -> column.
        format_name: of the file; found out where ``None``.
        received_as_time: a record without a time gets that of the import.
    """
    body = {
        "columns": dict(columns or {}),
        "format": format_name,
        "received_as_time": received_as_time,
    }
    return Call("POST", f"/uploads/{_part(upload_id)}/import", shaped(Ingested), body)


def delete_upload(upload_id: str) -> Call[None]:
    """Deletes a file that is not to be imported."""
    return _deletion(f"/uploads/{_part(upload_id)}")


def preview_report(
    task_id: str, start: Time, end: Time, options: Mapping[str, Any]
) -> Call[ReportPreview]:
    """Says what a report would hold and cost.

    Args:
        task_id: of the task.
        start, end: the interval.
        options: of the run.
    """
    body = {"from_timestamp": start, "to_timestamp": end, "options": dict(options)}
    where = f"/tasks/{_part(task_id)}/reports/preview"
    return Call("POST", where, shaped(ReportPreview), body)


def create_report(
    task_id: str, name: str, start: Time, end: Time, options: Mapping[str, Any]
) -> Call[Started]:
    """Asks for a report.

    Args:
        task_id: of the task.
        name: for people.
        start, end: the interval.
        options: of the run.
    """
    body = {
        "name": name,
        "from_timestamp": start,
        "to_timestamp": end,
        "options": dict(options),
    }

    def read(found: Any) -> Started:
        return Started(shaped(Report)(found["report"]), shaped(Job)(found["job"]))

    return Call("POST", f"/tasks/{_part(task_id)}/reports", read, body)


def list_reports(task_id: str) -> Call[list[Report]]:
    """The reports of a task, oldest first."""
    return Call("GET", f"/tasks/{_part(task_id)}/reports", several(Report))


def get_report(report_id: str) -> Call[Report]:
    """A report."""
    return Call("GET", f"/reports/{_part(report_id)}", shaped(Report))


def get_job(job_id: str) -> Call[Job]:
    """A job."""
    return Call("GET", f"/jobs/{_part(job_id)}", shaped(Job))


def list_jobs(query: Mapping[str, Any]) -> Call[list[Job]]:
    """The jobs that all conditions hold for."""
    given = {name: value for name, value in query.items() if value is not None}
    return Call("GET", "/jobs", several(Job), query=given)


def cancel_job(job_id: str) -> Call[Job]:
    """Ends a job."""
    return Call("POST", f"/jobs/{_part(job_id)}/cancel", shaped(Job))


def retry_job(job_id: str) -> Call[Job]:
    """Does a job that failed again."""
    return Call("POST", f"/jobs/{_part(job_id)}/retry", shaped(Job))


def run_of(report_id: str) -> str:
    """The path of a report's run folder."""
    return f"/reports/{_part(report_id)}/run"


def file_of(report_id: str, form: str) -> str:
    """The path of a report as a file.

    Args:
        report_id: of the report.
        form: of the file.
    """
    return f"/reports/{_part(report_id)}/files/{_part(form)}"


def comparison_of(new_id: str, old_id: str, form: str, options: Mapping[str, bool]) -> str:
    """The path of a comparison.

    Args:
        new_id, old_id: of the reports.
        form: of the file.
        options: force, trust_offline.
    """
    query = {"new": new_id, "old": old_id, "form": form, **options}
    return f"/comparisons?{urlencode(query)}"


def compare_reports(new_id: str, old_id: str, options: Mapping[str, bool]) -> Call[dict[str, Any]]:
    """Compares two reports.

    Args:
        new_id, old_id: of the reports.
        options: force, trust_offline.
    """
    return Call("GET", comparison_of(new_id, old_id, "json", options), dict)


def upload_run(task_id: str, name: str, archive: Path) -> Call[Report]:
    """Sends a run folder as an archive.

    Args:
        task_id: of the task.
        name: of the report, for people.
        archive: a zip, a tar or a tar.gz.
    """
    where = f"/tasks/{_part(task_id)}/runs"
    return Call("POST", where, shaped(Report), query={"name": name}, file=archive)


def delete_project(project_id: str) -> Call[None]:
    """Deletes a project."""
    return _deletion(f"/projects/{_part(project_id)}")


def delete_task(task_id: str) -> Call[None]:
    """Deletes a task."""
    return _deletion(f"/tasks/{_part(task_id)}")


def delete_report(report_id: str) -> Call[None]:
    """Deletes a report."""
    return _deletion(f"/reports/{_part(report_id)}")


def delete_record(task_id: str, record_id: str) -> Call[int]:
    """Deletes a record.

    Args:
        task_id: of the task.
        record_id: of the record.
    """
    path = f"/tasks/{_part(task_id)}/records/{_part(record_id)}"
    return Call("DELETE", path, lambda found: int(found["deleted"]))


def _deletion(path: str) -> Call[None]:
    return Call("DELETE", path, lambda found: None)


def _part(text: str) -> str:
    return quote(text, safe="")
