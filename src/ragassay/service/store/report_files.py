"""Finished reports as what the command line makes of a run folder: opened, written, compared."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator
from sqlalchemy.exc import IntegrityError

from ragassay.client.service_shapes import Report
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.results import Result
from ragassay.reports import run_reports
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.projects import get_task
from ragassay.service.store.reports import add_report, get_report, keep_run, run_archive
from ragassay.service.store.run_archives import as_report, opened_archive, repack_run

_NOT_OFFERED = ("ore", "consistency", "junit")
"""Several files, or what a report of the service has no use for: repeats and gates."""

if TYPE_CHECKING:
    ReportForm = str
else:
    _FORMS = tuple(name for name in run_reports.report_formats() if name not in _NOT_OFFERED)
    ReportForm = Annotated[Literal[_FORMS], BeforeValidator(run_reports.full_name)]
    """What a report is written as, by the names of `ragassay report --format`."""

ComparisonForm = Annotated[
    Literal["json", "html", "markdown"], BeforeValidator(run_reports.full_name)
]

COMPARISON_SUFFIXES = {"json": ".json", "html": ".html", "markdown": ".md"}
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
"""By the ending of a file; of others it is not known."""


def keep_uploaded_run(
    store: Store,
    task_id: str,
    name: str,
    archive: IO[bytes],
    key: str | None = None,
    repack: Callable[[str, str], dict[str, Any]] = repack_run,
) -> Report:
    """Makes a report of an archive of a run folder; ``key`` as of `create_report`."""
    get_task(store, task_id)
    with tempfile.TemporaryDirectory(prefix="ragassay-upload-") as folder:
        sent, kept = Path(folder) / "sent", Path(folder) / "run.zip"
        with sent.open("wb") as out:
            shutil.copyfileobj(archive, out)
        headline = repack(str(sent), str(kept))
        key = key or new_id()
        with suppress(IntegrityError), store.writing() as connection:
            add_report(connection, task_id, name, id=key)
            keep_run(connection, key, kept.read_bytes(), headline)
    return get_report(store, key)


def shown_time(seconds: float) -> str:
    """A point in time for people: UTC, with the fraction of a second where there is one."""
    moment = datetime.fromtimestamp(seconds, UTC)
    fraction = f".{moment.microsecond:06}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} UTC"


def report_facts(store: Store, key: str) -> dict[str, str]:
    """The name of a report, its task and the ends of its interval, as people read them."""
    report = get_report(store, key)
    facts = {"report": report.name, "task": get_task(store, report.task_id).name}
    ends = {"from_timestamp": report.from_timestamp, "to_timestamp": report.to_timestamp}
    return facts | {name: shown_time(end) for name, end in ends.items() if end is not None}


@contextmanager
def opened_report(store: Store, key: str) -> Iterator[Result]:
    """The result of a finished report, until the block ends; see `as_report`."""
    facts = report_facts(store, key)
    with opened_archive(run_archive(store, key), facts["report"]) as result:
        yield as_report(result, facts)


def report_suffix(form: ReportForm) -> str:
    """The ending of the file that a report is written as."""
    return Path(run_reports.file_name(form)).suffix


def write_report(store: Store, key: str, form: ReportForm) -> bytes:
    """A finished report as a file, as `ragassay report` writes it."""
    with opened_report(store, key) as result, tempfile.TemporaryDirectory() as name:
        return run_reports.write_reports(result, Path(name), [form])[form].read_bytes()


def write_report_comparison(
    store: Store, new: str, old: str, form: ComparisonForm, **options: Any
) -> bytes:
    """Whether a report is better than another, the baseline: a file as `ragassay compare -o` writes
    it. Options: compare although metrics or queries differ (``force``), by the means of different
    queries (``unpaired``), with verdicts on what was judged offline (``trust_offline``)."""
    with (
        opened_report(store, new) as first,
        opened_report(store, old) as second,
        tempfile.TemporaryDirectory() as name,
    ):
        path = Path(name) / f"comparison{COMPARISON_SUFFIXES[form]}"
        run_reports.write_comparison(compare(first, second, **options), path)
        return path.read_bytes()
