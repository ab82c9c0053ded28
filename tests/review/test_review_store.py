"""Reviews in the folder: one at a time, several at a time, taken back; how far reviewers agree."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet, alone
from ragassay.review.review_agreement import Agreements, coefficients, item_agreement
from ragassay.review.review_store import ReviewConflictError, ReviewStore, version_of
from reviewed_set import TEXT, item_of, small, version


def test_an_accepted_item_names_its_reviewer_and_no_other_line_changes(tmp_path: Path) -> None:
    store = small(tmp_path / "g", origin="synthetic")
    before = (tmp_path / "g/queries.jsonl").read_bytes().splitlines()
    tags = {"tags": ["hours"]}  # which make no edit
    store.review("i1", "ann", "accept", version(store, "i1"), fields=tags, seconds=12.34)
    after = (tmp_path / "g/queries.jsonl").read_bytes().splitlines()
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True]
    item = item_of(store, "i1")
    assert (item.status, item.reviewer, item.origin) == ("accepted", "ann", "synthetic")
    assert item.verified_on == datetime.now(UTC).date()
    (line,) = (tmp_path / "g/reviews.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert (kept["decision"], kept["seconds"], kept["item"]) == ("accept", 12.3, "i1")
    assert [one.id for one in GoldenSet.open(tmp_path / "g").with_status("draft")] == ["i0", "i2"]
    with pytest.raises(UsageError, match="beyond tags must be accepted or rejected"):
        store.review("i0", "ann", "tag", version(store, "i0"), fields={**tags, "query": "When?"})


def test_an_edit_keeps_who_said_what_and_reads_new_spans_from_the_document(tmp_path: Path) -> None:
    store, start = small(tmp_path / "g", origin="synthetic"), TEXT.index("It closes")
    fields = {"query": "When does it close?", "references": ["six", " "],
              "negative_references": [{"text": "ten"}, {"text": " "},
                                      {"text": "nine", "kind": "inaccurate"}],
              "metadata": {" room ": "red", " ": "x"},
              "gold": [{"document": "library", "start": start, "end": start + 17}],
              "tags": ["hours", "hours", " "]}  # fmt: skip
    made = store.review("i0", "ann", "accept", version(store, "i0"), fields=fields, seconds=-1.0)
    item = item_of(store, "i0")
    assert (made.decision, made.seconds, item.origin) == ("edit", 0.0, "edited")
    assert item.references == ["six"] and item.tags == ["hours"]
    assert item.metadata == {"room": "red"}
    said = [(one.text, one.by) for one in item.negative_references]
    assert said == [("ten", "eve"), ("nine", "ann")]
    (span,) = item.gold or ()
    assert span.text == "It closes at six." and span.before.endswith("🙂 ")
    graded = [{"document": "library", "start": 0, "end": 26, "grade": 2},
              {"document": "library", "start": len(TEXT) - 6, "end": len(TEXT)}]  # fmt: skip
    store.review("i1", "ann", "accept", version(store, "i1"), fields={"gold": graded})
    found = [(span.text, span.grade) for span in item_of(store, "i1").gold or ()]
    assert found == [(TEXT[:26], 2), ("euros.", 1)]
    wrong = [{"text": "ten", "kind": "incomplete"}, {"text": "nine", "kind": "inaccurate"}]
    fields = {"negative_references": wrong}
    store.review("i0", "bob", "accept", version(store, "i0"), fields=fields)
    assert [one.by for one in item_of(store, "i0").negative_references] == ["bob", "ann"]


@pytest.mark.parametrize(("item", "reviewer", "fields", "problem"), [
    ("nothing", "ann", {}, "no item 'nothing'"), ("i0", " ", {}, "name of its reviewer"),
    ("i0", "ann", {"status": "accepted"}, "does not change status"),
    ("i0", "ann", {"query": ""}, "query"),
    ("i0", "ann", {"answerability": "perhaps"}, "answerability"),
    ("i0", "ann", {"gold": "library 0-5"}, "field 'gold': is not a list of spans"),
    ("i0", "ann", {"gold": [{"document": "library", "start": 5, "end": 500}]},
     "characters; there is no span 5-500"),
    ("i0", "ann", {"gold": [{"document": "library", "start": -1, "end": 5}]}, "there is no span"),
    ("i0", "ann", {"gold": [{"document": "x", "start": 0, "end": 5}]}, "there is no document 'x'"),
    ("i0", "ann", {"gold": [{"document": "library"}]}, "a document, a start and an end"),
])  # fmt: skip
def test_what_makes_no_sense_is_said(tmp_path: Path, item, reviewer, fields, problem) -> None:
    store = small(tmp_path / "g")
    with pytest.raises((UsageError, InputError), match=problem):
        store.review(item, reviewer, "accept", version(store, "i0"), fields=fields)
    assert item_of(store, "i0").status == "draft" and not (tmp_path / "g/reviews.jsonl").exists()


def test_who_decided_on_an_older_version_is_told_and_sees_the_present_one(tmp_path: Path) -> None:
    store = small(tmp_path / "g", origin="human")
    old = version(store, "i0")
    store.review("i0", "ann", "accept", old, fields={"query": "Open when?"})
    with pytest.raises(ReviewConflictError, match="changed by ann") as caught:
        store.review("i0", "bob", "reject", old)
    assert caught.value.item is not None and caught.value.item.query == "Open when?"
    assert (item_of(store, "i0").status, item_of(store, "i0").origin) == ("accepted", "human")
    old, path = version_of(store.golden().items[1]), tmp_path / "g/queries.jsonl"
    path.write_text(path.read_text().replace("it open? 1", "it shut? 1"))  # outside the program
    with pytest.raises(ReviewConflictError):
        store.review("i1", "ann", "accept", old)


def state_of(store: ReviewStore, item: str, reviewer: str) -> str:
    return store.thing(item_of(store, item)).state(reviewer, store.current())


def test_people_who_decide_at_once_never_write_over_each_other(tmp_path: Path) -> None:
    small(tmp_path / "g", 12)
    stores = {name: ReviewStore(tmp_path / "g") for name in ("ann", "bob")}
    seen = [(one.id, version_of(one)) for one in stores["ann"].golden().items]

    def decide(name: str) -> None:
        for item, shown in seen:
            with suppress(ReviewConflictError):
                stores[name].review(item, name, "accept", shown, fields={"tags": [name]})

    with ThreadPoolExecutor() as people:
        list(people.map(decide, stores))
    items = GoldenSet.open(tmp_path / "g").items
    assert all(one.status == "accepted" and one.tags == [one.reviewer] for one in items)
    log = [json.loads(line) for line in (tmp_path / "g/reviews.jsonl").read_text().splitlines()]
    reviews = sorted((one["item"], one["reviewer"]) for one in log)
    assert reviews == sorted((one.id, one.reviewer) for one in items)


def test_undo_takes_the_last_reviews_back_one_by_one(tmp_path: Path) -> None:
    store, before = small(tmp_path / "g"), (tmp_path / "g/queries.jsonl").read_bytes()
    store.review("i0", "ann", "accept", version(store, "i0"), fields={"query": "Other?"})
    store.review("i1", "ann", "reject", version(store, "i1"))
    store.review("i1", "ann", "tag", version(store, "i1"), fields={"tags": ["odd"]})
    store.review("i2", "bob", "accept", version(store, "i2"))
    assert [store.undo("ann").key for _ in range(3)] == ["i1", "i1", "i0"]
    assert store.undo("bob").key == "i2" and (tmp_path / "g/queries.jsonl").read_bytes() == before
    with pytest.raises(UsageError, match="no review to undo"):
        store.undo("ann")
    # Not where somebody changed the same since.
    store.review("i0", "ann", "accept", version(store, "i0"))
    store.review("i0", "bob", "reject", version(store, "i0"))
    with pytest.raises(ReviewConflictError, match="changed since your review"):
        store.undo("ann")
    assert item_of(store, "i0").status == "rejected"
    GoldenSet(store.folder, store.golden().items[1:]).save()
    with pytest.raises(ReviewConflictError, match="i0: the item is no longer in the set") as caught:
        store.undo("bob")
    assert caught.value.item is None


def test_who_finds_the_folder_busy_is_told_to_try_again(tmp_path: Path, monkeypatch) -> None:
    store = small(tmp_path / "g")
    monkeypatch.setattr("ragassay.golden.golden_folder.BUSY_S", 0.05)
    with (alone(store.folder),
          pytest.raises(UsageError, match=r"cannot be written now .* Try again")):  # fmt: skip
        store.review("i0", "ann", "accept", version(store, "i0"))
    assert store.review("i0", "ann", "accept", version(store, "i0")).applied


def test_items_that_several_review_wait_until_all_have_decided_alike(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 4)
    store.change_settings(overlap=1.0)
    fields = {"query": "Open when?"}
    for number, name in enumerate(("ann", "bob")):
        assert item_of(store, "i0").status == "draft" and state_of(store, "i0", name) == "todo"
        made = store.review("i0", name, "accept", version(store, "i0"), fields=fields)
        assert made.applied == bool(number)
    assert item_of(store, "i0").status == "accepted" and item_of(store, "i0").query == "Open when?"
    store.review("i0", "eve", "reject", version(store, "i0"))  # by eve, who saw what they said
    for word in ("reject", "accept", "accept"):  # who waits may change her mind, and stays one
        typed = {"type": word}
        made = store.review("i1", "ann", word, version(store, "i1"), fields=typed)
        assert (made.applied, made.final, state_of(store, "i1", "ann")) == (False, False, "waiting")
    assert not store.review("i1", "bob", "reject", version(store, "i1")).applied
    assert {state_of(store, "i1", one) for one in ("ann", "bob", "eve")} == {"disagreement"}
    (found,) = item_agreement(store).differ
    assert (found["item"], found["status"]) == ("i1", "draft")
    assert [one["changes"] for one in found["reviews"]] == [{"type": ("", "accept")}, {}]
    final = store.review("i1", "eve", "reject", version(store, "i1"))
    assert final.final and final.applied and item_of(store, "i1").status == "rejected"
    # A decision by one who knew the others' counts as none of the independent ones.
    assert set(store.current().of["i1"]) == {"ann", "bob"}
    store.review("i3", "ann", "tag", version(store, "i3"), fields={"tags": ["odd"]})
    assert state_of(store, "i3", "ann") == "todo", "a tag decides nothing"
    for name in ("ann", "bob"):  # both accept, and change other things
        fields = {"style": name}
        made = store.review("i3", name, "accept", version(store, "i3"), fields=fields)
    assert (made.applied, state_of(store, "i3", "eve")) == (False, "disagreement")
    store.review("i2", "ann", "accept", version(store, "i2"))
    store.change_settings(overlap=0.0)
    assert [state_of(store, "i2", one) for one in ("ann", "bob")] == ["waiting", "todo"]


def test_a_review_that_waited_cannot_be_taken_back_once_the_item_is_settled(tmp_path) -> None:
    store = small(tmp_path / "g")
    store.change_settings(overlap=1.0)
    before = (tmp_path / "g/queries.jsonl").read_bytes()
    for at, decision in enumerate(("accept", "reject")):
        for name in ("ann", "bob"):
            fields = {"style": "terse"}
            store.review(f"i{at}", name, decision, version(store, f"i{at}"), fields=fields)
        with pytest.raises(ReviewConflictError, match="bob settled it"):
            store.undo("ann")
        store.undo("bob")
        assert item_of(store, f"i{at}").status == "draft"
        store.undo("ann")
        assert store.current().of == {}
    assert (tmp_path / "g/queries.jsonl").read_bytes() == before


def test_calibration_is_answered_by_the_known_set_and_changes_nothing(tmp_path: Path) -> None:
    store, known = small(tmp_path / "g"), small(tmp_path / "known", status="rejected")
    store.change_settings(calibration="../known")
    before = (known.folder / "queries.jsonl").read_bytes()
    for name, decision in (("ann", "reject"), ("bob", "accept")):
        made = store.review("i0", name, decision, version(known, "i0"), calibration=True)
        assert made.right == (name == "ann")
    assert (known.folder / "queries.jsonl").read_bytes() == before
    assert item_of(store, "i0").status == "draft" and not store.current().of
    assert item_agreement(store).known == {"ann": (1, 1), "bob": (0, 1)}
    assert [one["mine"] for one in store.entries("eve")[:3]] == [False] * 3
    assert store.progress("ann")["total"] == 3
    assert store.undo("ann").calibration and "ann" not in store.current().known


def test_progress_counts_what_is_left_and_what_is_taken_back_took_no_time(tmp_path, capsys) -> None:
    store = small(tmp_path / "g", 4)
    for name, seconds in (("i0", 10), ("i1", 30), ("i1", 500)):
        store.review(name, "ann", "accept", version(store, name), seconds=seconds)
    assert store.progress("ann") == {"done": 2, "total": 4, "mine": 2, "left": 2}
    assert store.current().seconds == {"ann": [10, 30, 500]}
    store.undo("ann")
    assert store.current().seconds == {"ann": [10, 30]}
    # Without second reviews there is no agreement; the time is told.
    assert call(["golden", "agreement", str(store.folder)]) == 3
    told = capsys.readouterr().out
    assert "--overlap 0.2" in told and "time spent on reviews: ann: 0.7 minutes for 2" in told
    store.change_settings(people=3)
    settings = store.change_settings(overlap=0.2)
    needs = [settings.needs(f"q{n}") for n in range(2_000)]
    assert set(needs) == {1, 3} and 320 < needs.count(3) < 480, "about the share asked for"
    with pytest.raises(UsageError, match="--overlap"):
        store.change_settings(overlap=1.5)
    store.change_settings(overlap=1.0)
    assert store.progress("ann")["left"] == 6
    theirs = small(tmp_path / "theirs", 1, status="accepted", reviewer="ann")  # without a log
    for name, n in {"ann": 1, "bob": 0}.items():
        assert (theirs.progress(name)["mine"], theirs.entries(name)[0]["mine"]) == (n, bool(n))


def test_a_line_that_was_never_finished_is_no_review_and_hides_no_other(tmp_path: Path) -> None:
    store = small(tmp_path / "g")
    store.review("i0", "ann", "accept", version(store, "i0"))
    log = tmp_path / "g/reviews.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"item":"i1","revi')
    store.review("i2", "ann", "reject", version(store, "i2"))
    assert set(ReviewStore(tmp_path / "g").current().of) == {"i0", "i2"}
    assert "i2" in store.current().of
    log.write_bytes(b"\n \n" + whole.removesuffix(b"\n"))  # an editor saved it: the line is whole
    assert set(store.current().of) == {"i0"}
    store.review("i1", "ann", "accept", version(store, "i1"))
    assert log.read_bytes().startswith(whole) and set(store.current().of) == {"i0", "i1"}
    for junk, told in ((b"junk", ""), (b"3", "is not a JSON object"), (b'{"item": "i1"}', "field")):
        log.write_bytes(junk + b"\n" + whole)
        with pytest.raises(InputError, match=f"line 1.*{told}"):
            ReviewStore(tmp_path / "g").current()


def test_new_spans_count_in_the_documents_as_they_are_after_anchoring(tmp_path: Path) -> None:
    store = small(tmp_path / "g")
    assert store.documents()["library"].text == TEXT  # an open page
    (document,) = (tmp_path / "g").rglob("library.*")
    document.write_text(f"New.\n\n{TEXT}", encoding="utf-8")
    assert call(["golden", "anchor", str(tmp_path / "g")]) == 0
    assert store.documents()["library"].text == f"New.\n\n{TEXT}"


# Cohen's textbook table: both accept 20, ann alone 5, bob alone 10, both reject 15.
TABLE = {("accept", "accept"): 20, ("accept", "reject"): 5, ("reject", "accept"): 10,
         ("reject", "reject"): 15}  # fmt: skip


def test_kappa_and_alpha_of_reviews_are_those_of_their_table(tmp_path: Path, capsys) -> None:
    store = small(tmp_path / "g", 52)
    store.change_settings(overlap=1.0)
    rows = [pair for pair, n in TABLE.items() for _ in range(n)]
    for number, pair in enumerate(rows):
        for name, decision in zip(("ann", "bob"), pair, strict=True):
            store.review(f"i{number}", name, decision, version(store, f"i{number}"))
    store.review("i50", "ann", "accept", version(store, "i50"))
    by_name = {one.name: one for one in item_agreement(store).measures[""]}
    cohen, alpha = by_name["cohen kappa"], by_name["krippendorff alpha"]
    assert cohen.value == pytest.approx(0.4) and cohen.people == ("ann", "bob")
    assert cohen.n_items == alpha.n_items == 50 and alpha.share == pytest.approx(0.7)
    # 55 of 100 labels are accept: De = 2 * 55 * 45 / (100 * 99).
    assert alpha.value == pytest.approx(1 - 0.3 * 9_900 / (2 * 55 * 45))
    assert by_name["fleiss kappa"].value == pytest.approx(1 - 0.3 / (2 * 0.55 * 0.45))
    assert alpha.interval is not None
    assert alpha.interval[0] < alpha.value < alpha.interval[1]  # type: ignore[operator]
    command = ["golden", "agreement", str(store.folder)]
    assert call(command) == 0
    told = capsys.readouterr().out
    assert "cohen kappa: 0.400 [" in told and "50 items, 70% alike: ann, bob" in told
    assert "15 disagreements, 15 to settle" in told
    lines = (store.folder / "adjudication.jsonl").read_text().splitlines()
    assert len(lines) == 15
    first = json.loads(lines[0])
    assert [one["decision"] for one in first["reviews"]] == ["accept", "reject"]
    # What is settled stays listed.
    store.review("i20", "eve", "accept", version(store, "i20"))
    assert call(command) == 0 and "15 disagreements, 14 to settle" in capsys.readouterr().out
    assert call([*command, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in body["agreement"]} == by_name.keys()
    assert Counter(one["settled_by"] for one in body["disagreements"]) == {"eve": 1, None: 14}


def test_what_was_known_and_how_long_it_took_is_printed_of_items_and_labels(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    measure = [coefficients([{"a": "x", "b": "x"}])[0]]
    left = [{"settled_by": "eve"}, {"settled_by": None}]
    items = Agreements({"": measure}, left[1:], {"ann": (1, 2)}, {"ann": [30.0, 60.0]})
    labels = Agreements({"grade": measure}, left, {}, {"bob": [6.0]})
    place = "ragassay.review.review_agreement"
    monkeypatch.setattr(f"{place}.item_agreement", lambda store: items)
    monkeypatch.setattr(f"{place}.label_agreement", lambda store: labels)
    monkeypatch.setattr(f"{place}.keep", lambda *_: "adjudication.jsonl")
    folder = str(small(tmp_path / "g").folder)
    assert call(["golden", "agreement", folder]) == 0
    told = capsys.readouterr().out
    for said in ("grade: krippendorff", "calibration: ann: 1 of 2 as known", "labels: bob: 0.1 m",
                 "ann: 1.5 minutes for 2", "3 disagreements (2 of labels), 2 to"):  # fmt: skip
        assert said in told
    assert call(["golden", "agreement", folder, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (len(body["disagreements"]), len(body["labels_disagreements"])) == (1, 2)
    assert body["calibration"] == {"ann": {"right": 1, "of": 2}}
    assert body["seconds"] == {"reviews": {"ann": 90.0}, "labels": {"bob": 6.0}}


def test_things_with_two_labels_count_and_people_are_compared_on_what_both_labelled() -> None:
    units = [{"c": "x", "a": "x", "b": "y"}, {"a": "y", "b": "y"}, {"c": "x"}, {"d": "x", "c": "x"}]
    whole, _, *pairs = coefficients(units)
    assert (whole.n_items, whole.people, whole.share) == (3, ("a", "b", "c", "d"), 3 / 5)
    found = {one.people: (one.name, one.n_items, one.share, one.value) for one in pairs}
    assert found == {
        ("a", "b"): ("cohen kappa", 2, 0.5, 0.0), ("a", "c"): ("cohen kappa", 1, 1.0, None),
        ("b", "c"): ("cohen kappa", 1, 0.0, 0.0), ("c", "d"): ("cohen kappa", 1, 1.0, None),
    }  # fmt: skip
    assert coefficients(units[2:3]) == coefficients([]) == []
