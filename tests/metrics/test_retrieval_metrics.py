import itertools
import math
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ragassay import Answerability, GoldPassage, InputError, Passage, Reason, Sample, Score
from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.base.score import Unscored
from ragassay.engine.run.ranked_runs import evaluate_run
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import AllSamples, Window
from ragassay.metrics.retrieval import ranking_sources

NUMERIC = [
    "P@3", "Recall@3", "F1@3", "AP", "AP@2", "RR", "RR@2", "nDCG", "nDCG@3", "nDCG(gain=exp)@3",
    "nDCG(gains=1:3;2:9)", "Rprec", "Rprec(mult=0.5)", "Bpref", "Success@2", "RBP", "RBP(p=0.9)",
    "RBP(graded=true)", "RBPResid", "IPrec@0.1", "AP11", "SetP", "SetR", "SetF", "SetAP",
    "SetRelP", "RelP@3", "Judged@3", "Unjudged@3", "infAP", "G", "binG", "RnDCG", "nDCGRel",
    "ERR(max_grade=4)", "ERR(max_grade=3)@2",
]  # fmt: skip


def sample(
    retrieved: str | list[str], gold: dict[str, int], scores: list[float] | None = None
) -> Sample:
    given_scores = scores or [None] * len(retrieved)
    return Sample(
        id="q",
        passages=tuple(
            Passage(id=name, score=score)
            for name, score in zip(retrieved, given_scores, strict=True)
        ),
        gold=tuple(GoldPassage(id=name, grade=grade) for name, grade in gold.items()),
    )


parse = cache(naming.parse)


def value(name: str, retrieved: str | list[str], gold: dict[str, int]) -> float:
    outcome = parse(name).score(sample(retrieved, gold))
    assert isinstance(outcome, Score) and outcome.number is not None
    return outcome.number


# Retrieved a to f; relevant: b (grade 1), e (2), and z (3), which was missed; d and f unjudged.
GOLD = {"a": 0, "b": 1, "c": 0, "e": 2, "z": 3}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P@5", 2 / 5),
        ("P@10", 2 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("Recall@2", 1 / 3),
        ("Recall@5", 2 / 3),
        ("F1@5", 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("AP", (1 / 2 + 2 / 5) / 3),
        ("AP@2", (1 / 2) / 3),
        ("RR", 1 / 2),
        ("RR(rel=2)", 1 / 5),
        ("RR@1", 0),
        ("Success@1", 0),
        ("Success@2", 1),
        ("Rprec", 1 / 3),
        # Two irrelevant judged documents (a, c); a stands above b, both stand above e.
        ("Bpref", ((1 - 1 / 2) + (1 - 2 / 2)) / 3),
        ("nDCG@5", (1 / math.log2(3) + 2 / math.log2(6)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("nDCG(gain=exp)@5",
         (1 / math.log2(3) + 3 / math.log2(6)) / (7 + 3 / math.log2(3) + 1 / 2)),
        ("nDCG(gains=1:5;2:4;3:0)", (5 / math.log2(3) + 4 / math.log2(6)) / (5 + 4 / math.log2(3))),
        ("RBP", 0.2 * (0.8 + 0.8**4)),
        ("RBP(p=0.5,graded=true)", 0.5 * (0.5 / 3 + 0.5**4 * 2 / 3)),
        # Unjudged: rank 4, rank 6 and everything below.
        ("RBPResid(p=0.5)", 0.5 * 0.5**3 + 0.5 * 0.5**5 + 0.5**6),
        ("IPrec@0", 1 / 2),
        ("IPrec@0.5", 2 / 5),
        ("IPrec@1", 0),
        # One relevant document makes recall 1/3, which the levels up to 0.4 round to.
        ("AP11", (5 * 0.5 + 4 * 0.4) / 11),
        ("AP11(levels=0.25;1)", (0.5 + 0) / 2),
        ("SetP", 2 / 6),
        ("SetR", 2 / 3),
        ("SetF", 2 * (1 / 3) * (2 / 3) / (1 / 3 + 2 / 3)),
        ("SetF(x=4)", 5 * (1 / 3) * (2 / 3) / (2 / 3 + 4 / 3)),
        ("SetAP", (2 / 6) * (2 / 3)),
        ("SetRelP", 2 / 3),
        ("RelP@2", 1 / 2),
        ("RelP@6", 2 / 3),
        ("Judged@5", 4 / 5), ("Judged@10", 4 / 10), ("Unjudged@5", 1 / 5), ("Unjudged@10", 2 / 10),
        ("Utility(found=2,noise=-1,missed=-3,rest=0.5,collection=100)", 4 - 4 - 3 + 0.5 * 93),
        ("NumQ", 1), ("NumRet", 6), ("NumRel", 3), ("NumRelRet", 2), ("NumNonrelJudgedRet", 2),
        ("binG", (1 / math.log2(3) + 1 / math.log2(5)) / 3),
        ("DCG", 1 / math.log2(3) + 2 / math.log2(6)),
        ("idealDCG", 3 + 2 / math.log2(3) + 1 / 2),
        ("YAAP", math.log((1 + 0.9) / (1 + 3 - 0.9))),
        ("P(rel=0)@5", 4 / 5),
        # Grade 1 satisfies with 1/8, grade 2 with 3/8: the largest grade of the qrels is 3.
        ("ERR", (1 / 8) / 2 + (7 / 8) * (3 / 8) / 5),
        ("ERR@4", (1 / 8) / 2),
        ("ERR(max_grade=4)", (1 / 16) / 2 + (15 / 16) * (3 / 16) / 5),
    ],
)  # fmt: skip
def test_values_worked_out_by_hand(name: str, expected: float) -> None:
    assert value(name, "abcdef", GOLD) == pytest.approx(expected, rel=1e-12)
    if not name.startswith("ERR"):  # whose scale is that of all queries
        first, _ = Window([sample("abcdef", GOLD), sample("z", {"z": 4})]).outcomes(parse(name))
        assert isinstance(first, Score) and first.number == pytest.approx(expected, rel=1e-12)


def test_the_grades_of_a_ranking_can_be_looked_at() -> None:
    outcome = naming.parse("RelString@8").score(
        sample("abcdezy", GOLD | {"c": -1, "e": 12, "y": 9})
    )
    assert isinstance(outcome, Score) and outcome.value == "01.->39"
    counted = parse("NumRet").score(sample("ab", GOLD))
    assert isinstance(counted, Score) and repr(counted.value) == "2"


def test_without_scores_the_given_order_is_the_ranking() -> None:
    assert value("RR", "ba", {"a": 1}) == 0.5
    gold = GoldPassage(id="a", grade=2), GoldPassage(id="b")
    partly = Sample(id="q", passages=(Passage(id="b", score=0.1), Passage(id="a")), gold=gold)
    assert naming.parse("RR(rel=2)").score(partly) == Score(
        0.5, explanation="1 of 1 relevant passages among 2 retrieved, at rank 2"
    )


def test_scores_win_over_the_given_order_and_a_repeated_passage_counts_once_both_told() -> None:
    samples = [
        sample("ba", {"a": 1}, [1.0, 2.0]), sample("abc", {"a": 1}, [3.0, 2.0, 2.0]),
        sample("ab", {"a": 1}), sample("bca", {"b": 1}, [2, 2, 3]),
    ]  # fmt: skip
    window = Window(samples)
    with pytest.warns(RagassayWarning) as caught:
        for name in ("RR", "AP", "nDCG@5"):
            window.outcomes(parse(name))
    best, *_, tied = window.outcomes(parse("RR"))  # equal scores keep the order given
    assert isinstance(best, Score) and (best.value, tied.value) == (1.0, 0.5)
    assert "ranked by score, which is not the order given" in best.explanation
    (warning,) = (str(one.message) for one in caught)
    assert "order of their scores: 2." in warning
    assert "rank them by score" in warning and "leave the scores out" in warning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Window(samples[1:3]).outcomes(parse("RR"))
    outcome = naming.parse("AP").score(sample("aab", {"a": 1, "b": 1}))
    assert isinstance(outcome, Score) and outcome.value == 1.0
    assert "1 repeated passages ignored" in outcome.explanation


TEXTS = ("Rain falls.", "Snow  melts. Ice breaks.", "Ice breaks.", "A strong west wind blows")
BY_TEXT = [  # gold texts, what AP and SetR are
    (("Snow melts. Ice breaks.",), 1 / 2, 1),  # white space does not count
    (("Snow melts.", "Ice breaks."), 1 / 2, 1),  # one passage holds both: they are one
    (("A strong west wind blows from the sea.",), 1 / 4, 1),
    (("A strong west wind blows in.", "A strong west wind blows out."), 0, 0),  # a heading of both
    (("Rain falls. It is wet.",), 0, 0),  # too short to be a part of it
    (("Rain falls.", "Hail hurts."), 1 / 2, 1 / 2),
]


@pytest.mark.parametrize(("gold", "precision", "recall"), BY_TEXT)
def test_without_ids_gold_is_found_by_its_text(gold, precision, recall) -> None:
    passages = tuple(map(Passage, TEXTS))
    one = Sample(id="q", passages=passages, gold=tuple(GoldPassage(text=text) for text in gold))
    found = [parse(name).score(one) for name in ("AP", "SetR")]
    assert [each.value for each in found] == pytest.approx([precision, recall])


@pytest.mark.parametrize("name", ["AP", "nDCG@10", "P@5", "Bpref", "Success@1", "ERR", "RnDCG"])
@pytest.mark.parametrize(
    "gold", [(), (GoldPassage(id="x", grade=0),), (GoldPassage("x", grade=-1),)]
)
def test_a_judged_query_without_relevant_passages_scores_0(name, gold) -> None:
    outcome = naming.parse(name).score(Sample(id="q", passages=(Passage(id="x"),), gold=gold))
    assert isinstance(outcome, Score) and outcome.value == 0.0


@pytest.mark.parametrize("gold", [(), (GoldPassage(id="x", grade=0),)])
@pytest.mark.parametrize("label", Answerability)
def test_a_query_without_gold_that_is_labelled_to_have_none_is_not_scored(label, gold) -> None:
    sample = Sample(id="q", passages=(Passage(id="x"),), gold=gold, answerability=label)
    outcome = naming.parse("nDCG@10").score(sample)
    if label in ("unanswerable", "conversational"):
        assert isinstance(outcome, Unscored) and outcome.reason is Reason.NOT_APPLICABLE
    else:
        assert isinstance(outcome, Score) and outcome.value == 0.0


@pytest.mark.parametrize("name", NUMERIC)
def test_nothing_retrieved_scores_0(name: str) -> None:
    outcome = naming.parse(name).score(Sample(id="q", passages=(), gold=(GoldPassage(id="x"),)))
    assert outcome.value == (1.0 if name == "RBPResid" else 0.0)


@pytest.mark.parametrize(
    ("broken", "reason", "said"),
    [
        (Sample(id="q", gold=(GoldPassage(id="a"),)), Reason.MISSING_INPUT, "no retrieved"),
        (Sample(id="q", passages=(Passage(id="a"),)), Reason.NOT_APPLICABLE, "no gold"),
        (Sample(id="q", passages=(Passage(id="a"),), gold=(GoldPassage(text="t"),)),
         Reason.NOT_APPLICABLE, "'chunks'"),
        (Sample(id="q", passages=(Passage(text="t"),), gold=(GoldPassage(id="a"),)),
         Reason.MISSING_INPUT, "passage 1 has no id"),
        (Sample(
             id="q",
             passages=(Passage(id="a"),),
             gold=(GoldPassage(id="a", grade=1), GoldPassage(id="a", grade=2)),
         ), Reason.UNDEFINED, "graded both 1 and 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_says_why(broken: Sample, reason: Reason, said: str) -> None:
    outcome = naming.parse("AP").score(broken)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is reason and said in outcome.detail


def test_trec_evals_residual_is_available_beside_the_correct_one() -> None:
    judged = {"a": 1, "b": 0}
    assert value("RBPResid(p=0.5)", "ab", judged) == pytest.approx(0.25)
    assert value("RBPResid(p=0.5,published=true)", "ab", judged) == 0.0
    assert value("RBPResid(p=0.5,published=true)", "abc", judged) == pytest.approx(0.25)


def test_a_run_is_evaluated_over_all_judged_queries() -> None:
    qrels = {"q2": {"a": 1}, "q1": {"a": 1, "b": 0}}
    found = evaluate_run(qrels, {"q1": {"a": 1.0}, "unjudged": {"a": 1.0}}, ["RR", "NumRel", "MRR"])
    assert found.queries == ("q1", "q2")
    assert found.values["RR"].tolist() == [1.0, 0.0]
    assert found.means == {"RR": 0.5, "NumRel": 2.0}
    made = ranking_sources.from_mappings(qrels, {"q1": {"a": 1.0}, "unjudged": {"a": 1.0}})
    assert made.n_unjudged_queries == 1


@pytest.mark.parametrize("kind", [np.array, list])
@pytest.mark.parametrize("gold", [([10, 9], [10, 10], [1, 1]), (["10", "9"], ["10", "10"], [1, 1])])
def test_whole_numbers_serve_as_ids_and_tie_as_texts(kind, gold) -> None:
    run = tuple(kind(column) for column in ([9, 9, 9, 10], [10, 9, 8, 10], [1.0, 1.0, 1.0, 1.0]))
    found = evaluate_run(gold, run, "RR")
    assert found.queries == ("10", "9")
    # As texts, "9" comes before "8" before "10" when descending.
    assert found.values["RR"].tolist() == [1.0, 1 / 3]


@pytest.mark.parametrize(("qrels", "run", "said"), [
    ({}, {"q": {"a": 1.0}}, "the qrels: there are no queries"),
    ({"q": {"a": 1}}, {}, "the run: there are no queries"),
    ((["q"], ["a"], [1]), ([], [], []), "the run: there are no rows"),
    ((["q"], ["a"], [1.5]), (["q"], ["a"], [1.0]), "not a whole number"),
    ({"q": {"a": 1}}, {"p": {"a": 1.0}}, r"the run has 'p', the qrels have 'q'"),
    ((["q"], ["a"], [1]), (["p"], ["a"], [1.0]), r"the run has 'p', the qrels have 'q'"),
    ({"q": {"a": 1}}, {"q": {"a": math.nan}}, "not finite"),
    ({"q": {"a": 1}}, {"q": {"a": "high"}}, "not a number"),
    ({"q": {"a": 1.5}}, {"q": {"a": 1.0}}, "not a whole number"),
    ({"q": {"a": math.inf}}, {"q": {"a": 1.0}}, "not a whole number"),
    ((["q"], ["a"], [math.nan]), (["q"], ["a"], [1.0]), "not a whole number"),
    ((["q"], ["a"], [1]), (["q", "q"], ["a", "a"], [1.0, 2.0]), "'a' occurs twice"),
    ((["q", "q"], ["a", "a"], [1, 1]), (["q"], ["a"], [1.0]), "'a' occurs twice"),
    ((["q"], ["a"], [1]), (["q"], ["a"], [math.inf]), "not finite"),
    ((["q"], ["a"], [1]), (["q"], [None], [1.0]), "have no document"),
    ((["q"], ["a"], [1]), (["q"], ["a", "b"], [1.0]), "the run"),
    ((["q"], ["a"], ["x"]), (["q"], ["a"], [1.0]), "not a number"),
    (pl.DataFrame({"query": ["q"], "document": ["a"]}),
     pl.DataFrame({"query": ["q"], "document": ["a"], "score": [1.0]}),
     "there is no column 'grade'"),
])  # fmt: skip
def test_faulty_data_in_memory_is_an_error(qrels: object, run: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate_run(qrels, run)  # type: ignore[arg-type]


def test_qrels_and_run_of_different_kinds_are_refused() -> None:
    kinds = [{"q": {"a": 1}}, (["q"], ["a"], [1]), Path("a file")]
    for qrels, run in itertools.permutations(kinds, 2):
        with pytest.raises(UsageError, match="alike"):
            evaluate_run(qrels, run)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="f1 is not a measure"):
        evaluate_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, "f1")


def test_the_top_of_errs_scale_is_the_largest_grade_of_all_and_none_may_be_above_it() -> None:
    """Also where windows divide them, or where the grade stands at a query the run lacks."""
    samples = [sample("a", {"a": 1}), sample("b", {"c": 3})]
    whole = AllSamples(lambda: samples)
    (first,) = parse("ERR").score_window(Window(samples[:1], all_samples=whole))
    assert isinstance(first, Score) and first.value == 1 / 8
    found = evaluate_run({"q1": {"a": 1}, "q2": {"c": 3}}, {"q1": {"a": 1.0}}, "ERR")
    assert found.values["ERR"].tolist() == [1 / 8, 0.0]
    both = ranking_sources.from_mappings({"q1": {"a": 1}, "q2": {"c": 3}}, {"q1": {"a": 1.0}})
    assert parse("ERR").values(both.only(np.array([True, False]))).tolist() == [1 / 8]  # type: ignore[attr-defined]
    metric = parse("ERR(max_grade=4)")
    above, fits = Window([sample("a", {"a": 5}), sample("a", {"a": 4})]).outcomes(metric)
    assert isinstance(above, Unscored) and "grade is above 4" in above.detail
    assert isinstance(fits, Score) and fits.value == 15 / 16
    with pytest.raises(UsageError, match="hold grade 5, above max_grade=4"):
        evaluate_run({"q": {"a": 5}}, {"q": {"a": 1.0}}, "ERR(max_grade=4)")


def test_a_run_is_evaluated_from_files_as_from_mappings(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (tmp_path / "run.txt").write_text("q1 Q0 b 1 2.0 r\nq1 Q0 a 2 1.0 r\nq2 Q0 c 1 1.0 r\n")
    from_files = evaluate_run(tmp_path / "qrels.txt", str(tmp_path / "run.txt"), "RR,nDCG@10")
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    run = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 1.0}}
    assert from_files.means == evaluate_run(qrels, run, "RR,nDCG@10").means
    assert from_files.means["RR"] == 0.75
    assert evaluate_run(qrels, run, "recall", ks=[1, 2]).means == {"recall@1": 0.5, "recall@2": 1.0}
    (tmp_path / "run.txt").write_text("q1 Q0 b 1 2.0 r\nq1 Q0 b 2 1.0 r\n")
    with pytest.raises(InputError, match=r"run\.txt"):
        evaluate_run(tmp_path / "qrels.txt", tmp_path / "run.txt", "RR")
    with pytest.raises(UsageError, match="No measure is named"):
        evaluate_run(qrels, run, [])
