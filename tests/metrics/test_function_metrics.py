"""``@ragassay.metric``: a function of parts of a sample is a metric like any other."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.sample import Answerability, GoldPassage, Passage, Sample, Turn
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.cli.command_line import call
from ragassay.metrics import parse

FULL = Sample(
    id="1", query="Who?", answer="Ann, gladly.", references=("Ann",),
    passages=(Passage("Ann did.", id="p1"), Passage("Bob did not.")), metadata={"topic": "people"},
    gold=(GoldPassage("p1"),), answerability=Answerability.PARTIAL, given={"x": 1},
    history=(Turn("user", "Hi"),),
)  # fmt: skip


@ragassay.metric
def shows_parts(query, answer, references, passages, gold, answerability, history, given, sample):
    told = f"{query}|{answer}|{references}|{passages}|{gold[0].id}|{answerability!r}|{given}"
    return 1, told if sample is FULL else "another sample"


@ragassay.metric
def is_short(answer, most=3) -> bool:
    """Is the answer short?

    At most so many words.

    Formula: 1 if words <= most,
        else 0
    """
    return len(answer.split()) <= most


@ragassay.metric(low=None, high=None, higher_is_better=None, title="As given", name="as-given")
def given_value(metadata):
    return metadata["value"]


def outcome_of(value: Any, metric: ragassay.metrics.core.Metric = given_value) -> Outcome:
    return metric.score(Sample(id="1", metadata={"value": value}))


def test_parameters_get_the_parts_of_their_names() -> None:
    said = shows_parts.score(FULL)
    assert isinstance(said, Score)
    assert said.explanation == (
        "Who?|Ann, gladly.|['Ann']|['Ann did.', 'Bob did not.']|p1|'partial'|{'x': 1}"
    )

    @ragassay.metric
    def shows_others(metadata, id, history=None, gold=None, passages=None):  # noqa: A002
        return 1, f"{metadata['topic']}|{id}|{history}|{gold}|{passages}"

    assert shows_others.needs == () and shows_others.uses == ("passages", "gold", "history")
    for gold, told in ((None, "people|2|None|None|None"), ((), "people|2|None|[]|None")):
        one = Sample(id="2", metadata=FULL.metadata, gold=gold)
        assert shows_others.score(one) == Score(1, explanation=told)


@pytest.mark.parametrize(
    ("gone", "reason"),
    [("query", Reason.MISSING_INPUT), ("answer", Reason.MISSING_INPUT),
     ("passages", Reason.MISSING_INPUT), ("given", Reason.MISSING_INPUT),
     *((name, Reason.NOT_APPLICABLE) for name in ("references", "history", "gold")),
     ("answerability", Reason.NOT_APPLICABLE)],
)  # fmt: skip
def test_a_missing_part_is_unscored_as_with_built_in_metrics(gone: str, reason: Reason) -> None:
    from dataclasses import replace

    empty = {"references": (), "history": (), "given": {}}.get(gone)
    said = shows_parts.score(replace(FULL, **{gone: empty}))
    assert isinstance(said, Unscored) and said.reason is reason and said.lacks == gone
    for text in (None, ""):
        bare = shows_parts.score(replace(FULL, passages=(Passage("x"), Passage(text, id="p2"))))
        assert isinstance(bare, Unscored) and "passage 2 has no text" in bare.detail


def test_name_parameters_range_and_direction() -> None:
    about = (str(is_short), is_short.title, is_short.says)
    assert about == ("is_short", "Is the answer short?", "flag")
    told = is_short.details, is_short.formula, is_short.misleads
    assert told == ("At most so many words.", "1 if words <= most, else 0", "")
    assert str(parse("is_short(most=1)")) == "is_short(most=1)"
    assert is_short.score(FULL).value is True  # type: ignore[union-attr]
    assert parse("is_short(most=1)").score(FULL).value is False  # type: ignore[union-attr]
    assert (given_value.name, given_value.title) == ("as-given", "As given")
    assert (given_value.low, given_value.high, given_value.higher_is_better) == (None, None, None)
    assert is_short("one two", most=1) is False
    bare = Sample(id="1", answer="x", passages=(Passage(id="p"),))  # which it does not look at
    assert is_short.score(bare).value is True
    assert type(is_short).place == f"{__name__}:is_short"
    with pytest.raises(UsageError, match="no parameter 'least'"):
        parse("is_short(least=1)")


@given(st.floats() | st.integers(-(10**30), 10**30) | st.booleans())
def test_a_finite_number_is_the_score_and_no_other_number_is(value: float) -> None:
    said = outcome_of(value)
    if math.isfinite(value):
        assert isinstance(said, Score) and said.value == value
    else:
        assert isinstance(said, Unscored) and said.reason is Reason.FAILED
        assert "finite" in said.detail and f"returned {value}" in said.detail


@pytest.mark.parametrize("value", [1.0000001, -0.1, 7, float("inf")])
def test_a_value_outside_the_range_is_refused(value: float) -> None:
    @ragassay.metric
    def in_range(metadata):
        return metadata["value"]

    assert outcome_of(value, in_range).reason is Reason.FAILED
    assert outcome_of(1, in_range) == Score(1) and not type(in_range).place


@pytest.mark.parametrize(
    ("value", "reason", "words"),
    [(None, Reason.UNDEFINED, "as-given returned None"),
     ((None, "no verbs"), Reason.UNDEFINED, "no verbs"), ("0.5", Reason.FAILED, "returned a str"),
     ({"score": 1}, Reason.FAILED, "returned a dict"),
     ((1, 2), Reason.FAILED, "returned a tuple"), ((1,), Reason.FAILED, "returned a tuple"),
     ((1, "a", "b"), Reason.FAILED, "returned a tuple"),
     (Unscored(Reason.NOT_APPLICABLE, "mine"), Reason.NOT_APPLICABLE, "mine")],
)  # fmt: skip
def test_what_is_no_number_is_unscored_with_its_reason(value, reason, words) -> None:
    import re

    said = outcome_of(value)
    assert isinstance(said, Unscored) and said.reason is reason
    assert re.search(words, said.detail), said.detail


def test_a_usage_error_of_the_function_ends_the_run() -> None:
    @ragassay.metric
    def plain_refusal(answer):
        raise UsageError("Set LIMIT first.")

    @ragassay.metric
    async def waiting_refusal(answer):
        raise UsageError("Set LIMIT first.")

    for refusing in (plain_refusal, waiting_refusal):
        with pytest.raises(UsageError, match="Set LIMIT first"):
            refusing.score(FULL)


def test_numpys_numbers_and_scores_are_taken() -> None:
    import numpy as np

    assert outcome_of(np.float64(0.5)) == Score(0.5)
    assert outcome_of(np.bool_(True)) == Score(True)
    assert outcome_of(Score(2.0, {"a": 1})) == Score(2.0, {"a": 1})
    bounded = ragassay.metric(name="bounded", version=3)(given_value.function)
    assert outcome_of(Score(2.0), bounded).reason is Reason.FAILED
    assert "|v3|" in bounded.signature and "|v1|" in given_value.signature


def test_a_function_that_raises_costs_that_sample_only_and_is_called_once() -> None:
    calls: list[str] = []

    @ragassay.metric
    def fails_once(answer, id):  # noqa: A002
        calls.append(id)
        if id == "2":
            raise KeyError("verbs")
        return 1

    data = [{"id": str(n), "answer": "x"} for n in range(4)]
    rows = list(ragassay.evaluate(data, [fails_once]).scores)
    assert [row.value for row in rows] == [1, 1, None, 1] and calls == ["0", "1", "2", "3"]
    assert "raised KeyError: 'verbs' (test_function_metrics.py:" in rows[2].explanation


def test_an_asynchronous_function_is_called_side_by_side_also_inside_a_loop() -> None:
    waiting = 0

    @ragassay.metric
    async def waits(answer, id):  # noqa: A002
        nonlocal waiting
        waiting += 1
        while waiting < 3:  # all three are called before any returns
            await asyncio.sleep(0)
        if id == "1":
            raise ValueError("no")
        return 0.5

    data = [{"id": str(n), "answer": "x"} for n in range(3)]
    data.append({"id": "3", "query": "Who?"})  # it lacks the answer: nothing is called

    async def main() -> list[Any]:
        return [row.value for row in ragassay.evaluate(data, [waits]).scores]

    assert asyncio.run(main()) == [0.5, None, 0.5, None] and waiting == 3
    running: list[int] = [0]

    @ragassay.metric
    async def counts(answer):
        running.append(running[-1] + 1)
        await asyncio.sleep(0.01)
        running.append(running[-1] - 1)
        return 1.0

    ragassay.evaluate([{"id": f"{n}", "answer": "x"} for n in range(80)], [counts])
    assert max(running) == 64  # as docs/own-metrics.md says


def one_arg(answr):
    return 1


def star(*answers):
    return 1


def default_part(answer="x"):
    return 1


def list_default(answer, words=[]):  # noqa: B006
    return 1


def em(answer):
    return 1


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [(one_arg, {}, "parameter 'answr' is not a part of a sample. Did you mean 'answer'"),
     (star, {}, "'answers' has no fixed name"), (default_part, {}, "default can only be None"),
     (list_default, {}, "has a list as its default"), (em, {}, "called 'em' already"),
     (lambda answer: 1, {}, "a function with a name"), (3, {}, "a function with a name"),
     (is_short.function, {"low": 1, "high": 1}, "low is 1, which is not below high"),
     (is_short.function, {"name": "not a name"}, "cannot be a metric's name"),
     *((is_short.function, {"name": name}, f"called '{name}' already")
       for name in ("as-given", "rouge_score", "EM", "NDCG"))],
)  # fmt: skip
def test_what_cannot_be_a_metric_is_refused(function, options, words) -> None:
    with pytest.raises(UsageError, match=words):
        ragassay.metric(**options)(function)


def test_functions_stand_beside_suites_and_names() -> None:
    data = [FULL]
    plain = ragassay.evaluate(data, ["em", is_short, "is_short(most=1)"])
    assert list(plain.summary.metrics) == ["em", "is_short(most=1)", "is_short"]
    alone = ragassay.evaluate(data, "qa", metrics=[is_short, "f1"])
    assert list(alone.summary.metrics) == ["is_short", "f1"]
    beside = ragassay.evaluate(data, ["qa", is_short])
    assert {"em", "f1", "is_short"} <= beside.summary.metrics.keys()
    assert list(ragassay.evaluate(data, is_short).summary.metrics) == ["is_short"]
    assert ragassay.evaluate(data, is_short, fail_under="is_short>=1").gates[0].passed is True
    assert list(ragassay.evaluate(data, [type(parse("em"))]).summary.metrics) == ["em"]
    for wrong in (3, "my module:f"):
        with pytest.raises(UsageError, match="is not a metric"):
            ragassay.evaluate(data, [wrong])  # type: ignore[list-item]


def test_two_versions_of_a_function_are_not_compared(here: Path, monkeypatch: Any) -> None:
    module = here / "edited_metrics.py"
    monkeypatch.syspath_prepend(str(here))
    results = []
    for most in (3, 4):
        sys.modules.pop("edited_metrics", None)
        body = f"def edited(answer):\n    return len(answer) > {most}{'  #' * most}\n"
        module.write_text(body)
        result = ragassay.evaluate([FULL], "edited_metrics:edited")
        results.append(result)
    sys.modules.pop("edited_metrics", None)
    with pytest.raises(UsageError, match="function="):
        results[0].compare(results[1])


MODULE = '''
import ragassay

@ragassay.metric(low=0, high=None)
def n_words(answer):
    """How many words the answer has."""
    return len(answer.split())

def starts_big(answer, letters=1):
    return answer[:letters].isupper()

class Nothing: pass
'''


def test_the_command_line_takes_module_and_function(here, monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(str(here))
    sys.modules.pop("users_metrics", None)
    (here / "users_metrics.py").write_text(MODULE)
    (here / "d.jsonl").write_text('{"id": "1", "answer": "Ann did it"}\n')
    named = "users_metrics:n_words,users_metrics:starts_big(letters=2),BLEU"
    assert call(["run", "d.jsonl", "-m", named, "-o", "out"]) == 0
    again = ragassay.open_run("out")
    assert list(again.summary.metrics) == ["n_words", "starts_big(letters=2)", "BLEU"]
    assert [row.value for row in again.scores][:2] == [3, False]
    assert again.config["metrics"][:2] == [
        *("users_metrics:n_words", "users_metrics:starts_big(letters=2)")
    ]
    assert call(["run", "out/run.yaml"]) == 0
    assert call(["metrics", "users_metrics:n_words"]) == 0
    assert "How many words the answer has" in capsys.readouterr().out
    for wrong, words in (
        ("users_metrics:n_wrds", "has no 'n_wrds'. Did you mean 'n_words'"),
        ("nowhere:f", "no module 'nowhere'"),
        ("users_metrics:Nothing", "is not a metric"),
    ):
        assert call(["run", "d.jsonl", "-m", wrong]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    sys.modules.pop("users_metrics", None)


def _made(most: int) -> Any:
    @ragassay.metric
    def no_longer_than(answer: str) -> bool:
        return len(answer) <= most

    return no_longer_than


def test_two_functions_of_one_name_share_no_value() -> None:
    short, long = _made(1), _made(9)
    data = [{"id": "1", "answer": "Emma"}]
    assert short.signature != long.signature and _made(1).signature == short.signature
    scopes: list[dict[str, Any]] = [{}, {}]
    for n, scope in enumerate(scopes):  # without a source
        exec(compile(f"def unread(answer): return len(answer) > {n}", "<made>", "exec"), scope)
    assert len({ragassay.metric(scope["unread"]).signature for scope in scopes}) == 2
    for one, value in ((short, False), (long, True), (short, False)):
        for options in ({"suite": [one]}, {"metrics": [one]}):
            (row,) = ragassay.evaluate(data, **options).scores
            assert row.value is value
    for options in ({"suite": [short, long]}, {"metrics": [short, long]}):
        with pytest.raises(ragassay.UsageError, match="Two metrics are called 'no_longer_than'"):
            ragassay.evaluate(data, **options)


def test_the_summary_says_why_a_metric_failed() -> None:
    @ragassay.metric
    def far(answer):
        return 7.0

    @ragassay.metric
    def breaks(answer):
        if answer == "b":
            raise ValueError("the grammar is missing")
        return 0.5

    data = [{"id": name, "answer": name, "references": ["a"]} for name in "abb"]
    data[2]["id"] = "c"
    warnings = ragassay.evaluate(data, [far, breaks, "em"]).summary.warnings
    (lies_outside,) = [one for one in warnings if one.startswith("far failed, first on sample 'a'")]
    assert "returned 7.0, which lies outside its range" in lies_outside
    (broken,) = [one for one in warnings if one.startswith("breaks failed, first on sample 'b'")]
    assert "raised ValueError: the grammar is missing" in broken
    alone = ragassay.evaluate(data, far).summary.warnings
    assert sum("lies outside its range" in one for one in alone) == 1


def test_a_function_that_changes_what_it_is_given_changes_no_other_metric() -> None:
    @ragassay.metric(name="first_changes")
    def first_changes(passages: list[str], metadata: dict[str, Any]) -> bool:
        passages.clear()
        metadata["tags"].clear()
        return not metadata.pop("n")

    @ragassay.metric(name="then_looks")
    def then_looks(passages: list[str], metadata: dict[str, Any]) -> bool:
        return len(passages) == 1 and metadata == {"n": 0, "tags": ["a"]}

    data = [{"id": "1", "passages": ["p"], "metadata": {"n": 0, "tags": ["a"]}}]
    result = ragassay.evaluate(data, [first_changes, then_looks])
    assert [row.value for row in result.scores] == [True, True]
