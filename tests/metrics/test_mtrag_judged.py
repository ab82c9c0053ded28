"""What MT-RAG asks a judge: idk_eval, RL_F, RB_llm and underspecified_eval, and the whole suite."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Reason, Sample, Score, Unscored, suites
from ragassay.base.errors import ArgumentError
from ragassay.base.sample import Turn
from ragassay.base.score import RECORD
from ragassay.engine.run.scoring import score_stream
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.panel import Panel
from ragassay.judges.question import Question
from ragassay.judges.questions.answering import SaysIdk
from ragassay.judges.questions.checklists import ClaimSupport, ExtractClaims
from ragassay.judges.questions.grading import ReferenceRating
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from ragassay.metrics.mtrag.mtrag_aggregate import ranking_score
from scripted_judge import Scripted
from valid_answers import largest, smallest

SUITE = suites.get("mtrag")
JUDGED = ("idk_eval", "RL_F", "RB_llm", "underspecified_eval")
FAILURES = [reason for reason in Reason if reason.incomplete] + [Reason.UNSUPPORTED]


def sample(
    answer: str = "It runs at nine.",
    *references: str,
    passages: tuple[str | None, ...] | None = ("The tram runs at nine.", "It is red."),
    query: str | None = "when does it run?\nand who drives?",
    **given_values: Any,
) -> Sample:
    return Sample(
        id="q", query=query,
        history=(Turn("user", "is there a tram?"), Turn("agent", "Yes, line 4.")),
        answer=Answer(answer), references=references or ("At nine.", "At ten."),
        passages=None if passages is None else tuple(Passage(text=text) for text in passages),
        given=given_values,
    )  # fmt: skip


def judged(name: str, one: Sample, judge: Judge) -> Score | Unscored:
    with Asker(judge) as asker:
        return Window([one], asker).outcomes(SUITE.resolve([name])[0])[0]


def value(name: str, one: Sample, judge: Judge) -> Score:
    found = judged(name, one, judge)
    assert isinstance(found, Score), found
    return found


def claims(*texts: str, supported: Sequence[bool]) -> Scripted:
    return Scripted(
        {"extract_claims": {"claims": texts}, "claim_support": {"supported": supported}}
    )


def rating(points: int) -> Scripted:
    return Scripted({"reference_rating": {"explanation": "close", "rating": points}})


# --- the values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "wanted"), [("yes", 1.0), ("partial", 0.5), ("no", 0.0)])
def test_idk_eval_is_one_of_three(said: str, wanted: float) -> None:
    judge = Scripted({"says_idk": {"says_idk": said}})
    found = value("idk_eval", sample(), judge)
    assert found.value == wanted and len(found.evidence) == 1
    talk = "user: is there a tram?\nagent: Yes, line 4.\nuser: when does it run?\nand who drives?"
    value("idk_eval", replace(sample(query="Who?"), history=()), judge)
    alone = SaysIdk("user: Who?", "It runs at nine.")
    assert judge.questions == [SaysIdk(talk, "It runs at nine."), alone]


@pytest.mark.parametrize(("said", "wanted"), [("yes", 1.0), ("no", 0.0)])
def test_underspecified_eval_is_yes_or_no(said: str, wanted: float) -> None:
    judge = Scripted({"says_underspecified": {"asks": said}})
    assert value("underspecified_eval", sample(), judge).value == wanted
    assert judge.questions[0].data["conversation"].startswith("user: is there a tram?")


def test_rl_f_is_the_share_of_supported_claims() -> None:
    judge = claims("It runs at nine.", "It is blue.", "It is fast.", supported=[True, False, False])
    found = value("RL_F", sample(), judge)
    assert found.value == 1 / 3 and found.explanation.startswith("1 of 3 claims")
    assert found.parts == {
        "claims": ("It runs at nine.", "It is blue.", "It is fast."),
        "supported": (True, False, False),
    }
    first, second = judge.questions
    assert isinstance(first, ExtractClaims) and first.conversation.endswith("and who drives?")
    assert isinstance(second, ClaimSupport)
    assert second.passages == ("The tram runs at nine.", "It is red.")
    assert len(found.evidence) == 2


@pytest.mark.parametrize("said", [(), ("", "  ")])
def test_an_answer_without_claims_is_neither_0_nor_1(said: tuple[str, ...]) -> None:
    judge = claims(*said, supported=[])
    found = judged("RL_F", sample("Hello!"), judge)
    assert isinstance(found, Unscored) and found.reason is Reason.NOTHING_CLAIMED
    assert judge.asked == ["extract_claims"] and len(found.evidence) == 1


def test_rb_llm_is_a_tenth_of_the_rating() -> None:
    judge = rating(7)
    found = value("RB_llm", sample(), judge)
    assert found.value == 0.7 and found.explanation == "close" and found.parts == {"rating": 7}
    assert judge.questions == [
        ReferenceRating(
            history="user: is there a tram?\nagent: Yes, line 4.",
            query="when does it run?\nand who drives?", reference="At nine.",
            answer="It runs at nine.", passages=("The tram runs at nine.", "It is red."),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("votes", "wanted"), [((2, 9, 6), 0.6), ((3, 6), 0.45), ((2, 9, 7, 6), 0.65)]
)
def test_rb_llm_of_a_panel_is_the_published_median(votes: tuple[int, ...], wanted: float) -> None:
    found = value("RB_llm", sample(), Panel([rating(points) for points in votes]))
    assert found.value == pytest.approx(wanted) and found.parts["ratings"] == list(votes)
    assert found.parts["rating"] == pytest.approx(10 * wanted)
    assert found.explanation.startswith("votes: ") is (len(votes) % 2 == 0)


# --- what is not asked --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "one", "reason"),
    [("RL_F", sample(passages=()), Reason.NOTHING_RETRIEVED),
     ("RL_F", sample(passages=None), Reason.MISSING_INPUT),
     ("RL_F", sample(passages=("a", None)), Reason.MISSING_INPUT),
     ("RB_llm", sample(passages=("a", None)), Reason.MISSING_INPUT),
     ("RB_llm", Sample(id="q", query="a", answer="b", passages=()), Reason.NOT_APPLICABLE),
     *((name, sample(query=None), Reason.MISSING_INPUT) for name in JUDGED),
     *((name, Sample(id="q", query="a"), Reason.MISSING_INPUT) for name in JUDGED)],
)  # fmt: skip
def test_what_is_missing_is_said_and_nobody_is_asked(name, one, reason) -> None:
    judge = Scripted(Reason.REFUSED)
    found = judged(name, one, judge)
    assert isinstance(found, Unscored) and found.reason is reason and not judge.questions
    assert SUITE.resolve([name])[0].lacks(one) == found


def test_ratings_without_passages_say_so_and_are_counted() -> None:
    for passages in ((), None):
        found = value("RB_llm", sample(passages=passages), rating(4))
        assert found.value == 0.4
        assert found.explanation == "Rated without passages. close"
    assert value("RB_llm", sample(), rating(4)).explanation == "close"
    given = sample(passages=(), RB_llm=[1.0])
    samples = [sample(passages=()), sample(passages=None), sample(), given]
    samples = [replace(one, id=f"q{at}") for at, one in enumerate(samples)]
    summary = ragassay.evaluate(samples, "mtrag", metrics=["RB_llm"], judge=rating(4)).summary
    (told,) = [said for said in summary.warnings if "without passages" in said]
    assert told.startswith("2 answers were rated for RB_llm without passages")


@pytest.mark.parametrize("name", JUDGED)
def test_a_given_value_counts_first_and_costs_nothing(name: str) -> None:
    judge = Scripted(Reason.REFUSED)
    found = value(name, sample(**{name: [1.0]}), judge)
    read = Score(1.0, {}, "read from the record", given=True, by=(RECORD,))
    assert found == read and not judge.questions
    for label, by in (("gpt", ("gpt",)), ("a + b", ("a", "b")), ("", (RECORD,))):
        known = replace(sample(**{name: [1.0]}), given_by={name: label, "x": "y"})
        taken = value(name, known, judge)
        assert taken.by == by and not judge.questions
        assert taken.explanation.endswith(f"where {label} gave it") is bool(label)
    for null in NULLS:
        asker = Scripted(Reason.REFUSED)
        judged(name, sample(**{name: null}), asker)
        assert asker.questions
    asked = judged(f"{name}(given=false)".lower(), sample(**{name: [1.0]}), judge)
    assert isinstance(asked, Unscored) and asked.reason is Reason.REFUSED and judge.questions


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("reply", [["unknown"], "**Yes**", [7], [float("nan")], "yes"])
def test_a_given_reply_that_was_not_understood_is_never_a_number(name: str, reply: Any) -> None:
    judge = Scripted(Reason.REFUSED)
    found = judged(name, sample(**{name: reply}), judge)
    assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED
    assert name in found.detail and not judge.questions


NULLS = (None, [None], [], [None, None])


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize(("why", "wanted"), [
    ("undefined: no claim: none", Unscored(Reason.UNDEFINED, "no claim: none")),
    ("timeout: too late", Unscored(Reason.TIMEOUT, "too late")),
    ("it was late", Unscored(Reason.UNDEFINED, "it was late")),
    ("late: very", Unscored(Reason.UNDEFINED, "late: very")),
])  # fmt: skip
def test_a_null_that_the_record_explains_is_what_it_says(name, null, why, wanted) -> None:
    judge = Scripted(Reason.REFUSED)
    one = replace(sample(**{name: null}), given_unscored={name: why})
    assert judged(name, one, judge) == wanted and not judge.questions
    judged(f"{name}(given=false)".lower(), one, judge)
    assert judge.questions


# --- what fails ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", FAILURES)
@pytest.mark.parametrize("name", JUDGED)
def test_a_judges_failure_keeps_its_reason_and_gives_no_number(name: str, reason: Reason) -> None:
    found = judged(name, sample(), Scripted(reason))
    assert isinstance(found, Unscored) and found.reason is reason
    assert len(found.evidence) == 1 and "told to fail" in found.detail


def test_faithfulness_whose_second_question_fails_is_unscored_with_both_as_evidence() -> None:
    judge = Scripted({"extract_claims": {"claims": ["a"]}, "claim_support": Reason.TIMEOUT})
    found = judged("RL_F", sample(), judge)
    assert isinstance(found, Unscored) and found.reason is Reason.TIMEOUT
    assert len(found.evidence) == 2


def some(question: Question[Any]) -> Any:
    """Fails by a rule, in every way, about half of the questions."""
    at = int(question.key[:8], 16)
    if at % 2:
        return FAILURES[at // 2 % len(FAILURES)]
    return (largest(question) if at % 4 else smallest(question)).model_dump()


@pytest.mark.parametrize("label", ["ANSWERABLE", "UNANSWERABLE", "UNDERSPECIFIED"])
def test_every_sample_is_scored_or_says_why_and_the_counts_add_up(label: str) -> None:
    records = [
        {"task_id": f"c<::>{n}", "input": [{"speaker": "user", "text": f"question {n}"}],
         "contexts": [{"document_id": "d", "text": f"passage {n}"}],
         "targets": [{"text": f"target {n}"}], "predictions": [{"text": f"answer {n}"}],
         "Answerability": [label]}
        for n in range(60)
    ]  # fmt: skip
    result = ragassay.evaluate(records, "mtrag", judge=Scripted(some))
    reasons: set[str] = set()
    for metric in result.summary.metrics.values():
        assert metric.n_total == 60
        assert metric.n_scored + sum(metric.unscored.values()) == 60
        reasons |= set(metric.unscored)
    assert reasons >= {str(reason) for reason in FAILURES}
    assert result.summary.incomplete > 0


# --- the suite ----------------------------------------------------------------------------------


def test_the_whole_suite_asks_four_questions_a_sample() -> None:
    judge = Scripted(lambda question: largest(question).model_dump())
    metrics = [*SUITE.resolve(), naming.parse("faithfulness(given=true)")]
    with Asker(judge) as asker:
        list(score_stream([sample()], metrics, asker))
    assert sorted(judge.asked) == [
        "claim_support", "extract_claims", "reference_rating", "says_idk",
    ]  # fmt: skip


def task(spelling: dict[str, Any], enriched: dict[str, Any] | None = None) -> dict[str, Any]:
    last: dict[str, Any] = {"speaker": "user", "text": "who?"}
    if enriched is not None:
        last["enrichments"] = enriched
    return {
        "task_id": "c<::>1", "input": [last],
        "contexts": [{"document_id": "d", "text": "a passage"}],
        "targets": [{"text": "I do not know."}], "predictions": [{"text": "I do not know."}],
        "metrics": {"idk_eval": [1.0], "RL_F": [0.2], "RB_llm": [0.4], "RB_agg": [0.3]}, **spelling,
    }  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [task({"Answerability": ["UNANSWERABLE"]}), task({"answerability": ["UNANSWERABLE"]}),
     task({"answerability": "unanswerable"}),
     task({"Answerability": ["UNANSWERABLE"], "answerability": ["UNANSWERABLE"]}),
     task({}, {"Answerability": ["UNANSWERABLE"]}), task({}, {"answerability": ["UNANSWERABLE"]})],
)  # fmt: skip
def test_issue_23_the_label_is_found_under_every_spelling(record: dict[str, Any]) -> None:
    found = ragassay.evaluate([record], "mtrag").summary.metrics
    for field in ("RB_agg_idk", "RB_llm_idk", "RL_F_idk"):
        assert found[field].mean == 1.0  # without the label: 0, the raw value's fate
    assert found["answerability_accuracy"].mean == 1.0


def test_issue_23_a_missing_label_is_never_taken_for_answerable() -> None:
    summary = ragassay.evaluate([task({})], "mtrag").summary
    for field in ("RB_agg_idk", "RB_llm_idk", "RL_F_idk", "answerability_accuracy"):
        assert summary.metrics[field].mean is None
    assert summary.incomplete and any("answerability" in text for text in summary.warnings)


def test_the_ranking_score_is_in_the_summary_where_its_means_are_whole() -> None:
    whole = {
        **task({"Answerability": ["ANSWERABLE"]}),
        "metrics": {"idk_eval": [0.0], "RL_F": [0.5], "RB_llm": [0.5], "RB_agg": [0.25]},
    }
    found = ragassay.evaluate([whole], "mtrag").summary
    assert found.totals == {"ranking_score": pytest.approx(3 / 8)}
    assert ranking_score(rl_f=0, rb_llm=1, rb_alg=1) == 0
    with pytest.raises(ArgumentError):
        ranking_score(rl_f=0.5, rb_llm=1.1, rb_alg=1)
    partial = {**whole, "task_id": "c<::>2", "metrics": {"idk_eval": [0.0], "RL_F": [0.5]}}
    lost = ragassay.evaluate([whole, partial], "mtrag", judge=Scripted(Reason.TIMEOUT)).summary
    assert lost.metrics["RB_llm_idk"].mean == 0.5 and lost.totals == {}


@pytest.mark.parametrize(("given", "value"), [(1.0000004768, 1.0), (-1e-7, 0.0), (0.25, 0.25)])
def test_a_given_value_beyond_its_range_by_a_rounding_error_is_the_bound(given, value) -> None:
    record = {"id": "1", "query": "Q?", "answer": "A.", "passages": ["A."]}
    result = ragassay.evaluate([record | {"metrics": {"RL_F": [given]}}], ["RL_F"])
    assert result.summary.metrics["RL_F"].mean == value
