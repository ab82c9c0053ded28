import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.derived_runs import aligned, by_system, of_queries
from ragassay.engine.comparison.differences import MatchedRuns
from ragassay.engine.diagnosis.decision_table import UNEXPLAINED
from ragassay.engine.diagnosis.moved_classes import moved


def records(right: list[bool], prefix: str = "q", **more: object) -> list[dict]:
    facts = {"references": ["yes"], **more}
    return [
        {"id": f"{prefix}{at}", "query": f"question {at}", "answer": "yes" if ok else "no", **facts}
        for at, ok in enumerate(right)
    ]  # fmt: skip


def test_a_clear_gain_is_better_and_its_mirror_worse() -> None:
    new, old = (ragassay.evaluate(records([ok] * 20), ["em", "f1"]) for ok in (True, False))
    forward, backward = ragassay.compare(new, old), ragassay.compare(old, new)
    for there, back in zip(forward.differences, backward.differences, strict=True):
        assert (there.a_mean, there.b_mean, there.diff) == (1.0, 0.0, 1.0)
        assert there.p_value == back.p_value == 1 / 10_001
        # Twins, of scores of 0 and 1: the observation, a tie with itself, counts half.
        assert there.p_adjusted == there.p_value / 2
        assert (there.verdict, back.verdict) == ("better", "worse")
        assert (there.wins, there.losses, there.ties, there.n) == (20, 0, 0, 20)


def test_queries_align_by_id_and_not_by_position() -> None:
    new = ragassay.evaluate(records([True, False, True, True]), ["em"])
    old = ragassay.evaluate(records([True, False, False, False])[::-1], ["em"])
    found = ragassay.compare(new, old)
    one = found.differences[0]
    assert (one.wins, one.losses, one.ties, one.p_value, one.low) == (2, 0, 2, 0.5, None)
    assert "too_few" in {note.kind for note in found.notes}


def test_metrics_are_found_by_any_of_their_names() -> None:
    run = ragassay.evaluate(records([True, False]), ["em", "rougeL(stem=false,tokens=unicode).f"])
    assert len(ragassay.compare(run, run, metrics="EM").differences) == 1
    found = ragassay.compare(run, run, metrics="rougeL(stem=false,tokens=unicode).f, em,em")
    assert [d.name for d in found.differences] == ["rougeL(stem=false,tokens=unicode).f", "em"]
    with pytest.raises(UsageError, match=r"'bleu' is not in both runs.*There are: em"):
        ragassay.compare(run, run, metrics=["bleu"])


def test_data_in_place_of_a_run_are_to_be_evaluated_first(tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.touch()
    for data in (records([True]), file, str(file)):
        with pytest.raises(UsageError, match=r"ragassay\.evaluate\(new\)"):
            ragassay.compare(data, data)  # type: ignore[arg-type]


def test_only_common_queries_are_compared_and_the_rest_is_counted() -> None:
    new, old = (ragassay.evaluate(records([True] * n), ["em"]) for n in (6, 4))
    found = ragassay.compare(new, old)
    assert (found.n_common, found.only_a, found.only_b) == (4, 2, 0)
    a, b = f"{new.name} (new)", f"{old.name} (old)"  # told apart, and under these names
    assert (found.a, found.b) == (a, b)
    assert f"2 queries are in {a}, not in {b}." in found.warnings
    mirrored = ragassay.compare(old, new)
    assert (mirrored.n_common, mirrored.only_a, mirrored.only_b) == (4, 0, 2)
    a, b = f"{old.name} (new)", f"{new.name} (old)"
    assert f"2 queries are in {b}, not in {a}." in mirrored.warnings
    before = [{"speaker": "user", "text": "Hello"}]  # with other turns, it is another question
    for more in ({"query": "Another question?"}, {"history": before}):
        other = ragassay.evaluate([{**records([True], prefix="z")[0], **more}], ["em"])
        with pytest.raises(UsageError, match="no query in common"):
            ragassay.compare(new, other)
    first, second = records([True, True])
    for query_id in (None, "q1"):  # without an id, it is a hash of the query and all earlier turns
        runs = []
        for said in ("Hi.", "Good morning."):  # earlier answers are the system's
            history = [*before, {"speaker": "agent", "text": said}]
            follow_up = {**second, "id": query_id, "history": history}
            runs.append(ragassay.evaluate([first, follow_up], ["em"]))
        found = ragassay.compare(*runs)
        assert (found.n_common, found.only_a, found.only_b) == (2, 0, 0)


def test_runs_that_share_no_id_are_matched_by_questions_that_both_ask_once(tmp_path: Path) -> None:
    new = ragassay.evaluate(records([True, True, False]), ["em"], save=tmp_path / "new")
    data = records([False, True, True], prefix="z")[::-1]
    data.append({**data[0], "id": "twice"})  # which of them answers question 2?
    old = ragassay.evaluate(data, ["em"])
    found = ragassay.compare(new, old)
    (one,) = found.differences
    assert (found.n_common, found.only_a, found.only_b) == (2, 1, 2)
    assert (one.wins, one.losses, one.ties) == (1, 0, 1)
    (note,) = [note for note in found.notes if note.kind == "matched_by_text"]
    assert note.counts == {"n": 2}
    twice = ragassay.evaluate([{**row, "id": f"y{row['id']}"} for row in data], ["em"])
    assert ragassay.compare(twice, old).n_common == 4  # in order, where both asked it twice
    change = moved(new, old, headline="em")
    assert change.matched == (note,) and change.transitions[UNEXPLAINED.name, "fine"] == 1
    assert ragassay.compare(new, old, unpaired=True).n_common == 0
    reworded = ragassay.evaluate([{**row, "references": ["Yes."]} for row in data], ["em"])
    with pytest.raises(UsageError, match="references"):  # it is another question
        ragassay.compare(new, reworded)


def test_a_comparison_names_who_was_asked_in_each_run() -> None:
    data = records([True] * 4, passages=["yes"])
    asked = ragassay.evaluate(data, ["faithfulness"])
    given = ragassay.evaluate([{**row, "given": {"RL_F": 1.0}} for row in data], ["faithfulness"])
    judge = asked.summary["faithfulness"].judge
    assert "judge=" not in given.summary["faithfulness"].signature  # nobody's judgment is in it
    for a, b, says in ((asked, given, f"A: {judge}, B: -"), (given, asked, f"A: -, B: {judge}"),
                       (asked, asked, judge), (given, given, "")):  # fmt: skip
        for options in ({}, {"unpaired": True}):
            assert ragassay.compare(a, b, force=True, **options).judged_by == says


def test_where_both_runs_are_clustered_the_larger_clusters_count() -> None:
    data = records([True] * 12)
    for at, record in enumerate(data):
        record["metadata"] = {"talk": f"t{at // 2}", "user": f"u{at // 4}"}
    runs = [ragassay.evaluate(data, ["em"], cluster_by=name) for name in ("talk", "user")]
    for pair in (runs, runs[::-1]):
        found = ragassay.compare(*pair)
        assert (found.n_clusters, found.clustered_by) == (3, "user")
    only = of_queries(runs[1], ["q0", "q1", "q4"])
    assert (only.summary.averaged_over, only.summary["em"].n_clusters) == ("3 queries, by user", 2)


def test_a_query_that_a_run_lacks_has_its_cluster_in_the_other_or_is_one_by_itself() -> None:
    data = records([True] * 6)
    for at, record in enumerate(data):
        record["metadata"] = {"talk": f"t{at // 2}", "user": f"u{at % 2}"}

    def codes(by: str, of_old: str) -> tuple[list[int], str | None]:
        new = ragassay.evaluate(data[:4], ["em"], cluster_by=by)
        matched = MatchedRuns.of(new, ragassay.evaluate(data, ["em"], cluster_by=of_old))
        assert matched.queries == [f"q{at}" for at in range(4)]
        numbers, name = replace(matched, queries=[f"q{at}" for at in range(6)]).clusters
        return ([] if numbers is None else numbers.tolist()), name

    assert codes("talk", "none") == ([0, 0, 1, 1, 2, 3], "talk")
    assert codes("talk", "talk") == ([0, 0, 1, 1, 2, 2], "talk")
    assert codes("talk", "user") == codes("none", "user") == ([0, 1, 0, 1, 0, 1], "user")
    assert codes("none", "none") == ([], None)


@pytest.mark.parametrize("option", [{"seed": 1}, {"n_resamples": 500}, {"level": 0.8}])
def test_each_option_reaches_the_tests_the_bootstrap_and_the_gates(option: dict[str, Any]) -> None:
    rng, runs = random.Random(0), []
    for n_answers in (39, 40):
        data = records([True] * 40)
        for at, record in enumerate(data):
            record["answer"] = "yes " + "no " * rng.randrange(4) if at < n_answers else None
            record["metadata"] = {"asked": {"latency": rng.random()}}
        runs.append(ragassay.evaluate(data, ["f1", "latency", "latency_p50"]))
    plain, found = (ragassay.compare(*runs, fail_if_drop="f1>0.3", **of) for of in ({}, option))
    for d, other in zip(plain.differences, found.differences, strict=True):
        assert (d.low, d.high) != (other.low, other.high), d.name
    (gate,), (other_gate,) = plain.gates, found.gates
    assert (gate.low, gate.high) != (other_gate.low, other_gate.high)
    ((name, value),) = option.items()
    assert getattr(found, name) == value != getattr(plain, name)


def test_repeats_are_averaged_before_the_test() -> None:
    new = [r for n in range(3) for r in records([True, n == 0], repeat=n)]
    new[-1]["answer"] = None  # a repeat without a score is none of them
    old = records([False, False])
    found = ragassay.compare(ragassay.evaluate(new, ["em"]), ragassay.evaluate(old, ["em"]))
    assert (found.differences[0].n, found.differences[0].a_mean) == (2, (1 + 1 / 2) / 2)


FACTS = {"query": "?", "references": ["no"], "negative_references": ["no"], "gold": [{"id": "d"}]}
FACTS |= {"history": [{"speaker": "user", "text": "Hello."}], "answerability": "partial"}


@pytest.mark.parametrize("fact", FACTS)
def test_a_question_that_changed_is_said(fact: str) -> None:
    changed = records([True, False])
    changed[1][fact] = FACTS[fact]
    new, old = ragassay.evaluate(changed, ["em"]), ragassay.evaluate(records([True, True]), ["em"])
    found = ragassay.compare(new, old)
    (said,) = [note for note in found.notes if note.kind == "queries_left_out"]
    assert said.counts == {"n": 1, "of": 2, "which": f"'q1' ({fact})"}
    assert (found.n_common, found.only_a, found.only_b, found.differences[0].diff) == (1, 0, 0, 0.0)
    change = moved(new, old, headline="em")
    assert (change.n, change.matched[0].kind) == (1, "queries_left_out")
    new, old = (of_queries(run, ["q1"]) for run in (new, old))
    with pytest.raises(UsageError, match=rf"1 of 1 common queries.*'q1' \({fact}\).*--force"):
        ragassay.compare(new, old)
    assert any("'q1'" in warning for warning in ragassay.compare(new, old, force=True).warnings)


def test_scores_that_only_one_run_has_are_left_out_and_said() -> None:
    without = records([True, True])
    without[0]["answer"] = None
    runs = (ragassay.evaluate(data, ["em", "f1"]) for data in (without, records([True, False])))
    found = ragassay.compare(*runs)
    (note,) = [one for one in found.notes if one.kind == "scores_in_one"]
    assert (found.differences[0].n, note.counts, note.names) == (1, {"n": 2}, ("em", "f1"))
    changed = [{**one, "references": ["no"]} for one in records([True] * 5)]
    sides = ([*changed, *records([True] * 12)[5:]], records([True] * 12))
    found = ragassay.compare(*(ragassay.evaluate(data, "em") for data in sides))
    (left_out,) = [one for one in found.notes if one.kind == "queries_left_out"]
    assert str(left_out.counts["which"]).endswith("'q2' (references) and 2 more")


def test_systems_in_one_run_can_be_taken_apart() -> None:
    mixed = records([True] * 8, system="new") + records([False] * 8, system="old")
    mixed[3] |= {"answer": None, "failure": "it is\ndown"}
    both = ragassay.evaluate(mixed, ["em"], interval="t")
    (note,) = [one for one in both.summary.notes if one.kind == "mixed_systems"]
    assert (note.counts, both.summary.system) == ({"n": 2, "systems": "new, old"}, "")
    assert "By system" not in str(both)
    assert "By system" in str(ragassay.evaluate(mixed, ["em"], slice_by=["system"]))
    new, old = by_system(both)
    assert (new.summary.title, new.summary.failures) == ("new", {"it is down": 1})
    assert (old.summary.title, old.summary.failures, old.summary.notes) == ("old", {}, ())
    assert (new.name, new.summary["em"].mean, new.summary["em"].n_total) == ("new", 1.0, 8)
    assert (old.name, old.summary.metrics["em"].mean, len(list(old.samples))) == ("old", 0.0, 8)
    assert old.summary.averaged_over == "8 queries"
    assert new.summary["em"].interval == "none"  # t has no bounds where all are equal
    bare = ragassay.evaluate([mixed[0], {**mixed[1], "system": ""}], "em")
    assert [run.name for run in by_system(bare)] == ["new", "samples in memory"]
    # Of two systems in one result the first is the old one, unless the other is named.
    assert ragassay.compare(old, new).differences == ragassay.compare(both).differences
    assert "To turn it round: baseline='old'." in ragassay.compare(both).warnings[0]
    turned = ragassay.compare(both, baseline="old")
    assert (turned.a, turned.b) == ("new", "old") and "round" not in str(turned.warnings)
    assert turned.differences == ragassay.compare(new, old).differences
    three = ragassay.evaluate([*mixed, {**mixed[0], "system": "third"}], "em")
    for run, said in ((new, r"1 system \(new\).*: compare\(new, old"), (three, "'system=new,old'")):
        with pytest.raises(UsageError, match=said):
            ragassay.compare(run)
    assert ragassay.compare(three, where="system=new,old").b == "new"


def renamed(run: ragassay.Result, names: dict[str, str]) -> ragassay.Result:
    """The run with some metrics under other names."""
    metrics = {
        names.get(old, old): replace(metric, name=names.get(old, old))
        for old, metric in run.summary.metrics.items()
    }
    summary = replace(run.summary, metrics=metrics)
    return replace(run, summary=summary, columns=run.columns.renamed(names))


def test_a_metric_goes_by_the_name_of_the_other_run_where_that_is_certain() -> None:
    data = [{**one, "topic": one["answer"]} for one in records([True, False] * 2)]
    run = ragassay.evaluate(data, ["em", "f1"])
    found = aligned(run, renamed(run, {"em": "right"}))
    assert [*found.summary.metrics] == found.columns.metrics == ["right", "f1"]
    assert (found.summary.metrics["right"].name, found.summary.slices) == ("right", ())
    assert run.summary.slices
    assert [row.metric for row in found.scores] == ["right", "f1"] * 4
    assert found.columns.values("right").tolist() == [1.0, 0.0, 1.0, 0.0]
    # Each run has a metric of that name: which one is meant is not certain.
    assert aligned(run, renamed(run, {"em": "f1", "f1": "em"})) is run
    twice = renamed(run, {"em": "one", "f1": "two"})
    metrics = {name: replace(m, metric="em") for name, m in twice.summary.metrics.items()}
    twice = replace(twice, summary=replace(twice.summary, metrics=metrics))
    assert aligned(run, twice) is run and aligned(twice, run) is twice


def test_one_metric_under_two_display_names_is_compared(tmp_path: Path) -> None:
    from terminal_text import said

    facts = {"query": "Who?", "passages": ["It was Herbert."]}
    data = [{"id": f"q{at}", "answer": f"Herbert {at}.", **facts} for at in range(4)]
    other = [{**one, "answer": "Nobody knows."} for one in data]
    new = ragassay.evaluate(data, "mtrag", metrics="RL_F,idk_eval", save=tmp_path / "new")
    old = ragassay.evaluate(other, metrics="faithfulness,umbrela", save=tmp_path / "old")
    assert "RL_F" in new.summary.metrics and "faithfulness" in old.summary.metrics
    found = ragassay.compare(new, old)
    assert [d.name for d in found.differences] == ["RL_F"]
    assert (found.metrics_only_a, found.metrics_only_b) == (("idk_eval",), ("umbrela",))
    lines = said(found, full=True)
    assert "Only the new run has idk_eval." in lines and "Only the old run has umbrela." in lines
    back = ragassay.compare(old, new)
    assert [d.name for d in back.differences] == ["faithfulness"]
    one, other_way = found.differences[0], back.differences[0]
    assert (one.a_mean, one.b_mean) == (other_way.b_mean, other_way.a_mean)
    for option in ("metrics", "primary"):
        named = ragassay.compare(new, old, **{option: "RL_F"})
        assert (named.metrics_only_a, named.metrics_only_b) == ((), ())


def test_a_metric_without_values_in_one_run_does_not_stop_the_others(monkeypatch) -> None:
    from ragassay.base.score import Score
    from ragassay.metrics.grounding.hallucination import Hhem

    facts = {"references": ["Herbert 1."]}
    data = [{"id": f"q{at}", "answer": f"Herbert {at}.", **facts} for at in range(6)]
    old = ragassay.evaluate(data, "f1,hhem")  # its model is not here
    monkeypatch.setattr(Hhem, "lacks", lambda self, sample: None)
    monkeypatch.setattr(Hhem, "measure", lambda self, window, rows: [Score(0.5)] * len(rows))
    identity = "ragassay.engine.models.needed_models.identity"
    monkeypatch.setattr(identity, lambda weights, folders: "here")
    new = ragassay.evaluate(data, "f1,hhem")
    assert len({run.summary.metrics["hhem"].signature for run in (new, old)}) == 2
    found = {one.name: one for one in ragassay.compare(new, old).differences}
    assert found["f1"].n == 6 and found["hhem"].n == 0 and found["hhem"].diff is None


def test_runs_of_the_same_answers_and_passages_say_so() -> None:
    old = ragassay.evaluate(records([True, False]), ["em"])
    same, other = records([True, False]), records([True], passages=["other"])
    again = [one | {"timestamp": 1} for one in same]  # the same answer to another request
    new_runs = (same, [2]), (same[:1], [1]), (records([True] * 2), []), (other, []), (again, [])
    for new, n in new_runs:
        notes = ragassay.compare(ragassay.evaluate(new, ["em"]), old).notes
        assert [note.counts["n"] for note in notes if note.kind == "same_answers"] == n


def test_a_query_is_lacking_where_the_old_run_has_a_score_and_each_repeat_is_owed() -> None:
    data = [{"id": name, "query": name, "answer": "a", "references": ["a"]} for name in "abc"]
    del data[2]["references"]
    data.append(data[2] | {"repeat": 1, "answer": None})
    new, old = (ragassay.evaluate(data[:n], ["em", "answer_words"]) for n in (2, 4))
    matched = MatchedRuns.of(new, old)
    assert matched.lacking(["em"]) == [] and matched.lacking(["answer_words"]) == ["c"]
    down = [data[0] | {"answer": None, "repeat": at, "failure": "down"} for at in (0, 1)]
    assert MatchedRuns.of(ragassay.evaluate([*down, data[1]], ["em"]), new).n_owed("em") == 2
