"""The commands of the service, as processes: they serve, work, survive and end."""

import errno
import json
import os
import signal
import socket
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ragassay.cli import serve_commands
from ragassay.cli.command_line import call
from ragassay.service import application
from ragassay.service.operation import service_log
from ragassay.service.store.database import Store
from ragassay.service.store.projects import create_project
from ragassay.service.worker.worker import Worker
from service_process import finished, serving, until, with_records, working

JSON = "application/json"

ANSWERED = {"options": {"metrics": ["ragreport_relevance"]}}
"""Options of a report that the offline judge has an answer to."""


@pytest.mark.usefixtures("forked")
def test_a_report_is_computed_by_the_service_and_by_a_worker_beside(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "data"
    asked = {"name": "all", "from_timestamp": 0, "to_timestamp": 1000, **ANSWERED}
    with serving(folder) as service:
        task = with_records(service, 5)
        report = service.ask("POST", f"tasks/{task}/reports", asked)["report"]["id"]
        done = finished(service, report)
        assert done["headline"]["ragreport_relevance"]["n_scored"] == 5
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(60) in (0, 130)
    with serving(folder, "--no-worker") as service:
        second = service.ask("POST", f"tasks/{task}/reports", asked)["report"]["id"]
        assert call(["worker", str(folder), "--until-idle"]) == 0
        assert service.ask("GET", f"reports/{second}")["headline"] == done["headline"]
    capsys.readouterr()


@pytest.mark.usefixtures("forked")
def test_what_was_acknowledged_survives_a_kill_and_the_job_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    asked = {"name": "all", "from_timestamp": 0, "to_timestamp": 1e6, **ANSWERED}
    with serving(folder) as service:
        task = with_records(service, 400)
        report = service.ask("POST", f"tasks/{task}/reports", asked)["report"]["id"]
        until(lambda: service.ask("GET", f"reports/{report}")["status"] != "idle")
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait()
    with serving(folder, "--no-worker") as service, working(folder, lease=1.0):
        assert service.ask("GET", f"tasks/{task}/records?limit=1")["items"][0]["id"] == "r399"
        assert finished(service, report)["headline"]["ragreport_relevance"]["n_scored"] == 400
    # The process that computed it did not outlive the service that was killed.
    assert not [path for path in (folder / "work").iterdir() if path.name.startswith("job-")]


@pytest.mark.usefixtures("forked")
def test_tokens_are_made_listed_and_revoked(tmp_path, capsys) -> None:
    at = ["--store", str(tmp_path / "data")]
    assert call(["token", "create", "me", "--scope", "read", *at]) == 0
    value = capsys.readouterr().out.strip()
    assert value.startswith("ragassay_") and "\n" not in value
    with serving(tmp_path / "data") as service:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            service.ask("GET", "projects")
        headers = {"Authorization": f"Bearer {value}"}
        url = f"http://127.0.0.1:{service.port}/api/v1/projects"
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as reply:
            assert reply.status == 200
    assert call(["token", "list", *at]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    key = line.split()[0]
    assert "me  read  all projects  last used 20" in line and value not in line
    assert "(expired)" not in line
    assert call(["token", "create", "you", "--days", "1e-9", *at]) == 0
    capsys.readouterr()
    assert call(["token", "revoke", key, *at]) == 0
    assert capsys.readouterr().out == "Revoked.\n"
    assert call(["token", "list", *at]) == 0
    last, *_, mark = capsys.readouterr().out.split()
    assert mark == "(expired)"
    assert call(["token", "revoke", last, *at]) == 0
    assert "'ragassay serve --open'" in capsys.readouterr().out
    assert call(["token", "list", *at]) == 0
    assert "every request needs one" in capsys.readouterr().out
    assert call(["token", "revoke", key, *at]) == 2
    assert "There is no token" in capsys.readouterr().err
    with closing(Store(tmp_path / "data")) as store:
        for name in ("first", "own", "last"):
            create_project(store, name)
    for name, code in (("nowhere", 2), ("own", 0)):
        assert call(["token", "create", "x", "--project", name, *at]) == code
    capsys.readouterr()
    assert call(["token", "list", *at]) == 0 and "  own  never used" in capsys.readouterr().out
    assert call(["token", "list", "--store", str(tmp_path / "other")]) == 2
    assert "Start it once" in capsys.readouterr().err


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("trusted", [True, False])
def test_only_behind_a_proxy_its_headers_are_believed(tmp_path, trusted: bool, capsys) -> None:
    assert call(["token", "create", "me", "--scope", "read", "--store", f"{tmp_path}/data"]) == 0
    value = capsys.readouterr().out.strip()
    words = ["--behind-proxy", "--name", "rag.example.org"] if trusted else []
    host = "rag.example.org" if trusted else "127.0.0.1"
    with serving(tmp_path / "data", *words) as service:
        url = f"http://127.0.0.1:{service.port}"

        def ask(path: str, data: bytes | None = None, **more: str) -> Any:
            headers = {"Host": host, "X-Forwarded-Proto": "https", "Content-Type": JSON}
            request = urllib.request.Request(url + path, data, headers | more)
            with urllib.request.urlopen(request) as reply:
                return reply.headers, reply.read()

        signed_in, _ = ask("/login", json.dumps({"token": value}).encode())
        cookie = signed_in["Set-Cookie"]
        assert "HttpOnly" in cookie and ("Secure" in cookie) is trusted
        _, body = ask("/api/v1/whoami", Cookie=cookie.partition(";")[0])
        assert json.loads(body)["name"] == "me" and json.loads(body)["scope"] == "read"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask("/api/v1/whoami", **{"X-Forwarded-For": "127.0.0.1"})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            ask("/login", b"{}", Origin=f"https://{host}:444")


@pytest.mark.parametrize(("words", "message"), [
    (["--host", "0.0.0.0"], "Make a token first"), (["--behind-proxy"], "Make a token first"),
    (["--behind-proxy", "--open"], "--open serves this machine only"),
    (["data", "--store", "postgresql://x/y"], "Keep one of them"),
    (["--store", "mysql://x/y"], "not mysql"),
    (["--store", "postgresql://nobody@127.0.0.1:9/x"], "cannot be used"),
    (["--port", "99999"], "--port: there is no port 99999; choose one from 1 to 65535."),
    (["--keep", "0d"], "--keep: '0d' is not a number of days"),
])  # fmt: skip
def test_a_service_that_cannot_be_is_refused(words, message, here, capsys) -> None:
    assert call(["serve", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_port_that_is_in_use_is_refused_before_the_service_says_that_it_serves(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert call(["serve", str(tmp_path / "data"), "--port", str(port)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"cannot listen at 127.0.0.1:{port}" in told.err
    assert "Address already in use" in told.err and "choose another --port" in told.err
    for number, key in ((errno.EACCES, "port"), (errno.EADDRNOTAVAIL, "host")):
        taken = Mock(side_effect=OSError(number, "no"))
        monkeypatch.setattr("socket.create_server", taken)
        assert call(["serve", str(tmp_path / "data")]) == 2
        assert f"(no); choose another --{key}" in capsys.readouterr().err


def test_a_service_and_its_worker_are_as_was_said(tmp_path: Path, monkeypatch, capsys) -> None:
    taken: list[Any] = []

    def listening(*at: Any) -> socket.socket:
        taken.append(at)
        return socket.create_server(("127.0.0.1", 0))

    def work(worker: Worker, *, until_idle: bool) -> None:
        signal.raise_signal(signal.SIGTERM)
        taken.append((until_idle, worker._stopped.is_set()))

    monkeypatch.setattr(application, "create_app", lambda store, options: taken.append(options))
    monkeypatch.setattr(serve_commands, "run_server", lambda *_, **how: taken.append(how))
    monkeypatch.setattr(serve_commands, "listening", listening)
    monkeypatch.setattr(service_log, "start_log", taken.append)
    monkeypatch.setattr(Worker, "run", work)
    words = "--host ::1 --port 65535 --name a --name b --no-worker --open --keep 90d --behind-proxy"
    assert call(["serve", str(tmp_path), *words.split()]) == 0
    offered = application.ServiceOptions(
        "::1", ("a", "b"), views=tmp_path / "views", open=True, behind_proxy=True, keep_days=90
    )
    assert taken == [offered, None, ("::1", 65_535), {"behind_proxy": True}]
    assert "http://[::1]:" in capsys.readouterr().out
    for words in ("--log json", "--until-idle"):
        assert call(["worker", str(tmp_path), *words.split()]) == 0
    assert taken[4:] == ["json", (False, True), None, (True, True)]
    assert call(["worker", str(tmp_path / "nosuch"), "--until-idle"]) == 2
    assert "There is no service in" in capsys.readouterr().err
    assert not (tmp_path / "nosuch").exists()
