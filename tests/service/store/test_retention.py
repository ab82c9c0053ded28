"""What is deleted is gone, with all that hangs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service_process import Service, records, serving
from stored_records import CSV

pytest.importorskip("httpx2", reason="needs the extra 'client'")

import ragassay
from ragassay.client.clients import Client
from ragassay.client.service_shapes import RequestRefused
from ragassay.service.store.database import Store

pytestmark = pytest.mark.both_stores

HANGING = ("records", "reports", "report_files", "jobs", "uploads", "upload_parts", "models")


def rows(folder: Path) -> dict[str, int]:
    store = Store(folder)
    with store.reading() as connection:
        found = {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in HANGING
        }
    store.close()
    return {name: count for name, count in found.items() if count}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store."""
    return tmp_path_factory.mktemp("service") / "store"


@pytest.fixture(scope="module")
def service(folder: Path, forked_module: None) -> Iterator[Service]:
    """A service without a worker."""
    with serving(folder, "--no-worker") as made:
        yield made


@pytest.mark.parametrize(
    "delete",
    [
        lambda client, project, task: client.delete_project(project),
        lambda client, project, task: client.delete_task(task),
    ],
)
def test_a_project_or_task_goes_with_its_records_files_reports_and_jobs(
    tmp_path: Path, folder: Path, service: Service, delete: Callable[[Client, str, str], None]
) -> None:
    run, path = tmp_path / "run", tmp_path / "data.csv"
    ragassay.evaluate([{"id": "x", "query": "?", "answer": "a"}], ["BLEU"], save=run)
    path.write_bytes(CSV)
    with Client(f"http://127.0.0.1:{service.port}") as client:
        project = client.create_project("p")
        task = client.create_task(project.id, "t")
        client.add_records(task.id, records(3))
        assert client.delete_record(task.id, "r0") == 1
        assert client.delete_record(task.id, "r0") == 0
        client.upload_file(task.id, path)
        uploaded = client.upload_run(task.id, "elsewhere", run)
        client.delete_report(uploaded.id)
        client.upload_run(task.id, "again", run)
        client.create_report(task.id, "r", 0, 100)
        assert rows(folder) == {
            "records": 2, "reports": 2, "report_files": 1, "jobs": 1, "uploads": 1,
            "upload_parts": 1,
        }  # fmt: skip
        delete(client, project.id, task.id)
        assert rows(folder) == {}
        with pytest.raises(RequestRefused, match="There is no task"):
            client.add_records(task.id, records(1))
