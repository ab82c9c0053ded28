"""``ragassay golden check``: each check finds what was planted, and nothing in a sound set."""

import json
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golden_checked import check
from ragassay.cli.command_line import call
from ragassay.golden import anchor
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference
from ragassay.golden.judged_checks import Checked, check as checked, coverage
from ragassay.golden.rule_checks import CheckOptions


@pytest.fixture
def golden(desk: Path) -> GoldenSet:
    return GoldenSet.open(Path("golden"))


def item(golden: GoldenSet, name: str) -> GoldenItem:
    return next(one for one in golden.items if one.id == name)


def told(found: Checked, name: str) -> list[tuple[str, str]]:
    return [(one.item, one.sentence) for one in found.findings if one.check == name]


def kinds(found: Checked, name: str) -> list[tuple[str, str]]:
    return [(one.item, one.note.kind) for one in found.findings if one.check == name]


def test_a_sound_set_has_no_errors(golden: GoldenSet) -> None:
    found = check(golden)
    assert {one.severity for one in found.findings} <= {"look"}
    assert {one.check for one in found.findings} <= {"support"}
    # Answers that must be computed are not in the spans' words: a person looks at them.
    assert "bike-hour-with-pass" in dict(told(found, "support"))
    assert "library-dvd" not in dict(told(found, "support"))
    assert found.coverage["document"]["library"] == 11
    assert sum(found.coverage["type"].values()) == 72


def test_check_says_of_a_span_what_anchor_does(golden: GoldenSet) -> None:
    """Also of spans without surroundings, as files give them: a text that stands once is found."""
    n = len(golden.documents()["library"].text)
    spans = [GoldSpan(document="library", start=0, end=5, text="films and magazines for one week"),
             GoldSpan(document="library", start=9000, end=9005, text="films and magazines"),
             GoldSpan(document="nowhere", start=0, end=5, text="films and magazines for one week"),
             GoldSpan(document="library", start=n - 3, end=n, text="the"),
             GoldSpan(document="library", start=3, end=11,
                      text="It stands nowhere at all, this one.")]  # fmt: skip
    one = item(golden, "library-dvd")
    one.gold = spans
    told_by_check = [sentence for name, sentence in told(check(golden), "spans") if name == one.id]
    words = [sentence.partition("golden anchor' ")[2].rstrip(")") for sentence in told_by_check]
    found = list(anchor([one], golden.documents()))
    assert [each.found for each in found] == ["moved", "moved", "moved", "ambiguous", "lost"]
    shown = [(each.to_json()["span"], each.to_json()["distance"]) for each in found]
    assert shown == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)]
    assert [kind for name, kind in kinds(check(golden), "spans")
            if name == one.id] == ["span_of_other_text", "span_outside", "span_of_no_document",
                                   "span_of_other_text", "span_of_other_text"]  # fmt: skip
    assert words == [*["finds it"] * 3, "says: ambiguous", "says: lost"]


@pytest.mark.parametrize("label", [None, "answerable", "partial", "unanswerable"])
def test_what_can_be_answered_has_references_and_gold(golden: GoldenSet, label: str | None) -> None:
    for name, gold in (("bare", None), ("empty", [])):
        golden.items.append(GoldenItem(id=name, query=f"Where is {name}?", gold=gold,
                                       answerability=label, status="draft"))  # fmt: skip
    found = [one for one in check(golden).findings if one.item in ("bare", "empty")]
    kinds = [(one.item, one.severity) for one in found if one.check == "spans"]
    both = [(name, kind) for name in ("bare", "empty") for kind in ("error", "look")]
    assert kinds == ([] if label == "unanswerable" else both)


def test_gold_that_stands_elsewhere_too_is_told(golden: GoldenSet) -> None:
    one = item(golden, "library-dvd")
    golden.items = [one]
    [span] = one.gold or []
    assert not told(check(golden), "repeated")
    copy = Path("docs/rules.md")
    copy.write_text("Rules\n\nWe lend films and\nmagazines for one week, that is all.\n")
    at = copy.read_text().index("films")
    one.gold = [span, span]
    [(name, sentence)] = told(check(golden), "repeated")
    assert name == "library-dvd"
    assert f"'films and magazines for one week' is also at rules:{at}, where" in sentence
    text = copy.read_text()
    end = text.index(",")
    one.gold = [span, GoldSpan(document="rules", start=at + 2, end=end, text=text[at + 2 : end])]
    assert not told(check(golden), "repeated")


def test_leaks_contradictions_and_duplicates_are_found(golden: GoldenSet) -> None:
    item(golden, "library-dvd").query = "Can I keep a DVD for one week or longer?"
    other = item(golden, "library-child-fines")
    other.references = ["No, nothing.", "Yes, 20 cents a day"]
    other.negative_references = [NegativeReference(text="no nothing")]
    golden.items += [
        GoldenItem(id=name, query="How many books may I have out at  once", status=status)
        for name, status in (("copy", "accepted"), ("third", "draft"), ("out", "rejected"))
    ]
    found = check(golden)
    assert told(found, "leak") == [("library-dvd", "the query holds its answer 'one week'")]
    assert kinds(found, "contradiction") == [
        ("library-child-fines", "yes_and_no"), ("library-child-fines", "right_and_wrong"),
    ]  # fmt: skip
    alike = [(one.item, one.note.counts) for one in found.findings if one.check == "duplicate"]
    first = {"first": "library-items-at-once"}
    assert alike == [("copy", first), ("third", first)]
    golden.items = [other]
    for texts in (["Ja.", "Nein, nie."], ["Non", "Oui."], ["Sí", "No"], ["对", "不对"]):
        other.references = texts
        assert kinds(check(golden), "contradiction") == [("library-child-fines", "yes_and_no")]
    other.query = "Is a tram or a bus faster?"
    for reference, leaks in (("bus", False), ("tram", True)):
        other.references = [reference]
        assert bool(told(check(golden), "leak")) is leaks, "three letters are no leak"


def test_what_a_judge_is_asked_and_what_its_scores_mean(golden: GoldenSet) -> None:
    one, two = item(golden, "library-dvd"), item(golden, "library-items-at-once")
    one.references, two.references = ["Yes, a week.", "Seven days."], ["12", "a dozen"]
    one.negative_references = two.negative_references = [NegativeReference(text="nine days")]
    noise = GoldSpan(document="library", start=0, end=5, text="Noise", grade=0)
    one.gold = [*(one.gold or []), noise]
    query = "How many items may adults have on loan at a time?"
    none, open_ = (GoldenItem(id=label or "open", query=query, gold=[], references=["?"],
                              answerability=label) for label in ("unanswerable", None))  # fmt: skip
    three = two.model_copy(update={"id": "three", "references": ["x"], "negative_references": []})
    golden.items = [one, two, none, open_, three]
    asked: dict[str, list[dict[str, Any]]] = {}
    values = {"faithfulness": [0.5, 0.2, 1.0, 0.1, None], "factual_correctness.recall": [0.5, 1.0],
              "umbrela": [3, 2.9, None], "em": [1.0, 0.5, 0.75, None, None, 1.0]}  # fmt: skip

    def evaluate(samples: list[dict[str, Any]], metrics: list[str], **options: Any) -> Any:
        [metric], rows = metrics, []
        asked[metric] = samples
        judges.append(options)
        for sample, value in zip(samples, values[metric], strict=False):
            rows.append(SimpleNamespace(sample=sample["id"], value=value, explanation="why"))
        return SimpleNamespace(scores=rows)

    judges: list[dict[str, Any]] = []
    judged = ("support", "complete", "answered")
    options = CheckOptions(judge="openai:a", budget="9 calls", metrics=["em"])
    found = checked(golden, options, evaluate=evaluate)
    assert judges == [{"judge": "openai:a", "budget": "9 calls"}] * 4
    first, second, *_ = asked["faithfulness"]
    assert (first["answer"], second["answer"]) == ("a week.", "Seven days.")
    texts = [{"text": "films and magazines for one week"}]
    assert first["passages"] == texts, "not what is graded as not relevant"
    recall = asked["factual_correctness.recall"][0]
    assert recall["answer"] == "Yes, a week. Seven days."
    assert recall["references"] == ["films and magazines for one week"]
    assert {sample["query"] for sample in asked["umbrela"]} == {query}
    assert len(asked["umbrela"]) == 3 and "twelve" in asked["umbrela"][0]["passages"][0]["text"]
    notes = [(one.check, one.item) for one in found.findings if one.check in judged]
    supported = [("support", name) for name in (one.id, one.id, two.id)]
    assert notes == [*supported, ("complete", one.id), ("answered", none.id)]
    assert found.skipped.keys() == {"support", "answered"}
    assert found.blindness == {("em", "wrong"): (0, 1)}
    place = next(one.note.counts for one in found.findings if one.check == "answered")["place"]
    name, _, at = place.partition(":")
    text = golden.documents()[name].text[int(at) :]
    assert (name, text.startswith(asked["umbrela"][0]["passages"][0]["text"])) == ("library", True)
    asked.clear()
    found = checked(golden, CheckOptions(metrics=[]), evaluate=evaluate)
    [least] = [one.note.counts for one in found.findings if one.check == "support"]
    assert (asked.keys(), least["reference"]) == ({"faithfulness"}, "Seven days.")
    assert found.skipped.keys() == {"support", "complete", "answered"}


def test_a_metric_that_does_not_see_a_mistake_is_told(golden: GoldenSet) -> None:
    golden.items = [
        GoldenItem(
            id=str(at), query="How far is it?", status="accepted",
            references=[f"It is {at + 3} miles away.", f"{at + 3} miles"],
            negative_references=[
                NegativeReference(text=f"It is {at + 90} miles away.", kind="inaccurate"),
                NegativeReference(text="Bananas are yellow", kind="off-style"),
            ],
        )
        for at in range(5)
    ]  # fmt: skip
    found = check(golden, CheckOptions(metrics=["token_f1.f", "exact_match"]))
    assert found.blindness == {
        ("token_f1.f", "inaccurate"): (5, 5), ("token_f1.f", "off-style"): (0, 5),
        ("exact_match", "inaccurate"): (5, 5), ("exact_match", "off-style"): (5, 5),
    }  # fmt: skip


def test_one_reference_is_not_scored_against_itself(golden: GoldenSet) -> None:
    """The text of the gold spans is the right answer; where it is the reference, there is none."""
    text = "From the station it is 3 miles to the gate of the park."
    span = GoldSpan(document="library", start=0, end=len(text), text=text)

    def item_of(name: str, reference: str, *gold: GoldSpan) -> GoldenItem:
        wrong = [NegativeReference(text="90 miles", kind="inaccurate")]
        return GoldenItem(id=name, query="How far is it?", status="accepted", gold=list(gold),
                          references=[reference] if reference else [],
                          negative_references=wrong)  # fmt: skip

    golden.items = [item_of("a", "3 miles", span), item_of("b", text, span),
                    item_of("c", "3 miles"), item_of("d", ""), item_of("f", "3 miles"),
                    item_of("e", "3 miles")]  # fmt: skip
    golden.items[-2].references.append("It is 3 miles.")  # holds the first one: the best right one
    golden.items[-1].references.append("3 Miles.")  # another spelling is no second wording
    found = check(golden, CheckOptions(metrics=["contains_answer", "exact_match"]))
    assert found.blindness == {("contains_answer", "inaccurate"): (0, 2),
                               ("exact_match", "inaccurate"): (2, 2)}  # fmt: skip
    assert [one["blind"] for one in found.to_json()["blindness"]] == [0, 2]
    assert found.skipped["blindness"].startswith("4 items with wrong answers")


def test_ages_count_from_the_day_of_verification(golden: GoldenSet) -> None:
    golden.items = golden.items[:4]
    today = date(2026, 11, 22)
    days = (date(2025, 11, 22), date(2025, 11, 21), None, date(2026, 11, 24))  # 365 and 366 ago
    for one, day in zip(golden.items, days, strict=True):
        one.verified_on = day
    found = check(golden, CheckOptions(max_age=365, today=today))
    notes = [(one.item, one.note, one.severity) for one in found.findings if one.check == "age"]
    names = [one.id for one in golden.items]
    assert [(name, one.kind, severity) for name, one,
            severity in notes] == [(names[1], "verified_long_ago", "look"),
                                   (names[3], "verified_in_future", "error"),
                                   ("", "never_verified", "look")]  # fmt: skip
    assert notes[0][1].counts == {"n": 366} and notes[2][1].names == (names[2],)
    golden.items[3].verified_on = date(2026, 11, 23)  # it may be the next day where somebody is
    found = check(golden, CheckOptions(today=today))
    assert not [one for one in found.findings if one.check == "age"]


def test_items_are_counted_by_document_by_what_is_said_of_them_and_by_length() -> None:
    spans = [GoldSpan(document=name, start=at, end=9, text="x") for at, name in enumerate("dde")]
    words = [(5, spans[:2], "factual"), (6, spans, ""), (15, [], "summary"), (16, None, "factual")]
    items = [GoldenItem(id=str(n), query=" ".join(["word"] * n), gold=gold, type=kind) for n, gold,
             kind in words]  # fmt: skip
    found = coverage(items, dict.fromkeys("def"))  # type: ignore[arg-type]
    assert found["document"] == {"d": 2, "e": 1, "f": 0}
    assert found["type"] == {"factual": 2, "not said": 1, "summary": 1}
    assert found["status"] == {"draft": 4} and "complexity" not in found
    assert list(found["length of the query"].items()) == [("1 to 5 words", 1), ("6 to 15 words", 2),
                                                          ("over 15 words", 1)]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "told"), [
    ("users.log", "{}\n\n", "each line is read as a query: 1 query."),
    ("users.csv", "query,n\n{},1\n", ""), ("users.log", '{{"query": "{}"}}\n', "")])  # fmt: skip
def test_a_log_is_a_query_a_line_or_any_format(golden, name, text, told, capsys) -> None:
    Path(name).write_text(text.format("Where do I register my marriage?"))
    covered = (
        "i just got my card and ask you all: how long can i keep a dvd of a film from the shelf"
    )
    log = [covered, "Where do I register my marriage?"]
    assert check(golden, CheckOptions(log=log)).uncovered == [log[1]]
    assert call(["golden", "check", "golden", "--log", name]) == 0
    shown = capsys.readouterr()
    assert "no item is like 1 query of the log" in shown.out
    assert "Where do I register my marriage?" in shown.out
    assert ("is read as a query" in shown.err) is bool(told) and told in shown.err


def test_the_exit_code_is_a_gate(golden: GoldenSet, capsys: pytest.CaptureFixture[str]) -> None:
    hard = item(golden, "bike-hour-with-pass")
    golden.items = [item(golden, "library-dvd"), hard, *golden.items[:4]]
    golden.items = list({one.id: one for one in golden.items}.values())
    golden.save()
    assert call(["golden", "check", "golden"]) == 0
    shown = capsys.readouterr().out
    assert f"golden: {len(golden.items)} items, 0 errors," in shown
    assert "wrong answers that score as high" in shown
    assert call(["golden", "check", "golden", "--fail-on", "look"]) == 1
    capsys.readouterr()
    one = item(golden, "library-dvd")
    one.gold = [GoldSpan(document="library", start=0, end=3, text="xyz")]
    golden.save()
    assert call(["golden", "check", "golden", "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert {"check", "item", "sentence", "severity"} == set(body["findings"][0])
    assert call(["golden", "check", "golden", "--fail-on", "never"]) == 0


def test_documents_that_are_edited_added_or_gone_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    documents = folder / "documents"
    documents.mkdir(parents=True)
    (documents / "pool.md").write_text("The pool opens at nine.", encoding="utf-8")
    span = GoldSpan(document="pool", start=0, end=23, text="The pool opens at nine.")
    opened = GoldenSet(folder, [GoldenItem(id="q", query="When?", references=["nine"], gold=[span],
                                           status="accepted")])  # fmt: skip
    opened.save()

    def told() -> list[str]:
        return [one.sentence for one in check(GoldenSet.open(folder)).findings
                if one.check in ("documents", "spans")]  # fmt: skip

    assert "edits cannot be found" in told()[0] and len(told()) == 1
    (documents / "gym.md").write_text("The gym is shut.", encoding="utf-8")
    opened.save_manifest(opened.documents())
    assert told() == []
    (documents / "pool.md").write_text("News. The pool opens at nine.", encoding="utf-8")
    (documents / "sauna.md").write_text("The sauna is warm.", encoding="utf-8")
    (documents / "gym.md").unlink()
    edited, added, gone, elsewhere = told()
    assert "pool was edited" in edited and "sauna was added" in added
    assert "gym is gone" in gone and "pool opens at nine" in elsewhere
    assert call(["golden", "anchor", str(folder)]) == 0 and told() == []
    (documents / "pool.md").write_text("News. The pool opens at ten.", encoding="utf-8")
    found = GoldenSet.open(folder)
    found.items[0].gold = [one.model_copy(update={"grade": 2}) for one in found.items[0].gold or ()]
    found.save()
    assert call(["golden", "anchor", str(folder)]) == 0 and told() == []
    found = GoldenSet.open(folder)
    [span] = found.items[0].gold or ()
    assert (span.text, span.grade) == ("The pool opens at ten.", 2)
    found.items = []  # what changed is told also of a set without gold
    found.save()
    found.left_out = {"copy.md": "holds the same text as pool.md", "scan.pdf": "holds no text"}
    found.save_manifest(found.documents())
    (documents / "pool.md").write_text("The pool is shut.", encoding="utf-8")
    findings = [one.note for one in check(GoldenSet.open(folder)).findings]
    assert [(one.kind, one.names) for one in findings] == [
        ("document_edited", ()), ("unreadable", ("scan.pdf",)),
    ]  # fmt: skip
