"""Routes of reports."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator, Field

from ragassay.client.shapes import Name, Report, ReportPreview, Started
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import (
    BINARY,
    READS,
    WRITES,
    Allowed,
    Body,
    InStore,
    MadeId,
    ReportToRead,
    ReportToWrite,
    SentFile,
    TaskToRead,
    TaskToWrite,
    report_for,
)
from ragassay.service.store.report_files import (
    MEDIA_TYPES,
    ComparisonForm,
    ReportForm,
    WrittenFile,
    keep_uploaded_run,
    write_report,
    write_report_comparison,
)
from ragassay.service.store.report_preview import preview_report
from ragassay.service.store.reports import create_report, delete_report, list_reports, run_archive
from ragassay.service.views.separate_process import make_file, repacked_apart
from ragassay.service.views.view_folders import Views

router = APIRouter(tags=["reports"])


def moment(value: Any) -> Any:
    """Seconds since 1970 of a time in ISO 8601 with its zone.

    Raises:
        ValueError: it names no zone, or is no time.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        time = datetime.fromisoformat(value.strip())
    except (AttributeError, ValueError) as error:
        raise ValueError(
            "give seconds since 1970, or ISO 8601 with a zone: 2026-01-31T09:30:00Z"
        ) from error
    if time.tzinfo is None:
        raise ValueError("the time names no zone: end it with Z, or with +01:00")
    return time.timestamp()


Time = Annotated[
    float,
    BeforeValidator(moment, json_schema_input_type=float | str),
    Field(description="seconds since 1970, or ISO 8601 with a zone; inclusive"),
]


class Asked(Body):
    """What a report is over, and how it is computed."""

    from_timestamp: Time
    to_timestamp: Time
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="of the run: suite, metrics, judge, budget ... (docs/configuration.md); suite "
        "ragreport where none is named",
        examples=[{"suite": ["ragreport"], "judge": ["fast"], "budget": "5.00"}],
    )


class Previewed(Asked):
    """What a report would be over. Its name may stand there, as in the request for the report."""

    name: Name | None = None


class NewReport(Asked):
    """A report to be computed."""

    name: Name


@router.post("/tasks/{task_id}/reports", status_code=202, responses=WRITES)
def post_report(task: TaskToWrite, new: NewReport, store: InStore, key: MadeId) -> Started:
    """Asks for a report over the records of an interval; a worker computes it."""
    report, job = create_report(
        store, task.id, new.name, new.from_timestamp, new.to_timestamp, new.options, key
    )
    return Started(report=report, job=job)


@router.post("/tasks/{task_id}/reports/preview", responses=WRITES)
def post_preview(task: TaskToRead, asked: Previewed, store: InStore) -> ReportPreview:
    """What a report would hold and cost: records, metrics that apply, calls, dollars. No judge is
    called, and nothing is stored."""
    return preview_report(store, task.id, asked.from_timestamp, asked.to_timestamp, asked.options)


@router.get("/tasks/{task_id}/reports", responses=READS)
def get_reports(task: TaskToRead, store: InStore) -> list[Report]:
    """The reports of a task, oldest first."""
    return list_reports(store, task.id)


@router.get("/reports/{report_id}", responses=READS)
def get_one_report(report: ReportToRead) -> Report:
    """A report: its state, and its headline once it is there."""
    return report


@router.delete("/reports/{report_id}", status_code=204, responses=WRITES)
def delete_one_report(report: ReportToWrite, store: InStore) -> None:
    """Deletes a report with its run folder."""
    delete_report(store, report.id)


def _file_responses(description: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    """What the documentation says of a route that answers with a file of one of these types."""
    content = {"description": description, "content": {kind: {} for kind in kinds}}
    return {200: content, **READS, **documented(409)}


ARCHIVE = _file_responses("the run folder", "application/zip")
MAKING: dict[int | str, dict[str, Any]] = {202: {"description": "the file is being made"}}
FILES = _file_responses("the file", *dict.fromkeys(MEDIA_TYPES.values()))


@router.get("/reports/{report_id}/run", response_class=Response, responses=ARCHIVE)
def get_run(report: ReportToRead, store: InStore) -> Response:
    """The run folder of a report as a zip (docs/run-folder.md): unpacked, everything that the
    command line does with a run folder works on it."""
    headers = _attachment(f"{report.name}.zip")
    return Response(run_archive(store, report.id), 200, headers, "application/zip")


@router.get("/reports/{report_id}/files/{form}", response_class=Response, responses=FILES | MAKING)
def get_file(report: ReportToRead, form: ReportForm, request: Request) -> Response:
    """A report as a file, as `ragassay report --format` writes it. It is made once, and kept. While
    it is being made the answer is 202, and `Retry-After` says when to ask again."""
    file = report_file(request, report.id, form)
    if file is None:
        return Response(None, 202, {"Retry-After": "2"})
    return download(file, report.name)


@router.post("/tasks/{task_id}/runs", status_code=201, responses=WRITES, openapi_extra=BINARY)
def post_run(
    task: TaskToWrite,
    name: Annotated[Name, Query(description="of the report, for people")],
    store: InStore,
    file: SentFile,
    key: MadeId,
) -> Report:
    """Makes a report of a run folder that was made elsewhere (`ragassay run -o`): a zip, a tar or
    a tar.gz of it, without links and with paths within the folder only."""
    return keep_uploaded_run(store, task.id, name, file, repacked_apart, key)


@router.get("/comparisons", response_class=Response, responses=FILES)
def get_comparison(
    store: InStore,
    access: Allowed,
    new: Annotated[str, Query(max_length=100, description="id of a report")],
    old: Annotated[str, Query(max_length=100, description="id of the baseline's report")],
    form: ComparisonForm = "json",
    force: bool = False,
    trust_offline: bool = False,
    unpaired: bool = False,
) -> Response:
    """Whether a report is better than another, query by query (`unpaired`: by the means of
    different queries, as of two intervals), as `ragassay compare` says it: by metric the
    difference, its interval, p-values and the verdict."""
    names = [report_for("read", key, store, access).name for key in (new, old)]
    file = make_file(
        write_report_comparison,
        *(store, new, old),
        form=form,
        force=force,
        trust_offline=trust_offline,
        unpaired=unpaired,
    )
    return download(file, " against ".join(names))


def report_file(
    request: Request, report: str, form: ReportForm, *, waits: bool = False
) -> WrittenFile | None:
    """A finished report as a file, which is made once and kept with its view; ``None`` while it is
    being made. Where the application keeps no views, it is made for this request.

    Args:
        request: that asks for it.
        report: its id.
        form: of the file.
        waits: however long it takes.
    """
    views: Views | None = request.app.state.views
    if views is None:
        return make_file(write_report, request.app.state.store, report, form=form)
    return views.file(report, form, waits=waits)


def download(file: WrittenFile, name: str) -> Response:
    """The answer that has a browser save a file.

    Args:
        file: its type and content.
        name: for people, without its ending.
    """
    headers = _attachment(f"{name}{PurePath(file.name).suffix}")
    return Response(file.content, 200, headers, file.media_type)


def _attachment(name: str) -> dict[str, str]:
    """The header that names a file to be saved (RFC 6266), in ASCII for clients that know no
    other."""
    plain = re.sub(r"[^A-Za-z0-9 ._()-]", "_", name)
    return {
        "Content-Disposition": f'attachment; filename="{plain}"; '
        f"filename*=UTF-8''{quote(name, safe='')}"
    }
