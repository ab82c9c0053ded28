"""``ragassay golden check``: each check finds what was planted, and nothing in a sound set."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

import ragassay
from ragassay.cli import call
from ragassay.engine.golden import Checked, CheckOptions, check
from ragassay.golden import GoldenItem, GoldenSet, GoldSpan, NegativeReference
from ragassay.samples import Answerability

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GoldenSet:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TOWN / "documents", "docs")
    words = ["golden", "import", str(TOWN / "queries.jsonl"), "--documents", "docs"]
    assert call([*words, "-o", "golden", "--accept"]) == 0
    return GoldenSet.open(Path("golden"))


def item(golden: GoldenSet, name: str) -> GoldenItem:
    return next(one for one in golden.items if one.id == name)


def told(found: Checked, name: str) -> list[tuple[str, str]]:
    return [(one.item, one.sentence) for one in found.findings if one.check == name]


def test_a_sound_set_has_no_errors(golden: GoldenSet) -> None:
    found = check(golden)
    assert {one.severity for one in found.findings} <= {"look"}
    assert {one.check for one in found.findings} <= {"support"}
    # Answers that must be computed are not in the spans' words: a person looks at them.
    assert "bike-hour-with-pass" in dict(told(found, "support"))
    assert "library-dvd" not in dict(told(found, "support"))
    assert found.coverage["document"]["library"] == 11
    assert sum(found.coverage["type"].values()) == 72


def test_spans_that_do_not_agree_with_the_documents_are_errors(golden: GoldenSet) -> None:
    span = (item(golden, "library-dvd").gold or [])[0]
    for name, change in (
        ("library-dvd", {"start": span.start + 1, "end": span.end + 1}),
        ("library-child-fines", {"document": "nowhere"}),
        ("library-items-at-once", {"end": 10**6}),
    ):
        one = item(golden, name)
        one.gold = [(one.gold or [])[0].model_copy(update=change)]
    sentences = dict(told(check(golden), "spans"))
    assert "stands there, not 'films and magazines for one week'" in sentences["library-dvd"]
    assert sentences["library-child-fines"] == "gold 0: there is no document 'nowhere'"
    assert "it ends at 1000000, and library has" in sentences["library-items-at-once"]


def test_edited_and_missing_documents_are_told(golden: GoldenSet) -> None:
    with Path("docs/library.md").open("a") as stream:
        stream.write("\nA last line.\n")
    Path("docs/museum.md").unlink()
    sentences = [sentence for _, sentence in told(check(golden), "documents")]
    assert any("the document library was edited" in one for one in sentences)
    assert "the document museum is gone" in sentences


def test_documents_are_not_gone_where_no_item_has_a_span(golden: GoldenSet) -> None:
    golden.items = [GoldenItem(id="a", query="Where is it?", status="accepted")]
    assert told(check(golden), "documents") == []


def test_leaks_contradictions_and_duplicates_are_found(golden: GoldenSet) -> None:
    item(golden, "library-dvd").query = "Can I keep a DVD for one week or longer?"
    other = item(golden, "library-child-fines")
    other.references = ["No, nothing.", "Yes, 20 cents a day"]
    other.negative_references = [NegativeReference(text="no nothing")]
    golden.items.append(
        GoldenItem(id="copy", query="How many books can I have out at  once", status="accepted")
    )
    found = check(golden)
    assert told(found, "leak") == [("library-dvd", "the query holds its answer 'one week'")]
    assert told(found, "contradiction") == [
        ("library-child-fines", "one reference says yes and another no"),
        ("library-child-fines", "'No, nothing.' is both a reference and a wrong answer"),
    ]
    assert told(found, "duplicate") == [
        ("copy", "asks nearly the same as library-items-at-once"),
    ]


def test_an_unanswerable_query_that_the_documents_answer_is_found(golden: GoldenSet) -> None:
    one = item(golden, "library-dvd").model_copy(
        update={
            "id": "planted", "gold": [], "references": [],
            "answerability": Answerability.UNANSWERABLE,
            "query": "How many items may adults have on loan at a time?",
        }
    )  # fmt: skip
    golden.items.append(GoldenItem(**one.model_dump()))
    sentences = dict(told(check(golden), "answered"))
    assert "twelve items on loan" in sentences["planted"]


def test_spans_that_are_not_relevant_support_nothing(golden: GoldenSet) -> None:
    one = item(golden, "library-dvd")
    one.gold = [span.model_copy(update={"grade": 0}) for span in one.gold or []]
    golden.items = [one, item(golden, "library-items-at-once")]
    one.references = ["Films are lent for nine years."]
    assert "library-dvd" not in dict(told(check(golden), "support"))
    one.gold = [span.model_copy(update={"grade": 1}) for span in one.gold]
    assert "library-dvd" in dict(told(check(golden), "support"))


def test_what_the_judge_could_not_say_is_counted(golden: GoldenSet) -> None:
    golden.items = [item(golden, "library-child-fines")]
    golden.items[0].references = ["no"]  # holds no claim
    found = check(golden)
    assert told(found, "support") == []
    assert found.skipped["support"] == "the offline judge could not say it of 1"


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
        ("token_f1.f", "inaccurate"): (5, 5),
        ("token_f1.f", "off-style"): (0, 5),
        ("exact_match", "inaccurate"): (5, 5),
        ("exact_match", "off-style"): (5, 5),
    }


def test_ages_count_from_the_day_of_verification(golden: GoldenSet) -> None:
    today = date(2026, 11, 22)
    for one in golden.items:
        one.verified_on = date(2026, 11, 1)
    item(golden, "library-dvd").verified_on = date(2025, 1, 1)
    item(golden, "museum-suitcase").verified_on = None
    found = check(golden, CheckOptions(max_age=365, today=today))
    assert told(found, "age") == [
        ("library-dvd", "it was verified 690 days ago"),
        ("museum-suitcase", "nobody noted when it was verified"),
    ]


def test_what_users_ask_and_the_set_lacks_is_listed(golden: GoldenSet) -> None:
    log = ["how long can i keep a dvd", "Where do I register my marriage?"]
    assert check(golden, CheckOptions(log=log)).uncovered == [log[1]]


def test_the_exit_code_is_a_gate(golden: GoldenSet, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["golden", "check", "golden"]) == 0
    shown = capsys.readouterr().out
    assert "golden: 72 items, 0 errors," in shown
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
