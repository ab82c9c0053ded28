"""Why the judge did not answer is told once, in every output, whatever else was scored."""

import json
import socket
from pathlib import Path

import pytest

from json_lines import jsonl
from llm_server import LLMServer
from ragassay.cli.command_line import call
from ragassay.reports.text.wording import sentence

RECORD = {"id": "q1", "query": "Who wrote Dune?", "answer": "Herbert.", "references": ["Herbert"]}

AGAIN = "Run again to ask these."


pytestmark = pytest.mark.usefixtures("no_long_waits")


@pytest.fixture
def data(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RAGASSAY_API_KEY", raising=False)
    each = ({**RECORD, "id": f"q{at}", "answer": "Herbert." * (at > 0)} for at in range(3))
    return jsonl(here / "answers.jsonl", *each)


def outputs(data: Path, url: str, capsys, timeout: str = "5") -> tuple[str, dict]:
    """Terminal, HTML and Markdown as one text of one line, and the summary, of a run in which one
    metric needs the judge and one does not."""
    words = ["run", str(data), "--metrics", "em,answered", "--judge", f"{url}#m2", "-o", "out"]
    assert call([*words, "--timeout", timeout]) == 3
    terminal = " ".join(capsys.readouterr().out.split())
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["metrics"]["em"]["n_scored"] == 3
    assert summary["metrics"]["answered"]["n_scored"] == 1, "an empty answer needs no judge"
    assert not summary["metrics"]["answered"]["judge"] and "Judged by" not in terminal
    (said,) = summary["warnings"]
    for name in ("report.html", "report.md"):
        text = Path("out", name).read_text()
        assert said.partition(" (")[0] in text and summary["judging"]["details"]
    assert said in terminal
    return terminal, summary


@pytest.mark.parametrize(("settings", "reason", "says"), [
    ({"models": ["good-model"]}, "auth", "does not know the model 'm2'"),
    ({"faults": {"quota": 1.0}}, "auth", "has no credit left|gives no credit"),
    ({"faults": {"error_503": 1.0}}, "server error", "failed (503)"),
    ({"faults": {"rate_limit": 1.0}}, "rate limited", "for its rate (429)"),
    ({"faults": {"hang": 1.0}}, "timeout", "did not answer within 0.5 seconds"),
    ({"faults": {"refusal": 1.0}}, "refused", "the model declined"),
    ({"faults": {"context_too_long": 1.0}}, "context too long", "maximum context length"),
])  # fmt: skip
def test_the_reason_is_told_where_another_metric_scored(settings, reason, says, data, capsys):
    with LLMServer(**settings) as server:
        timeout = "0.5" if reason == "timeout" else "5"
        terminal, summary = outputs(data, server.url, capsys, timeout)
    (said,) = summary["warnings"]
    assert said.startswith(f"The judge did not answer 1 question ({reason}): ")
    assert any(one in said for one in says.split("|"))
    assert (AGAIN in terminal) == (reason not in ("auth", "refused", "context too long"))
    assert ("--retry-failed asks again." in terminal) == (reason == "refused")
    assert sentence("advice_retry_failed") == ". retry_failed=True asks again"  # in Python


@pytest.mark.parametrize(("settings", "why"), [
    ({"rule": lambda request: "{}"}, "the model gave no usable reply to 16 questions"),
    ({"faults": lambda request: "error_500"}, "16 requests in a row failed in the same way"),
])  # fmt: skip
def test_why_the_asking_ended_is_told(settings, why: str, tmp_path: Path, capsys) -> None:
    records = ({**RECORD, "id": f"q{at}", "answer": f"Herbert {at}."} for at in range(120))
    path = jsonl(tmp_path / "many.jsonl", *records)
    with LLMServer(**settings) as server:
        words = ["run", str(path), "--metrics", "answered", "--judge", f"{server.url}#m2"]
        words += ["--ledger", str(tmp_path / "ledger.sqlite")]
        assert call(words) == 3
        assert server.stats()["requests"] < 200, "of 240"
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(why) == 1 and "Nothing was scored" in shown


def test_what_never_left_is_no_call_and_takes_nothing_of_the_budget(data: Path, capsys) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    terminal, summary = outputs(data, url, capsys)
    assert "cannot be reached" in terminal and AGAIN in terminal
    assert summary["judging"]["calls"] == 0 and " calls" not in terminal
    words = ["--metrics", "answered", "--judge", f"{url}#m2", "--timeout", "5"]
    assert call(["run", str(data), *words, "--budget", "1 calls", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["judging"]["failures"] == {"connection": 1}
