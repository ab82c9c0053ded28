"""Whoever keeps the service running sees what it does, and no content of what it keeps."""

import json
import logging
import re
import signal
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ragassay.service.operation.service_log import log_event, metrics_text, start_log
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import Queue, get_job
from ragassay.service.store.projects import create_project
from ragassay.service.store.tokens import create_token
from service_process import records, serving, until
from stored_records import a_job

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)*)\})? (-?\d+(?:\.\d+)?(?:e-?\d+)?)$')
UNSEEN = "secretword"
EMBEDDER = "near=http://127.0.0.1:9/v1#e"


class Used:
    """A service with a log, and what a client with a token did."""

    def __init__(self, folder: Path, form: str) -> None:
        store = Store(folder)
        self.project = create_project(store, "p").id
        _, self.token = create_token(store, "me & co", "write")
        _, self.narrow = create_token(store, "narrow", "read", self.project)
        store.close()
        self._folder, self._form = folder, form

    def __enter__(self) -> "Used":
        self._serving = serving(self._folder, "--log", self._form, "--embedder", EMBEDDER)
        self.service = self._serving.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)

    def asks(self, path: str, token: str = "", body: Any = None, method: Any = None) -> Any:
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        url = f"http://127.0.0.1:{self.service.port}{path}"
        data = None if body is None else json.dumps(body).encode()
        try:
            asked = urllib.request.Request(url, data, headers, method=method)
            with urllib.request.urlopen(asked) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def lines(self) -> list[str]:
        """Its log, after its end."""
        self.service.process.send_signal(signal.SIGINT)
        assert self.service.process.stdout is not None
        return [line for line in self.service.process.stdout if "ragassay serves" not in line]


def use(used: Used) -> None:
    """Logs a record, looks for it, and has a report made."""
    api = "/api/v1"
    task = json.loads(
        used.asks(f"{api}/projects/{used.project}/tasks", used.token, {"name": "t"})[1]
    )
    place = f"{api}/tasks/{task['id']}"
    record = {**records(1)[0], "id": f"{UNSEEN}-id", "response": UNSEEN}
    assert used.asks(f"{place}/records", used.token, {"records": [record]})[0] == 200
    assert used.asks(f"{place}/records?text={UNSEEN}", used.token)[0] == 200
    assert used.asks(f"{place}/records/{UNSEEN}-id", used.token)[0] == 200
    assert used.asks(f"{api}/{UNSEEN}", used.token)[0] == 404
    assert used.asks(f"{place}/records")[0] == 401
    asked = {"from_timestamp": 0, "to_timestamp": 9}
    asked |= {"options": {"metrics": ["answer_words"], "embedder": "near"}}  # it is not used
    assert "near is not used" in used.asks(f"{place}/reports/preview", used.token, asked)[1]
    asked |= {"name": UNSEEN}
    job = json.loads(used.asks(f"{place}/reports", used.token, asked)[1])["job"]["id"]
    until(lambda: '"completed"' in used.asks(f"{api}/jobs/{job}", used.token)[1])


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory, forked_module: None) -> Iterator[Used]:
    """A service that logs JSON and was used."""
    with Used(tmp_path_factory.mktemp("service") / "data", "json") as made:
        use(made)
        yield made


def samples(text: str) -> dict[tuple[str, str], float]:
    """The values by name and labels; each line is a comment or a sample of a declared metric."""
    found, declared = {}, set()
    for line in text.splitlines():
        if line.startswith("#"):
            declared.add(line.split()[2])  # a type
            continue
        match = SAMPLE.match(line)
        assert match and match[1] in declared, line
        found[match[1], match[2] or ""] = float(match[3])
    return found


def test_metrics_are_there_for_a_token_of_all_projects(used: Used) -> None:
    assert used.asks("/health")[0] == used.asks("/api/v1/health")[0] == 200
    assert used.asks("/metrics")[0] == 401
    assert used.asks("/metrics", used.narrow)[0] == 403
    assert used.asks("/health", method="TRACE")[0] == 405
    status, text = used.asks("/metrics", used.token)
    assert status == 200 and UNSEEN not in text and text.endswith("\n")
    found = samples(text)
    posts = 'method="POST",route="/api/v1/tasks/{task_id}/records",status="200"'
    assert found["ragassay_requests_total", posts] == 1
    assert found["ragassay_requests_total", 'method="other",route="/health",status="405"'] == 1
    refused = [n for (_, labels), n in found.items() if 'status="401"' in labels]
    assert sum(refused) >= 2
    assert found["ragassay_jobs", 'status="completed"'] == 1
    assert found["ragassay_jobs", 'status="idle"'] == 0
    assert found["ragassay_queue_age_seconds", ""] == 0


def test_the_log_has_a_line_a_request_and_job_and_no_content(used: Used) -> None:
    lines = used.lines()
    assert UNSEEN not in "".join(lines)
    events = [json.loads(line) for line in lines]
    for one in events:
        assert datetime.fromisoformat(one["time"]).tzinfo and one["level"] == "info", one
    route = "/api/v1/tasks/{task_id}/records"
    by_route = [one for one in events if one.get("route") == route]
    facts = [(one["method"], one["status"], one["token"]) for one in by_route]
    assert facts[:2] == [("POST", 200, "me & co"), ("GET", 200, "me & co")]
    (refused, *_) = [one for one in events if one.get("status") == 401]
    assert refused["token"] is None
    (job,) = [one for one in events if one["event"] == "job"]
    facts = [job[name] for name in ("kind", "outcome", "records", "calls")]
    assert facts == ["report", "completed", 1, 0] and job["seconds"] > 0


def test_lines_of_text_hold_the_same_and_no_line_can_be_forged(capsys) -> None:
    start_log("text")
    log_event("request", status=200, token='a "name"\n2026 info x=1', route="/a", x="y=1", n=None)
    (line,) = capsys.readouterr().err.splitlines()
    time, level, event, *facts = line.split(maxsplit=3)
    assert datetime.fromisoformat(time).tzinfo and (level, event) == ("info", "request")
    assert facts[0].startswith('status=200 token="a \\"name\\"\\n2026 info x=1" route=/a x="y=1"')
    start_log("json")
    logging.getLogger("uvicorn").error("It broke.", exc_info=ValueError("why"))
    assert "ValueError: why" in json.loads(capsys.readouterr().err)["exception"]
    start_log(None)
    log_event("request", status=200)
    assert capsys.readouterr().err == ""
    log_event("error", level=40, error="x")
    assert " error error=x\n" in capsys.readouterr().err


def test_what_waits_is_counted(store: Store) -> None:
    first, second, third = (a_job(store) for _ in range(3))  # the third waits for less long
    assert Queue(store, "w").take() is not None
    with store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE jobs SET updated = 1000 WHERE id = '{second}'")
    found = samples(metrics_text(Counter(), store))
    jobs = [found["ragassay_jobs", f'status="{one}"'] for one in ("starting", "idle", "error")]
    assert jobs == [1, 2, 0] and found["ragassay_queue_age_seconds", ""] > 1e9
    assert get_job(store, third).status == "idle"
    assert get_job(store, first).status == "starting"
