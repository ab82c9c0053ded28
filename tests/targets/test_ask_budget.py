"""What asking will take (`--dry-run`), and what it may cost (`--budget`)."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.cli.runs import ask as ask_command
from ragassay.targets.ask_run import AskPlan, ask, plan_asking
from system_server import Reply, SystemServer, echo

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?"} for n in range(40)]


class Paid:
    """A system that tells what an answer took."""

    def __init__(self, **told: Any) -> None:
        self.told, self.asked = told, 0

    def __call__(self, query: str) -> dict[str, Any]:
        self.asked += 1
        return {"answer": f"about {query}", **self.told}


@pytest.mark.parametrize("concurrency", [1, 16])
def test_dollars_are_not_overdrawn_by_what_is_in_flight(concurrency: int) -> None:
    system = Paid(cost=0.01)
    answers = ask(QUERIES, {"mine": system}, budget="0.105", concurrency=concurrency)
    assert system.asked == 10
    summary = answers.summaries["mine"]
    assert summary.answered == 10 and summary.failed == {"stopped": 30}
    assert "the budget is spent ($0.10 of $0.105, 10 calls" in summary.details["stopped"]


def test_calls_and_tokens_are_budgets_too_and_systems_share_one() -> None:
    by_calls, by_tokens = Paid(), Paid(input_tokens=90, output_tokens=10)
    ask(QUERIES, {"mine": by_calls}, budget="7 calls")
    ask(QUERIES, {"mine": by_tokens}, budget="1,050 tokens")
    assert (by_calls.asked, by_tokens.asked) == (7, 10)
    ask(QUERIES, {"mine": by_tokens}, budget="1,000 tokens")  # the last one takes all that is left
    assert by_tokens.asked == 20
    one, two = Paid(cost=0.01), Paid(cost=0.03)
    ask(QUERIES, {"one": one, "two": two}, budget="0.20", concurrency=8)
    assert one.asked and two.asked and one.asked * 0.01 + two.asked * 0.03 <= 0.2 + 1e-9


@pytest.mark.parametrize(("told", "budget", "said"), [
    ({}, "1.00", ["what an answer costs.", "'usage: {cost: PATH}'", "the key 'cost'",
                  "Or give a budget in calls ('200 calls')."]),
    ({"input_tokens": 9, "output_tokens": 1}, "1.00",
     ["Or give a budget in tokens, which it reports ('2M tokens'), or calls ('200 calls')."]),
    ({}, "2M tokens", ["how many an answer takes.", "output_tokens: PATH}'",
                       "Or give a budget in calls ('200 calls')."]),
])  # fmt: skip
def test_a_system_that_does_not_tell_what_it_takes_is_asked_once(told, budget, said) -> None:
    system = Paid(**told)
    answers = ask(QUERIES, {"mine": system}, budget=budget, concurrency=16)
    assert system.asked == 1 and answers.summaries["mine"].answered == 1
    detail = answers.summaries["mine"].details["stopped"]
    assert not [words for words in said if words not in detail], detail


def test_failures_do_not_use_up_what_nobody_knows_the_price_of() -> None:
    asked: list[str] = []

    def system(query: str) -> dict[str, Any]:
        asked.append(query)
        if len(asked) == 1:
            raise ValueError("cold start")
        return {"answer": "So.", "cost": 0.01}

    answers = ask(QUERIES, {"mine": system}, budget="5", retries=0)
    assert answers.summaries["mine"].answered == 39


def test_a_budget_that_is_none_is_refused_before_anything_is_asked() -> None:
    system = Paid()
    for begin in (ask, plan_asking):
        with pytest.raises(UsageError, match="is not a budget"):
            begin(QUERIES, {"mine": system}, budget="much")
    assert not system.asked


def test_the_same_command_with_more_money_goes_on() -> None:
    Path("paid.py").write_text("def answer(query): return {'answer': query, 'cost': 0.01}")
    command = ["ask", "queries.jsonl", "--target", "paid:answer", "--budget"]
    assert call([*command, "0.10"]) == 3
    (plan,) = plan_asking(QUERIES, "paid:answer", ledger=".ragassay/ledger.sqlite")
    assert (plan.samples, plan.from_ledger, plan.to_send) == (40, 10, 30)
    assert plan.dollars == pytest.approx(0.30)
    assert call([*command, "0.30"]) == 0  # what is in the ledger costs nothing


def test_a_dry_run_asks_nothing_and_makes_no_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("def answer(query):\n    raise SystemExit('asked')\n")
    command = ["ask", "queries.jsonl", "--target", "mine:answer", "--repeat", "3", "--rpm", "60"]
    assert call([*command, "--dry-run", "--json"]) == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert (system["samples"], system["from_ledger"], system["to_send"]) == (120, 0, 120)
    assert system["least_seconds"] == 115 and system["dollars"] is None
    assert not Path(".ragassay").exists() and not Path("answers.jsonl").exists()
    assert call([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "1.9 min" in shown and "not known" in shown and "Nothing was asked" in shown
    ask_command._show_plans([AskPlan("mine", 9, 2, 7, True, None, None, 0)], json=False)
    assert "7 or fewer" in capsys.readouterr().out


def test_a_plan_takes_the_time_of_kept_answers_that_go_side_by_side() -> None:
    def system(query: str) -> str:
        time.sleep(0.01)
        return "So."

    ask(QUERIES[:2], {"mine": system}, ledger="kept.sqlite")
    options: dict[str, Any] = {"target": {"mine": system}, "ledger": "kept.sqlite"}
    two, eight = (plan_asking(QUERIES, concurrency=n, **options)[0] for n in (2, 8))
    assert two.to_send == 38 and two.least_seconds is not None and two.least_seconds >= 0.19
    assert two.least_seconds == pytest.approx(4 * (eight.least_seconds or 0.0))


def test_a_plan_is_no_slower_than_the_pace_that_is_kept() -> None:
    options: dict[str, Any] = {"limit": 36, "repeat": 2, "rpm": 720}
    (plan,) = plan_asking(QUERIES, {"mine": Paid()}, **options)
    begun = time.monotonic()
    assert len(ask(QUERIES, {"mine": Paid()}, **options).samples) == plan.to_send == 72
    assert plan.least_seconds == 1.0 and time.monotonic() - begun > 1.0
    options |= {"limit": 7, "repeat": 1, "rpm": 6}
    assert plan_asking(QUERIES, {"mine": Paid()}, **options)[0].least_seconds == 60.0


def test_refresh_and_own_history_are_in_the_plan() -> None:
    system = Paid()
    said = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "He."}]
    queries = [*QUERIES, {"id": "later", "query": "And then?", "history": said}]
    ask(queries, {"mine": system}, ledger="kept.sqlite")
    plans = [
        plan_asking(queries, {"mine": system}, ledger="kept.sqlite", **options)[0]
        for options in (
            {}, {"refresh": True}, {"history": "own"}, {"repeat": 2},
            {"history": "own", "refresh": True},
        )
    ]  # fmt: skip
    assert [one.to_send for one in plans] == [0, 41, 1, 41, 41]
    assert [one.at_most for one in plans] == [False, False, True, False, False]
    assert plans[0].least_seconds == 0.0 and plans[0].dollars == 0.0
    two = [queries[-1], {**queries[-1], "id": "other", "history": [*said, *said]}]
    summary = ask(two, {"mine": system}, history="own", budget="1 calls").summaries["mine"]
    assert [n for _, n in summary.ways["stopped"]] == [2]  # for one reason, an earlier turn too


def test_what_earlier_answers_took_is_known_to_the_next_run() -> None:
    """A budget that is less than an answer is not overdrawn again by each start."""
    system = Paid(cost=0.01)
    for expected in (1, 1):  # the first run cannot know; the second one can
        answers = ask(QUERIES, {"mine": system}, budget="0.005", ledger="kept.sqlite")
        assert system.asked == answers.summaries["mine"].answered == expected
    said = answers.summaries["mine"].details["stopped"]
    assert "the budget is spent ($0.00 of $0.005, 0 calls" in said
    assert "or too little is left. The same 'ragassay ask' asks" in said


@pytest.mark.usefixtures("no_long_waits")
@pytest.mark.parametrize(("concurrency", "answers_at"), [(1, 2), (16, 3)])
def test_retries_are_calls_that_are_claimed_before_they_are_sent(concurrency, answers_at) -> None:
    tries: Counter[str] = Counter()

    def busy_at_first(number: int, sent: Any) -> Any:
        tries[sent["question"]] += 1
        busy = tries[sent["question"]] < answers_at
        return Reply(b"busy", 503) if busy else echo(number, sent)

    with SystemServer(busy_at_first) as server:
        Path("busy.yaml").write_text(server.mapping)
        answers = ask(QUERIES, "busy.yaml", budget="10 calls", concurrency=concurrency)
        assert len(server.asked) == 10
    summary = answers.summaries["busy"]
    assert "the budget is spent (10 of 10 calls" in summary.details["stopped"]
    asked = [one.metadata["asked"] for one in answers.samples]
    assert sum(one["attempts"] for one in asked) == 10
