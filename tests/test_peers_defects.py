"""Defects that were measured in other tools, and do not happen here (those of judging).

Others have their tests beside what they are about: a verdict of another model or prompt is never
taken (test_llm_judge), a failed nugget question is never a neutral half (test_nuggets), no claims
are neither 0 nor 1 (test_mtrag_judged), one failed question costs its metric of its sample only
(test_judged_runs), repeats and several metrics in the statistics (test_stats_*).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ragassay
from llm_server import LLMServer
from ragassay import Reason
from ragassay.metrics.core import naming
from scripted_judge import Scripted

NEITHER = {
    *("answered", "no_answer", "idk_eval", "underspecified_eval"),
    *("attempted", "declines"),  # refusing may be right
    "ragreport_attribution",  # a list of passages
}
LOWER: set[str] = set()
"""What is better when lower. deepeval turned the direction of hallucination round."""

RECORD = {
    "id": "q1",
    "query": "How tall is the tower?",
    "contexts": [f"The tower number {n} is {80 + n} metres tall." for n in range(8)],
    "answer": "It is 81 metres tall [1].",
    "references": ["81 metres"],
}

NETWORK = """
import sys
hosts = set()
def hook(event, args):
    if event == "socket.connect" and not isinstance(args[1], str):
        hosts.add(f"{args[1][0]}:{args[1][1]}")
    if event == "socket.getaddrinfo":
        hosts.add(f"{args[0]}:{args[1]}")
sys.addaudithook(hook)
from ragassay.cli.command_line import call
code = call(sys.argv[1:])
print("HOSTS", *sorted(hosts))
sys.exit(code)
"""


def test_no_metric_changes_its_direction_unnoticed() -> None:
    asked = {name: cls for name, cls in naming.metric_classes().items() if cls.kind != "arithmetic"}
    ours = {name for name in asked if not name.startswith("test_")}
    assert len(ours) > 30
    assert {name for name in ours if asked[name].higher_is_better is None} == NEITHER
    assert {name for name in ours if asked[name].higher_is_better is False} == LOWER


def hosts_of(folder: Path, *words: str) -> set[str]:
    """The hosts that a command talks to or looks up."""
    (folder / "data.jsonl").write_text(json.dumps(RECORD) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", NETWORK, "run", "data.jsonl", *words],
        cwd=folder,
        env={**os.environ, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "HOSTS"
    return set(last[1:])


def test_a_run_talks_to_the_judge_and_to_nobody_else(server: LLMServer, tmp_path: Path) -> None:
    """deepeval and others report each evaluation home."""
    suites = [word for name in ("trecrag", "mtrag", "ragreport", "qa") for word in ("-s", name)]
    asked = hosts_of(tmp_path, *suites, "--judge", f"{server.url}#m", "-o", "out")
    assert asked == {f"127.0.0.1:{server.port}"}
    assert server.stats()["answered"] > 10


def test_an_offline_run_talks_to_nobody(tmp_path: Path) -> None:
    suites = [word for name in ("trecrag", "mtrag", "ragreport", "qa") for word in ("-s", name)]
    assert hosts_of(tmp_path, *suites, "-o", "out") == set()


def test_the_questions_of_one_sample_are_in_flight_together(server: LLMServer, tmp_path) -> None:
    """Open RAG Eval asks one after the other inside a query; an 'async' path elsewhere does too."""
    server.settings.latency = 0.3
    ragassay.evaluate(
        [RECORD], ["umbrela"], judge=f"{server.url}#m", ledger=str(tmp_path / "ledger.sqlite")
    )
    # The first goes ahead alone. The server may count it still when the others come, together.
    assert server.stats()["in_flight_most"] in (7, 8)


@pytest.mark.parametrize(
    "metric", ["umbrela", "nuggets.all", "citation.f1", "faithfulness", "rb_llm"]
)
def test_a_judge_that_fails_leaves_no_number(metric: str) -> None:
    """0.5, 0 and 1 are what others write then."""
    result = ragassay.evaluate([RECORD], [metric], judge=Scripted(Reason.RATE_LIMITED))
    (row,) = result.scores
    assert row.value is None and row.reason == "rate_limited"
    assert result.summary.incomplete
