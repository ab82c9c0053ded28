"""Reports: what was asked for, and the run folders that came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import Column, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay.base.errors import UsageError, meant_or_all
from ragassay.base.sample import Sample
from ragassay.base.subsets import Subset, fields_of
from ragassay.client.shapes import Report
from ragassay.engine.config.config_paths import named_files
from ragassay.engine.config.option import options_of
from ragassay.engine.config.parameters import iso_time
from ragassay.engine.config.run_config import RunConfig, make_config
from ragassay.engine.run.prepared_run import prepare
from ragassay.formats.records.values.times import FIRST_TIME, LAST_TIME
from ragassay.service.store.database import Store, new_id, remove
from ragassay.service.store.jobs import Job, add_job, get_job, list_jobs
from ragassay.service.store.projects import Task, checked_name, get_task
from ragassay.service.store.records import read_samples
from ragassay.service.store.schema import report_files, reports
from ragassay.service.store.store_errors import Conflict

DEFAULT_SUITE = "ragreport"

_OF_THE_TASK = frozenset(
    {"data", "models", "from_timestamp", "to_timestamp", "separator", "single_chunk", "columns"}
    | {"format", "judge_name", "key_variable", "retry_failed"}
)
"""Options of a run that a report does not take: the task says them, or they are the server's."""


def samples_where(samples: Iterator[Sample], options: Mapping[str, Any]) -> Iterator[Sample]:
    """The samples that a report is over.

    Args:
        samples: of its interval.
        options: of the report; ``where`` has the conditions.

    Raises:
        UsageError: the conditions hold for none of them.
    """
    subset = Subset(options.get("where") or ())
    return subset.of(samples, fields_of) if subset else samples


def report_options() -> list[str]:
    """The options of a run that a report takes: none that names a file of the server's."""
    return [
        name
        for name, option in options_of(RunConfig).items()
        if option.path is None and name not in _OF_THE_TASK
    ]


def create_report(
    store: Store,
    task_id: str,
    name: str,
    start: float,
    end: float,
    options: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> tuple[Report, Job]:
    """Asks for a report, which a worker then computes.

    Args:
        store: where.
        task_id: of the task.
        name: for people.
        start, end: seconds since 1970, both inclusive.
        options: of the run (suite, metrics, judge, budget ...); suite ragreport where none is
            named.
        key: its id; a new one where left out. Where it is there already, the request was sent
            again: it is the answer.

    Raises:
        NotThere: there is no such task.
        UsageError: an interval that is reversed or holds no record, an unknown or impossible
            option.
    """
    task = get_task(store, task_id)
    checked_interval(start, end)
    chosen = checked_options(options or {})
    wanted = run_options(store, task, chosen)
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


def add_report(connection: Connection, task_id: str, name: str, **values: Any) -> str:
    """Makes the row of a report, within a transaction; its id.

    Args:
        connection: of the transaction.
        task_id: of the task.
        name: for people.
        values: of further columns.
    """
    name = checked_name(name)
    values = {"id": new_id(), "options": {}, "created": time.time(), **values}
    connection.execute(insert(reports).values(task_id=task_id, name=name, **values))
    return str(values["id"])


def list_reports(store: Store, task_id: str) -> list[Report]:
    """The reports of a task, oldest first.

    Raises:
        NotThere: there is no such task.
    """
    get_task(store, task_id)
    chosen = select(reports).where(reports.c.task_id == task_id).order_by(reports.c.created)
    rows = store.rows(chosen)
    by_report = {job.report_id: job for job in list_jobs(store, task_id=task_id)}
    return [_report(row, by_report.get(row.id)) for row in rows]


def get_report(store: Store, key: str) -> Report:
    """The report of an id.

    Raises:
        NotThere: there is none.
    """
    row, jobs = store.row(reports, "report", key), list_jobs(store, report_id=key)
    return _report(row, jobs[-1] if jobs else None)


def delete_report(store: Store, key: str) -> None:
    """Deletes a report with its run folder and its jobs.

    Raises:
        NotThere: there is none.
    """
    with store.writing() as connection:
        remove(connection, reports, "report", key)


def keep_run(connection: Connection, key: str, archive: bytes, headline: Mapping[str, Any]) -> None:
    """Keeps the run folder of a report, within a transaction.

    Args:
        connection: of the transaction.
        key: the report's id.
        archive: a zip of the folder.
        headline: see `Report`.
    """
    connection.execute(delete(report_files).where(report_files.c.report_id == key))
    connection.execute(
        insert(report_files).values(report_id=key, archive=archive, kept=time.time())
    )
    connection.execute(update(reports).where(reports.c.id == key).values(headline=dict(headline)))


def run_archive(store: Store, key: str) -> bytes:
    """The zip of a report's run folder.

    Raises:
        NotThere: there is no such report.
        Conflict: it is not finished.
    """
    return bytes(_kept(store, key, report_files.c.archive))


def run_kept(store: Store, key: str) -> float:
    """When the run folder of a report was made, in seconds since 1970; 0 where nobody noted it.

    Raises:
        NotThere, Conflict: as of `run_archive`.
    """
    return float(_kept(store, key, report_files.c.kept) or 0.0)


def _kept(store: Store, key: str, column: Column[Any]) -> Any:
    """What is kept of a report's run folder."""
    report = get_report(store, key)
    found = store.rows(select(column).where(report_files.c.report_id == key))
    if not found:
        raise Conflict(f"The report {report.name!r} is not finished ({report.status}).")
    return found[0][0]


def checked_interval(start: float, end: float) -> None:
    """Refuses an interval that is none.

    Raises:
        UsageError: it is reversed, or an end is no point in time.
    """
    for moment in (start, end):
        if not FIRST_TIME <= moment <= LAST_TIME:
            raise UsageError(
                f"{moment:g} is no point in time in the years 1 to 9999. Give seconds since 1970 "
                "(not milliseconds), or ISO 8601 with a zone."
            )
    if start > end:
        raise UsageError("The interval ends before it begins: swap its two times.")


def run_options(store: Store, task: Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the run that makes a report: its own before those of its task. Judges and
    embedders are named as the operator named them.

    Args:
        store: whose models are meant.
        task: that it belongs to.
        options: of the report.

    Raises:
        UsageError: one names a judge or embedder that the operator did not name, or a file: it
            would be read on the service's machine.
    """
    own = {"judge": list(task.options.judge), "budget": task.options.budget}
    given = {name: one for name, one in {**own, **options}.items() if one not in (None, [])}
    chosen = store.models.chosen({"judge": store.models.default or None, **given})
    for name in named_files({**chosen, "judge": [], "embedder": None}):
        raise UsageError(
            f"{name!r} is a file or folder, which would be one of the service's machine: the "
            "options of a report name none."
        )
    return chosen


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a report as they are kept: suite ragreport where none is named.

    Raises:
        UsageError: an unknown or impossible option.
    """
    known = report_options()
    for name in options:
        if name not in known:
            raise UsageError(f"A report has no option {name!r}. {meant_or_all(name, known)}")
    made = make_config(**options)
    chosen = {"suite": [DEFAULT_SUITE], **{name: getattr(made, name) for name in options}}
    if chosen["suite"] == [DEFAULT_SUITE] and chosen.get("metrics"):
        del chosen["suite"]
    return chosen


def _report(row: Any, job: Job | None) -> Report:
    if job is None:
        return Report(**row._mapping, status="completed")
    # The job was read with the headline: what the job says is never newer than what it kept.
    said = {"status": job.status, "error": job.error, "headline": job.headline}
    return Report(**{**row._mapping, **said, "job_id": job.id})
