"""Tokens and cost that a system tells as no numbers are not measured."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay import Answers, evaluate
from ragassay.targets.asking.ask_summary import asked_report
from system_server import PLAIN, Reply, ask_served

WRONG = ['"cheap"', "-1", "NaN", "Infinity", "[1]", "true", '{"a": 1}', '"12"']
MAPPING = PLAIN + "usage: {input_tokens: u.in, output_tokens: u.out, cost: [price, u.cost]}\n"


def asked(rule: Any) -> Answers:
    return ask_served(rule, MAPPING, n=3)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_number_is_not_measured_and_told_where_it_never_is(wrong: str) -> None:
    def rule(number: int, _: Any) -> Reply:
        cost = wrong if number else "0.25"
        return Reply(f'{{"a": "yes", "u": {{"in": {wrong}, "out": 2, "cost": {cost}}}}}'.encode())

    answers = asked(rule)
    for at, told in enumerate(one.metadata["asked"] for one in answers.samples):
        assert told.get("cost") == (None if at else 0.25) and "input_tokens" not in told
        assert told["output_tokens"] == 2
    (summary,) = answers.summaries.values()
    assert summary.cost == 0.25 and summary.answered == 3
    assert [one.counts["path"] for one in summary.notes] == ["usage.input_tokens (u.in)"]


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


def test_no_tokens_written_are_a_number() -> None:
    answers = asked(lambda number, _: {"a": "yes" * number, "u": {"in": 10, "out": 4 * number}})
    assert [one.metadata["asked"]["output_tokens"] for one in answers.samples] == [0, 4, 8]
    result = evaluate(answers.samples, metrics=["tokens.total"])
    assert result.summary.metrics["tokens.total"].mean == 14
