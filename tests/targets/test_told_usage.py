"""Tokens and cost that a system tells as no numbers are not measured, and that is said once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragassay import Answers, ask, evaluate
from ragassay.cli.command_line import call
from ragassay.targets.asking.ask_summary import asked_report
from system_server import PLAIN, Reply, SystemServer, ask_served

WRONG = ['"cheap"', "-1", "NaN", "Infinity", "[1]", "true", '{"a": 1}', '"12"']
MAPPING = PLAIN + "usage: {input_tokens: u.in, output_tokens: u.out, cost: [price, u.cost]}\n"


def asked(rule: Any) -> Answers:
    return ask_served(rule, MAPPING, n=3)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_number_is_not_measured_and_told_once(wrong: str) -> None:
    def rule(number: int, _: Any) -> Reply:
        cost = wrong if number else "0.25"
        return Reply(f'{{"a": "yes", "u": {{"in": {cost}, "out": 2, "cost": {cost}}}}}'.encode())

    answers = asked(rule)
    first, *others = [one.metadata["asked"] for one in answers.samples]
    assert first["cost"] == 0.25 and "unread" not in first
    for told in others:
        assert "cost" not in told and "input_tokens" not in told and told["output_tokens"] == 2
        assert told["unread"]["cost"]["place"] == "price, u.cost"
    (summary,) = answers.summaries.values()
    assert summary.cost == 0.25 and summary.answered == 3
    tokens, cost = map(str, summary.notes)
    assert tokens.startswith("2 answers give no number of 0 or more for input_tokens at u.in, but ")
    assert "for cost at price, u.cost, but " in cost and "query 'q1'" in cost
    assert repr(json.loads(wrong)) in cost
    assert "2 answers give no number" in " ".join(str(answers).split())


@pytest.mark.parametrize("wrong", ['"3.73"', "NaN", "[1]", "true"])
@pytest.mark.parametrize("place", ["score", "metadata.score"])
def test_scores_of_passages_that_are_no_numbers_cost_no_answer(wrong: str, place: str) -> None:
    told = f'"score": {wrong}' if place == "score" else f'"metadata": {{"score": {wrong}}}'

    def rule(number: int, _: Any) -> Reply:
        other = f'{{"text": "b", {told if number else ""}}}'.replace(", }", "}")
        return Reply(f'{{"a": "yes", "hits": [{{"text": "a", "score": -1}}, {other}]}}'.encode())

    answers = ask_served(rule, f"{PLAIN}passages: hits\n", n=3)
    assert answers.complete
    first, second, _ = answers.samples
    assert [one.score for one in first.passages or ()] == [-1, None]
    assert [(one.text, one.score) for one in second.passages or ()] == [("a", None), ("b", None)]
    (note,) = answers.summaries["mine"].notes
    assert (note.kind, note.counts["n"]) == ("ask_unread_scores", 2)
    assert note.counts["place"] == f"passages.{place}"
    assert note.counts["found"] == f"{json.loads(wrong)!r} (query 'q1')"


def test_what_is_null_or_missing_is_not_told() -> None:
    answers = asked(lambda number, _: {"a": "yes", "u": {"in": None} if number else {}})
    notes = answers.summaries["mine"].notes  # about paths that never fit, and no other
    assert [one.counts["path"] for one in notes] == [
        "usage.output_tokens (u.out)", "usage.cost (price, u.cost)",
    ]  # fmt: skip


def test_a_path_to_a_measurement_that_never_fits_is_told_once() -> None:
    mapping = (
        f"{PLAIN}version: meta.biuld\n"
        'usage: {input_tokens: tok.input, output_tokens: u.out, cost: "price?"}\n'
    )
    rule = lambda number, _: {"a": "yes", "u": {"out": 3} if number else {}}  # noqa: E731
    (summary,) = ask_served(rule, mapping, n=3).summaries.values()
    assert {one.kind for one in summary.notes} == {"ask_path_never_fits"}
    assert [one.counts for one in summary.notes] == [
        {"n": 3, "path": "usage.input_tokens (tok.input)", "file": "mine.yaml"},
        {"n": 3, "path": "version (meta.biuld)", "file": "mine.yaml"},
    ]
    # Tokens written are no sum of those read and written.
    (table, _) = asked_report([summary]).blocks
    heads = [column.head for column in table.columns]
    assert summary.output_tokens == 6 and table.rows[0].cells[heads.index("tokens")].text == "-"


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"cost": "cheap"}, "cost at cost,"),
        ({"usage": {"cost": float("nan")}}, "cost at usage.cost,"),
        ({"usage": "12 tokens"}, "input_tokens at usage,"),
        ({"usage": {"prompt_tokens": -3, "completion_tokens": 1}}, "input_tokens at usage.prompt"),
    ],
)
def test_a_function_is_told_likewise(told: dict[str, Any], place: str) -> None:
    answers = ask([{"id": "q", "query": "?"}], lambda query: {"answer": "yes", **told})
    (summary,) = answers.summaries.values()
    assert summary.answered == 1 and place in str(summary.notes[0])


def test_answers_of_the_ledger_tell_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("queries.jsonl").write_text('{"id": "q", "query": "Who?"}\n')
    with SystemServer(lambda *_: {"a": "yes", "u": {"cost": "cheap"}}) as server:
        Path("mine.yaml").write_text(MAPPING.replace("URL", server.url))
        for _ in range(2):
            assert call(["ask", "queries.jsonl", "--target", "mine.yaml", "--json"]) == 0
            (summary,) = json.loads(capsys.readouterr().out)["systems"]
            assert summary["notes"][0].startswith("1 answer gives no number")
        assert len(server.asked) == 1


def test_no_tokens_written_are_a_number() -> None:
    answers = asked(lambda number, _: {"a": "yes" * number, "u": {"in": 10, "out": 4 * number}})
    assert [one.metadata["asked"]["output_tokens"] for one in answers.samples] == [0, 4, 8]
    result = evaluate(answers.samples, metrics=["tokens.total"])
    assert result.summary.metrics["tokens.total"].mean == 14
