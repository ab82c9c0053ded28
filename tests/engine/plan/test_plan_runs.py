"""The plan beside the run itself: a real server counts what is really sent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay.cli.command_line import call
from ragassay.engine.config.run_config import make_config
from ragassay.engine.run.cost_estimate import Range
from ragassay.engine.run.data_preview import Preview, preview
from ragassay.engine.run.prepared_run import prepare

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


@pytest.fixture(scope="module")
def server() -> Iterator[LLMServer]:
    with LLMServer() as running:
        yield running


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two systems, which share queries and some passages."""
    path = tmp_path / "answers.jsonl"
    lines = [(TOWN / f"{of}.jsonl").read_text().splitlines() for of in ("hybrid", "keyword")]
    path.write_text("\n".join(line for system in lines for line in system[:14]) + "\n")
    return path


def options(server: LLMServer, data: Path, suite: str, **more: Any) -> dict[str, Any]:
    return {
        "data": str(data), "suite": [suite], "judge": [f"{server.url}#model"],
        "ledger": str(data.parent / "ledger.sqlite"), **more,
    }  # fmt: skip


def planned(server: LLMServer, data: Path, suite: str, **more: Any) -> Preview:
    """The plan; nothing may reach the server for it."""
    before = server.stats()["requests"]
    found = preview(prepare(make_config(**options(server, data, suite, **more))))
    assert server.stats()["requests"] == before
    return found


def ran(server: LLMServer, data: Path, suite: str, **more: Any) -> int:
    """How many requests the server answered for a run."""
    before = server.stats()["requests"]
    prepare(make_config(**options(server, data, suite, **more))).run()
    return int(server.stats()["requests"] - before)


def inside(found: Range, value: int) -> bool:
    return found.low <= value <= found.high


@pytest.mark.parametrize(
    ("suite", "more"),
    [("mtrag", {}), ("ragreport", {}), ("trecrag", {}), ("trecrag", {"nuggets": "pooled"})],
    ids=["mtrag", "ragreport", "trecrag", "pooled"],
)
def test_the_server_counts_what_was_planned(suite: str, more: dict[str, Any], server, data) -> None:
    whole = planned(server, data, suite, **more).calls
    assert whole is not None and whole.total.calls.low > 0
    if "nuggets" not in more:
        first = ran(server, data, suite, limit=10, **more)
        half = planned(server, data, suite, **more).calls
        assert half is not None and half.total.held.low == half.total.held.high == first
        rest = ran(server, data, suite, **more)
        assert inside(half.total.calls, rest)
        assert half.throughput.measured
    else:
        first, rest = 0, ran(server, data, suite, **more)
    assert inside(whole.total.calls, first + rest)
    if whole.total.calls.exact:
        assert first + rest == whole.total.calls.low
    done = planned(server, data, suite, **more).calls
    assert done is not None and done.total.calls == Range(0, 0)
    assert done.total.held == Range(first + rest, first + rest)
    assert ran(server, data, suite, **more) == 0


def test_tokens_are_near_what_the_server_counts(server: LLMServer, data: Path) -> None:
    """The server counts a quarter of the request's bytes, its JSON included."""
    plan = planned(server, data, "ragreport").calls
    assert plan is not None
    result = prepare(make_config(**options(server, data, "ragreport"))).run()
    assert result.summary.judging is not None
    sent = result.summary.judging.input_tokens
    assert plan.total.input_tokens.high == pytest.approx(sent, rel=0.2)


def test_a_dry_run_says_the_plan_and_whether_the_budget_holds_it(server, data, capsys) -> None:
    words = ["run", str(data), "-s", "mtrag", "-J", f"{server.url}#model", "--dry-run"]
    words += ["--ledger", str(data.parent / "ledger.sqlite")]
    assert call([*words, "--budget", "3 calls", "--price", "1,2"]) == 0
    shown = capsys.readouterr().out
    assert "together" in shown
    assert "Budget 3 calls: the plan does not fit" in " ".join(shown.split())
    assert call([*words, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["calls"]["total"]["calls"]["low"] > 28
    assert body["calls"]["total"]["cost"] == {"low": 0, "high": 0}  # a server of one's own
    assert server.stats()["in_flight"] == 0


def test_a_plan_needs_no_key_and_makes_no_ledger(data: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(data.parent)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["run", data.name, "-s", "mtrag", "-J", "openai:gpt-4o-mini"]
    assert call([*words, "--dry-run", "--json"]) == 0
    total = json.loads(capsys.readouterr().out)["calls"]["total"]
    assert total["cost"]["high"] > total["cost"]["low"] > 0
    own = ragassay.plan(data, "mtrag", judge="openai:gpt-4o-mini", price="1000,2000").calls
    assert own and own.total.cost and own.total.cost.low > total["cost"]["high"]
    assert not own.listed_prices
    assert [path.name for path in data.parent.iterdir()] == [data.name]
    assert call(words) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_metric_without_an_answer_of_the_offline_judge_cannot_be_scored(data: Path) -> None:
    of_one = json.loads(data.read_text().splitlines()[0])
    records = [{**of_one, "id": str(n)} for n in range(300)]  # more than are walked offline
    found = ragassay.plan(records, "ragreport")
    scored = {name for name, n in found.applicable.items() if n}
    assert scored == {"relevance"} and found.applicable["relevance"] == 300
    assert found.lacking["usefulness"] == found.lacking["satisfaction"] != {}
    calls = preview(prepare(make_config(suite=["ragreport"]), records, dry=True), walk=9).calls
    assert calls is not None and (calls.n_walked, calls.n_samples) == (9, 300)
    calls = preview(prepare(make_config(suite=["ragreport"]), records[:9], dry=True), of=40).calls
    assert calls is not None and (calls.n_walked, calls.n_samples) == (9, 40)
