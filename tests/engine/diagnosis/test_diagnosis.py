"""Why samples fail: which ones, what a class costs, what is missing, and what a change moved."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import inf
from pathlib import Path
from typing import Any

import pytest

import ragassay
from approved import check, number
from ragassay import Sample, UsageError, diagnose
from ragassay.base.sample import Answerability, GoldPassage
from ragassay.engine.diagnosis.decision_table import SIGNALS, Thresholds, class_of
from ragassay.engine.diagnosis.moved_classes import moved, with_change
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.reports.model import Lines, Report
from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report, verdict_of
from ragassay.stats.intervals import mean_interval

GOLD = "The mill closes at noon."
OTHER = "The ferry runs until ten."
METRICS = ["contains_answer", "token_f1.f", "RR"]
SAMPLE, LIMITS = Sample(id="q", answer="a"), Thresholds()


def told(report: Report) -> str:
    """The first sentences of a report."""
    first = report.blocks[0]
    assert isinstance(first, Lines)
    return first.lines[0].text


def record(name: str, answer: str, gold_at: int | None = 0, **more: Any) -> dict[str, Any]:
    """A query whose gold passage stands at a place among five; ``None`` leaves it out."""
    passages = [{"id": f"p{n}", "text": f"{OTHER} {n}"} for n in range(5)]
    if gold_at is not None:
        passages[gold_at] = {"id": "gold", "text": GOLD}
    return {
        "id": name, "query": "When does the mill close?", "passages": passages, "answer": answer,
        "references": [GOLD], "gold": [{"id": "gold"}], **more,
    }  # fmt: skip


NONE_HELD = {"verdicts": [{"number": 1, "reason": "", "supported": False}]}

RUN = [
    record("fine", GOLD), record("fine, gold last", GOLD, 4), record("none", OTHER, None),
    record("low", OTHER, 4), record("ignored", "Ferries run until ten.", 1),
    record("half", "The mill closes.", 2),
]  # fmt: skip


def test_each_failing_sample_is_in_one_class_and_right_answers_are_in_none() -> None:
    found = diagnose(ragassay.evaluate(RUN, METRICS))
    assert (found.headline, found.below, found.n, found.n_failing) == ("contains_answer", 0.5, 6, 4)
    expected = [None, None, "not_retrieved", "ranked_low", "ignored", "incomplete"]
    assert list(found.classes) == expected
    by_name = {one.fault.name: one for one in found.found}
    assert by_name["not_retrieved"].samples == (("none", "", 0),)
    (example,) = by_name["not_retrieved"].examples
    assert example.signals["rank"] == inf and example.to_json()["signals"]["rank"] is None
    # The cost is what the mean would rise by.
    assert found.mean == pytest.approx(2 / 6) and found.fine_mean == 1.0
    assert [one.cost for one in found.found] == [pytest.approx(1 / 6)] * 4
    total = sum(one.cost or 0 for one in found.found)
    assert found.mean + total == pytest.approx(found.fine_mean)
    for deepest in ("nDCG@5", "nDCG"):
        cut = ragassay.evaluate(RUN, ["contains_answer", "nDCG@1", deepest, "nDCG@3"])
        found = diagnose(cut, complete=False)
        assert found.sources["rank"] == {deepest: 6}  # it sees the most
    ranks = {one.signals.get("rank") for group in found.found for one in group.examples}
    assert ranks == {2.0, 3.0, 5.0, inf} and found.classes[3] == "ranked_low"
    some = ragassay.evaluate([record("", OTHER, gold=None)], ["contains_answer", "claim_recall"])
    found = diagnose(some)  # that something was retrieved is no rank
    assert found.sources["rank"] and "rank" not in found.found[0].examples[0].signals


def test_a_fault_that_counts_by_itself_costs_nothing_in_a_headline_that_is_good() -> None:
    said = {"a": f"{GOLD} It does not close at noon.", "b": GOLD, "c": OTHER}
    records = [record(name, answer) for name, answer in said.items()]
    result = ragassay.evaluate(records, [*METRICS, "contradicted"])
    found = diagnose(result)
    assert list(found.classes) == ["invented", None, "ignored"]
    assert {one.fault.name: one.cost for one in found.found}["invented"] == 0.0
    graded = diagnose(ragassay.evaluate(records[:2], ["token_f1.f", "contradicted"]))
    assert 0.5 < graded.mean < 1 and [*graded.classes] == ["invented", None]
    assert graded.found[0].cost == 0.0, "it is not below the threshold"
    alone = diagnose(result, headline_only=True)
    assert list(alone.classes) == [None, None, "ignored"]
    assert ["another fault" in told(diagnosis_report(one)) for one in (found, alone)] == [
        True,
        False,
    ]
    tolerant = diagnose(result, thresholds=Thresholds(max_contradicted=0.5, min_supported=0.5))
    assert tolerant.classes[0] is None


def test_a_refusal_is_right_for_an_unanswerable_query_and_wrong_for_another() -> None:
    refusal = "I don't know."
    said = [(refusal, ""), (refusal, "un"), (OTHER, "un"), (GOLD, "")]
    records = [record(f"{at}", answer, answerability=f"{un}answerable")
               for at, (answer, un) in enumerate(said)]  # fmt: skip
    found = diagnose(ragassay.evaluate(records, [*METRICS, "answerability_accuracy"]))
    assert list(found.classes) == ["refused_answerable", None, "answered_unanswerable", None]
    data = [records[0], record("bare", refusal)]
    some = ragassay.evaluate(data, ["f1", "answerability_accuracy"])
    assert diagnose(some).classes == ["refused_answerable"] * 2  # also where there is no label


def test_a_refusal_is_in_a_class_only_where_something_says_what_was_expected() -> None:
    bare = {**record("open", "I don't know.", None), "gold": None, "references": None}
    labels = [{"answerability": kind} for kind in ("unanswerable", "conversational")]
    kinds = [*labels, {"gold": [{"id": "gold"}]}, {"references": [GOLD]}]
    data = [bare, *({**bare, "id": f"k{at}", **more} for at, more in enumerate(kinds))]
    data += [record(f"{at}", GOLD, gold=None) for at in range(4)]
    found = diagnose(ragassay.evaluate(data, ["idk_eval", "umbrela_nDCG@5"]), complete=False)
    assert found.headline == "umbrela_nDCG@5" and found.unknown == ["refusal"] + [""] * 8
    assert found.classes == [None, None, "unexplained", *["refused_answerable"] * 2, *[None] * 4]
    assert found.share_right == pytest.approx(4 / 7)  # of those whose retrieval can fail
    assert found.to_json()["n_refusals_unknown"] == 1
    assert "1 refusal is not rated" in told(diagnosis_report(found))
    assert "rated:" not in verdict_of(found)  # which says what it is about in one line


@pytest.mark.parametrize(("label", "fault"), [(None, "no_reply"), ("unanswerable", None)])
def test_an_empty_answer_is_none_and_no_refusal_of_an_answerable_query(label, fault) -> None:
    data = [record("empty", " ", answerability=label), record("fine", GOLD)]
    for headline in ("contains_answer", "faithfulness", "token_f1.f", "RR"):
        found = diagnose(ragassay.evaluate(data, [headline, "idk_eval"]))
        # Where the headline is retrieval, only a record that names a failure lacks its answer.
        assert found.classes == [None if headline == "RR" else fault, None], headline


def test_an_answer_that_its_judge_found_right_was_not_invented_by_the_offline_judge() -> None:
    said = {"query": "When?", "answer": "It shuts at seven in the evening.", "references": ["19"]}
    said["passages"] = ["It closes at 19 sharp."]
    data = [{"id": f"{rb}", **said, "given": {"RB_llm": rb}} for rb in (1.0, 0.0)]
    found = diagnose(ragassay.evaluate(data, ["rb_llm", "faithfulness"]))
    assert found.classes == [None, "invented"]
    # One claim of three is why an answer fails that a judge calls wrong: few shared words do not.
    data = [record("a", f"{GOLD} {OTHER} Cats fly.", references=["Never."], given={"RB_llm": 0.0})]
    runs = (ragassay.evaluate(data, [by, "faithfulness"]) for by in ("rb_llm", "token_f1.f"))
    assert [diagnose(run, complete=False).classes[0] for run in runs] == ["invented", "unexplained"]


def test_a_rule_neither_overrules_a_judge_nor_replaces_what_it_said_of_other_samples() -> None:
    def judge(prompt: str) -> str:
        if '["claims"]' in prompt:
            return json.dumps({"claims": ["a claim"]})
        if '["answered"]' in prompt:
            return "fine" if "lost" in prompt else '{"answered": "yes"}'
        return json.dumps({"verdicts": [{"number": 1, "reason": "", "supported": True}]})

    said = ("The mill does not close at noon.", "I don't know.", "It is lost.")
    data = [record(f"{at}", one, gold=None, references=None) for at, one in enumerate(said)]
    judged = ragassay.evaluate(data, "faithfulness,answered,contradicted", judge=judge)
    assert judged.columns.values("contradicted").tolist() == [1, 0, 0]
    found = diagnose(judged)
    assert found.classes == [None] * 3 and found.sources["contradicted"] == {"faithfulness": 3}
    assert found.sources["refused"] == {"answered": 2, "idk_eval": 1}


WRONG = (
    "The mill closes at eleven.",
    "You have to be there by eleven.",
    f"According to the documents, the mill closes at eleven. {OTHER}",
    f"Great question! {OTHER} As for the mill in the village, people have to leave it at eleven.",
)


def test_a_wrong_number_is_one_fault_in_any_words_and_only_a_passage_at_hand_is_ignored() -> None:
    data = [record(f"{at}", text, gold=None) for at, text in enumerate(WRONG)]
    data.append(record("ignored", f"{OTHER} I hope this helps!", gold=None))
    data.append(record("gone", OTHER, None, gold=None))
    found = diagnose(ragassay.evaluate(data, ["token_f1.f"]))
    assert list(found.classes) == ["invented"] * len(WRONG) + ["ignored", "not_retrieved"]


@pytest.mark.parametrize(("answer", "fault"), [
    ("A password needs at least 10 characters.", "invented"),
    ("No. A password needs at least 14 characters.", "invented"),
    ("A password needs at least 14 characters [2].", None),
    ("A password needs at least fourteen characters.", None),
    ("In 2024 a password needs many characters, at least.", None),
])  # fmt: skip
def test_other_numbers_are_wrong_however_many_words_agree(answer: str, fault: str | None) -> None:
    asked = {"id": "q", "query": "How long is a password in 2024?", "answer": answer}
    yes = "Yes. " * answer.startswith("No")
    data = [asked | {"references": [f"{yes}A password needs at least 14 characters."]}]
    # Of several statements on both sides, numbers may be of different things.
    data += [data[0] | {"id": "b", "answer": f"{answer} Rain fell.",
                        "references": [f"{data[0]['references'][0]} It expires."]}]  # fmt: skip
    found = diagnose(ragassay.evaluate(data, ["token_f1.f"]), complete=False)
    assert found.classes == [fault, fault if yes else None]


def test_an_answer_that_cites_nothing_is_not_cited_wrongly() -> None:
    records = [record("a", GOLD), record("b", f"{GOLD} [2]"), record("c", f"{GOLD} [99]")]
    for metric in ("citation_ore.f1", "citation.f1"):
        found = diagnose(ragassay.evaluate(records, [*METRICS, metric]))
        assert list(found.classes) == [None, "cited_wrongly", "cited_wrongly"], metric
    said = ragassay.evaluate(records[2:], "citation.f1,citation.precision").summary.warnings
    assert [text[:6] for text in said if "names no passage" in text] == ["1 mark"]  # counted once


def test_the_examples_of_a_class_have_the_lowest_values_and_those_without_one_come_last() -> None:
    records = [
        {**record("none", f"{OTHER} [99]"), "references": []},
        record("high", f"{GOLD} [99]"),
    ]
    records += [record("low", f"{OTHER} [99]")]
    result = ragassay.evaluate(records, ["contains_answer", "citation.f1"])
    for n in (1, 2, 3):
        (found,) = diagnose(result, complete=False, n_examples=n).found
        assert [one.identity[0] for one in found.examples] == ["low", "high", "none"][:n]
        assert (found.fault.name, found.n) == ("cited_wrongly", 3)


def test_a_headline_that_nobody_judged_goes_before_one_whose_judge_is_not_measured() -> None:
    judged = ragassay.evaluate(RUN, ["nuggets.all", "RR"])
    found = diagnose(judged)
    assert found.headline == "RR" and found.judged == ""
    assert "judge" not in told(diagnosis_report(found))
    found = diagnose(judged, headline="nuggets.all")
    assert found.judged == found.to_json()["judged"]
    assert "nuggets.all compares words" in found.judged
    assert told(diagnosis_report(found)).endswith(f" {found.judged}")
    failed = {**record("failed", ""), "answer": None, "failure": "TIMEOUT"}
    alone = diagnose(ragassay.evaluate([*RUN, failed], ["nuggets.all"]), complete=False)
    assert alone.headline == "nuggets.all"
    hints = {one.fault.name: one.only_hint for one in alone.found}
    assert [*hints.items()] == [("no_reply", False), ("unexplained", True)]  # no judgment; last
    for n, headline in ((3, "contains_answer"), (4, "RR")):  # a value for half of the samples
        data = [{**one, "references": []} for one in RUN[:n]] + RUN[n:]
        found = diagnose(ragassay.evaluate(data, METRICS[::2]), complete=False)
        assert found.headline == headline


def test_shares_have_the_intervals_of_the_runs_level_and_conversations() -> None:
    data = [record(f"c{at // 3}::{at % 3}", GOLD if at < 7 else OTHER) for at in range(12)]
    found = diagnose(ragassay.evaluate(data, METRICS, level=0.8), complete=False)
    (fault,), right = found.found, [float(at < 7) for at in range(12)]
    clusters = [at // 3 for at in range(12)]
    for one, values in ((found, right), (fault, [1.0 - value for value in right])):
        expected = mean_interval(values, span=(0.0, 1.0), level=0.8, clusters=clusters)
        assert (one.low, one.high) == (expected.low, expected.high)
    assert (found.share_right, fault.share, found.level) == (7 / 12, 5 / 12, 0.8)


def test_the_cost_of_a_class_without_a_headline_value_is_not_known() -> None:
    failed = {**record("failed", ""), "answer": None, "failure": "TIMEOUT"}
    found = diagnose(ragassay.evaluate([*RUN, failed], METRICS))
    (gone,) = (one for one in found.found if one.fault.name == "no_reply")
    assert gone.cost is None and gone.to_json()["cost"] is None
    said = " ".join(str(found).split())
    assert "–: not known; no sample with this fault has a value of contains_answer" in said
    assert "–: not known" not in str(diagnose(ragassay.evaluate(RUN, METRICS)))
    # Samples of a class that have values, none of them below the threshold, cost nothing.
    assert all(one.cost is not None for one in found.found if one is not gone)


def test_costs_add_up_to_what_the_mean_of_the_scored_would_gain() -> None:
    data = [{"id": f"{at}", "query": "When?", "answer": f"in 19{at // 2}5"} for at in range(5)]
    data = [{**item, "references": ["1905"]} for item in data[:4]] + data[4:]
    found = diagnose(ragassay.evaluate(data, ["contains_answer"]))
    assert sum(each.cost or 0.0 for each in found.found) == pytest.approx(0.5)
    near = ragassay.metric(name="near")(lambda answer: 1 - 0.9)  # 0.09999999999999998
    assert not diagnose(ragassay.evaluate(data, [near]), headline="near", below=0.1).n_failing
    stale = [record("a", GOLD.replace("noon", "9")), record("b", "The mill closes, and shuts.")]
    stale[0]["references"] = [GOLD.replace("noon", "8")]
    found = diagnose(ragassay.evaluate(stale, ["token_f1.f"]))
    assert found.classes[0] is not None and found.found[0].cost == 0.0, "above what is right"


def test_an_answer_that_matches_a_reference_does_not_fail_for_being_long() -> None:
    long = f"You asked about the mill in the village by the river. {GOLD} Ask again at any time."
    silent = {**record("silent", ""), "answer": None}
    data = [record("long", long), record("half", long.replace(GOLD, "The mill closes.")), silent]
    result = ragassay.evaluate(data, ["token_f1.f", "RR"])
    found = diagnose(result, complete=False)
    assert found.classes == [None, "ignored", "no_reply"] and found.only_hint
    assert found.share_right == pytest.approx(1 / 3)
    assert diagnose(result, complete=False, headline_only=True).classes[0] is not None
    # Samples without a reference do not count where they fail alone, with an answer or without.
    rated = [record(f"a{at}", GOLD if at % 4 else OTHER) for at in range(8)] + [silent]
    bare: dict[str, Any] = {"references": [], "passages": ["Rain fell."]}
    others = [{**each, **bare, "id": f"b{at}"} for at, each in enumerate(rated)]
    found = diagnose(ragassay.evaluate([*rated, *others], ["token_f1.f", "faithfulness"]))
    assert (found.share_right, found.n_rated, found.n_failing) == (6 / 9, 9, 12)
    assert verdict_of(found).startswith("67 % of 9 rated answers are right")
    # What a reference says is not called invented by a judge that nobody measured; the rest is.
    said = [("", "nine"), ("", "ten"), (" Captain Morrow draws lots for it.", "nine")]
    data = [record(f"{at}", f"It opens at nine.{rest}", references=[of])
            | {"passages": ["Rain fell."]} for at, (rest, of) in enumerate(said)]  # fmt: skip
    for metric in ("token_f1.f", "factual_correctness.f1"):
        assert diagnose(ragassay.evaluate(data, metric)).classes == [None, "invented", "invented"]
    # Nor is it by any judge: what is right and in no passage is right.
    says = ["is_matching", {"reasoning": "", "is_matching": True}], ["verdicts", NONE_HELD]
    says += ["stars", {"explanation": "", "stars": 5}], ["claims", {"claims": ["It opens."]}]
    for metric, first in (("answer_match", None), ("ragreport_satisfaction", "invented")):
        judged = ragassay.evaluate(data, [metric, "faithfulness"], judge=lambda prompt: next(
            json.dumps(said) for key, said in says if key in prompt
        ))  # fmt: skip
        assert diagnose(judged, complete=False).classes == [first, first, "invented"]


@pytest.mark.parametrize(
    ("metric", "about"),
    [("token_f1.f", "answers"), ("faithfulness", "support"), ("RR", "retrieval"),
     ("reference_recall", "words"), ("nuggets.all", "nuggets")],
)  # fmt: skip
def test_only_a_comparison_with_references_says_which_answers_are_right(metric, about: str) -> None:
    result = ragassay.evaluate(RUN, [metric])
    found = diagnose(result)
    assert found.measures == about
    if about != "answers":  # other faults say nothing of it
        values = result.columns.values(metric)[result.columns.scored(metric)]
        share = values if about == "support" else values >= found.below  # half is not supported
        assert found.share_right == pytest.approx(share.mean())
    assert ("answers are right" in verdict_of(found)) is (about == "answers")
    assert ("not meaning). 3 of" in verdict_of(found)) is (about == "answers")


def test_a_class_that_needs_another_metric_says_which_and_how_to_compute_it() -> None:
    found = diagnose(ragassay.evaluate(RUN, ["contains_answer"]), complete=False)
    assert set(found.classes) == {None, "unexplained"}
    missing = {one.fault.name: one for one in found.not_looked_at}
    assert missing["not_retrieved"].metrics == ("RR",)
    assert missing["ignored"].metrics == ("RR", "token_f1.f")
    assert "label" in missing["answered_unanswerable"].why


def test_with_the_metrics_that_it_names_nothing_is_missing() -> None:
    labelled = {"answerability": "answerable"}
    records = [{**one, **labelled, "answer": f"{one['answer']} [1]"} for one in RUN]
    bare = ragassay.evaluate(records, ["contains_answer"])
    named = {name for one in diagnose(bare, complete=False).not_looked_at for name in one.metrics}
    whole = diagnose(ragassay.evaluate(records, ["contains_answer", *named]), complete=False)
    assert not whole.not_looked_at and not whole.added
    # What a run lacks is computed of its samples, and says the same.
    computed = diagnose(bare)
    assert {*computed.added} == named and not computed.not_looked_at
    assert computed.classes == whole.classes and len({*whole.classes}) > 3


def test_a_metric_that_is_unscored_in_all_samples_gets_another_one() -> None:
    result = ragassay.evaluate(RUN, ["contains_answer", "hhem"])
    assert result.summary.metrics["hhem"].n_scored == 0  # there is no such model
    found = diagnose(result, complete=False)
    missing = {one.fault.name: one for one in found.not_looked_at}
    assert "hhem has no value" in missing["invented"].why
    assert missing["invented"].metrics == ("faithfulness", "contradicted")


@pytest.mark.parametrize(("options", "says"), [
    ({"headline": "contains"}, "no metric 'contains'"),
    ({"headline": "answer_words"}, "cannot be the headline"),
    ({"headline": "size"}, "has no range: say with --below"),
    ({"below": 1.5}, r"--below is 1.5; contains_answer is from 0 to 1"),
    ({"below": 0}, r"--below is 0; contains_answer is from 0 to 1"),
    ({"thresholds": {"min_cited": 2}}, "--min-cited is 2"),
    ({"thresholds": {"low_rank": 0}}, "--low-rank is 0"),
])  # fmt: skip
def test_a_wrong_option_is_told(options: dict[str, Any], says: str) -> None:
    size = ragassay.metric(name="size", high=None)(lambda answer: len(answer))
    result = ragassay.evaluate(RUN, [*METRICS, "answer_words", size])
    with pytest.raises(UsageError, match=says):
        limits = options.pop("thresholds", {"min_cited": 1.0, "min_right": 0.0})
        diagnose(result, thresholds=Thresholds(**limits), **options)


def test_a_change_is_told_by_the_samples_that_moved() -> None:
    after = [record("low", GOLD), record("none", OTHER, 0), *(RUN[at] for at in (0, 1, 4, 5))]
    new, old = (ragassay.evaluate(data, METRICS) for data in (after, RUN))
    change = moved(new, old)
    assert change.n == 6 and not change.unlike
    says = "3 of 6 samples fail in the new run, 4 of 6 in the old run. A sample fails if contains_"
    assert told(moved_report(change)).startswith(says)
    counts = {one.name: (one.new, one.old, one.entered, one.left) for one in change.classes}
    found = [counts[name] for name in ("not_retrieved", "ranked_low", "ignored")]
    assert found == [(0, 1, 0, 1), (0, 1, 0, 1), (2, 1, 1, 0)]
    assert "1  Ranked too low → right" in str(change)
    moves = change.transitions
    assert (moves["not_retrieved", "ignored"], sum(moves.values())) == (1, 6)
    assert all(one.p_value is not None for one in change.classes)
    loose = moved(*(ragassay.evaluate(data, METRICS, level=0.7) for data in (after, RUN)))
    assert (loose.level, change.classes[0].high) == (0.7, None) != (0.7, loose.classes[0].high)
    # A signal that one run had no need of is no metric that it lacks; two samples have no interval.
    data = ([record("a", GOLD), record("b", said)] for said in (GOLD, "Some mill."))
    few = moved(*(ragassay.evaluate(each, ["token_f1.f", "faithfulness"]) for each in data))
    assert (set(few.old.sources) - set(few.new.sources), few.unlike) == ({"supported"}, ())
    heads = [[part.head for part in moved_report(one).blocks[1].columns] for one in (change, few)]
    assert ["interval" in names for names in heads] == [True, False]
    with pytest.raises(UsageError, match="no query in common"):
        moved(new, ragassay.evaluate([record("z", GOLD, query="Why?")], METRICS))
    strict = moved(new, old, headline="token_f1.f", below=0.9)
    assert {(one.headline, one.below) for one in (strict.new, strict.old)} == {("token_f1.f", 0.9)}


@pytest.mark.parametrize(("by", "p_value"), [(None, 0.5), ("none", 2 / 64)])
def test_the_turns_of_a_conversation_move_together(by: str | None, p_value: float) -> None:
    sides = [[record(f"c{at // 3}::{at % 3}", said) for at in range(6)] for said in (GOLD, OTHER)]
    runs = [ragassay.evaluate(side, METRICS, cluster_by=by) for side in sides]
    change = moved(*runs)
    assert change.right is not None and change.right.p_value == p_value
    assert [one.p_value for one in change.classes] == [p_value]
    larger = ragassay.evaluate([*sides[1], record("c2::0", OTHER)], METRICS)
    for most, looked in ((6, False), (7, True), (None, True)):
        found = with_change(ragassay.compare(runs[0], larger), most)
        assert (found.change is not None) is looked


def judged(verdicts: dict[str, bool | None], name: str, query: str = "q") -> ragassay.Result:
    """A run whose judge says of each sample whether it is right; ``None`` where it says nothing."""
    data = [
        {"id": one, "query": f"{query} {one}?", "answer": "b", "references": ["a"]}
        for one in verdicts
    ]

    def judge(prompt: str) -> str:
        (said,) = (verdict for one, verdict in verdicts.items() if f"{query} {one}?" in prompt)
        return "" if said is None else json.dumps({"reasoning": "", "is_matching": said})

    return ragassay.evaluate(data, ["answer_match"], judge=judge, judge_name=name, refresh=True)


def test_a_run_of_fewer_metrics_is_compared_with_one_of_more() -> None:
    change = moved(ragassay.evaluate(RUN, "f1"), ragassay.evaluate(RUN, "qa"))
    assert change.n == len(RUN) and not change.not_alike
    said = json.dumps({"reasoning": "", "is_matching": True})
    judged = ragassay.evaluate(RUN, "answer_match,f1", judge=lambda prompt: said, judge_name="m")
    change = moved(judged, ragassay.evaluate(RUN, "f1"))
    assert change.new.headline == change.old.headline == "f1"  # the first that both have


def test_a_sample_that_a_run_says_nothing_of_has_not_moved(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"n{at}x" for at in range(20)]
    old = judged({name: at >= 10 for at, name in enumerate(names)}, "same")
    new = judged({name: at == 0 or at >= 10 or None for at, name in enumerate(names)}, "same")
    change = moved(new, old)
    assert (change.n, change.n_unknown) == (20, 9)
    notes = [note for note in ragassay.compare(new, old).notes if note.kind == "incomplete_run"]
    assert [(note.names[0][-5:], "9 scores" in str(note)) for note in notes] == [("(new)", True)]
    (only,) = change.classes
    assert (only.name, only.new, only.old, only.left) == ("unexplained", 0, 1, 1)
    assert sum(change.transitions.values()) == 11 and only.p_value == 1.0
    told_of = told(moved_report(change))
    assert "9 further samples are left out: answer_match is unscored in one" in told_of
    assert change.to_json()["n_unknown"] == moved(old, new).n_unknown == 9


def test_runs_that_were_not_computed_alike_say_so_and_test_no_class(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"n{at}x" for at in range(12)]
    strict, mild = (judged(dict.fromkeys(names, said), str(said)) for said in (False, True))
    change = moved(mild, strict)
    (says,) = change.not_alike
    assert "answer_match was computed differently (judge=python:True against" in says
    assert [(one.left, one.p_value, one.p_adjusted) for one in change.classes] == [(12, None, None)]
    notes = moved_report(change).blocks[2]
    assert isinstance(notes, Lines)
    assert says in notes.lines[0].text and "not tested" in notes.lines[1].text
    (says,) = moved(judged(dict.fromkeys(names, False), "False", "r"), strict).not_alike
    assert says.startswith("12 of 12 common queries differ between the runs")
    alike = moved(strict, strict)
    assert alike.not_alike == () and "not tested" not in str(alike)


LABELLED = [replace(SAMPLE, answerability=label) for label in (None, *Answerability)]
LEVELS: dict[str, tuple[float, ...]] = {
    "rank": (0, 1, 3, 4, inf), "refused": (0, 1), "contradicted": (0, 0.01), "cited": (0.49, 0.5),
    "supported": (0.5, 0.55, 0.9, 1), "right": (0.49, 0.5), "complete": (0.24, 0.25, 1),
}  # fmt: skip
SCORES: tuple[Any, ...] = (None, 0, 0.25, 0.49, 0.5, 1, 2, 3, True, False, "no", "yes")


def signals_read() -> Iterator[str]:
    """The signal that each score gives: of a sample without gold, with gold, with none relevant."""
    parts = {"precision": 0.3, "p": 0.4, "recall": 0.6, "r": 0.7, "hit_ranks": [5, 2]}
    parts["best_grade"] = 3
    golds = (None, (GoldPassage(id="a"),), (GoldPassage(id="a", grade=0),))
    for signal, (metric, _) in ((one, of) for one in SIGNALS.values() for of in one.sources):
        read = defaultdict[str, list[str]](list)
        for status in ("ok", "assumed"):
            told = list[str]()
            for score in SCORES:
                row = ScoreRow("q", "", 0, metric, score, status, parts=parts)
                rows, names = {"x": row, "y": replace(row, value=7.0)}, {metric: ["x", "y"]}
                found = [signal.read([rows], names, replace(SAMPLE, gold=gold)) for gold in golds]
                told.append(f"{score} {number(found)}")
            read["; ".join(told)].append(status)
        yield from (f"{signal.name} {metric} {' '.join(of)}: {all_}" for all_, of in read.items())
    for sample, right in product(LABELLED, (True, False)):
        rows = {"m": ScoreRow("q", "", 0, "m", right, "ok")}
        found = SIGNALS["refused"].read([rows], {"answerability_accuracy": ["m"]}, sample)
        yield f"answerability_accuracy {sample.answerability} {right}: {number(found)}"


def classes_found() -> Iterator[str]:
    """By one signal or two, the classes of a failing sample and of one that is fine: by label."""
    single = [(name, value) for name, values in LEVELS.items() for value in values]
    both = [pair for pair in combinations(single, 2) if pair[0][0] != pair[1][0]]
    for values in map(dict, ((), *((one,) for one in single), *both)):
        told = defaultdict(list)
        for sample in LABELLED:
            found = [
                class_of(values, sample, below, LIMITS, headline_only=alone)
                for below, alone in ((True, False), (False, False), (False, True))
            ]
            names = " / ".join(one.name if one else "-" for one in found)
            told[names].append(str(sample.answerability))
        yield f"{values}: " + "; ".join(f"{name} ({', '.join(of)})" for name, of in told.items())
    for failure, answer in product((None, "down"), (None, "", "a")):
        sample = Sample(id="q", answer=answer, failure=failure)
        found = class_of({"refused": 0}, sample, True, LIMITS, headline_only=False)
        yield f"{failure} {answer!r}: {found and found.name}"


@pytest.mark.parametrize("made", [signals_read, classes_found])
def test_signals_and_the_rows_of_the_table_are_as_they_were_approved(made, request) -> None:
    path = Path(__file__).parents[1] / "approved" / f"{made.__name__}.txt"
    check(path, made(), request.config.getoption("--approve"))


def test_only_gold_or_a_judge_of_known_worth_says_what_was_not_retrieved() -> None:
    records = [record(f"{at}", GOLD if at < 4 else OTHER, gold=None) for at in range(7)]
    judged = ["contains_answer", "umbrela_MRR"]
    found = diagnose(ragassay.evaluate(records, judged))
    assert found.classes[:4] == [None] * 4 and "not_retrieved" not in found.classes
    assert not any("rank" in each.signals for group in found.found for each in group.examples)
    assert found.sources["rank"] == {"claim_recall": 7}
    alone = diagnose(ragassay.evaluate(records, judged), complete=False)
    assert "rank" not in alone.sources and "umbrela_MRR does not" in " ".join(str(alone).split())
    elsewhere = {"gold": [{"id": "elsewhere"}]}
    found = diagnose(ragassay.evaluate([each | elsewhere for each in records], [*judged, "RR"]))
    assert found.classes == [None] * 4 + ["not_retrieved"] * 3
    reply = '{"intent": "job", "match": 0, "trust": 0, "grade": 0}'
    by_llm = ragassay.evaluate(records, judged, judge=lambda _: reply)
    assert diagnose(by_llm, complete=False).sources["rank"] == {"umbrela_MRR": 7}
    # What irrelevant passages support answers nothing.
    other = [{**record("a", OTHER), "references": [], "gold": [{"id": "x"}]}]
    assert diagnose(ragassay.evaluate(other, "faithfulness,AP")).classes == ["not_retrieved"]


def test_a_fault_of_which_right_answers_show_no_sign_was_looked_at() -> None:
    rows = [
        {"id": at, "query": "Who wrote Dune?", "answer": "Frank Herbert.",
         "references": ["Frank Herbert"], "passages": ["Dune is by Frank Herbert."]}
        for at in "ab"
    ]  # fmt: skip
    found = diagnose(ragassay.evaluate(rows))
    assert not found.found and "invented" not in {one.fault.name for one in found.not_looked_at}
