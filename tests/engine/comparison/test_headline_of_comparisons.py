"""What a comparison says first: the suite's headline, what got worse, the slice that fell."""

import warnings
from typing import Any

import pytest

import ragassay
from ragassay.base.note import Note
from ragassay.engine.comparison.compare_runs import weakest_slice
from ragassay.engine.comparison.derived_runs import shown_queries
from ragassay.engine.comparison.gates import with_not_worse, worst_queries
from ragassay.engine.diagnosis.moved_classes import with_change
from ragassay.engine.results.comparison_result import ENOUGH
from ragassay.reports.views.comparison_view import primary_of, verdicts


def run(right: str, name: str, metrics: Any = ("em",), **of_sample: Any) -> ragassay.Result:
    """A run over a query for each letter: right where it is ``1``; the letters before the first
    blank are of kind ``a``, the others of kind ``b``."""
    rows = [
        {
            "id": f"{part}{at}", "system": name, "query": f"question {at}",
            "answer": "yes" if letter == "1" else "no", "references": ["yes"], "kind": part,
            "half": f"{part}{at // 2 % 2}", **of_sample,
        }
        for part, letters in zip("ab", right.split(), strict=True)
        for at, letter in enumerate(letters)
    ]  # fmt: skip
    return ragassay.evaluate(rows, metrics)


def fallen(found: ragassay.Comparison) -> list[Note]:
    return [note for note in found.notes if note.kind.endswith("_fell")]


UP, DOWN = ("1" * 30 + " " + "0" * 14, "0" * 30 + " " + "1" * 14)
"""All of kind a is right and all of kind b wrong, and the other way round."""


def test_a_slice_that_fell_while_its_metric_rose_is_in_the_sentence() -> None:
    found = ragassay.compare(run(UP, "new"), run(DOWN, "old"))
    assert found.differences[0].verdict == "better"
    (note,) = fallen(found)
    assert note.names == ("em",) and note.severity == "headline"
    shares = {"new": 0.0, "old": 1.0, "also": ""}
    assert note.counts == {"n": 14, "column": "kind", "value": "b", **shares}
    assert str(note) in " ".join(verdicts(found)) and "Better on em" in " ".join(verdicts(found))
    (gate,) = with_not_worse(found).gates
    assert gate.passed and gate.why.startswith("better: em") and "kind=b, em fell" in gate.why
    halves = [run(each, name, kind="all") for each, name in ((UP, "new"), (DOWN, "old"))]
    (note,) = fallen(ragassay.compare(*halves))
    assert note.counts["value"] == "b0" and "also with half=b1" in str(note)
    five = ragassay.compare(run("1" * 30 + " 00000", "new"), run("0" * 30 + " 11111", "old"))
    assert [note.counts["n"] for note in fallen(five)] == [5]
    sides = ((UP, "n"), (DOWN, "o"), (f"{'1' * 30} {'1' * 14}", "o"))
    right, *others = (run(each, name, ["contains_answer"]) for each, name in sides)
    for old in others:  # also where right answers became fewer as a whole
        (note,) = fallen(with_change(ragassay.compare(right, old)))
        assert note.names == ("share of right answers",) and note.counts["value"] == "b"


SILENT = [
    (DOWN, UP),  # worse as a whole
    ("1" * 30 + " 0000", "0" * 30 + " 1111"),  # four queries are too few
    ("1" * 30 + " " + "0" * 5 + "1" * 35, "0" * 30 + " " + "1" * 40),  # it fell by an eighth
    ("1" * 15 + "0" * 15 + " 000110", "0" * 15 + "1" * 15 + " 011110"),  # may be chance
    ("1" * 30 + " " + "1" * 8, "0" * 30 + " " + "0" * 8),  # it fell nowhere
    ("000011 001", "111111 110"),  # it fell nearly as much elsewhere
]  # fmt: skip


@pytest.mark.parametrize(("new", "old"), SILENT)
def test_no_slice_is_named_where_little_or_everything_fell(new: str, old: str) -> None:
    assert fallen(ragassay.compare(run(new, "new"), run(old, "old"))) == []


def test_a_run_names_its_weakest_slice_by_the_same_rule() -> None:
    rights = ("1" * 30 + " 00000", "1" * 30 + " 0000", "10" * 15 + " 010101", "1" * 30 + " 110101")
    found = [weakest_slice(run(each, "new", ["contains_answer"])) for each in rights]
    assert [[note.counts["value"] for note in notes] for notes in found] == [["b"], [], [], []]
    assert found[0][0].counts["old"] == pytest.approx(30 / 35)  # the share of all
    # Of each query another system says nothing that can be rated.
    both = [{"id": str(n), "query": "q?", "answer": "I do not know." * (s == "a") or "A mill.",
             "system": s, "passages": ["A mill."]} for n in range(9) for s in "ab"]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert weakest_slice(ragassay.evaluate(both, ["faithfulness", "answered"])) == []


def test_a_rise_of_what_should_be_low_is_a_fall() -> None:
    @ragassay.metric(name="wrong", higher_is_better=False)
    def wrong(answer: str) -> float:
        return float(answer != "yes")

    new, old = run(UP, "new", [wrong]), run(DOWN, "old", [wrong])
    assert [note.counts["value"] for note in fallen(ragassay.compare(new, old))] == ["b"]
    worse = with_not_worse(ragassay.compare(old, new))
    assert fallen(worse) == [], "worse as a whole"
    assert worst_queries(worse, worse.gates[0], 1) == ["a0: wrong 1.0000, before 0.0000"]
    assert len(worst_queries(worse, worse.gates[0], 99)) == 30, "what got better is not among them"


@pytest.mark.parametrize(("high", "named"), [(4.0, ["b"]), (5.0, [])])
def test_a_fall_is_a_share_of_the_scale(high: float, named: list[str]) -> None:
    @ragassay.metric(name="scaled", high=high)
    def scaled(answer: str) -> float:
        return float(answer == "yes")

    new, old = run(UP, "new", [scaled]), run(DOWN, "old", [scaled])
    assert [note.counts["value"] for note in fallen(ragassay.compare(new, old))] == named


def test_no_slice_is_named_where_the_runs_are_not_comparable() -> None:
    old = run(DOWN, "old", history=[{"speaker": "user", "text": "Hello"}])
    assert fallen(ragassay.compare(run(UP, "new"), old, force=True)) == []


def test_only_the_headline_of_a_suite_is_tested_unless_metrics_are_named() -> None:
    new, old = run(UP, "new", "qa"), run(DOWN, "old", "qa")
    found = ragassay.compare(new, old)
    assert len(found.differences) == 17 and found.n_tested == len(found.primary) == 8
    assert "em" not in found.primary and "exact_match" in found.primary
    by_name = {d.name: d for d in found.differences}
    assert by_name["em"].standing == "exploratory" and by_name["em"].p_adjusted is None
    assert [d.name for d in primary_of(found).differences] == list(found.primary)
    for options in ({"metrics": ["em", "f1"]}, {"primary": ["em", "f1"]}):
        named = ragassay.compare(new, old, **options)
        assert named.n_tested == 2
        assert [d.name for d in primary_of(named).differences] == ["em", "f1"]
    some = [ragassay.evaluate([*one.samples], "qa", metrics="em,exact_match") for one in (new, old)]
    assert ragassay.compare(*some).n_tested == 2, "the suite was not computed as a whole"
    drop = ragassay.compare(new, old, fail_if_drop="em>0.5")
    assert drop.gates[0].passed is not None, "a gate may ask of any metric"


def test_where_all_queries_are_too_few_the_sentence_says_how_many_are_enough() -> None:
    found = ragassay.compare(run("1 1", "new"), run("0 0", "old"))
    (note,) = [one for one in found.notes if one.kind == "too_few"]
    assert note.counts == {"n": 2, "enough": ENOUGH} and " ".join(verdicts(found)) == str(note)


def test_a_query_whose_id_is_a_hash_is_shown_by_its_text() -> None:
    data = [{"query": "Who? " * 20, "references": ["A"]}, {"id": "q-1", "query": "When?"}]
    run = ragassay.evaluate(data, ["em"])
    text, other = shown_queries(run, [run.columns.identities[0][0], "q-1"]).values()
    assert other == "q-1" and text.startswith("'Who? W") and len(text) < 70
