from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Answer, InputError, Passage, Reason, Sample, Score, Unscored, formats, suites
from ragassay.base.sample import Answerability
from ragassay.base.score import RECORD
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core.metric import Window
from ragassay.metrics.grounding.hallucination import Hhem
from ragassay.metrics.mtrag.mtrag_conditioning import Idk, Rule, idk_cell, idk_condition, idk_of
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
        id="q", query="what is it?", answer=Answer("I do not know"), references=("something",),
        passages=(Passage(text="a"),),
        answerability=None if label is None else Answerability(label.lower()), given=given,
    )  # fmt: skip


def judged(field: str, one: Sample, judge: Judge) -> Score | Unscored:
    with Asker(judge) as asker:
        return Window([one], asker).outcomes(SUITE.resolve([field])[0])[0]


def outcome(field: str, one: Sample) -> Score | Unscored:
    return SUITE.resolve([field])[0].score(one)


@pytest.mark.parametrize(
    ("label", "idk", "paper", "spec"),
    [("UNANSWERABLE", 1, 1, 1), ("UNANSWERABLE", 0.5, 0, 0), ("UNANSWERABLE", 0, 0, 0),
     ("UNANSWERABLE", "unknown", OWN, OWN), ("UNANSWERABLE", None, OWN, OWN),
     ("CONVERSATIONAL", 1, 1, OWN), ("CONVERSATIONAL", 0.5, 0, OWN),
     ("CONVERSATIONAL", 0, 0, OWN), ("CONVERSATIONAL", "unknown", OWN, OWN),
     ("ANSWERABLE", 1, 0, OWN), ("ANSWERABLE", 0.5, OWN, OWN), ("ANSWERABLE", 0, OWN, OWN),
     ("ANSWERABLE", "unknown", OWN, OWN), ("PARTIAL", 1, 0, OWN), ("PARTIAL", 0.5, OWN, OWN),
     ("PARTIAL", 0, OWN, OWN), ("PARTIAL", None, OWN, OWN)],
)  # fmt: skip
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


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("idk", [0.0, 0.5, 1.0, "1", "0.5"])
@pytest.mark.parametrize("rule", ["paper", "spec"])
def test_metrics_follow_the_pure_function(label: str, idk: Idk, rule: Rule) -> None:
    one = sample(label, idk_eval=[idk], RL_F=[OWN], RB_llm=0.8)
    for field, value in (("rl_f_idk", OWN), ("rb_llm_idk", 0.8)):
        name = field if rule == "paper" else f"{field}(rule=spec)"
        found = outcome(name, one)
        assert found.value == idk_condition(value, float(idk or 0), label, rule)


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("reply", ["unknown", "yes", "", 0.7, 2])
@pytest.mark.parametrize("field", ["RL_F_idk", "answerability_accuracy"])
def test_a_reply_that_was_not_understood_gives_no_score(label: str, reply: Any, field: str) -> None:
    found = outcome(field, sample(label, idk_eval=[reply], RL_F=[OWN]))
    assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED
    assert repr(reply) in found.detail and "not understood" in found.detail


def test_the_shorter_rule_asks_for_no_answer_that_it_ignores_and_a_known_cell_needs_no_value() -> (
    None
):
    found = outcome("rl_f_idk(rule=spec)", sample("ANSWERABLE", idk_eval="?", RL_F=[OWN]))
    assert isinstance(found, Score) and found.value == OWN
    lost = outcome("rl_f_idk(rule=spec)", sample("UNANSWERABLE", idk_eval="?", RL_F=[OWN]))
    assert isinstance(lost, Unscored)
    for why in (Reason.UNPARSABLE, Reason.REFUSED, Reason.CONTEXT_TOO_LONG):
        one = sample("UNANSWERABLE", idk_eval=1)
        assert judged("RL_F_idk", one, Scripted(why)) == Score(
            1.0, {}, "UNANSWERABLE, idk_eval 1.0 read from the record", given=True, by=(RECORD,)
        )
    assert outcome("RB_agg_idk", sample("ANSWERABLE", idk_eval=0)).reason is Reason.NEEDS_EXTRA


@pytest.mark.parametrize("label", [*KNOWN, "UNDERSPECIFIED"])
@pytest.mark.parametrize("field", ["RL_F_idk", "RB_llm_idk", "RB_agg_idk"])
def test_without_an_answer_nothing_is_conditioned(label: str, field: str) -> None:
    one = sample(label, RL_F=[OWN], RB_llm=[OWN], RB_agg=[OWN])
    found = judged(field, one, Scripted(Reason.UNPARSABLE))
    assert isinstance(found, Unscored) and found.reason is Reason.UNPARSABLE
    assert found.evidence and ("idk_eval" in found.detail or "underspecified_eval" in found.detail)


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize(("said", "idk"), [("yes", 1.0), ("partial", 0.5), ("no", 0.0)])
def test_a_judges_answer_conditions_as_a_given_one_does(label: str, said: str, idk: float) -> None:
    judge = Scripted({"says_idk": {"says_idk": said}})
    one = sample(label, RL_F=[OWN])
    found = judged("RL_F_idk", one, judge)
    assert isinstance(found, Score) and found.value == idk_condition(OWN, idk, label)
    assert found.evidence == judged("idk_eval", one, judge).evidence != ()
    accurate = judged("answerability_accuracy", one, judge)
    assert isinstance(accurate, Score) and accurate.evidence == found.evidence
    assert accurate.value is ((label in ("UNANSWERABLE", "CONVERSATIONAL")) == (idk == 1))


def test_the_evidence_of_a_conditioned_value_is_that_of_what_decided_it() -> None:
    judge = Scripted(SURE)
    stands = judged("RL_F_idk", sample("ANSWERABLE"), judge)
    assert isinstance(stands, Score) and stands.value == 1.0 and len(stands.evidence) == 3
    decided = judged("RL_F_idk", sample("UNANSWERABLE"), judge)
    assert isinstance(decided, Score) and decided.value == 0.0 and len(decided.evidence) == 1


def test_underspecified_samples_follow_the_given_answer_and_no_others_are_asked_about() -> None:
    judge = Scripted({"says_underspecified": {"asks": "yes"}, "says_idk": {"says_idk": "no"}})
    assert judged("RL_F_idk", sample("UNDERSPECIFIED", RL_F=OWN), judge).value == 1.0
    assert judge.asked.count("says_underspecified") == 1
    judged("RL_F_idk", sample("ANSWERABLE", RL_F=OWN), judge)
    assert judge.asked.count("says_underspecified") == 1
    for said, value in ((1.0, 1.0), (0.5, 0.0), (0.0, 0.0)):
        one = sample("UNDERSPECIFIED", RL_F=OWN, underspecified_eval=[said])
        assert outcome("RL_F_idk", one) == Score(
            value, {},
            f"UNDERSPECIFIED, underspecified_eval {said} read from the record: in place of 0.37",
            given=True, by=(RECORD,),
        )  # fmt: skip


@pytest.mark.parametrize("name", ["rb_agg", "rb_llm", "rl_f"])
def test_a_raw_metrics_name_brings_no_conditioned_value(name: str) -> None:
    one = sample("ANSWERABLE", **{name: 0.8})
    found = judged(f"{name}_idk", one, Scripted(Reason.REFUSED))
    assert isinstance(found, Unscored)
    assert found.reason is (Reason.NEEDS_EXTRA if name == "rb_agg" else Reason.REFUSED)


def test_conditioned_values_of_a_record_are_taken_as_such() -> None:
    one = sample("ANSWERABLE", conditional_idk=1, rl_f_idk=0.7, rb_llm_idk=0.9)
    for judge in (OfflineJudge(), Scripted(Reason.TIMEOUT), Scripted(SURE)):
        taken = judged("RL_F_idk", one, judge)
        assert isinstance(taken, Score) and taken.value == 0.7 and "record" in taken.explanation
        assert taken.evidence == ()
    assert judged("RL_F", one, Scripted(SURE)).value == 1.0
    assert judged("rl_f_idk(given=false)", one, Scripted(SURE)).value == 1.0
    by_spec = replace(one, metadata={"metrics_rule": "spec"})  # other values than the paper's
    assert judged("RL_F_idk", by_spec, Scripted(SURE)).value == 1.0
    assert isinstance(judged("rl_f_idk(rule=spec)", one, Scripted(Reason.TIMEOUT)), Unscored)
    asks = Scripted({**SURE, "says_underspecified": {"asks": "yes"}})
    vague = sample("UNDERSPECIFIED", underspecified_eval=0)
    assert judged("rl_f_idk(given=false)", vague, asks).value == 1.0
    refusing = sample("ANSWERABLE", idk_eval=1)
    assert judged("answerability_accuracy(given=false)", refusing, asks).value is True


@pytest.mark.parametrize(
    ("label", "conditional", "idk"),
    [("UNANSWERABLE", 1, 1), ("ANSWERABLE", 0, 1), ("UNANSWERABLE", 0, 0), ("ANSWERABLE", 1, 0)],
)
def test_conditional_idk_is_enough_to_condition(label: str, conditional: int, idk: int) -> None:
    one = sample(label, conditional_idk=conditional, RL_F=OWN)
    assert outcome("RL_F_idk", one).value == idk_condition(OWN, idk, label)
    assert isinstance(judged("idk_eval", one, Scripted(Reason.TIMEOUT)), Unscored)
    both = sample(label, conditional_idk=conditional, idk_eval=1 - idk, RL_F=OWN)
    assert outcome("RL_F_idk", both).value == idk_condition(OWN, 1 - idk, label)


@pytest.mark.parametrize("label", KNOWN)
@pytest.mark.parametrize("idk", [0.0, 0.5, 1.0])
def test_answerability_accuracy_is_conditional_idk(label: str, idk: float) -> None:
    found = outcome("conditional_idk", sample(label, idk_eval=[idk]))
    assert found.value is ((label in ("UNANSWERABLE", "CONVERSATIONAL")) == (idk == 1))
    for given in (True, 0, 1):
        taken = outcome("answerability_accuracy", sample(label, conditional_idk=given))
        assert isinstance(taken, Score) and taken.value is bool(given)


# --- what the value itself lacks ------------------------------------------------------------------

AT_LARGE = [Reason.UNSUPPORTED, *(reason for reason in Reason if reason.passing)]
TABLE = [("UNANSWERABLE", 1), ("UNANSWERABLE", 0), ("CONVERSATIONAL", 0.5), ("ANSWERABLE", 1)]


@pytest.mark.parametrize(("label", "idk"), TABLE)
@pytest.mark.parametrize("reason", AT_LARGE)
@pytest.mark.parametrize("field", ["RL_F_idk", "RB_llm_idk"])
def test_a_value_that_nobody_could_be_asked_for_leaves_the_conditioned_one_open(
    field: str, reason: Reason, label: str, idk: float
) -> None:
    found = judged(field, sample(label, idk_eval=idk), Scripted(reason))
    assert isinstance(found, Unscored) and found.reason is reason and found.evidence
    without_bertscores = outcome("RB_agg_idk", sample(label, idk_eval=idk))
    assert without_bertscores.reason is Reason.NEEDS_EXTRA


@pytest.mark.parametrize(("label", "idk"), TABLE)
def test_the_table_decides_where_the_reason_lies_in_the_sample(label: str, idk: float) -> None:
    nothing_said = Scripted({"extract_claims": {"claims": []}})
    bare = sample(label, idk_eval=idk)
    for one in (bare, replace(bare, passages=()), replace(bare, passages=None)):
        base = judged("RL_F", one, nothing_said)
        assert isinstance(base, Unscored)
        reasons = (Reason.NOTHING_CLAIMED, Reason.NOTHING_RETRIEVED, Reason.MISSING_INPUT)
        assert base.reason in reasons
        assert judged("RL_F_idk", one, nothing_said).value == idk_cell(idk, label)
    odd = sample(label, idk_eval=idk, BertscoreR=[9.0], BertKPrec=[0.1])
    assert outcome("RB_agg_idk", odd).value == idk_cell(idk, label)


def test_a_records_own_conditioned_value_counts_where_the_value_cannot_be_had() -> None:
    taken = outcome("RB_agg_idk", sample("ANSWERABLE", idk_eval=0, RB_agg_idk=[0.25]))
    assert isinstance(taken, Score) and taken.value == 0.25 and taken.given
    one = sample("PARTIAL", idk_eval=0.5, RL_F_idk=[0.25])
    kept = judged("RL_F_idk", one, Scripted(Reason.BUDGET))
    assert isinstance(kept, Score) and kept.value == 0.25 and kept.given


@pytest.mark.parametrize("label", ["UNANSWERABLE", "CONVERSATIONAL", "UNDERSPECIFIED"])
def test_a_value_that_is_impossible_under_the_table_is_taken_from_nobody(label: str) -> None:
    one = sample(label, RL_F=OWN, RL_F_idk=[OWN])
    said = {"says_idk": {"says_idk": "yes"}, "says_underspecified": {"asks": "yes"}}
    asked = judged("RL_F_idk", one, Scripted(said))
    assert isinstance(asked, Score) and asked.value == 1.0 and not asked.given
    assert "the given RL_F_idk, 0.37, contradicts the label" in asked.explanation
    assert judged("RL_F_idk", one, Scripted(Reason.BUDGET)).reason is Reason.BUDGET
    possible = judged("RL_F_idk", sample(label, RL_F=OWN, RL_F_idk=1), Scripted(Reason.BUDGET))
    assert isinstance(possible, Score) and possible.value == 1.0 and possible.given
    (metric,) = SUITE.resolve(["RL_F_idk"])
    nothing = replace(one, query=None, given={"RL_F_idk": [OWN]})
    assert isinstance(metric.lacks(nothing), Unscored)


@pytest.mark.parametrize(
    ("label", "value", "contradicts"),
    [("UNANSWERABLE", OWN, True), ("UNANSWERABLE", 0, False),
     ("CONVERSATIONAL", 1 - 1e-8, False), ("UNDERSPECIFIED", OWN, True), ("PARTIAL", OWN, False)],
)  # fmt: skip
def test_given_conditioned_values_that_contradict_the_label_are_counted_and_told(
    label: str, value: float, contradicts: bool
) -> None:
    one = sample(label, BertscoreR=0.5, BertKPrec=0.5, RB_llm=0.5, RL_F_idk=value)
    samples = [replace(one, id=f"q{n}") for n in range(40)]
    warnings = ragassay.evaluate(samples, "mtrag", judge=Scripted(Reason.BUDGET)).summary.warnings
    told = [said for said in warnings if "RL_F_idk are impossible" in said]
    assert [said.startswith("40 given values") for said in told] == [True] * contradicts


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("RB_agg_idk", [5.0], "a number from 0 to 1, and 0 or 1 where the label leaves no other"),
        ("RB_agg", [1.7], "a number from 0 to 1"), ("RB_agg", ["high"], "a number from 0 to 1"),
        ("RB_llm", [7.5], "a number from 0 to 1"), ("idk_eval", [0.7], "0, 0.5 or 1"),
        ("BertscoreR", [1.7], "one number of at most 1, or one for each text"),
        ("BertscoreR", [0.5, 0.5], "one number of at most 1, or one for each text"),
        ("BertKPrec", [0.5, 0.5], "one number of at most 1, or one for each text"),  # of three
    ],
)  # fmt: skip
def test_impossible_given_values_are_counted_and_told(field, value, rule) -> None:
    given = {"BertscoreR": 0.5, "BertKPrec": 0.5, "RB_llm": 0.5, "RL_F": 0.5, "idk_eval": 0}
    one = replace(sample("ANSWERABLE", **given), passages=(Passage(text="a"),) * 3)
    samples = [replace(one, id=f"q{n}") for n in range(40)]
    wrong = [replace(one, given={**one.given, field: value}) for one in samples]
    for metrics in (None, ["RB_agg_idk", "RB_llm_idk"]):
        summary = ragassay.evaluate(wrong, "mtrag", metrics=metrics, judge=Scripted(Reason.BUDGET))
        told = [said for said in summary.summary.warnings if "impossible" in said]
        assert told == [
            f"40 given values of {field} are impossible ({field} is {rule}). They were not taken."
        ]


def test_values_that_were_published_without_the_label_are_computed_with_it(shared: Path) -> None:
    """Issue 23 of the benchmark: the label is not found, so that a query counts as answerable."""
    samples = list(formats.read(shared / "data" / "mtrag" / "human_evaluations_half.json"))
    (metric,) = SUITE.resolve(["RB_agg_idk"])
    window = Window(samples)
    right, raws = (window.outcomes(one) for one in (metric, *SUITE.resolve(["RB_agg"])))
    wrong, changed = [], 0
    for one, outcome_, raw in zip(samples, right, raws, strict=True):
        assert isinstance(outcome_, Score) and isinstance(raw, Score)
        unlabelled = 0.0 if idk_of(one) == 1 else raw.number
        wrong.append(replace(one, given={**one.given, "RB_agg_idk": unlabelled}))
        changed += abs((unlabelled or 0.0) - (outcome_.number or 0.0)) > 1e-6
    assert changed > 10
    assert [one.value for one in Window(wrong).outcomes(metric)] == [one.value for one in right]


def test_the_shorter_rule_keeps_the_published_names_and_is_told_beside_them(tmp_path: Path) -> None:
    given = {"idk_eval": 1, "RL_F": OWN, "RB_llm": 0.5, "BertscoreR": 0.5, "BertKPrec": 0.5}
    runs = []
    for rule, mean in (("paper", 0.0), ("spec", 0.5)):
        options = {"options": {"rule": rule}, "save": tmp_path / rule}
        runs.append(ragassay.evaluate([sample("ANSWERABLE", **given)], "mtrag", **options))
        summary = runs[-1].summary
        assert summary.metrics["RB_llm_idk"].mean == mean
        assert ("rule=spec" in summary.metrics["RB_llm_idk"].signature) is (rule == "spec")
        assert any("rule=spec" in note for note in summary.warnings) is (rule == "spec")
    with pytest.raises(ragassay.UsageError, match="RB_llm_idk"):
        runs[1].compare(runs[0])


# --- what is given --------------------------------------------------------------------------------


def test_what_rests_on_the_records_values_alone_is_given() -> None:
    one = sample("ANSWERABLE", idk_eval=0, RL_F=OWN, RB_llm=0.5, BertscoreR=0.2, BertKPrec=0.4)
    for field in ("RL_F_idk", "RB_llm_idk", "RB_agg_idk", "answerability_accuracy", "RB_agg"):
        found = judged(field, one, Scripted(Reason.REFUSED))
        assert isinstance(found, Score) and found.given and not found.evidence, field
        assert "read from the record" in found.explanation
    for field in ("BertscoreR", "BertKPrec", "RB_agg_zero_denominator"):
        found = outcome(field, one)
        assert isinstance(found, Score) and found.given
        assert "read from the record" in found.explanation
    given_by_a_model = Hhem().score(sample("ANSWERABLE", hhem_score=0.9))
    assert given_by_a_model == Score(0.9, {}, "read from the record", given=True)
    for field in ("Recall", "RougeL_stemFalse", "Length"):
        found = outcome(field, one)
        assert isinstance(found, Score) and not found.given


# --- whose values --------------------------------------------------------------------------------


def test_a_conditioned_value_rests_on_whoever_gave_the_answer_and_the_value() -> None:
    by = {"idk_eval": "a", "RL_F": "b", "underspecified_eval": "c", "BertscoreR": "nobody"}
    rest = {"RL_F": OWN, "BertscoreR": 0.2, "BertKPrec": 0.4}
    for label, field, wanted in (
        ("ANSWERABLE", "RL_F_idk", ("a", "b")),
        ("UNANSWERABLE", "RL_F_idk", ("a", "b")),
        ("UNANSWERABLE", "RB_agg_idk", ("a",)),
        ("UNDERSPECIFIED", "RL_F_idk", ("c", "b")),
        ("ANSWERABLE", "answerability_accuracy", ("a",)),
    ):
        one = replace(sample(label, idk_eval=0, underspecified_eval=1, **rest), given_by=by)
        found = judged(field, one, Scripted(Reason.REFUSED))
        assert isinstance(found, Score) and found.given and found.by == wanted, (label, field)
    asked = judged("RL_F_idk", replace(sample("ANSWERABLE", RL_F=OWN), given_by=by), Scripted(SURE))
    assert isinstance(asked, Score) and asked.evidence and asked.by == ("b",)
    brought = replace(sample("ANSWERABLE", RL_F_idk=0.5), given_by={"RL_F_idk": "a + b"})
    found = judged("RL_F_idk", brought, Scripted(Reason.REFUSED))
    assert isinstance(found, Score) and found.value == 0.5 and found.by == ("a", "b")


def test_a_null_that_the_record_explains_is_conditioned_as_if_it_had_been_asked_for() -> None:
    for label, value in (("UNANSWERABLE", 1.0), ("ANSWERABLE", 0.0)):
        one = sample(label, idk_eval=1, RL_F=None)
        judge = Scripted(SURE)
        known = replace(one, given_unscored={"RL_F": "undefined: no claims"})
        assert judged("RL_F_idk", known, judge).value == value and not judge.questions
        remarks = SUITE.resolve(["RL_F"])[0].remarks(Window([known]))
        assert not any(remark.n for remark in remarks)  # which is no impossible value
        late = replace(one, given_unscored={"RL_F": "timeout: late"})
        assert judged("RL_F_idk", late, judge) == Unscored(Reason.TIMEOUT, "late")
    unread = replace(sample("PARTIAL", idk_eval=[None]), given_unscored={"idk_eval": "refused: no"})
    assert judged("answerability_accuracy", unread, Scripted(SURE)) == Unscored(
        Reason.REFUSED, "idk_eval is unscored: no"
    )


def test_a_plan_hears_what_a_conditioned_value_lacks() -> None:
    ways = ("", "(rule=spec)", "(given=false)")
    paper, spec, anew = (SUITE.resolve([f"rl_f_idk{way}"])[0] for way in ways)
    unlabelled = paper.lacks(sample(None, RL_F=[OWN], idk_eval=0))
    assert isinstance(unlabelled, Unscored) and unlabelled.reason is Reason.MISSING_INPUT
    assert unlabelled == outcome("rl_f_idk", sample(None, RL_F=[OWN], idk_eval=0))

    bare = replace(sample("ANSWERABLE", idk_eval=0), references=(), passages=())
    own = SUITE.resolve(["faithfulness"])[0].lacks(bare)
    assert isinstance(own, Unscored) and spec.lacks(bare) == paper.lacks(bare) == own
    # The table may decide by the answer alone, except where the shorter rule does not look at it.
    refusing = replace(bare, answerability=Answerability.UNANSWERABLE)
    assert paper.lacks(refusing) is None and spec.lacks(refusing) is None
    for given in ({"idk_eval": 1}, {"conditional_idk": 0}):  # a wrong "I do not know"
        assert paper.lacks(replace(bare, given=given)) is None
        assert anew.lacks(replace(bare, given=given)) == own
    accuracy, again = SUITE.resolve("answerability_accuracy,answerability_accuracy(given=false)")
    silent = replace(bare, query=None)  # the record has the judgement, which needs the query
    for given in ({"idk_eval": 1}, {"conditional_idk": 0}):
        known = replace(silent, given=given)
        assert accuracy.lacks(known) is None and isinstance(again.lacks(known), Unscored)
    chat = replace(bare, answerability=Answerability.CONVERSATIONAL)
    assert paper.lacks(chat) is None and spec.lacks(chat) == own
