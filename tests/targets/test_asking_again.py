"""The same command again: it gets further each time, and says what had failed before."""

import asyncio
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import RagassayWarning
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import Answers

pytestmark = pytest.mark.usefixtures("no_long_waits")

QUERIES = [{"id": f"q{n}", "query": f"Question {n}"} for n in range(60)]
LEDGER = "ledger.sqlite"
_failing: set[int] = set()
_sent: list[int] = []


def always(query: str) -> str:
    """Fails for some queries only."""
    n = int(query.split()[-1])
    _sent.append(n)
    if n in _failing:
        raise RuntimeError("out of memory")
    return f"Answer {n}"


async def system(query: str) -> str:
    """Never answers every fourth query."""
    if int(query.split()[-1]) % 4 == 0:
        _sent.append(int(query.split()[-1]))
        await asyncio.sleep(60)
    return always(query)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    _failing.clear()
    _sent.clear()


def asked(target: Any = always, n: int = 60, **options: Any) -> Answers:
    _sent.clear()
    return ask(QUERIES[:n], target, ledger=LEDGER, **options)


def test_the_same_command_goes_on_where_some_queries_time_out() -> None:
    first = asked(system, n=40, timeout=0.2).summaries["system"]
    assert (first.answered, dict(first.failed)) == (30, {"timeout": 10})
    again = asked(system, timeout=0.2).summaries["system"]
    assert (again.answered, again.from_ledger, dict(again.failed)) == (45, 30, {"timeout": 15})
    # What was never asked is asked first: ten failures of before in a row would end the run.
    assert {*_sent[:20]} == {*range(40, 60)} and {*_sent[20:]} == {*range(0, 40, 4)}


def test_a_system_whose_first_queries_time_out_is_asked_the_others_next_time() -> None:
    slow_first = [{"id": f"q{n}", "query": f"Question {n}"} for n in (*range(0, 60, 4), 1, 2, 3)]
    options: dict[str, Any] = {"ledger": LEDGER, "timeout": 0.2, "concurrency": 4}
    first = ask(slow_first, system, **options).summaries["system"]
    assert first.answered == 0 and first.failed["stopped"]
    again = ask(slow_first, system, **options).summaries["system"]
    assert again.answered == 3


def test_a_failure_before_is_told_wherever_the_answer_goes() -> None:
    _failing.update(range(10))
    assert asked().summaries["always"].failed == {"failed": 10}
    (note,) = asked().summaries["always"].notes
    assert (note.kind, note.counts["n"], note.counts["total"]) == ("ask_failed_before", 10, 60)
    _failing.clear()
    answers = asked()
    assert sorted(_sent) == list(range(10)) and answers.complete
    assert [one.metadata["asked"].get("failed_before") for one in answers.samples[8:12]] == [
        *(2, 2, None, None)
    ]
    later = asked()  # from the ledger, all of it
    assert _sent == [] and later.summaries["always"].notes[0].counts["n"] == 10
    result = ragassay.evaluate(later.samples, "error_rate")
    assert result.summary.metrics["error_rate"].mean == 0.0
    with pytest.warns(RagassayWarning, match="^always: .* failed"):  # also where it is asked first
        ragassay.evaluate(QUERIES, "error_rate", system=always, ask_options={"ledger": LEDGER})
    assert (
        "10 queries had failed before and were asked again; error_rate counts the last time only "
        "(ragassay ask --refresh asks all again)." in result.summary.warnings
    )
    anew = asked(refresh=True)
    assert len(_sent) == 60 and anew.summaries["always"].notes == ()
    assert asked().summaries["always"].notes == ()


def test_queries_that_had_failed_are_told_with_their_repeats() -> None:
    _failing.add(0)
    asked(n=2, repeat=2)
    (note,) = asked(n=2, repeat=2).summaries["always"].notes
    assert note.counts == {"n": 2, "total": 4, "what": "queries, repeats counted,"}
    options = {"ledger": LEDGER, "repeat": 2}  # of a limit's queries every repeat is scored
    result = ragassay.evaluate(QUERIES, "error_rate", system=always, limit=3, ask_options=options)
    assert result.summary.metrics["error_rate"].n_scored == 6


@pytest.mark.parametrize(("failing", "budget", "rate"), [
    (range(4), None, (4 / 6, 6)), ((), "2 calls", (0.0, 2)),
])  # fmt: skip
def test_who_fails_when_asked_anew_keeps_the_earlier_answer(failing, budget, rate) -> None:
    asked(n=6)
    _failing.update(failing)
    late = asked(n=6, refresh=True, output="a.jsonl", budget=budget)
    found, samples = late.summaries["always"], ragassay.load("a.jsonl")
    assert (found.answered, sum(found.failed.values()), late.complete) == (2, 4, False)
    assert [(one.kind, one.counts["n"]) for one in found.notes] == [("ask_earlier_answers", 4)]
    assert [one.answer_text for one in samples] == [f"Answer {n}" for n in range(6)]
    result = ragassay.evaluate(samples, "error_rate", fail_under=["answer_words>=1"])
    assert (result["error_rate"].mean, result["error_rate"].n_scored) == rate
    assert [(gate.passed, gate.unscored) for gate in result.gates] == [(None, 4)]


def test_what_is_not_asked_again_keeps_its_failure() -> None:
    _failing.update(range(5))
    asked()
    late = asked(budget="2 calls")
    failed = late.summaries["always"].failed
    assert failed == {"failed": 5}
    told = [one.metadata["asked"].get("not_asked", "") for one in late.samples[:5]]
    assert [bool(one) for one in told] == [False, False, True, True, True]
    assert "the budget is spent" in told[-1]
    assert "out of memory" in (late.samples[4].failure or "")
    assert [(one.kind, one.counts["n"]) for one in late.summaries["always"].notes] == [
        *(("ask_failed_before", 2), ("ask_not_asked_again", 3))
    ]
    result = ragassay.evaluate(late.samples, "error_rate")
    assert result.summary.metrics["error_rate"].mean == pytest.approx(5 / 60)
    told = [one for one in result.summary.warnings if one.startswith("3 queries failed in an ear")]
    assert len(told) == 1
