"""A package elsewhere adds one thing of each kind by entry points: `examples/plugin`, installed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Protocol

import pytest

from local_server import LocalServer, Reply
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
    plugin = str(ROOT / "examples" / "plugin")
    words = ["install", "-q", "--no-deps", "--target", str(folder), plugin]
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


class Generates(LocalServer):
    """Answers as a server of that protocol does, or sends elsewhere; keeps what it was asked."""

    def __init__(self, elsewhere: str = "") -> None:
        self.elsewhere = elsewhere
        self.asked: list[dict[str, object]] = []

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        self.asked.append({"path": request.path, **json.loads(body or b"{}")})
        if self.elsewhere:
            return Reply(status=302, headers={"Location": self.elsewhere})
        text = '{"reason": "it answers", "says_idk": "no"}'
        return Reply(json.dumps({"generated_text": text}).encode())


def test_a_protocol_of_endpoints_is_found(ragassay: Ragassay, talk: Path) -> None:
    words = ("run", talk.name, "-s", "style", "--judge", "tgi:some-model", "--json")
    with Generates() as server:
        done = ragassay(*words, TGI_URL=server.url)
    asked = server.asked
    assert done.returncode in (0, 3), done.stderr
    assert asked and all(one["path"] == "/generate" for one in asked)
    assert "How tall is it?" in str(asked) and "max_new_tokens" not in done.stderr
    assert json.loads(done.stdout)["metrics"]["idk_eval"]["judge"] == "tgi:some-model"


def test_the_key_follows_no_redirect(ragassay: Ragassay, talk: Path) -> None:
    words = ("run", talk.name, "-s", "style", "--judge", "tgi:some-model")
    with Generates() as there, Generates(there.url) as server:
        done = ragassay(*words, TGI_URL=server.url, TGI_API_KEY="of-a-test")
    assert done.returncode == 3, done.stderr
    assert server.asked and not there.asked


def test_help_and_messages_list_what_is_added(ragassay: Ragassay, talk: Path) -> None:
    done = ragassay("run", "--help")
    assert (
        "Installed packages add: metrics words_per_sentence; suites style; formats transcript; "
        "judges baseline; endpoints tgi; reports means; plots means."
        in " ".join(done.stdout.split())
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


def test_the_second_of_two_entry_points_of_one_name_is_left_out_and_told(monkeypatch) -> None:
    points = [EntryPoint("one", value, "ragassay.suites") for value in ("json:dumps", "json:loads")]
    monkeypatch.setattr(packages, "_points", lambda group: points)
    with pytest.warns(RagassayWarning, match=r"json:loads.*json:dumps has the same name"):
        assert packages.added.__wrapped__("suites") == {"one": json.dumps}


def test_a_judge_of_a_package_is_found_in_any_case_and_takes_no_name_of_ours(monkeypatch) -> None:
    mine = {"Mine": print}
    monkeypatch.setattr(packages, "added", lambda group: mine)
    assert kinds.__wrapped__()["mine"] is print
    mine["Offline"] = print
    with pytest.raises(UsageError, match="Two judges are called 'offline'"):
        kinds.__wrapped__()
