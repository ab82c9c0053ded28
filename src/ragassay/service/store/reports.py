"""Reports: what is asked for, what it would hold and cost, and the run folders that came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from sqlalchemy import Column, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay.base.errors import UsageError, meant_or_all
from ragassay.base.sample import Sample
from ragassay.base.subsets import Subset
from ragassay.client.service_shapes import Report, ReportPreview
from ragassay.engine.config.config_paths import named_files
from ragassay.engine.config.run_config import RunConfig, iso_time, make_config, options_of
from ragassay.engine.results.score_columns import fields_of
from ragassay.engine.run.data_preview import preview
from ragassay.engine.run.prepared_run import prepare
from ragassay.engine.run.scoring import record_warnings
from ragassay.formats.records.field_names import field_of
from ragassay.formats.records.field_values import FIRST_TIME, LAST_TIME
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.jobs import Job, add_job, get_job, list_jobs
from ragassay.service.store.projects import Task, checked_name, get_task
from ragassay.service.store.records import count_records, read_samples
from ragassay.service.store.schema import report_files, reports
from ragassay.service.store.store_errors import Conflict

DEFAULT_SUITE = "ragreport"

MOST_LOOKED_AT = 2_000
"""Records that a preview reads; what the others would ask is extrapolated."""
MOST_WALKED = 256
"""Records whose questions a preview counts."""

_OF_THE_TASK = frozenset(
    {"data", "models", "from_timestamp", "to_timestamp", "separator", "single_chunk", "columns"}
    | {"format", "judge_name", "key_variable", "retry_failed"}
)
"""Options of a run that a report does not take: the task says them, or they are the server's."""


def samples_where(samples: Iterator[Sample], options: Mapping[str, Any]) -> Iterator[Sample]:
    """Those samples that the conditions of a report (``where``) hold for."""
    subset = Subset(options.get("where") or (), field_of)
    return subset.of(samples, fields_of) if subset else samples


def report_options() -> list[str]:
    """The options of a run that a report takes: none that names a file of the server's."""
    options = options_of(RunConfig).items()
    return [name for name, option in options if option.path is None and name not in _OF_THE_TASK]


def create_report(
    store: Store,
    task_id: str,
    name: str,
    start: float,
    end: float,
    options: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> tuple[Report, Job]:
    """Asks for a report over an interval (seconds since 1970, both inclusive), which a worker then
    computes; suite ragreport where its options name none. What makes no sense is refused. Where its
    id (``key``) is there already, the request was sent again: it is the answer."""
    task, chosen, wanted = _asked(store, task_id, start, end, options or {})
    first = next(samples_where(read_samples(store, task_id, start, end), chosen), None)
    if first is None:
        raise UsageError(
            f"The task {task.name!r} has no record from {iso_time(start)} to {iso_time(end)}."
        )
    # Says at once that there is no such suite, metric or judge.
    prepare(make_config(**wanted), [first], dry=True, named=store.models.words)
    key, times = key or new_id(), {"from_timestamp": start, "to_timestamp": end}
    with suppress(IntegrityError), store.writing() as connection:
        add_report(connection, task_id, name, id=key, **times, options=chosen)
        add_job(connection, "report", task_id, report_id=key)
    report = get_report(store, key)
    return report, get_job(store, str(report.job_id))


def preview_report(
    store: Store, task_id: str, start: float, end: float, options: Mapping[str, Any] | None = None
) -> ReportPreview:
    """What `create_report` would make of the same arguments. No judge is called."""
    task, _, chosen = _asked(store, task_id, start, end, options or {})
    found = samples_where(read_samples(store, task_id, start, end), chosen)
    samples = list(islice(found, MOST_LOOKED_AT))
    if not samples:
        return ReportPreview(n_records=0, n_looked_at=0)
    config = make_config(**{**chosen, "ledger": store.ledger(task.project_id)})
    if chosen.get("where"):
        n = len(samples) + sum(1 for _ in found)
    else:
        n = count_records(store, task_id, start, end)
    with record_warnings() as recorded:
        job = prepare(config, samples, dry=True, named=store.models.words)
    plan = preview(job, walk=MOST_WALKED, of=n)
    asking: dict[str, Any] = {}
    if calls := plan.calls:
        total = calls.total
        asking |= {"judge": calls.judge, "calls": total.calls, "held": total.held}
        asking |= {"cost": total.cost, "seconds": calls.seconds, "budget": calls.fit}
    return ReportPreview(
        n_records=n,
        n_looked_at=len(samples),
        metrics=plan.applicable,
        parts=plan.parts,
        lacking={name: dict(lacks) for name, lacks in plan.lacking.items()},
        absent=dict(plan.extras),
        notes=[*recorded(), *plan.warnings],
        **asking,
    )


def _asked(
    store: Store, task_id: str, start: float, end: float, options: Mapping[str, Any]
) -> tuple[Task, dict[str, Any], dict[str, Any]]:
    """The task of a report, its options as they are kept, and those of its run."""
    task = get_task(store, task_id)
    for moment in (start, end):
        if not FIRST_TIME <= moment <= LAST_TIME:
            raise UsageError(
                f"{moment:g} is not a time in the years 1 to 9999. Give seconds since 1970 "
                "(not milliseconds), or ISO 8601 with a zone."
            )
    if start > end:
        raise UsageError("The interval ends before it begins. Swap its two times.")
    for name in sorted(options.keys() - (known := report_options())):
        raise UsageError(f"A report has no option {name!r}. {meant_or_all(name, known)}")
    made = make_config(**options)
    chosen = {name: getattr(made, name) for name in options}
    if not (chosen.get("suite") or chosen.get("metrics")):
        chosen["suite"] = [DEFAULT_SUITE]
    return task, chosen, run_options(store, task, chosen)


def run_options(store: Store, task: Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the run that makes a report: its own before those of its task. Judges are
    named as the operator named them, and no option names a file of the service's machine."""
    own = {"judge": list(task.options.judge), "budget": task.options.budget}
    given = {name: value for name, value in {**own, **options}.items() if value not in (None, [])}
    chosen = store.models.chosen({"judge": store.models.default or None, **given})
    for name in named_files({**chosen, "judge": [], "embedder": None}):
        raise UsageError(
            f"{name!r} is a file or folder. The options of a report name none, because it would "
            "be a file of the service's machine."
        )
    return chosen


def add_report(connection: Connection, task_id: str, name: str, **values: Any) -> str:
    """Makes the row of a report with values of further columns, within a transaction; its id."""
    values = {"id": new_id(), "options": {}, "created": time.time(), **values}
    connection.execute(insert(reports).values(task_id=task_id, name=checked_name(name), **values))
    return str(values["id"])


def list_reports(store: Store, task_id: str) -> list[Report]:
    """The reports of a task, oldest first."""
    get_task(store, task_id)
    chosen = select(reports).where(reports.c.task_id == task_id).order_by(reports.c.created)
    rows = store.rows(chosen)
    by_report = {job.report_id: job for job in list_jobs(store, task_id=task_id)}
    return [_report(row, by_report.get(row.id)) for row in rows]


def get_report(store: Store, key: str) -> Report:
    """The report of an id."""
    row, jobs = store.row(reports, key), list_jobs(store, report_id=key)
    return _report(row, jobs[-1] if jobs else None)


def _report(row: Any, job: Job | None) -> Report:
    if job is None:
        return Report(**row._mapping, status="completed")
    # The job was read with the headline: what the job says is never newer than what it kept.
    said = {"status": job.status, "error": job.error, "headline": job.headline}
    return Report(**{**row._mapping, **said, "job_id": job.id})


def keep_run(connection: Connection, key: str, archive: bytes, headline: Mapping[str, Any]) -> None:
    """Keeps the run folder of a report, a zip, and its headline, within a transaction."""
    kept = {"report_id": key, "archive": archive, "kept": time.time()}
    connection.execute(delete(report_files).where(report_files.c.report_id == key))
    connection.execute(insert(report_files).values(kept))
    connection.execute(update(reports).where(reports.c.id == key).values(headline=dict(headline)))


def run_archive(store: Store, key: str) -> bytes:
    """The zip of a report's run folder; `Conflict` where it is not finished."""
    return bytes(_kept(store, key, report_files.c.archive))


def run_kept(store: Store, key: str) -> float:
    """When the run folder of a report was made, in seconds since 1970; 0 where nobody noted it."""
    return float(_kept(store, key, report_files.c.kept) or 0.0)


def _kept(store: Store, key: str, column: Column[Any]) -> Any:
    """What a finished report has in a column of its file."""
    report = get_report(store, key)
    found = store.rows(select(column).where(report_files.c.report_id == key))
    if not found:
        raise Conflict(
            f"The report {report.name!r} is not finished ({report.status}). Wait for it."
        )
    return found[0][0]
