"""Is a change really better? What a comparison says of right answers, by data of known truth."""

import json

import pytest

import ragassay
from ragassay.engine.comparison.gates import with_not_worse, worst_queries
from ragassay.engine.diagnosis.moved_classes import RIGHT, Moved, with_change
from ragassay.reports.views import diagnosis_view
from ragassay.reports.views.comparison_view import comparison_report, verdicts
from ragassay.reports.views.diagnosis_view import broken_line, right_moved, verdict_of


@ragassay.metric(name="same")
def same(answer: str) -> float:
    return 1.0


def compared(new: str, old: str, **options: bool) -> tuple[ragassay.Comparison, Moved]:
    """Two runs of right (r), wrong (w), declined (d) and not judged (x) answers; of unanswerable
    queries that get an answer (i) or a refusal (u)."""
    said = {
        "r": "It opened in 1965.",
        "x": "It opened then.",
        "w": "It opened in 1970.",
        "i": "It opened in 1970.",
    }
    facts = {kind: {"references": ["It opened in 1965"], "given": {"RB_llm": float(kind == "r")}}
             for kind in "rwd"}  # fmt: skip
    facts["x"] = {"references": ["It opened in 1965"], "given": {"RB_llm": None},
                  "given_unscored": {"RB_llm": "timeout: late"}}  # fmt: skip
    runs = []
    for kinds in (new, old):
        data = [
            {"id": f"q{at:02}", "query": "When?", "answer": said.get(kind, "I do not know.")}
            | facts.get(kind, {"answerability": "UNANSWERABLE"})
            for at, kind in enumerate(kinds)
        ]
        runs.append(ragassay.evaluate(data, ["rb_llm", "refusals_right", same]))
    found = with_change(ragassay.compare(*runs, primary="same", **options))
    assert found.change is not None and found.change.right is not None
    return found, found.change


def test_a_claim_that_no_row_of_the_table_makes_says_that_it_is_tested_alone() -> None:
    found, change = compared("r" * 56 + "w" * 4, OLD[:60])
    (same,) = (row for row in found.differences if row.p_adjusted is not None)
    (better,) = ragassay.compare(*found.runs, metrics="rb_llm").differences
    for row, n, alone in ((better, 2, False), (same, 1, False), (same, 2, True)):
        said, *_ = right_moved(change, False, [row] * n)
        assert ": better" in said and ("tested alone" in said) == alone


def test_from_one_fault_to_another_nothing_became_wrong() -> None:
    _, change = compared("rrrrww", "rrrrwd")
    assert change.broken == () and ("refused_answerable" in {was for was, _ in change.transitions})
    asked = {"query": "When?", "gold": [{"id": "a"}]}
    data = ([{"id": f"{n}", **asked, "passages": [{"id": one}]} for n in range(9)] for one in "ba")
    found = ragassay.compare(*(ragassay.evaluate(side, "RR,GMAP") for side in data))
    assert [one.name for one in found.differences] == ["RR"]  # a geometric mean is not compared
    gated = with_not_worse(with_change(found))
    assert gated.change is not None and gated.change.right is None  # which is said of answers only
    assert worst_queries(gated, gated.gates[0], 1) == ["0: RR 0.0000, before 1.0000"]


OLD = "r" * 40 + "w" * 20 + "u" * 20
INVENTED = "r" * 40 + "w" * 20 + "i" * 15 + "u" * 5
CHANGES = [
    ("w" * 4 + "r" * 56 + "u" * 20, OLD, "better", None, (20, 4), ": better. 20"),
    (OLD, "w" * 4 + "r" * 56 + "u" * 20, "worse", None, (4, 20), ": worse. 4"),
    ("w" * 4 + "r" * 40 + "w" * 16 + "u" * 20, OLD, "no difference shown", None, (4, 4), ": no d"),
    (INVENTED, OLD, "indicative", "worse", (0, 15), ": worse (only a hint). 0"),
    (OLD, INVENTED, "indicative", "better", (15, 0), ": better (only a hint). 15"),
    ("w" * 10 + "r" * 30 + "u" * 30, "r" * 40 + "i" * 30, "indicative", "better", (30, 10), ": be"),
    ("r" * 40 + "d" * 20, "r" * 60, "worse", None, (0, 20), ": worse. 0"),
    ("r" * 56 + "w" * 4 + "u" * 20, OLD[:-5] + "i" * 5, "better", None, (21, 0), ": better. 21"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "old", "verdict", "hint", "moved", "says"), CHANGES)
def test_a_comparison_says_first_whether_more_are_right(new, old, verdict, hint, moved, says):
    found, change = compared(new, old)
    (right, *_), worse = found.findings, verdict == "worse"
    assert (right.verdict, right.hint, (right.wins, right.losses)) == (verdict, hint, moved)
    broken = [at for at, (a, b) in enumerate(zip(new, old, strict=True)) if b in "ru" and a != b]
    assert [query for query, _ in change.broken] == [f"q{at:02}" for at in broken]
    assert (right.why is not None) == (hint is not None)
    hints = [name for one in found.notes if one.kind == "offline_hint" for name in one.names]
    assert (RIGHT["answers"].capitalize() in hints) == (hint is not None)
    assert found.to_json()["right"]["verdict"] == verdict
    mended = [at for at, (a, b) in enumerate(zip(new, old, strict=True)) if a in "ru" and a != b]
    assert change.mended == tuple(f"q{at:02}" for at in mended)
    assert len(" ".join(broken_line(found, classes=False))) in range(1 if broken else 0, 80)
    assert comparison_report(found).verdict == verdicts(found)[0] and says in verdicts(found)[0]
    (gate,) = (gated := with_not_worse(found)).gates
    assert gate.passed is (False if worse else None if hint == "worse" else True)
    assert gate.metrics == ((RIGHT["answers"],) if worse or hint == "worse" else ())
    worst = [line[5:17] for line in worst_queries(gated, gate, 1)]
    assert worst == ["became wrong"] * len(gate.metrics)
    found, change = compared(new, old, trust_offline=True)
    trusted = found.findings[0]
    assert not any(row.only_hint for row in change.classes)
    assert (trusted.verdict, trusted.why is not None) == (hint or verdict, hint is not None)
    assert trusted.why is None or trusted.why.kind == "offline_trusted"


@pytest.mark.parametrize(
    ("n", "verdict", "hint"), [(2, "better", None), (9, "indicative", "better")]
)
def test_a_finding_that_lost_scores_could_undo_is_a_hint(n: int, verdict, hint) -> None:
    found, _ = compared("r" * 12 + "x" * n + "r" * 9, "w" * 12 + "r" * (n + 9))
    right = found.findings[0]
    assert (right.verdict, right.hint, right.wins, right.losses) == (verdict, hint, 12, 0)


def test_inventions_in_place_of_refusals_are_named_though_as_many_are_right(monkeypatch) -> None:
    found, change = compared("r" * 40 + "w" * 20, "r" * 40 + "w" * 10 + "d" * 10)
    shown = [(one.name, one.new, one.old, one.only_hint) for one in change.classes]
    assert shown == [("invented", 20, 10, False), ("refused_answerable", 0, 10, True)]
    first, second, *_ = verdicts(found)
    assert first == "67 % of answers are right in both runs."
    assert second == "Wrong or invented: 20 samples, 10 in the old run."
    monkeypatch.setattr(diagnosis_view, "_MOVES", 0)
    assert "10  in other ways" in str(change)


def test_a_refusal_of_a_run_without_references_is_no_unsupported_answer() -> None:
    passages = [{"id": "a", "text": "The mill closes at noon."}]
    ferry, mill, silence = ["The ferry ran in 1970."], ["It closes at noon."], ["Unknown."]
    new, silent, old, half, one = (
        ragassay.evaluate([{"id": f"{at}", "query": "When?", "answer": text, "passages": passages}
                           for at, text in enumerate(said)], ["faithfulness", "answered"])
        for said in (ferry * 20, silence * 20, mill * 20, (mill + ferry) * 10, silence + mill * 19)
    )  # fmt: skip
    mostly = [*list(new.samples)[:2], *list(silent.samples)[2:]]  # two claim something
    found = ragassay.diagnose(some := ragassay.evaluate(mostly, ["faithfulness", "answered"]))
    assert (found.headline, found.n_scored, found.n_refusals_unknown) == ("faithfulness", 2, 18)
    same = with_change(ragassay.compare(some, some))  # of the 18 nothing is known
    assert verdicts(same)[0].startswith("0 % of 2 rated samples have no known fault in both runs")
    found = with_change(ragassay.compare(new, old))
    change, right = found.change, found.findings[0]
    assert change is not None and (change.n_unknown, change.words[0]) == (0, "got worse")
    # Of one more among twenty it is said second, and of many more nothing makes it better.
    few = verdicts(with_change(ragassay.compare(one, old)))[1]
    assert few == "Refusals that are not rated: 1 of 20 samples, 0 of 20 in the old run."
    (first, *_), moved = verdicts(most := with_change(ragassay.compare(some, half))), most.change
    assert first == "Refusals that are not rated: 18 of 20 samples, 0 of 20 in the old run."
    assert moved is not None and moved.mended == () and moved.n_unknown == 18
    assert moved.broken == (("0", "invented"),)
    assert moved.transitions["invented", "refusal"] == moved.transitions["fine", "refusal"] == 9
    said = verdicts(most := with_change(ragassay.compare(new, silent)))
    assert most.change is not None and most.change.right is None and "20 of 20 in the" in said[0]
    assert said[1] == "Wrong or invented: 20 samples, 0 in the old run (only a hint)."
    assert verdict_of(ragassay.diagnose(silent)) == "20 of 20 answers are refusals."
    sides = ({"id": f"{at}", "query": "When?", "references": ["noon"]} for at in range(20))
    noon, ten, failed = ({"answer": "noon"}, {"answer": "ten"}, {"failure": "timeout"})
    data = [[side | noon, side | ten, side | (failed if int(side["id"]) < 10 else noon)]
            for side in sides]  # fmt: skip
    sides_of = (ragassay.evaluate([*side], ["token_f1.f"]) for side in zip(*data, strict=True))
    right_by, wrong_by, lost_by = sides_of
    first = with_change(ragassay.compare(right_by, wrong_by)).findings[0]
    assert (first.hint, first.why and first.why.kind) == ("better", "offline_hint")
    same = with_change(ragassay.compare(right_by, right_by))
    hint = "only a hint: words are compared, not meaning"
    assert verdicts(same)[0] == f"100 % of answers are right in both runs ({hint})."
    # A reply that is lost is no matter of words.
    lost = with_change(ragassay.compare(lost_by, right_by)).findings[0]
    assert (lost.verdict, lost.losses, lost.why) == ("worse", 10, None)
    assert (right.name, right.hint, right.losses) == (RIGHT["support"], "worse", 20)
    part = ragassay.evaluate(mostly[1:11], ["faithfulness", "answered"])  # of which as many do
    assert len(verdicts(with_change(ragassay.compare(some, part)))) == 1
    says = "0 % of samples have no known fault, 100 % in the old run: worse (only a hint). "
    assert verdicts(found)[0].startswith(says)
    assert [(one.new, one.old, one.only_hint) for one in change.classes] == [(20, 0, True)]


@pytest.mark.parametrize(("grade", "moved"), [(3, 12), (2, 0), (0, 0)])
def test_a_refusal_is_wrong_where_an_llm_grades_a_passage_as_the_answer(grade, moved) -> None:
    noon, silence, facts = "It closes at noon.", "I do not know.", {"match": 3, "trust": 3}
    facts |= {"verdicts": [{"number": 1, "reason": "", "supported": True}], "intent": ""}
    asked = {"query": "When?", "passages": [{"id": "a", "text": f"The mill: {noon}"}]}

    def judge(prompt: str) -> str:
        claims, answered = ([], "no") if silence in prompt else ([noon], "yes")
        said = {**facts, "claims": claims, "answered": answered, "grade": grade}
        return json.dumps({key: said[key] for key in said if f'"{key}":' in prompt})

    runs = (
        ragassay.evaluate([{"id": f"{at:02}", **asked, "answer": silence if at < n else noon}
                           for at in range(20)], ["faithfulness", "umbrela_MRR", "answered"],
                          judge=judge if grade else None) for n in (12, 0)
    )  # fmt: skip
    found = with_change(ragassay.compare(*runs))
    assert found.change is not None and found.change.new.n_refusals_unknown == 12 - moved
    assert found.change.broken == tuple((f"{at:02}", "refused_answerable") for at in range(moved))
    assert with_not_worse(found).gates[0].passed is (False if moved else None)
