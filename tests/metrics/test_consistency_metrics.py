"""Metrics over the runs of a query: what they say of one group."""

from typing import Any

import pytest

from ragassay.base.sample import Answer, Passage, Sample, Statement
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.word_overlap import rouge
from ragassay.metrics.consistency.runs_alike import sentences, union_lcs
from ragassay.metrics.consistency.runs_spread import SCORES, UNSCORED, scores_of
from ragassay.metrics.core import naming
from scored import value


def group(*answers: str | None, **given: Any) -> Sample:
    runs = tuple(Sample(id="q", repeat=at, answer=text) for at, text in enumerate(answers))
    return Sample(id="q", query="?", runs=runs, given=given)


def retrieved(*lists: list[Passage] | None) -> Sample:
    runs = tuple(Sample(id="q", repeat=at, passages=found) for at, found in enumerate(lists))
    return Sample(id="q", runs=runs)


def by_id(names: str) -> list[Passage]:
    return [Passage(id=name) for name in names]


def said(name: str, sample: Sample) -> Outcome:
    return naming.parse(name).score(sample)


def scores(*values: Any, **unscored: Any) -> Sample:
    given = {"scores": {"m": list(values)}, **({"unscored": unscored} if unscored else {})}
    return group(*["x"] * len(values), **given)


OF_SCORES = ("mean", "variance", "cv", "median", "std", "range", "iqr", "cai", "flip")
EVERY = [
    *("runs_rouge1", "runs_rouge2", "runs_rougeL", "runs_overlap", "runs_rbo", "runs_bertscore"),
    *(f"runs_{name}(of=m)" for name in OF_SCORES),
]


@pytest.mark.parametrize("name", EVERY)
def test_one_run_says_nothing_about_consistency(name: str) -> None:
    one = Sample(
        id="q",
        runs=(Sample(id="q", answer="x", passages=by_id("a")),),
        given={"scores": {"m": [1.0]}},
    )
    found = said(name, one)
    assert isinstance(found, Unscored) and found.reason is Reason.NOT_APPLICABLE
    assert "once only" in found.detail
    no_group = said(name, one.runs[0])
    assert isinstance(no_group, Unscored) and no_group.reason is Reason.NOT_APPLICABLE


def test_open_rag_evals_fixture_through_the_metrics() -> None:
    sample = scores(0.7, 0.6, 0.6)
    assert value("runs_std(of=m)", sample) == pytest.approx(0.0471, abs=5e-5)
    assert value("runs_iqr(of=m)", sample) == pytest.approx(0.05)
    assert value("runs_range(of=m)", sample) == pytest.approx(0.1)
    assert value("runs_median(of=m)", sample) == 0.6
    assert value("runs_mean(of=m)", sample) == pytest.approx(1.9 / 3)
    assert value("runs_variance(of=m)", sample) == pytest.approx(1 / 300)
    assert value("runs_cv(of=m)", sample) == pytest.approx((1 / 300) ** 0.5 / (1.9 / 3))
    assert value("runs_cai(of=m)", scores(0, 0.5, 1)) == pytest.approx(0.3551, abs=5e-5)


def test_missing_scores_are_left_out_and_fewer_than_two_have_the_reason_of_most_runs() -> None:
    found = said("runs_mean(of=m)", scores(1.0, None, 0.5, m=[None, "refused", None]))
    assert isinstance(found, Score) and found.value == 0.75
    assert found.parts == {"values": [1.0, None, 0.5], "n": 2}
    assert found.explanation == "over the 2 of 3 runs that have a score"
    found = said("runs_mean(of=m)", scores(1.0, None, None, m=[None, "refused", "refused"]))
    assert isinstance(found, Unscored) and found.reason is Reason.REFUSED
    assert "1 of 3 runs has a score of m (2 refused)" in found.detail
    theirs = said("runs_mean(of=m)", scores(1.0, None, m=[None, "lost"]))
    assert isinstance(theirs, Unscored) and theirs.reason is Reason.MISSING_INPUT
    assert said("runs_mean(of=other)", scores(1.0, 1.0)).reason is Reason.MISSING_INPUT
    given = {SCORES: {"em": [None] * 3}, UNSCORED: {"em": ["failed", "budget", "budget"]}}
    found = scores_of(Sample(id="q", given=given), "em")
    assert isinstance(found, Unscored) and found.reason is Reason.BUDGET


def test_a_share_of_a_mean_of_0_and_a_spread_beyond_all_numbers_are_undefined() -> None:
    assert value("runs_cv(of=m)", scores(-1, -3)) == pytest.approx(2**0.5 / 2)
    assert said("runs_cv(of=m)", scores(1, -1)).reason is Reason.UNDEFINED
    for name in ("runs_mean(of=m)", "runs_std(of=m)", "runs_range(of=m)"):
        lost = said(name, scores(1e308, -1e308))
        assert isinstance(lost, Unscored) and lost.reason is Reason.UNDEFINED
        assert lost.detail == "m: the values are too large for their squares to be summed"
    assert value("runs_mean(of=m)", scores(1e100, 1e100)) == 1e100
    assert naming.parse("runs_cv(of=em)").about.startswith("em: ")


def test_labels_flip_and_have_no_spread() -> None:
    labels = scores("yes", "no", "yes")
    assert value("runs_flip(of=m)", labels) == 1.0
    alike = said("runs_flip(of=m)", scores("yes", "yes", None))
    assert alike == Score(
        0.0, {"values": ["yes", "yes", None], "n": 2}, "over the 2 of 3 runs that have a verdict"
    )
    assert value("runs_flip(of=m)", scores(True, 1.0, True)) == 0.0
    lists = scores([1], [1], None), scores([1], [1], [2, 1])  # as ragreport_attribution has them
    assert [value("runs_flip(of=m)", one) for one in lists] == [0.0, 1.0]
    assert said("runs_variance(of=m)", labels).reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [("a b c d", "b d x", (2 / 4 + 2 / 3) / 2), ("a a a b", "a b", 1.0), ("The a", "the a", 0.5),
     ("a b. c d.", "c d. a b", 1.0), ("a, b", "a b", 0.5), ("x y", "z", 0), ("a  b", "a\nb", 1),
     ("a b c", "c b a", 1 / 3), ("a b c a", "c a b", 2 / 3)],
)  # fmt: skip
def test_rouge_l_of_open_rag_eval_counts_distinct_words_in_both_directions(one, other, p) -> None:
    for pair in ((one, other), (other, one)):
        found = said("runs_rouge_ore.p", group(*pair))
        assert found.value == pytest.approx(p, abs=1e-12)
    assert value("runs_rouge_ore.r", group(one, other)) == pytest.approx(p)
    assert value("runs_rouge_ore.f", group(one, one)) == pytest.approx(1 - 5e-9, abs=1e-12)
    # Of two longest common subsequences the one that is found from the end: b, not a.
    assert union_lcs(sentences("b a. b"), sentences("a b")).r == 0.5
    left_out = said("runs_rouge_ore", group(one, "", one))
    assert left_out.parts["values"] == [None, pytest.approx(1.0), None]
    assert said("runs_rouge_ore", group(one, " ", "")).reason is Reason.EMPTY_ANSWER


@pytest.mark.parametrize("measure", ["rouge1", "rouge2", "rougeL"])
def test_every_pair_is_compared_and_kept(measure: str) -> None:
    texts = ["the cat sat", "the cat sat down", "a dog"]
    sample = group(*texts)
    for part in "prf":
        expected = [
            getattr(rouge(later, earlier, stem=False)[measure], part)
            for earlier, later in [(texts[0], texts[1]), (texts[0], texts[2]), (texts[1], texts[2])]
        ]
        found = said(f"runs_{measure}.{part}", sample)
        assert found.parts["pairs"] == [[0, 1], [0, 2], [1, 2]]
        assert found.parts["values"] == expected
        assert found.value == pytest.approx(sum(expected) / 3)


def test_answers_without_words_or_pairs_of_words_cannot_be_compared_with_each_other() -> None:
    found = said("runs_rougeL.f", group("", "?", "word"))
    assert found.parts["values"] == [None, 0.0, 0.0] and found.value == 0.0
    assert "1 of 3 pairs" in found.explanation
    assert said("runs_rougeL.f", group("", "?")).reason is Reason.EMPTY_ANSWER
    found = said("runs_rouge2.f", group("Paris", "Paris", "in Paris"))
    assert isinstance(found, Score) and found.parts["values"] == [None, 0.0, 0.0]
    assert value("runs_rouge1.f", group("Paris", "Paris")) == 1.0
    alike = said("runs_rouge2.f", group("Paris", "Paris"))
    assert isinstance(alike, Unscored) and "two words" in alike.detail


def test_runs_that_failed_are_left_out() -> None:
    failed = Sample(id="q", repeat=2, failure="API_ERROR")
    two = Sample(id="q", runs=(*group("a b", "a b").runs, failed))
    found = said("runs_rouge1.f", two)
    assert isinstance(found, Score) and found.value == 1.0
    assert found.explanation == "over the 2 of 3 runs that have an answer"
    one = Sample(id="q", runs=(Sample(id="q", answer="a"), failed))
    lacking = said("runs_rouge1.f", one)
    assert isinstance(lacking, Unscored) and lacking.reason is Reason.MISSING_INPUT
    assert "API_ERROR" in lacking.detail


def test_retrieval_that_comes_back_is_1_and_that_does_not_is_0() -> None:
    same = retrieved(by_id("abc"), by_id("abc"))
    other = retrieved(by_id("abc"), by_id("xyz"))
    turned = retrieved(by_id("abc"), by_id("acb"))
    for name in ("runs_overlap", "runs_rbo"):
        assert value(name, same) == pytest.approx(1.0)
        assert value(name, other) == 0.0
    assert value("runs_overlap", turned) == 1.0
    assert value("runs_rbo", turned) == pytest.approx(0.955)
    assert value("runs_rbo(p=0.5)", turned) < 0.955


def test_passages_go_by_their_texts_and_without_ids_by_their_places() -> None:
    one, other = [Passage("the  cat"), Passage("dog")], [Passage("the cat"), Passage("cow")]
    assert value("runs_overlap", retrieved(one, other)) == pytest.approx(1 / 3)
    places = [("d", 0, 9), ("d", 0, 5), ("e", 0, 9), ("d", 2, 9)]
    first, *rest = ([Passage(document=d, start=s, end=e)] for d, s, e in places)
    assert [value("runs_overlap", retrieved(first, one)) for one in (first, *rest)] == [1, 0, 0, 0]
    # Open RAG Eval's ids are [1], [2] ...: by them, every retrieval would be the same.
    one = [Passage("cat", "[1]"), Passage("dog", "[2]")]
    other = [Passage("cow", "[1]"), Passage("cat", "[2]")]
    found = said("runs_overlap", retrieved(one, other))
    assert isinstance(found, Score) and found.value == pytest.approx(1 / 3)


def test_nothing_retrieved_twice_cannot_be_compared() -> None:
    assert said("runs_overlap", retrieved([], [])).reason is Reason.NOTHING_RETRIEVED
    assert value("runs_overlap", retrieved([], by_id("a"))) == 0.0
    assert said("runs_rbo", retrieved(None, by_id("a"))).reason is Reason.MISSING_INPUT


def test_citations_are_no_words_of_an_answer() -> None:
    one, other = "It is 330 m tall [1].", "It is 330 m tall [2][3]."
    for name in ("runs_rouge1", "runs_rouge2", "runs_rougeL"):
        assert value(name, group(one, other)) == 1.0
    # Open RAG Eval's loader sees no other form.
    vendor = group(one, "It is 330 m tall 【1†source】.")
    assert value("runs_rougeL", vendor) < 1.0
    # Statements that the record brings hold no citations.
    stated = Answer("", (Statement("It is", ("1",)), Statement("330 m tall", ())))
    runs = (Sample(id="q", repeat=0, answer=stated), Sample(id="q", repeat=1, answer=one))
    assert value("runs_rougeL", Sample(id="q", runs=runs)) == 1.0


def test_the_earlier_run_is_the_one_with_the_smaller_repeat_whatever_the_order_given() -> None:
    one = group("a b c", "a")
    turned = Sample(id="q", runs=tuple(reversed(one.runs)))
    assert value("runs_rouge1.p", one) == value("runs_rouge1.p", turned) == 1.0
