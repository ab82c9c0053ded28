"""Finished reports as what the command line makes of a run folder: opened, written, compared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator
from sqlalchemy.exc import IntegrityError

from ragassay.client.shapes import Report
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results import Result
from ragassay.reports.run_reports import full_name, report_formats, write_comparison, write_reports
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.projects import get_task
from ragassay.service.store.reports import add_report, get_report, keep_run, run_archive
from ragassay.service.store.run_archives import (
    as_report,
    opened_archive,
    repacked_run,
)

_NOT_OFFERED = ("ore", "consistency", "junit", "badge")
"""Several files, or what a report of the service has no use for: repeats and gates."""

if TYPE_CHECKING:
    ReportForm = str
else:
    _FORMS = tuple(name for name in report_formats() if name not in _NOT_OFFERED)
    ReportForm = Annotated[Literal[_FORMS], BeforeValidator(full_name)]
    """What a report is written as, by the names of `ragassay report --format`."""

ComparisonForm = Annotated[Literal["json", "html", "markdown"], BeforeValidator(full_name)]

MEDIA_TYPES = {
    ".html": "text/html",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class WrittenFile:
    """A file to be downloaded.

    Attributes:
        name: of ours, with its ending.
        content: bytes.
    """

    name: str
    content: bytes

    @property
    def media_type(self) -> str:
        """By its ending."""
        return MEDIA_TYPES.get(Path(self.name).suffix, "application/octet-stream")


def keep_uploaded_run(
    store: Store,
    task_id: str,
    name: str,
    archive: IO[bytes],
    repacked: Callable[[IO[bytes]], tuple[bytes, dict[str, Any]]] = repacked_run,
    key: str | None = None,
) -> Report:
    """Makes a report of a run folder that was made elsewhere.

    Args:
        store: where.
        task_id: of the task.
        name: for people.
        archive: see `opened_archive`.
        repacked: checks the archive; a server does it in a process of its own.
        key: its id; as of `create_report`.

    Raises:
        NotThere: there is no such task.
        RagassayError: see `repacked_run`.
    """
    get_task(store, task_id)
    content, headline = repacked(archive)
    key = key or new_id()
    with suppress(IntegrityError), store.writing() as connection:
        add_report(connection, task_id, name, id=key)
        keep_run(connection, key, content, headline)
    return get_report(store, key)


def shown_time(seconds: float) -> str:
    """A point in time for people: UTC, with the fraction of a second where there is one.

    Args:
        seconds: since 1970.
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    fraction = f".{moment.microsecond:06}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} UTC"


def report_facts(store: Store, key: str) -> dict[str, str]:
    """The name of a report, its task and the ends of its interval, as people read them.

    Args:
        store: where.
        key: of the report.

    Raises:
        NotThere: there is no such report.
    """
    report = get_report(store, key)
    facts = {"report": report.name, "task": get_task(store, report.task_id).name}
    ends = {"from_timestamp": report.from_timestamp, "to_timestamp": report.to_timestamp}
    return facts | {name: shown_time(end) for name, end in ends.items() if end is not None}


@contextmanager
def opened_report(store: Store, key: str) -> Iterator[Result]:
    """The result of a finished report, until the block ends; see `as_report`.

    Args:
        store: where.
        key: of the report.

    Raises:
        NotThere: there is no such report.
        Conflict: it is not finished.
    """
    facts = report_facts(store, key)
    with opened_archive(run_archive(store, key), facts["report"]) as result:
        yield as_report(result, facts)


def write_report(store: Store, key: str, form: ReportForm) -> WrittenFile:
    """A finished report as a file, as `ragassay report` writes it.

    Args:
        store: where.
        key: of the report.
        form: of the file.

    Raises:
        NotThere: there is no such report.
        Conflict: it is not finished.
        UsageError: it cannot be written so: its suite was not run.
    """
    with opened_report(store, key) as result, tempfile.TemporaryDirectory() as name:
        path = write_reports(result, Path(name), [form])[form]
        return WrittenFile(f"report-{key}{path.suffix}", path.read_bytes())


def write_report_comparison(
    store: Store,
    new: str,
    old: str,
    form: ComparisonForm,
    *,
    force: bool = False,
    unpaired: bool = False,
    trust_offline: bool = False,
) -> WrittenFile:
    """Whether a report is better than another, query by query: a file as `ragassay compare -o`
    writes it.

    Args:
        store: where.
        new, old: of the reports; the second is the baseline.
        form: of the file.
        force: compare although metrics or queries differ.
        unpaired: compare the means of different queries.
        trust_offline: give verdicts on what was judged offline.

    Raises:
        NotThere: there is no such report.
        Conflict: one is not finished.
        UsageError: they cannot be compared, and why.
    """
    suffix = {"json": ".json", "html": ".html", "markdown": ".md"}[form]
    with (
        opened_report(store, new) as first,
        opened_report(store, old) as second,
        tempfile.TemporaryDirectory() as name,
    ):
        comparison = compare(
            first, second, force=force, trust_offline=trust_offline, unpaired=unpaired
        )
        path = Path(name) / f"comparison{suffix}"
        write_comparison(comparison, first, second, path)
        return WrittenFile(path.name, path.read_bytes())
