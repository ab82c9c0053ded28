"""The two clients: one waits for each answer, one is asynchronous. They have the same calls.

The names of ML cube's client work, too: `compute_rag_evaluation_report`, `wait_job_completion`,
`get_rag_evaluation_reports`, `export_rag_evaluation_report`.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from ragassay.client import calls
from ragassay.client.calls import Time
from ragassay.client.client_errors import JobFailed, JobTimeout, RequestRefused
from ragassay.client.client_requests import (
    Call,
    address,
    headers,
    pieces_of,
    polling_seconds,
    refusal,
)
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
from ragassay.errors import UsageError

T = TypeVar("T")

TIMEOUT_S = 180.0
RETRIES = 5
"""How often a connection that cannot be made is tried again."""


class Client:
    """A client that waits for each answer. Use it as a context manager, or close it.

    Args:
        url: of the service; the environment variable ``RAGASSAY_URL``, or this machine.
        token: that allows it; the variable ``RAGASSAY_TOKEN``, or none.
        timeout: seconds for a request.
        polling: seconds between two looks at a job; the variable ``RAGASSAY_POLLING``, or 1.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        polling: float | None = None,
    ) -> None:
        self._polling = polling_seconds(polling)
        self._http = httpx2.Client(
            base_url=address(url),
            headers=headers(token),
            timeout=timeout,
            transport=httpx2.HTTPTransport(retries=RETRIES),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def create_project(self, name: str, description: str = "") -> Project:
        """Makes a project; see `calls.create_project`.

        Args:
            name: not that of another project.
            description: for people.
        """
        return self._do(calls.create_project(name, description))

    def list_projects(self) -> list[Project]:
        """The projects that the token may read, oldest first."""
        return self._do(calls.list_projects())

    def create_task(self, project_id: str, name: str, **options: Any) -> Task:
        """Makes a task.

        Args:
            project_id: of the project.
            name: not that of another task of the project.
            options: separator, default_answer, multi_turn, language, judge, budget.
        """
        return self._do(calls.create_task(project_id, name, options))

    def list_tasks(self, project_id: str) -> list[Task]:
        """The tasks of a project, oldest first."""
        return self._do(calls.list_tasks(project_id))

    def log(self, task_id: str, records: Sequence[Mapping[str, Any]]) -> Ingested:
        """Stores records, all of them or none.

        Args:
            task_id: of the task.
            records: see docs/service.md; at most 10,000.
        """
        return self._do(calls.log(task_id, records))

    def upload_file(self, task_id: str, path: str | Path) -> Upload:
        """Sends a file, which is not imported yet; see `preview_upload` and `import_upload`.

        Args:
            task_id: of the task.
            path: of the file, in any format that `ragassay run` reads.
        """
        return self._do(calls.upload_file(task_id, path))

    def preview_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
    ) -> FilePreview:
        """Looks at the first records of a file that was sent. Nothing is stored.

        Args:
            upload_id: of the file.
            columns: field -> column of the file, for names that are not known.
            format: of the file; found out where left out.
        """
        return self._do(calls.preview_upload(upload_id, columns, format))

    def import_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        *,
        received_as_time: bool = False,
    ) -> Ingested:
        """Stores the records of a file that was sent, all of them or none.

        Args:
            upload_id: of the file.
            columns, format: as of `preview_upload`.
            received_as_time: a record without a time gets that of the import.
        """
        return self._do(calls.import_upload(upload_id, columns, format, received_as_time))

    def delete_upload(self, upload_id: str) -> None:
        """Deletes a file that is not to be imported."""
        self._do(calls.delete_upload(upload_id))

    def preview_report(
        self, task_id: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> ReportPreview:
        """Says what a report would hold and cost.

        Args:
            task_id: of the task.
            from_timestamp, to_timestamp: seconds since 1970, or ISO 8601 with a zone; inclusive.
            options: of the run: suite, metrics, judge, budget ...
        """
        return self._do(calls.preview_report(task_id, from_timestamp, to_timestamp, options))

    def create_report(
        self, task_id: str, name: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> Started:
        """Asks for a report over the records of an interval.

        Args:
            task_id: of the task.
            name: for people.
            from_timestamp, to_timestamp: seconds since 1970, or ISO 8601 with a zone; inclusive.
            options: of the run: suite, metrics, judge, budget ...
        """
        return self._do(calls.create_report(task_id, name, from_timestamp, to_timestamp, options))

    def list_reports(self, task_id: str) -> list[Report]:
        """The reports of a task, oldest first."""
        return self._do(calls.list_reports(task_id))

    def get_report(self, report_id: str) -> Report:
        """A report."""
        return self._do(calls.get_report(report_id))

    def delete_project(self, project_id: str) -> None:
        """Deletes a project with its tasks, records, files, reports and ledger."""
        self._do(calls.delete_project(project_id))

    def delete_task(self, task_id: str) -> None:
        """Deletes a task with its records, files and reports."""
        self._do(calls.delete_task(task_id))

    def delete_record(self, task_id: str, record_id: str) -> int:
        """Deletes a record with its versions; how many there were.

        Args:
            task_id: of the task.
            record_id: of the record.
        """
        return self._do(calls.delete_record(task_id, record_id))

    def delete_report(self, report_id: str) -> None:
        """Deletes a report with its run folder and its jobs."""
        self._do(calls.delete_report(report_id))

    def get_job(self, job_id: str) -> Job:
        """A job, and how far it is."""
        return self._do(calls.get_job(job_id))

    def list_jobs(self, **conditions: Any) -> list[Job]:
        """The jobs that all conditions hold for: project_id, task_id, report_id, status."""
        return self._do(calls.list_jobs(conditions))

    def cancel_job(self, job_id: str) -> Job:
        """Ends a job."""
        return self._do(calls.cancel_job(job_id))

    def retry_job(self, job_id: str) -> Job:
        """Does a job that failed again."""
        return self._do(calls.retry_job(job_id))

    def wait_job_completion(self, job_id: str, max_wait_timeout: float = 7_200) -> Job:
        """Waits for a job to end.

        Args:
            job_id: of the job.
            max_wait_timeout: seconds to wait at most.

        Raises:
            JobFailed: it ended with an error.
            JobTimeout: it did not end in time.
        """
        give_up = time.monotonic() + max_wait_timeout
        while not (job := self.get_job(job_id)).has_ended:
            if time.monotonic() >= give_up:
                raise JobTimeout(job_id, max_wait_timeout, job.status)
            time.sleep(max(0.0, min(self._polling, give_up - time.monotonic())))
        return _done(job)

    def download_run(self, report_id: str, folder: str | Path) -> Path:
        """Downloads a report's run folder: `ragassay.open_run` reads it.

        Args:
            report_id: of the report.
            folder: a new or empty folder.
        """
        return _unpacked(self._bytes(calls.run_of(report_id)), folder)

    def upload_run(self, task_id: str, name: str, run: str | Path) -> Report:
        """Makes a report of a run folder that `ragassay run -o` made.

        Args:
            task_id: of the task.
            name: of the report, for people.
            run: the folder, or a zip, a tar or a tar.gz of it.
        """
        with _packed(run) as archive:
            return self._do(calls.upload_run(task_id, name, archive))

    def download_report(self, report_id: str, form: str, path: str | Path) -> Path:
        """Downloads a report as a file.

        Args:
            report_id: of the report.
            form: html, markdown, csv, long-csv, jsonl, parquet, xlsx, png, svg ...
            path: of the file to write.
        """
        return _saved(self._bytes(calls.file_of(report_id, form)), path)

    def compare_reports(self, new_id: str, old_id: str, **options: bool) -> dict[str, Any]:
        """Compares two reports, query by query; what `ragassay compare --json` prints of them.

        Args:
            new_id: of the report.
            old_id: of the baseline's report.
            options: ``force``: although metrics or queries differ; ``trust_offline``: with
                verdicts on what was judged offline.
        """
        return self._do(calls.compare_reports(new_id, old_id, options))

    def download_comparison(
        self, new_id: str, old_id: str, form: str, path: str | Path, **options: bool
    ) -> Path:
        """Downloads a comparison of two reports as a file.

        Args:
            new_id, old_id, options: as of `compare_reports`.
            form: html, markdown or json.
            path: of the file to write.
        """
        return _saved(self._bytes(calls.comparison_of(new_id, old_id, form, options)), path)

    def compute_rag_evaluation_report(
        self, task_id: str, report_name: str, from_timestamp: Time, to_timestamp: Time
    ) -> str:
        """Asks for a report by suite ragreport; the id of its job. See `create_report`.

        Args:
            task_id: of the task.
            report_name: for people.
            from_timestamp, to_timestamp: the interval.
        """
        return self.create_report(task_id, report_name, from_timestamp, to_timestamp).job.id

    def get_rag_evaluation_reports(self, task_id: str) -> list[Report]:
        """The reports of a task, oldest first."""
        return self.list_reports(task_id)

    def export_rag_evaluation_report(
        self, report_id: str, folder: str | Path, file_name: str
    ) -> Path:
        """Writes a report as an Excel workbook.

        Args:
            report_id: of the report.
            folder: made where it is missing.
            file_name: ``.xlsx`` is added where it is not there.
        """
        return _saved(
            self._bytes(calls.file_of(report_id, "xlsx")), Path(folder) / _xlsx(file_name)
        )

    def _do(self, call: Call[T]) -> T:
        try:
            answer = self._http.request(call.method, call.path, params=call.query, **_body(call))
        except httpx2.HTTPError as error:
            raise _unreached(self._http.base_url, error) from error
        return call.read(_json(answer))

    def _bytes(self, path: str) -> bytes:
        try:
            return _checked(self._http.get(path)).content
        except httpx2.HTTPError as error:
            raise _unreached(self._http.base_url, error) from error


class AsyncClient:
    """The client for asynchronous programs: the calls of `Client`, to be awaited.

    Args:
        url, token, timeout, polling: as of `Client`.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        polling: float | None = None,
    ) -> None:
        self._polling = polling_seconds(polling)
        self._http = httpx2.AsyncClient(
            base_url=address(url),
            headers=headers(token),
            timeout=timeout,
            transport=httpx2.AsyncHTTPTransport(retries=RETRIES),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    async def create_project(self, name: str, description: str = "") -> Project:
        """Makes a project; see `calls.create_project`.

        Args:
            name: not that of another project.
            description: for people.
        """
        return await self._do(calls.create_project(name, description))

    async def list_projects(self) -> list[Project]:
        """The projects that the token may read, oldest first."""
        return await self._do(calls.list_projects())

    async def create_task(self, project_id: str, name: str, **options: Any) -> Task:
        """Makes a task.

        Args:
            project_id: of the project.
            name: not that of another task of the project.
            options: separator, default_answer, multi_turn, language, judge, budget.
        """
        return await self._do(calls.create_task(project_id, name, options))

    async def list_tasks(self, project_id: str) -> list[Task]:
        """The tasks of a project, oldest first."""
        return await self._do(calls.list_tasks(project_id))

    async def log(self, task_id: str, records: Sequence[Mapping[str, Any]]) -> Ingested:
        """Stores records, all of them or none.

        Args:
            task_id: of the task.
            records: see docs/service.md; at most 10,000.
        """
        return await self._do(calls.log(task_id, records))

    async def upload_file(self, task_id: str, path: str | Path) -> Upload:
        """Sends a file, which is not imported yet; see `preview_upload` and `import_upload`.

        Args:
            task_id: of the task.
            path: of the file, in any format that `ragassay run` reads.
        """
        return await self._do(calls.upload_file(task_id, path))

    async def preview_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
    ) -> FilePreview:
        """Looks at the first records of a file that was sent. Nothing is stored.

        Args:
            upload_id: of the file.
            columns: field -> column of the file, for names that are not known.
            format: of the file; found out where left out.
        """
        return await self._do(calls.preview_upload(upload_id, columns, format))

    async def import_upload(
        self,
        upload_id: str,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,  # noqa: A002
        *,
        received_as_time: bool = False,
    ) -> Ingested:
        """Stores the records of a file that was sent, all of them or none.

        Args:
            upload_id: of the file.
            columns, format: as of `preview_upload`.
            received_as_time: a record without a time gets that of the import.
        """
        return await self._do(calls.import_upload(upload_id, columns, format, received_as_time))

    async def delete_upload(self, upload_id: str) -> None:
        """Deletes a file that is not to be imported."""
        await self._do(calls.delete_upload(upload_id))

    async def preview_report(
        self, task_id: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> ReportPreview:
        """Says what a report would hold and cost.

        Args:
            task_id: of the task.
            from_timestamp, to_timestamp: seconds since 1970, or ISO 8601 with a zone; inclusive.
            options: of the run: suite, metrics, judge, budget ...
        """
        call = calls.preview_report(task_id, from_timestamp, to_timestamp, options)
        return await self._do(call)

    async def create_report(
        self, task_id: str, name: str, from_timestamp: Time, to_timestamp: Time, **options: Any
    ) -> Started:
        """Asks for a report over the records of an interval.

        Args:
            task_id: of the task.
            name: for people.
            from_timestamp, to_timestamp: seconds since 1970, or ISO 8601 with a zone; inclusive.
            options: of the run: suite, metrics, judge, budget ...
        """
        return await self._do(
            calls.create_report(task_id, name, from_timestamp, to_timestamp, options)
        )

    async def list_reports(self, task_id: str) -> list[Report]:
        """The reports of a task, oldest first."""
        return await self._do(calls.list_reports(task_id))

    async def get_report(self, report_id: str) -> Report:
        """A report."""
        return await self._do(calls.get_report(report_id))

    async def delete_project(self, project_id: str) -> None:
        """Deletes a project with its tasks, records, files, reports and ledger."""
        await self._do(calls.delete_project(project_id))

    async def delete_task(self, task_id: str) -> None:
        """Deletes a task with its records, files and reports."""
        await self._do(calls.delete_task(task_id))

    async def delete_record(self, task_id: str, record_id: str) -> int:
        """Deletes a record with its versions; how many there were.

        Args:
            task_id: of the task.
            record_id: of the record.
        """
        return await self._do(calls.delete_record(task_id, record_id))

    async def delete_report(self, report_id: str) -> None:
        """Deletes a report with its run folder and its jobs."""
        await self._do(calls.delete_report(report_id))

    async def get_job(self, job_id: str) -> Job:
        """A job, and how far it is."""
        return await self._do(calls.get_job(job_id))

    async def list_jobs(self, **conditions: Any) -> list[Job]:
        """The jobs that all conditions hold for: project_id, task_id, report_id, status."""
        return await self._do(calls.list_jobs(conditions))

    async def cancel_job(self, job_id: str) -> Job:
        """Ends a job."""
        return await self._do(calls.cancel_job(job_id))

    async def retry_job(self, job_id: str) -> Job:
        """Does a job that failed again."""
        return await self._do(calls.retry_job(job_id))

    async def wait_job_completion(self, job_id: str, max_wait_timeout: float = 7_200) -> Job:
        """Waits for a job to end.

        Args:
            job_id: of the job.
            max_wait_timeout: seconds to wait at most.

        Raises:
            JobFailed: it ended with an error.
            JobTimeout: it did not end in time.
        """
        give_up = time.monotonic() + max_wait_timeout
        while not (job := await self.get_job(job_id)).has_ended:
            if time.monotonic() >= give_up:
                raise JobTimeout(job_id, max_wait_timeout, job.status)
            await asyncio.sleep(max(0.0, min(self._polling, give_up - time.monotonic())))
        return _done(job)

    async def download_run(self, report_id: str, folder: str | Path) -> Path:
        """Downloads a report's run folder: `ragassay.open_run` reads it.

        Args:
            report_id: of the report.
            folder: a new or empty folder.
        """
        return _unpacked(await self._bytes(calls.run_of(report_id)), folder)

    async def upload_run(self, task_id: str, name: str, run: str | Path) -> Report:
        """Makes a report of a run folder that `ragassay run -o` made.

        Args:
            task_id: of the task.
            name: of the report, for people.
            run: the folder, or a zip, a tar or a tar.gz of it.
        """
        with _packed(run) as archive:
            return await self._do(calls.upload_run(task_id, name, archive))

    async def download_report(self, report_id: str, form: str, path: str | Path) -> Path:
        """Downloads a report as a file.

        Args:
            report_id: of the report.
            form: html, markdown, csv, long-csv, jsonl, parquet, xlsx, png, svg ...
            path: of the file to write.
        """
        return _saved(await self._bytes(calls.file_of(report_id, form)), path)

    async def compare_reports(self, new_id: str, old_id: str, **options: bool) -> dict[str, Any]:
        """Compares two reports, query by query; what `ragassay compare --json` prints of them.

        Args:
            new_id: of the report.
            old_id: of the baseline's report.
            options: ``force``: although metrics or queries differ; ``trust_offline``: with
                verdicts on what was judged offline.
        """
        return await self._do(calls.compare_reports(new_id, old_id, options))

    async def download_comparison(
        self, new_id: str, old_id: str, form: str, path: str | Path, **options: bool
    ) -> Path:
        """Downloads a comparison of two reports as a file.

        Args:
            new_id, old_id, options: as of `compare_reports`.
            form: html, markdown or json.
            path: of the file to write.
        """
        return _saved(await self._bytes(calls.comparison_of(new_id, old_id, form, options)), path)

    async def compute_rag_evaluation_report(
        self, task_id: str, report_name: str, from_timestamp: Time, to_timestamp: Time
    ) -> str:
        """Asks for a report by suite ragreport; the id of its job. See `create_report`.

        Args:
            task_id: of the task.
            report_name: for people.
            from_timestamp, to_timestamp: the interval.
        """
        started = await self.create_report(task_id, report_name, from_timestamp, to_timestamp)
        return started.job.id

    async def get_rag_evaluation_reports(self, task_id: str) -> list[Report]:
        """The reports of a task, oldest first."""
        return await self.list_reports(task_id)

    async def export_rag_evaluation_report(
        self, report_id: str, folder: str | Path, file_name: str
    ) -> Path:
        """Writes a report as an Excel workbook.

        Args:
            report_id: of the report.
            folder: made where it is missing.
            file_name: ``.xlsx`` is added where it is not there.
        """
        return _saved(
            await self._bytes(calls.file_of(report_id, "xlsx")), Path(folder) / _xlsx(file_name)
        )

    async def _do(self, call: Call[T]) -> T:
        try:
            answer = await self._http.request(
                call.method, call.path, params=call.query, **_async_body(call)
            )
        except httpx2.HTTPError as error:
            raise _unreached(self._http.base_url, error) from error
        return call.read(_json(answer))

    async def _bytes(self, path: str) -> bytes:
        try:
            return _checked(await self._http.get(path)).content
        except httpx2.HTTPError as error:
            raise _unreached(self._http.base_url, error) from error


def _body(call: Call[Any]) -> dict[str, Any]:
    return {"json": call.body} if call.file is None else {"content": pieces_of(call.file)}


def _async_body(call: Call[Any]) -> dict[str, Any]:
    if call.file is None:
        return {"json": call.body}
    pieces = pieces_of(call.file)

    async def stream() -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(next, pieces, b""):
            yield piece

    return {"content": stream()}


def _json(answer: httpx2.Response) -> Any:
    """The answer's content; ``None`` where there is none."""
    return _checked(answer).json() if _checked(answer).content else None


def _checked(answer: httpx2.Response) -> httpx2.Response:
    if answer.is_success:
        return answer
    try:
        found = answer.json()
    except ValueError:
        found = None
    raise refusal(answer.status_code, found, answer.text)


def _unreached(url: Any, error: Exception) -> RequestRefused:
    return RequestRefused(0, f"{url} cannot be asked: {type(error).__name__}: {error}.")


def _done(job: Job) -> Job:
    if job.status == "error":
        raise JobFailed(job.id, job.error or "No reason was given.")
    return job


def _unpacked(archive: bytes, folder: str | Path) -> Path:
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"{target} holds something already. Name a new folder.")
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        for name in source.namelist():
            if not (target / name).resolve().is_relative_to(target.resolve()):
                raise UsageError(f"The archive holds {name!r}, which is no file of a run folder.")
        source.extractall(target)
    return target


def _xlsx(file_name: str) -> str:
    return file_name if file_name.endswith(".xlsx") else f"{file_name}.xlsx"


def _saved(content: bytes, path: str | Path) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


@contextmanager
def _packed(run: str | Path) -> Iterator[Path]:
    """An archive of a run folder, or the archive that was named."""
    path = Path(run)
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "run.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            for one in sorted(path.rglob("*")):
                if one.is_file():
                    target.write(one, one.relative_to(path).as_posix())
        yield archive
