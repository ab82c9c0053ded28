import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ragassay.base.score import Reason, Score, Unscored, label_of
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.score_rows import ScoreRow


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [float, np.float16, np.float32, np.float64])
def test_no_score_is_nan_or_infinite(kind: Any, bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Score(kind(bad))
    with pytest.raises(ValueError, match=r"parts\.deep\[1\]\.x.*finite"):
        Score(1.0, {"deep": [0.0, {"x": kind(bad)}]})


def test_numpy_scalars_become_plain_values() -> None:
    for value, plain in ((np.float32(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True)):
        score = Score(value, {"a": value, "b": [value], "c": (value,)})  # type: ignore[arg-type]
        assert score.value == plain and type(score.value) is type(plain)
        found = [score.parts["a"], *score.parts["b"], *score.parts["c"]]
        assert found == [plain] * 3 and {*map(type, found)} == {type(plain)}


@pytest.mark.parametrize("odd", [None, [0.5], [True], {"x": 1}, np.zeros(2), 1j, object()])
def test_what_is_neither_number_flag_nor_label_is_no_score(odd: Any) -> None:
    with pytest.raises(ValueError, match="a score holds a value of the type"):
        Score(odd)


@pytest.mark.parametrize("odd", [np.array([math.nan]), {1, 2}, 1j, object()])
def test_parts_hold_json_only(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"parts\.x holds a value of the type"):
        Score(0.5, {"x": odd})


def test_flags_count_as_numbers_and_labels_do_not() -> None:
    assert Score(True).number == 1.0
    assert Score("yes").number is None


def test_a_reason_is_an_accident_of_the_system_or_a_fact() -> None:
    passing = {"timeout", "connection", "server_error", "judge_error", "rate_limited", "auth"}
    passing |= {"budget", "stopped"}
    incomplete = passing | {"failed", "refused", "unparsable", "context_too_long"}
    excused = {"nothing_retrieved": "not_applicable"}
    excused |= dict.fromkeys(("nothing_cited", "nothing_claimed", "empty_answer"), "undefined")
    for reason in Reason:
        assert (reason.passing, reason.incomplete) == (reason in passing, reason in incomplete)
        assert (reason.by_system, reason.excused) == (
            reason in excused,
            excused.get(reason, reason),
        )
        found = Unscored(reason, "why: so", ("e",))
        assert Unscored.of_words(found.words) == Unscored(reason, "why: so")
        assert Unscored.of_words(Unscored(reason).words) == Unscored(reason)
    assert Unscored.of_words("late: so") == Unscored(Reason.UNDEFINED, "late: so")
    assert [label_of(value) for value in ("yes", [1, 3], [])] == ["yes", "[1, 3]", "[]"]
    assert (Score(3).number, Score(False).number, Score([1]).number) == (3.0, 0.0, None)
    assert Score(1.0, {"x": None, "y": "z"}).parts == {"x": None, "y": "z"}


OUTCOMES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(Score), st.booleans().map(Score),
    st.sampled_from(["yes", "no"]).map(Score), st.sampled_from(list(Reason)).map(Unscored),
)  # fmt: skip


@given(st.lists(OUTCOMES, max_size=30), st.data())
def test_columns_count_every_outcome_once(outcomes: list, data: st.DataObject) -> None:
    columns = ScoreColumns(["m"])
    for at, outcome in enumerate(outcomes):
        columns.identities.append((f"q{at}", "", 0))
        columns.add("m", outcome)
    tally = columns.tally("m")
    assert columns.scored("m").sum() + sum(tally.labels.values()) == tally.n_scored
    assert tally.n_scored + sum(tally.reasons.values()) == len(outcomes)
    numbers = [o.number for o in outcomes if isinstance(o, Score) and o.number is not None]
    assert columns.values("m")[columns.scored("m")].tolist() == numbers
    rows = data.draw(st.lists(st.integers(0, len(outcomes) - 1), unique=True)) if outcomes else []
    some = columns.take(np.array(rows, dtype=np.int64))
    assert some.values("m").tolist() == [columns.values("m")[at] for at in rows]
    if outcomes:
        assert some.tally("m") == columns.tally("m", np.isin(np.arange(len(outcomes)), rows))


@given(OUTCOMES)
def test_a_row_holds_its_outcome(outcome: Score | Unscored) -> None:
    row = ScoreRow.of(("q", "s", 2), "m", outcome)
    assert row.outcome == outcome
    assert (row.status == "unscored") == isinstance(outcome, Unscored)
