"""Routes of reports."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ragassay.engine.results import open_run
from ragassay.reports.tables import write_workbook
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import (
    READS,
    WRITES,
    Allowed,
    InStore,
    Name,
    task_for,
    task_of_report,
)
from ragassay.service.store import (
    Job,
    Report,
    ReportPreview,
    create_report,
    delete_report,
    get_report,
    list_reports,
    preview_report,
    run_archive,
    unpack_folder,
)
from ragassay.service.worker import WorkerOptions

router = APIRouter(tags=["reports"])


def moment(value: Any) -> Any:
    """Seconds since 1970 of a time in ISO 8601 with its zone.

    Raises:
        ValueError: it names no zone, or is none.
    """
    if not isinstance(value, str):
        return value
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError as error:
        raise ValueError(
            "give seconds since 1970, or ISO 8601 with a zone: 2026-01-31T09:30:00Z"
        ) from error
    if found.tzinfo is None:
        raise ValueError("the time names no zone: end it with Z, or with +01:00")
    return found.timestamp()


Time = Annotated[
    float,
    BeforeValidator(moment, json_schema_input_type=float | str),
    Field(description="seconds since 1970, or ISO 8601 with a zone; inclusive"),
]


class Asked(BaseModel):
    """What a report is over, and how it is computed."""

    model_config = ConfigDict(extra="forbid")

    from_timestamp: Time
    to_timestamp: Time
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="of the run: suite, metrics, judge, budget ... (docs/configuration.md); suite "
        "ragreport where none is named",
        examples=[{"suite": ["ragreport"], "judge": ["openai:gpt-4o-mini"], "budget": "5.00"}],
    )


class NewReport(Asked):
    """A report to be computed."""

    name: Name


class Started(BaseModel):
    """A report that is being computed, and the job that does it."""

    report: Report
    job: Job


@router.post("/tasks/{task_id}/reports", status_code=202, responses=WRITES)
def post_report(task_id: str, new: NewReport, store: InStore, access: Allowed) -> Started:
    """Asks for a report over the records of an interval; a worker computes it."""
    task_for(store, access, "write", task_id)
    report, job = create_report(
        store, task_id, new.name, new.from_timestamp, new.to_timestamp, new.options
    )
    return Started(report=report, job=job)


@router.post("/tasks/{task_id}/reports/preview", responses=WRITES)
def post_preview(
    task_id: str, asked: Asked, request: Request, store: InStore, access: Allowed
) -> ReportPreview:
    """What a report would hold and cost: records, metrics that apply, calls, dollars. Nobody is
    asked, and nothing is stored."""
    task = task_for(store, access, "read", task_id)
    ledgers: WorkerOptions | None = request.app.state.ledgers
    return preview_report(
        store, task_id, asked.from_timestamp, asked.to_timestamp, asked.options,
        ledger=None if ledgers is None else ledgers.ledger_of(task.project_id),
    )  # fmt: skip


@router.get("/tasks/{task_id}/reports", responses=READS)
def get_reports(task_id: str, store: InStore, access: Allowed) -> list[Report]:
    """The reports of a task, oldest first."""
    task_for(store, access, "read", task_id)
    return list_reports(store, task_id)


@router.get("/reports/{report_id}", responses=READS)
def get_one_report(report_id: str, store: InStore, access: Allowed) -> Report:
    """A report: its state, and its headline once it is there."""
    task_of_report(store, access, "read", report_id)
    return get_report(store, report_id)


@router.delete("/reports/{report_id}", status_code=204, responses=WRITES)
def delete_one_report(report_id: str, store: InStore, access: Allowed) -> None:
    """Deletes a report with its run folder."""
    task_of_report(store, access, "write", report_id)
    delete_report(store, report_id)


@router.get(
    "/reports/{report_id}/run",
    response_class=Response,
    responses={
        200: {"description": "the run folder", "content": {"application/zip": {}}},
        **READS,
        **documented(409),
    },
)
def get_run(report_id: str, store: InStore, access: Allowed) -> Response:
    """The run folder of a report as a zip (docs/run-folder.md): unpacked, everything that the
    command line does with a run folder works on it."""
    task_of_report(store, access, "read", report_id)
    headers = {"Content-Disposition": f'attachment; filename="report-{report_id}.zip"'}
    return Response(run_archive(store, report_id), 200, headers, "application/zip")


WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@router.get(
    "/reports/{report_id}/workbook",
    response_class=Response,
    responses={
        200: {"description": "an Excel workbook", "content": {WORKBOOK: {}}},
        **READS,
        **documented(409),
    },
)
def get_workbook(report_id: str, store: InStore, access: Allowed) -> Response:
    """A report as an Excel workbook."""
    task_of_report(store, access, "read", report_id)
    archive = run_archive(store, report_id)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpack_folder(archive, folder / "run")
        write_workbook(open_run(folder / "run"), folder / "report.xlsx")
        content = (folder / "report.xlsx").read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="report-{report_id}.xlsx"'}
    return Response(content, 200, headers, WORKBOOK)
