"""A package elsewhere adds one thing of each kind by entry points: `examples/plugin`, installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Protocol

import pytest

from ragassay.base import packages
from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.judges.judge_factory import kinds
from run_process import Commands

ROOT = Path(__file__).resolve().parents[1]
TALK = """Q: How tall is it?
A: It is 330 metres tall. I think so.

Q: Who?
A: I do not know.
Q: Why?
A: ...
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package, as pip installs it."""
    folder = tmp_path_factory.mktemp("installed")
    words = [
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(folder),
        str(ROOT / "examples" / "plugin"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False
    )
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("the package index with the build backend cannot be reached")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.transcript"
    path.write_text(TALK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def processes(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """Commands that find the package."""
    if not hasattr(os, "fork"):
        pytest.skip("needs processes that fork")
    with Commands(tmp_path_factory.mktemp("processes"), installed) as made:
        yield made


class Ragassay(Protocol):
    """Runs a command in the test's folder."""

    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def ragassay(processes: Commands, tmp_path: Path) -> Ragassay:
    processes.folder = tmp_path
    return partial(processes.completed, COLUMNS="100")


def test_a_format_a_suite_and_a_metric_are_found(ragassay: Ragassay, talk: Path) -> None:
    done = ragassay("run", talk.name, "--suite", "style", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]["SentenceLength"]
    assert found["metric"] == "words_per_sentence"
    assert found["mean"] == pytest.approx(((5 + 3) / 2 + 4) / 2)
    assert (found["n_scored"], found["unscored"]) == (2, {"undefined": 1})
    one = ragassay("metrics", "words_per_sentence")
    assert one.returncode == 0 and "Words in a sentence" in one.stdout


def test_a_judge_a_report_and_a_plot_are_found(ragassay: Ragassay, talk: Path) -> None:
    run = ("run", talk.name, "-s", "style", "--judge", "baseline", "-o", "out", "--json")
    done = ragassay(*run)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["idk_eval"]["judge"] == "baseline"
    done = ragassay("report", "out", "--format", "means,csv")
    assert done.returncode == 0, done.stderr
    lines = (talk.parent / "out" / "means.txt").read_text().splitlines()
    assert lines[0] == "SentenceLength 4.0000 2/3"
    done = ragassay("plot", "out", "--evaluator", "means", "-o", "means.svg")
    assert done.returncode == 0, done.stderr
    assert "SentenceLength" in (talk.parent / "means.svg").read_text()
    # What a run writes anew does not leave the older run's reports behind, whoever added them.
    assert ragassay(*run).returncode == 0
    assert not (talk.parent / "out" / "means.txt").exists()


class _Generate(BaseHTTPRequestHandler):
    asked: list[dict[str, object]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, **body})
        reply = {"generated_text": '{"reason": "it answers", "answered": "yes"}'}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server with this handler."""
    with HTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, object]]]]:
    asked: list[dict[str, object]] = []
    with serving(type("Handler", (_Generate,), {"asked": asked})) as url:
        yield url, asked


def test_a_protocol_of_endpoints_is_found(
    ragassay: Ragassay, talk: Path, server: tuple[str, list[dict[str, object]]]
) -> None:
    url, asked = server
    words = ("run", talk.name, "-s", "style", "--judge", "tgi:some-model", "--json")
    done = ragassay(*words, TGI_URL=url)
    assert done.returncode in (0, 3), done.stderr
    assert asked and all(one["path"] == "/generate" for one in asked)
    assert "How tall is it?" in str(asked) and "max_new_tokens" not in done.stderr
    assert json.loads(done.stdout)["metrics"]["idk_eval"]["judge"] == "tgi:some-model"


class _Redirect(BaseHTTPRequestHandler):
    there: str

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(302)
        self.send_header("Location", self.there)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Recorder(BaseHTTPRequestHandler):
    keys: list[str | None]

    def do_GET(self) -> None:
        self.keys.append(self.headers["Authorization"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_the_key_follows_no_redirect(ragassay: Ragassay, talk: Path) -> None:
    keys: list[str | None] = []
    other = type("Handler", (_Recorder,), {"keys": keys})
    with serving(other) as there, serving(type("Handler", (_Redirect,), {"there": there})) as url:
        words = ("run", talk.name, "-s", "style", "--judge", "tgi:some-model")
        done = ragassay(*words, TGI_URL=url, TGI_API_KEY="of-a-test")
    assert done.returncode == 3, done.stderr
    assert not keys


def test_help_and_messages_list_what_is_added(ragassay: Ragassay, talk: Path) -> None:
    done = ragassay("run", "--help")
    assert "Installed packages add: metrics words_per_sentence; suites style" in " ".join(
        done.stdout.split()
    )
    ragassay("run", talk.name, "-s", "style", "-o", "out")
    for words, name in (
        (["run", talk.name, "-s", "sytle"], "style"),
        (["report", "out", "--format", "maens"], "means"),
        (["run", talk.name, "--format", "transcirpt"], "transcript"),
        (["run", talk.name, "--judge", "basline", "-m", "idk_eval"], "baseline"),
        (["plot", talk.name, "--evaluator", "mean", "-o", "x.svg"], "means"),
    ):
        done = ragassay(*words)
        assert done.returncode == 2 and name in done.stderr, done.stderr


def test_a_package_that_is_broken_is_told_and_stops_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    info = broken / "broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[ragassay.suites]\nlost = nowhere_to_be_found:SUITE\n")
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "1", "query": "q", "answer": "a", "references": ["a"]}\n')
    path = os.pathsep.join(filter(None, (str(broken), os.environ.get("PYTHONPATH"))))

    def alone(*words: str) -> subprocess.CompletedProcess[str]:
        """A new process: what is told once a process is told here."""
        return subprocess.run(
            [sys.executable, "-m", "ragassay", *words],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
        )  # fmt: skip

    done = alone("metrics", "em")
    assert done.returncode == 0, done.stderr
    done = alone("run", data.name, "--suite", "qa")
    assert done.returncode == 0
    assert "lost of the package broken" in done.stderr and "ModuleNotFoundError" in done.stderr


def test_the_second_of_two_entry_points_of_one_name_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = [EntryPoint("one", value, "ragassay.suites") for value in ("json:dumps", "json:loads")]
    monkeypatch.setattr(packages, "_points", lambda group: points)
    with pytest.warns(RagassayWarning, match=r"json:loads.*json:dumps has the same name"):
        assert packages.added.__wrapped__("suites") == {"one": json.dumps}


def test_a_judge_of_a_package_is_found_in_any_case_and_takes_no_name_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = {"Mine": print}
    monkeypatch.setattr(packages, "added", lambda group: mine)
    assert kinds.__wrapped__()["mine"] is print
    mine["Offline"] = print
    with pytest.raises(UsageError, match="Two judges are called 'offline'"):
        kinds.__wrapped__()
