from __future__ import annotations

from typing import Any

import pytest

from ragassay import Answer, InputError, Passage, Reason, Sample, Score, Unscored, suites
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline import OfflineJudge
from ragassay.metrics.base import Window
from ragassay.metrics.mtrag_conditioning import Idk, Rule, idk_condition
from ragassay.samples import Answerability
from scripted_judge import Scripted

SUITE = suites.get("mtrag")
OWN = 0.37
SURE = {
    "says_idk": {"says_idk": "no"},
    "extract_claims": {"claims": ["it is a"]},
    "claim_support": {"supported": [True]},
}
KNOWN = ("ANSWERABLE", "PARTIAL", "UNANSWERABLE", "CONVERSATIONAL")


def sample(label: str | None, **given: Any) -> Sample:
    return Sample(
        id="q",
        query="what is it?",
        answer=Answer("I do not know"),
        references=("something",),
        passages=(Passage(text="a"),),
        answerability=None if label is None else Answerability(label.lower()),
        given=given,
    )


def judged(field: str, one: Sample, judge: Judge) -> Score | Unscored:
    with Asker(judge) as asker:
        return Window([one], asker).outcomes(SUITE.resolve([field])[0])[0]


def outcome(field: str, one: Sample) -> Score | Unscored:
    return SUITE.resolve([field])[0].score(one)


@pytest.mark.parametrize(
    ("label", "idk", "paper", "spec"),
    [
        ("UNANSWERABLE", 1, 1, 1),
        ("UNANSWERABLE", 0.5, 0, 0),
        ("UNANSWERABLE", 0, 0, 0),
        ("UNANSWERABLE", "unknown", OWN, OWN),
        ("UNANSWERABLE", None, OWN, OWN),
        ("CONVERSATIONAL", 1, 1, OWN),
        ("CONVERSATIONAL", 0.5, 0, OWN),
        ("CONVERSATIONAL", 0, 0, OWN),
        ("CONVERSATIONAL", "unknown", OWN, OWN),
        ("ANSWERABLE", 1, 0, OWN),
        ("ANSWERABLE", 0.5, OWN, OWN),
        ("ANSWERABLE", 0, OWN, OWN),
        ("ANSWERABLE", "unknown", OWN, OWN),
        ("PARTIAL", 1, 0, OWN),
        ("PARTIAL", 0.5, OWN, OWN),
        ("PARTIAL", 0, OWN, OWN),
        ("PARTIAL", None, OWN, OWN),
    ],
)
def test_the_whole_table(label: str, idk: Idk, paper: float, spec: float) -> None:
    assert idk_condition(OWN, idk, label) == paper
    assert idk_condition(OWN, idk, label.lower(), "spec") == spec
    assert idk_condition(OWN, idk, Answerability(label.lower()), "paper") == paper


def test_underspecified_queries_follow_their_own_judge() -> None:
    assert idk_condition(OWN, 0, "UNDERSPECIFIED", underspecified=1) == 1
    assert idk_condition(OWN, 1, "UNDERSPECIFIED", underspecified=0.5) == 0
    assert idk_condition(OWN, 1, "UNDERSPECIFIED", "spec") == OWN
    with pytest.raises(InputError, match="underspecified_eval"):
        idk_condition(OWN, 1, "UNDERSPECIFIED")


@pytest.mark.parametrize("rule", ["paper", "spec"])
@pytest.mark.parametrize("label", [None, "", "answerabel"])
def test_a_missing_or_unknown_label_is_an_error(rule: Rule, label: str | None) -> None:
    with pytest.raises(InputError, match="label"):
        idk_condition(OWN, 1, label, rule)


def test_the_error_names_both_spellings_and_the_enrichments() -> None:
    with pytest.raises(InputError, match=r"'answerability' or 'Answerability'.*enrichments"):
        idk_condition(OWN, 1, None)


@pytest.mark.parametrize("field", ["RB_agg_idk", "RB_llm_idk", "RL_F_idk"])
def test_a_missing_label_is_never_taken_for_answerable(field: str) -> None:
    one = sample(None, idk_eval=[1.0], RL_F=[OWN], RB_llm=[OWN], rl_f=OWN, rb_llm=OWN, rb_agg=OWN)
    found = outcome(field, one)
    assert isinstance(found, Unscored) and found.reason is Reason.MISSING_INPUT
    assert "'answerability' or 'Answerability'" in found.detail


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("idk", [0.0, 0.5, 1.0, "1", "0.5"])
@pytest.mark.parametrize("rule", ["paper", "spec"])
def test_metrics_follow_the_pure_function(label: str, idk: Idk, rule: Rule) -> None:
    one = sample(label, idk_eval=[idk], RL_F=[OWN], RB_llm=0.8)
    for field, value in (("rl_f_idk", OWN), ("rb_llm_idk", 0.8)):
        name = field if rule == "paper" else f"{field}(rule=spec)"
        found = outcome(name, one)
        assert isinstance(found, Score)
        assert found.value == idk_condition(value, float(idk or 0), label, rule)


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("reply", ["unknown", "yes", "", 0.7, 2, None])
@pytest.mark.parametrize("field", ["RL_F_idk", "answerability_accuracy"])
def test_a_reply_that_was_not_understood_gives_no_score(label: str, reply: Any, field: str) -> None:
    found = outcome(field, sample(label, idk_eval=[reply], RL_F=[OWN]))
    assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED
    assert repr(reply) in found.detail and "not understood" in found.detail


def test_the_shorter_rule_asks_for_no_verdict_that_it_ignores() -> None:
    found = outcome("rl_f_idk(rule=spec)", sample("ANSWERABLE", idk_eval="?", RL_F=[OWN]))
    assert isinstance(found, Score) and found.value == OWN
    lost = outcome("rl_f_idk(rule=spec)", sample("UNANSWERABLE", idk_eval="?", RL_F=[OWN]))
    assert isinstance(lost, Unscored)


def test_a_known_cell_needs_no_own_value() -> None:
    assert outcome("RL_F_idk", sample("UNANSWERABLE", idk_eval=1)) == Score(
        1.0, {}, "UNANSWERABLE, idk_eval 1.0"
    )
    lost = outcome("RB_agg_idk", sample("ANSWERABLE", idk_eval=0))
    assert isinstance(lost, Unscored) and lost.reason is Reason.NEEDS_EXTRA


@pytest.mark.parametrize("label", [*KNOWN, "UNDERSPECIFIED"])
@pytest.mark.parametrize("field", ["RL_F_idk", "RB_llm_idk", "RB_agg_idk"])
def test_without_a_verdict_nothing_is_conditioned(label: str, field: str) -> None:
    one = sample(label, RL_F=[OWN], RB_llm=[OWN], RB_agg=[OWN])
    found = judged(field, one, Scripted(Reason.UNPARSABLE))
    assert isinstance(found, Unscored) and found.reason is Reason.UNPARSABLE
    assert found.evidence and ("idk_eval" in found.detail or "underspecified_eval" in found.detail)


def test_the_shorter_rule_needs_no_verdict_that_it_ignores() -> None:
    one = sample("ANSWERABLE", RL_F=[OWN])
    kept = judged("rl_f_idk(rule=spec)", one, Scripted(Reason.TIMEOUT))
    assert isinstance(kept, Score) and kept.value == OWN and kept.evidence == ()


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize(("said", "idk"), [("yes", 1.0), ("partial", 0.5), ("no", 0.0)])
def test_a_judges_verdict_conditions_as_a_given_one_does(label: str, said: str, idk: float) -> None:
    judge = Scripted({"says_idk": {"says_idk": said}})
    one = sample(label, RL_F=[OWN])
    found = judged("RL_F_idk", one, judge)
    assert isinstance(found, Score) and found.value == idk_condition(OWN, idk, label)
    assert found.evidence == judged("idk_eval", one, judge).evidence != ()
    accurate = judged("answerability_accuracy", one, judge)
    assert isinstance(accurate, Score) and accurate.evidence == found.evidence
    assert accurate.value is ((label in ("UNANSWERABLE", "CONVERSATIONAL")) == (idk == 1))


def test_the_evidence_of_a_conditioned_value_is_that_of_what_decided_it() -> None:
    judge = Scripted(
        {
            "says_idk": {"says_idk": "no"},
            "extract_claims": {"claims": ["it is a"]},
            "claim_support": {"supported": [True]},
        }
    )
    stands = judged("RL_F_idk", sample("ANSWERABLE"), judge)
    assert isinstance(stands, Score) and stands.value == 1.0 and len(stands.evidence) == 3
    decided = judged("RL_F_idk", sample("UNANSWERABLE"), judge)
    assert isinstance(decided, Score) and decided.value == 0.0 and len(decided.evidence) == 1


def test_only_queries_labelled_underspecified_are_asked_about() -> None:
    judge = Scripted({"says_underspecified": {"asks": "yes"}, "says_idk": {"says_idk": "no"}})
    found = judged("RL_F_idk", sample("UNDERSPECIFIED", RL_F=OWN), judge)
    assert isinstance(found, Score) and found.value == 1.0
    assert judge.asked.count("says_underspecified") == 1
    judged("RL_F_idk", sample("ANSWERABLE", RL_F=OWN), judge)
    assert judge.asked.count("says_underspecified") == 1


def test_underspecified_samples_follow_the_given_verdict() -> None:
    for said, value in ((1.0, 1.0), (0.5, 0.0), (0.0, 0.0)):
        one = sample("UNDERSPECIFIED", RL_F=OWN, underspecified_eval=[said])
        assert outcome("RL_F_idk", one) == Score(
            value, {}, f"UNDERSPECIFIED, underspecified_eval {said}: in place of 0.37"
        )


def test_an_unread_judge_of_underspecified_queries_gives_no_score() -> None:
    for said in ("yes", 0.7, None):
        found = outcome("RL_F_idk", sample("UNDERSPECIFIED", RL_F=OWN, underspecified_eval=[said]))
        assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED


@pytest.mark.parametrize("name", ["rb_agg", "rb_llm", "rl_f"])
def test_a_raw_metrics_name_brings_no_conditioned_value(name: str) -> None:
    one = sample("ANSWERABLE", **{name: 0.8})
    found = judged(f"{name}_idk", one, Scripted(Reason.REFUSED))
    assert isinstance(found, Unscored) and found.reason is Reason.REFUSED


@pytest.mark.parametrize("brought", [7, -0.5, "high"])
def test_a_conditioned_value_outside_the_range_is_unscored(brought: Any) -> None:
    found = outcome("RB_llm_idk", sample("ANSWERABLE", RB_llm_idk=[brought]))
    assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED


def test_conditioned_values_of_a_record_are_taken_as_such() -> None:
    one = sample("ANSWERABLE", conditional_idk=1, rl_f_idk=0.7, rb_llm_idk=0.9)
    for judge in (OfflineJudge(), Scripted(Reason.TIMEOUT), Scripted(SURE)):
        taken = judged("RL_F_idk", one, judge)
        assert isinstance(taken, Score) and taken.value == 0.7 and "record" in taken.explanation
        assert taken.evidence == ()
    raw = judged("RL_F", one, Scripted(SURE))
    assert isinstance(raw, Score) and raw.value == 1.0
    anew = judged("rl_f_idk(given=false)", one, Scripted(SURE))
    assert isinstance(anew, Score) and anew.value == 1.0
    assert isinstance(judged("rl_f_idk(rule=spec)", one, Scripted(Reason.TIMEOUT)), Unscored)


def test_what_follows_from_the_records_values_counts_before_its_conditioned_value() -> None:
    wrong = sample("UNANSWERABLE", idk_eval=[1.0], RL_F=[OWN], RL_F_idk=[0.0])
    found = outcome("RL_F_idk", wrong)
    assert isinstance(found, Score) and found.value == 1.0


@pytest.mark.parametrize(
    ("label", "conditional", "idk"),
    [("UNANSWERABLE", 1, 1), ("ANSWERABLE", 0, 1), ("UNANSWERABLE", 0, 0), ("ANSWERABLE", 1, 0)],
)
def test_conditional_idk_is_enough_to_condition(label: str, conditional: int, idk: int) -> None:
    one = sample(label, conditional_idk=conditional, RL_F=OWN)
    found = outcome("RL_F_idk", one)
    assert isinstance(found, Score) and found.value == idk_condition(OWN, idk, label)
    assert isinstance(judged("idk_eval", one, Scripted(Reason.TIMEOUT)), Unscored)


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("idk", [0.0, 0.5, 1.0])
def test_answerability_accuracy_is_conditional_idk(label: str, idk: float) -> None:
    found = outcome("conditional_idk", sample(label, idk_eval=[idk]))
    assert isinstance(found, Score)
    assert found.value is ((label in ("UNANSWERABLE", "CONVERSATIONAL")) == (idk == 1))
    for given in (True, 0, 1):
        taken = outcome("answerability_accuracy", sample(label, conditional_idk=given))
        assert isinstance(taken, Score) and taken.value is bool(given)


def test_answerability_accuracy_leaves_out_what_it_cannot_judge() -> None:
    for one in (
        sample(None, idk_eval=1),
        sample("UNDERSPECIFIED", idk_eval=1),
        sample("ANSWERABLE"),
        sample("ANSWERABLE", idk_eval="unknown"),
    ):
        found = judged("answerability_accuracy", one, Scripted(Reason.REFUSED))
        assert isinstance(found, Unscored)
