"""A backup is made while the service is used; what was acknowledged before comes back from it."""

import asyncio
import shutil
import stat
import threading
from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.service.store.database import Store
from ragassay.service.store.records import count_records
from ragassay.service.store.reports import run_archive
from service_process import finished, records, serving, with_records
from stored_records import a_task, item


@pytest.mark.usefixtures("forked")
def test_what_was_acknowledged_before_a_backup_is_there_afterwards(tmp_path: Path, capsys) -> None:
    folder, copy = tmp_path / "data", tmp_path / "backups" / "monday"
    with serving(folder) as service:
        task = with_records(service, 50)
        asked = {"name": "all", "from_timestamp": 0, "to_timestamp": 10}
        report = service.ask("POST", f"tasks/{task}/reports", asked)["report"]["id"]
        headline = finished(service, report)["headline"]
        acknowledged, ended = [50], threading.Event()

        def log() -> None:
            while not ended.is_set():
                batch = records(acknowledged[-1] + 20)[-20:]
                service.ask("POST", f"tasks/{task}/records", {"records": batch})
                acknowledged.append(acknowledged[-1] + 20)

        logging = threading.Thread(target=log)
        logging.start()
        try:
            least = acknowledged[-1]
            assert call(["backup", str(folder), str(copy)]) == 0
        finally:
            ended.set()
            logging.join()
    assert capsys.readouterr().out == f"backup: {copy}\n"
    assert not list(tmp_path.glob("backups/.*"))
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [copy, *copy.rglob("*")]}
    assert not [path for path, mode in modes.items() if mode & 0o077]
    shutil.rmtree(folder)
    copy.rename(folder)
    with serving(folder, "--no-worker") as service:
        assert service.ask("GET", f"reports/{report}")["headline"] == headline
        store = Store(folder)
        assert count_records(store, task) >= least
        assert run_archive(store, report).startswith(b"PK")
        store.close()


def test_a_backup_has_the_paid_answers_and_nothing_that_was_deleted(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    task = a_task(store, item(1, response="a word that is gone"))
    with Ledger(store.ledger(task.project_id)) as ledger:
        asyncio.run(ledger.reject("https://there", "m", ["seed"]))
        with store.writing() as connection:
            connection.exec_driver_sql("DELETE FROM records")
        assert call(["backup", str(tmp_path / "data"), str(tmp_path / "copy")]) == 0
    store.close()
    assert b"a word that is gone" not in (tmp_path / "copy" / "ragassay.sqlite").read_bytes()
    copied = Store(tmp_path / "copy")
    with Ledger(copied.ledger(task.project_id)) as ledger:
        assert list(ledger.rejected("https://there", "m")) == ["seed"]
    copied.close()


def test_a_backup_goes_beside_the_store_and_never_over_something(tmp_path, capsys) -> None:
    Store(tmp_path / "data").close()
    assert call(["backup", str(tmp_path / "data")]) == 0
    made = Path(capsys.readouterr().out.removeprefix("backup: ").strip())
    assert made.parent == tmp_path and made.name.startswith("data-20")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert call(["backup", str(tmp_path / "data"), str(tmp_path / "full")]) == 2
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    assert call(["backup", str(tmp_path / "data"), str(tmp_path / "empty")]) == 0
    assert call(["backup", str(tmp_path / "nowhere")]) == 2
    assert not (tmp_path / "nowhere").exists()
    capsys.readouterr()
    assert call(["backup", "postgresql://me:secret@db/x"]) == 2
    told = capsys.readouterr().err
    assert "pg_dump" in told and "secret" not in told
