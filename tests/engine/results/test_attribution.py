"""Who gave the judged values of a metric, in labels, in signatures and in sentences."""

import pytest

from ragassay.base.score import AND, RECORD, Reason, Score, Unscored
from ragassay.engine.results.score_columns import (
    Tally,
    given_parts,
    judges_of,
    label_of,
    mixed,
    names_in,
)

BOTH = f"a{AND}b"


def test_an_outcome_rests_on_whom_the_record_names_and_on_the_judge_where_it_was_asked() -> None:
    assert judges_of(Score(1.0), "run") == ""
    assert judges_of(Score(1.0, by=("b", "a")), "run") == BOTH
    assert judges_of(Score(1.0, evidence=("1",), by=("z",)), "run") == f"run{AND}z"
    assert judges_of(Score(1.0, evidence=("1",)), "") == ""
    assert judges_of(Unscored(Reason.TIMEOUT, "", evidence=("1",)), "run") == "run"


@pytest.mark.parametrize(("n_given", "n_scored", "judges", "parts"), [
    (3, 3, {"a": 1, "run": 2}, ("given=all", "judge=a+run")),
    (2, 3, {"a": 1, "run": 2}, ("given=some", "given_by=a")),
    (2, 3, {RECORD: 2}, ("given=some",)),
    (2, 3, {RECORD: 1, "a": 1}, ("given=some", "given_by=a+record")),
])  # fmt: skip
def test_a_signature_says_how_much_was_given_and_by_whom(n_given, n_scored, judges, parts) -> None:
    assert given_parts(Tally(n_scored, n_given, {}, {}, judges), "run") == parts


def test_judges_are_named_once_however_their_labels_are_joined() -> None:
    assert names_in({BOTH: 1, "c": 1, "a": 2, "": 4}) == ("a", "b", "c")


@pytest.mark.parametrize(("judges", "label"), [
    ({}, ""), ({RECORD: 3}, ""), ({"": 5, "a": 2}, "a"), ({"a": 9, BOTH: 1}, BOTH),
    ({"a": 1, RECORD: 2}, f"a{AND}{RECORD}"), ({"c": 1, BOTH: 2}, f"{BOTH}{AND}c"),
    ({"a": 1, "b": 1_200, "c": 3, "d": 2, "e": 1}, AND.join(["a", "b", "c", "2 others"])),
])  # fmt: skip
def test_a_metrics_label_names_its_judges(judges, label: str) -> None:
    assert label_of(judges) == label


MIXTURES = [
    ({"a": 1, f"b{AND}{RECORD}": 2}, "2 of b and the records, 1 of a"),
    ({"a": 4, "b": 3, "c": 2, "d": 1}, "4 of a, 3 of b, 2 of c and 1 more"),
]


@pytest.mark.parametrize(("judges", "listed"), MIXTURES)
def test_metrics_that_mix_judges_alike_are_told_in_one_sentence(judges, listed: str) -> None:
    (one,) = mixed({"m": judges})
    (two,) = mixed({"m": judges, "n": judges, "pure": {"a": 9}})
    assert (one.names, two.names) == (("m",), ("m", "n"))
    assert one.counts == two.counts == {"how": listed}


def test_values_of_some_of_the_same_judges_are_not_mixed_unless_the_runs_judge_is_one() -> None:
    assert not list(mixed({"m": {BOTH: 2, "a": 1}, "n": {}}))
    assert not list(mixed({"m": {BOTH: 2, "a": 1}}, judge="c"))
    assert not list(mixed({"m": {BOTH: 2, "a": 1}}, judge="a"))
    assert len(list(mixed({"m": {BOTH: 2, "a": 1}}, judge="b"))) == 1
