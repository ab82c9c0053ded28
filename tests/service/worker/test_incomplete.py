"""A report in which less than asked could be scored is incomplete; a later try may mend it."""

import json
import subprocess
import threading
import time
import warnings
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from llm_server import LLMServer
from ragassay.base.errors import LedgerError
from ragassay.base.files import cannot_write
from ragassay.client.service_shapes import Progress
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import JUDGE_ANSWER
from ragassay.service.named_models import NamedModels
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import CANCELLED, Queue, cancel_job, get_job, retry_job
from ragassay.service.store.report_files import opened_report
from ragassay.service.store.reports import create_report, get_report, list_reports, preview_report
from ragassay.service.store.store_errors import StoreUnavailable
from ragassay.service.worker import report_process, worker as worker_module
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import a_task, add, asking, item

pytestmark = pytest.mark.usefixtures("forked")

API = "/api/v1"
ASKED = {"suite": ["trecrag"], "metrics": ["umbrela"]}


@pytest.mark.parametrize(
    ("address", "share"), [("sqlite", 1.0), ("postgresql", 0.5)], indirect=["address"]
)
def test_a_report_that_lacks_scores_is_incomplete_at_first(store, tmp_path, share, caplog) -> None:
    caplog.set_level("INFO", "ragassay.service")
    views = tmp_path / "views"
    client = asking(store, views=views)
    worker = Worker(store, WorkerOptions(tmp_path / "work", poll=0.1))
    with LLMServer() as server:
        server.settings.faults = lambda request: "auth" if request.index >= 2 - 2 * share else None
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store, *(item(n) for n in range(3)))
        report, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED)
        worker.run(until_idle=True)
        found = client.get(f"{API}/reports/{report.id}").json()
        assert found["status"] == "incomplete" and "missing" in found["error"]
        assert client.get(f"{API}/jobs?status=incomplete").json()[0]["id"] == job.id
        (one,) = client.get(f"/sdk/v1/task/{task.id}/rag-evaluation").json()
        (told,) = client.get("/sdk/v1/job").json()
        assert one["status"] == told["status"] == "error", "no score at all"
        assert told["error"] == found["error"] and told["job_group"] == "rag_evaluation"
        ends = [one[name][:19] for name in ("from_datetime", "to_datetime")]
        assert ends == ["1970-01-01T00:00:00", "2001-09-09T01:46:40"]
        page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
        assert "Incomplete." in page and f"/reports/{report.id}/retry" in page
        assert client.get(f"{API}/reports/{report.id}/files/csv").status_code == 200
        server.settings.faults = {}
        assert client.post(f"{API}/jobs/{job.id}/retry").status_code == 200
        worker.run(until_idle=True)
    done = get_report(store, report.id)
    assert (done.status, done.error) == ("completed", None)
    assert done.headline and done.headline["umbrela"]["n_scored"] == 3
    page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
    assert "Incomplete." not in page
    assert client.post(f"{API}/jobs/{job.id}/retry").status_code == 409
    assert [one.status for one in list_reports(store, task.id)] == ["completed"]
    ends = [one.facts["outcome"] for one in caplog.records if one.getMessage()[:4] == "job "]
    assert ends == ["incomplete", "completed"]


def test_a_later_try_that_brings_nothing_leaves_the_report_readable(store, tmp_path: Path) -> None:
    views = tmp_path / "views"
    client = asking(store, views=views)
    with LLMServer() as server:
        server.settings.faults = lambda request: "auth" if request.index >= 1 else None
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store, *(item(n) for n in range(3)))
        report, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED)
        Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)

    def shown() -> str:
        found = get_report(store, report.id)
        assert found.is_there and found.headline
        assert client.get(f"{API}/reports/{report.id}/files/csv").status_code == 200
        page = client.get(f"/reports/{report.id}", headers={"Accept": "text/html"}).text
        assert "umbrela" in page and 'id="browse"' in page
        assert [one.name.partition("@")[0] for one in views.iterdir()] == [report.id]
        return page

    assert "Incomplete." in shown()
    answer = client.post(f"/reports/{report.id}/retry", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/reports/{report.id}")
    page = shown()
    assert "A new try is running." in page and f"/reports/{report.id}/cancel" in page
    assert client.post(f"/reports/{report.id}/cancel", follow_redirects=False).status_code == 303
    assert get_report(store, report.id).status == "error"
    assert "The last try failed." in (page := shown()) and "It was cancelled." in page
    retry_job(store, job.id)
    queue = Queue(store, "w")
    assert queue.take()
    with store.writing() as connection:
        queue.end(connection, job.id, "It broke down.")
    assert "It broke down." in shown()
    listed = client.get(f"/tasks/{task.id}", headers={"Accept": "text/html"}).text
    assert "It broke down." in listed


def test_a_report_is_incomplete_where_the_judge_has_no_answer_to_a_metric(store, tmp_path) -> None:
    worker = Worker(store, WorkerOptions(tmp_path / "work", poll=0.1))
    arabic = "كتبته آن في المدينة."  # it reads none, which is no reason while others have scores
    both = [item(n, response=text, expected=text) for n, text in enumerate(("Ann.", arabic))]
    task = a_task(store, *both)
    asked = {"metrics": ["answer_words", "answer_match"]}
    counted, _ = create_report(store, task.id, "s", 0.0, 1e9, asked)
    judged, _ = create_report(store, task.id, "j", 0.0, 1e9)
    twice = a_task(store, item(1), item(1, repeat=1), name="twice")
    repeated, _ = create_report(store, twice.id, "c", 0.0, 1e9, {"suite": ["consistency"]})
    worker.run(until_idle=True)
    assert get_report(store, counted.id).status == "completed"
    found = get_report(store, judged.id)
    assert found.status == "incomplete" and "satisfaction" in str(found.error)
    runs = get_report(store, repeated.id)
    assert runs.status == "incomplete" and "a model is not installed" in str(runs.error)
    client = asking(store)
    listed = client.get(f"/sdk/v1/task/{task.id}/rag-evaluation").json()
    # ML cube's client has no word for it, and there are scores.
    assert [one["status"] for one in listed] == ["completed", "completed"]
    done = client.get("/sdk/v1/job", params={"status": "completed", "task_id": task.id}).json()
    assert [one["error"] is None for one in done] == [True, False]


def test_a_later_try_asks_again_what_the_judge_answered_unusably(store: Store, tmp_path) -> None:
    worker = Worker(store, WorkerOptions(tmp_path / "work", poll=0.1))
    with LLMServer() as server:
        server.settings.faults = lambda request: "empty"
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store, item(1))
        report, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED)
        worker.run(until_idle=True)
        assert get_report(store, report.id).status == "incomplete"
        server.settings.faults = {}
        n = server.stats()["requests"]
        other, _ = create_report(store, task.id, "s", 0.0, 1e9, ASKED)
        worker.run(until_idle=True)
        assert get_report(store, other.id).status == "incomplete"
        assert server.stats()["requests"] == n, "a new report pays for no failure again"
        retry_job(store, job.id)
        worker.run(until_idle=True)
    assert get_report(store, report.id).status == "completed"


@pytest.mark.parametrize("cancels", [True, False])
def test_a_job_cut_short_keeps_what_is_paid(store, tmp_path, monkeypatch, cancels, caplog) -> None:
    caplog.set_level("INFO", "ragassay.service")
    told, send = threading.Event(), subprocess.Popen.send_signal
    options = WorkerOptions(tmp_path / "work", beat=0.05, poll=0.05)
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda *words: (send(*words), told.set()))
    with LLMServer(hold=True) as server:
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        _, job = create_report(store, a_task(store, item(1), item(2)).id, "r", 0.0, 1e9, ASKED)
        worker = Worker(store, options)
        (working := threading.Thread(target=worker.run)).start()
        while not server.stats()["in_flight"]:
            time.sleep(0.01)
        cancel_job(store, job.id) if cancels else worker.stop()
        assert told.wait(60)
        server.settings.hold = False
        while (ended := get_job(store, job.id)).status in ("starting", "running"):
            time.sleep(0.01)
        worker.stop()
        working.join()
        state = (ended.status, ended.error, ended.attempts)
        assert state == (("error", CANCELLED, 1) if cancels else ("idle", None, 0))
        if cancels:
            retry_job(store, job.id)
        Worker(store, options).run(until_idle=True)
        assert get_job(store, job.id).status == "completed"
        ends = [one.facts["outcome"] for one in caplog.records if one.getMessage()[:4] == "job "]
        assert ends == ["cancelled" if cancels else "given back", "completed"]
        assert server.stats()["answered"] == 4, "an answer that was in flight is not lost"


@pytest.mark.parametrize("counts", [True, False])
def test_a_job_says_all_that_was_sent_and_dollars_where_known(store, tmp_path, counts) -> None:
    with LLMServer(usage=counts) as server:
        store.models = NamedModels.parse([f"fast={server.url}#m"])
        task = a_task(store, *(item(n) for n in range(3)))
        _, job = create_report(store, task.id, "r", 0.0, 1e9, ASKED | {"price": "1,2"})
        Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    with Ledger(store.ledger(task.project_id)) as ledger:
        paid = [one.cost for one in ledger.rows("kind = ?", JUDGE_ANSWER)]
    progress = get_job(store, job.id).progress
    assert (progress.done, progress.total, progress.calls, len(paid)) == (3, 3, 6, 6)
    assert preview_report(store, task.id, 0.0, 1e9, ASKED).held.low == 6
    assert progress.cost == (pytest.approx(sum(paid)) if counts else None)
    assert counts or set(paid) == {None}, "an endpoint that counts no tokens"


@pytest.mark.parametrize("asked", [{"where": ["system=v1"], "limit": 9}, {"limit": 2}])
def test_progress_counts_the_records_of_a_report(store, tmp_path, monkeypatch, asked) -> None:
    task = a_task(store, *(item(n) | {"system": f"v{1 if n < 2 else 2}"} for n in range(5)))
    options, n_words, beat = {"metrics": ["answer_words"], **asked}, set[int](), Queue.beat
    kept = lambda queue, *words: n_words.add(len(words)) or beat(queue, *words)  # noqa: E731
    monkeypatch.setattr(Queue, "beat", kept)
    _, job = create_report(store, task.id, "r", 0.0, 1e9, options)
    Worker(store, WorkerOptions(tmp_path / "work", 1e-5, poll=0.1)).run(until_idle=True)
    assert n_words == {1, 2}, "it says that it lives, also while it reads records"
    progress = get_job(store, job.id).progress
    assert (progress.done, progress.total) == (2, 2)
    assert Progress(done=2, total=10, seconds=3.0).seconds_left == 12.0


@pytest.mark.parametrize("kind", ["file", "ledger"])
def test_what_cannot_be_written_names_no_place_of_the_server(monkeypatch, capsys, kind) -> None:
    def full(*_: Any, **__: Any) -> Any:
        if kind == "ledger":
            raise LedgerError("/srv/x: the ledger cannot be written. Choose another: --ledger.")
        error = OSError(28, "No space left on device")
        raise cannot_write(Path("/srv/x"), error) from error

    monkeypatch.setattr(report_process, "prepare", full)
    monkeypatch.setattr(report_process, "_end_with_the_worker", lambda: None)
    monkeypatch.setattr("sys.stdin", StringIO('{"data": "x", "output": "y"}\n'))
    hidden = (report_process, "hide_replies")
    monkeypatch.setattr(*hidden, lambda: None)
    monkeypatch.setattr(report_process.signal, "signal", lambda *_: None)
    assert report_process.main() == 2
    told = json.loads(capsys.readouterr().out)
    assert "/srv" in told.pop("log")
    assert told.keys() == {"error"} and "cannot write to its disk" in told["error"]
    assert "/srv" not in told["error"] and "--" not in told["error"]


def test_warnings_of_a_report_are_its_own_and_no_lines_of_the_log(store, tmp_path, capfd) -> None:
    store.models = NamedModels.parse([], ["near=http://127.0.0.1:9/v1#e"])
    task = a_task(store, item(1))
    asked = {"metrics": ["answer_words"], "embedder": "near"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report, _ = create_report(store, task.id, "r", 0.0, 1e9, asked)
    capfd.readouterr()
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    with opened_report(store, report.id) as result:
        (note,) = [one for one in result.summary.warnings if "near is not used" in one]
    assert "127.0.0.1" not in note and "near" not in capfd.readouterr().err


def test_a_result_that_is_not_taken_at_once_is_stored_later(store, tmp_path, monkeypatch) -> None:
    task, keep, n_tries = a_task(store), worker_module.keep_run, 0
    add(store, task, [item(1)])
    report, job = create_report(store, task.id, "r", 0.0, 1e9, {"metrics": ["answer_words"]})

    def away_twice(*words: Any) -> None:
        nonlocal n_tries
        n_tries += 1
        if n_tries <= 2:
            raise StoreUnavailable("It restarts.")
        keep(*words)

    computed: list[str] = []
    run = worker_module._ReportJob.run

    def counted(work: Any, stopped: Any) -> Any:
        computed.append("once")
        return run(work, stopped)

    monkeypatch.setattr(worker_module, "keep_run", away_twice)
    monkeypatch.setattr(worker_module._ReportJob, "run", counted)
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.01)).run(until_idle=True)
    assert (n_tries, computed) == (3, ["once"]) and get_job(store, job.id).status == "completed"
    assert get_report(store, report.id).is_there
