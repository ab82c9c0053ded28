"""The page of reviews: its interface, and in a real browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra 'service'")

from fastapi.testclient import TestClient

from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet
from ragassay.review.review_page import create_review_app
from reports_examples import HOSTILE
from reviewed_set import TEXT, bundled, item_of, small, version


def at_item(page: Any, name: str) -> None:
    page.wait_for_selector(f"body[data-item='golden/{name}'] #item")
    page.wait_for_selector("#text:not(:empty)")


def select(page: Any, text: str) -> None:
    """Drags the mouse over a text of the document."""
    box = page.evaluate(
        """(wanted) => {
          const box = document.getElementById("text");
          const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(wanted);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + wanted.length);
            walker.currentNode.parentElement.scrollIntoView({ block: "nearest" });
            box.scrollTop += range.getBoundingClientRect().top - 420;
            const boxes = range.getClientRects();
            const [first, last] = [boxes[0], boxes[boxes.length - 1]];
            const half = first.height / 2;
            return [first.left, first.top + half, last.right, last.top + half];
          }
        }""",
        text,
    )
    page.mouse.move(box[0] + 0.5, box[1])
    page.mouse.down()
    page.mouse.move((box[0] + box[2]) / 2, box[3], steps=4)
    page.mouse.move(box[2] - 0.5, box[3], steps=4)
    page.mouse.up()


@pytest.mark.browser
def test_a_person_reviews_five_items_by_keyboard_and_marks_a_span_with_the_mouse(
    tmp_path: Path, serve: Any, visit: Any
) -> None:
    folder = bundled(tmp_path / "golden")
    ids, served = [one.id for one in GoldenSet.open(folder).items], serve(folder)
    page = visit(served)
    page.wait_for_selector("#alert >> text=Write your name")
    page.keyboard.type("ann")
    page.keyboard.press("Tab")

    at_item(page, ids[0])
    assert page.inner_text("#text mark").startswith("Adults may have up to twelve items")
    page.keyboard.press("a")
    at_item(page, ids[1])
    page.keyboard.press("r")
    at_item(page, ids[2])
    page.keyboard.press("e")
    page.fill("#item textarea >> nth=0", "How long may I keep a film?")
    for name, value in {"type": "yes-no", "complexity": "direct", "style": "terse"}.items():
        page.fill(f"#item input[name={name}]", value)
    page.fill("#item input[name=language]", " en ")
    page.fill("#item input[name=source]", "user log")
    page.click("#item [aria-label='Add: Metadata']")
    page.fill("#item [aria-label='Name of metadata'] >> nth=-1", "room")
    page.fill("#item [aria-label='Value of name']", "red")
    page.fill("#item [aria-label='Value of turn']", "2")
    page.click("#item [aria-label='Remove the metadata difficulty']")
    page.keyboard.press("Control+Enter")
    at_item(page, ids[3])
    page.keyboard.press("t")
    page.keyboard.type("odd, late")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item .chip >> text=late")
    page.keyboard.press("a")
    at_item(page, ids[4])
    assert item_of(served.store, ids[4]).gold
    page.click("#item .spans >> text=Remove")
    page.wait_for_selector("#item >> text=no place answers")
    text = page.inner_text("#text")
    wanted = text[text.index("You may extend a loan") :].split(",")[0]
    select(page, wanted)
    page.wait_for_selector("#add:enabled")
    page.click("#add")
    page.wait_for_selector("#item .spans >> text=You may extend a loan")
    assert page.inner_text("#text mark") == wanted
    page.keyboard.press("a")
    at_item(page, ids[5])
    assert "5 of 72 items are reviewed, 5 by you. 67 reviews are missing" in page.inner_text(
        "#progress"
    )

    items = GoldenSet.open(folder).items
    assert [one.status for one in items[:6]] == ["accepted", "rejected", "accepted", "accepted",
                                                 "accepted", "draft"]  # fmt: skip
    assert {one.reviewer for one in items[:5]} == {"ann"}
    assert items[2].query == "How long may I keep a film?"
    words = (items[2].type, items[2].complexity, items[2].style, items[2].language)
    assert words == ("yes-no", "direct", "terse", "en")
    assert (items[2].source, items[2].metadata) == (
        "user log",
        {"domain": "library", "turn": 2, "room": "red"},
    )
    assert items[3].tags == ["odd", "late"]
    (span,) = items[4].gold or ()
    document = served.store.documents()[span.document]
    assert span.text == wanted == document.text[span.start : span.end]
    log = [json.loads(line) for line in (folder / "reviews.jsonl").read_text().splitlines()]
    assert [one["decision"] for one in log] == ["accept", "reject", "edit", "tag", "accept", "edit"]

    page.keyboard.press("u")
    at_item(page, ids[4])
    page.wait_for_selector("#alert >> text=undone")
    assert item_of(served.store, ids[4]).status == "draft"
    page.keyboard.press("n")
    at_item(page, ids[5])
    page.keyboard.press("p")
    at_item(page, ids[4])
    page.keyboard.press("?")
    page.wait_for_selector("#help >> text=undo my last review")
    page.select_option("#show", "rejected")
    at_item(page, ids[1])
    assert page.inner_text("#place") == "1 of 1"

    page.select_option("#show", "all")
    at_item(page, ids[0])
    page.fill("#where", "source=user log; room!=blue")
    page.keyboard.press("Enter")
    at_item(page, ids[2])
    assert page.inner_text("#place") == "1 of 1"


@pytest.mark.browser
def test_a_place_counts_characters_as_python_does(tmp_path: Path, serve: Any, visit: Any) -> None:
    served = serve(small(tmp_path / "g").folder, "ann")
    page = visit(served)
    at_item(page, "i0")
    select(page, "It closes at six.")
    page.keyboard.press("s")
    page.wait_for_selector("#item .spans >> text=It closes")
    page.keyboard.press("a")
    at_item(page, "i1")
    _, span = item_of(served.store, "i0").gold or ()
    assert (span.text, span.start) == ("It closes at six.", TEXT.index("It closes"))


@pytest.mark.browser
def test_two_people_at_one_item_both_see_the_conflict_and_lose_nothing(
    tmp_path: Path, serve: Any, visit: Any
) -> None:
    served = serve(small(tmp_path / "g").folder, "ann")
    page = visit(served)
    at_item(page, "i0")
    page.keyboard.press("e")
    page.fill("#item textarea >> nth=0", "When does it open on Mondays?")
    fields = {"query": "At what time does it open?", "tags": ["hours"]}
    served.store.review("i0", "bob", "accept", version(served.store, "i0"), fields=fields)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#alert >> text=changed by bob")
    shown = page.inner_text("#alert")
    assert "At what time does it open?" in shown and "When does it open on Mondays?" in shown
    assert item_of(served.store, "i0").query == "At what time does it open?"
    page.click("text=Keep mine")
    at_item(page, "i1")
    item = item_of(served.store, "i0")
    assert (item.query, item.reviewer) == ("When does it open on Mondays?", "ann")
    assert item.tags == ["hours"], "what ann left alone stays as bob has it"


@pytest.mark.browser
def test_a_tag_with_a_comma_stays_one(tmp_path: Path, serve: Any, visit: Any) -> None:
    store = small(tmp_path / "g", 1, tags=["hours, winter"])
    served = serve(store.folder, "ann")
    page = visit(served)
    at_item(page, "i0")
    page.keyboard.press("t")
    page.wait_for_selector("#item >> text=a semicolon ends one")
    page.keyboard.press("End")
    page.keyboard.type("; late")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item .chip >> text=late")
    assert item_of(served.store, "i0").tags == ["hours, winter", "late"]


@pytest.mark.browser
def test_hostile_texts_run_nothing_and_turn_nothing(tmp_path: Path, serve: Any, visit: Any) -> None:
    turned, store = "safe \u202egnp.exe\u202c **bold** ", small(tmp_path / "g", 1)
    (tmp_path / "g/documents/bad.md").write_text(f"{turned}{HOSTILE}", encoding="utf-8")
    (tmp_path / "g/instructions.md").write_text(f"{turned}{HOSTILE}", encoding="utf-8")
    item = item_of(store, "i0")
    item.query = item.references[0] = item.type = turned + HOSTILE
    item.tags, item.provenance = [HOSTILE], {"prompt": HOSTILE}
    GoldenSet(store.folder, [item]).save()
    served = serve(store.folder, HOSTILE)
    page = visit(served)
    at_item(page, "i0")
    page.select_option("#documents", "bad")
    page.wait_for_selector("#text >> text=safe")
    page.keyboard.press("?")
    shown = page.inner_text("body")
    assert "\u202e" not in shown and "**bold**" in shown and "<" in shown
    assert page.locator("#item script, #item img, #item b, #text *, #help img").count() == 0
    page.keyboard.press("a")
    page.wait_for_selector("#item >> text=Nothing to show")
    assert item_of(served.store, "i0").query == turned + HOSTILE


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return TestClient(create_review_app(small(tmp_path / "g")), base_url="http://127.0.0.1")


def test_other_sites_and_names_are_refused(client: TestClient) -> None:
    body = {"key": "i0", "reviewer": "eve", "decision": "accept", "version": "v"}
    evil = {"Origin": "http://evil.example"}
    assert client.post("/items", json=body, headers=evil).status_code == 403
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    page = client.get("/")
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_wrong_requests_are_problems_in_words(client: TestClient) -> None:
    body = {"key": "i0", "reviewer": "eve", "decision": "accept", "version": "v"}
    conflict = client.post("/items", json=body)
    assert conflict.status_code == 409 and conflict.json()["item"]["id"] == "i0"
    fields = {"fields": {"status": "accepted"}}
    for wrong in ({"decision": "undo"}, {"reviewer": ""}, fields, {"key": "none"}):
        assert client.post("/items", json={**body, **wrong}).status_code == 422
    assert client.get("/documents/golden/../../etc/passwd").status_code in (404, 422)
    nowhere = client.get("/documents/golden/nowhere")
    assert (nowhere.status_code, "no document 'nowhere'" in nowhere.text) == (422, True)
    assert client.get("/items/golden/none?reviewer=a").status_code == 422
    assert client.get("/items/calibration/i0?reviewer=a").status_code == 422


def test_who_still_has_to_decide_does_not_see_what_others_decided(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 1)
    store.change_settings(overlap=1.0, people=3)
    client = TestClient(create_review_app(store), base_url="http://127.0.0.1")

    def seen(name: str) -> list[str]:
        told = client.get(f"/items/golden/i0?reviewer={name}").json()["reviews"]
        return [one["reviewer"] for one in told]

    for name, decision in {"ann": "accept", "bob": "reject"}.items():
        store.review("i0", name, decision, version(store, "i0"))
    assert (seen("ann"), seen("bob"), seen("eve")) == (["ann"], ["bob"], [])
    store.review("i0", "eve", "reject", version(store, "i0"))
    assert seen("tim") == ["ann", "bob", "eve"]


def test_calibration_items_come_first_and_keep_their_answer_until_it_is_given(tmp_path) -> None:
    store = small(tmp_path / "g", 1)
    secrets = {"tags": ["secret"], "metadata": {"secret": 1}, "verified_on": "1999-01-01"}
    known = small(tmp_path / "known", 2, status="rejected", reviewer="secret", **secrets)
    items = known.golden().items
    items[1].status = "draft"  # nothing is known of it
    GoldenSet(known.folder, items).save()
    (known.folder / "documents" / "more.md").write_text("About.\n\n# More")
    (store.folder / "instructions.md").write_text("Be kind.")
    store.change_settings(calibration="../known")
    client = TestClient(create_review_app(store), base_url="http://127.0.0.1")
    listed = client.get("/items?reviewer=ann").json()["entries"]
    assert [(one["key"], one["calibration"]) for one in listed] == [("i0", True), ("i0", False)]
    shown = client.get("/items/calibration/i0?reviewer=ann")
    for text in (shown.text, str(listed)):
        assert not re.search("rejected|secret|1999", text)
    assert client.get("/documents/calibration").json() == ["library", "more"]
    more = client.get("/documents/calibration/more").json()
    assert (more["text"][8:], more["headings"]) == ("# More", [{"title": "More", "start": 8}])
    assert "Be kind." in client.get("/").text
    body = {"key": "i0", "reviewer": "ann", "decision": "accept", "calibration": True}
    body |= {"version": version(known, "i0"), "seconds": 700}
    answer = client.post("/items", json=body).json()
    assert (answer["right"], answer["known"]) == (False, "rejected")
    assert store.current().seconds == {"ann": [600]}, "who takes longer was elsewhere"
    listed = client.get("/items?reviewer=ann").json()["entries"]
    assert [one["state"] for one in listed] == ["done", "todo"]
    own = {"calibration": False, "version": version(store, "i0"), "fields": {"type": "yes-no"}}
    assert client.post("/items", json=body | own).json()["known"] is None
    assert item_of(store, "i0").type == "yes-no"


def test_conditions_of_the_command_and_of_the_page_choose_the_items(tmp_path: Path) -> None:
    app = create_review_app(small(tmp_path / "g", 4), where=["query!=When does it open? 0"])
    client = TestClient(app, base_url="http://127.0.0.1")
    listed = client.get("/items?reviewer=ann&where=id!=i1&where=id!=i3").json()["entries"]
    assert [one["key"] for one in listed] == ["i2"]


@pytest.mark.browser
def test_the_section_of_a_span_is_shown(tmp_path: Path, serve: Any, visit: Any) -> None:
    pytest.importorskip("selectolax", reason="needs the extra 'docs'")
    documents = tmp_path / "docs"
    documents.mkdir()
    (documents / "pool.html").write_text(
        "<h1>Pool</h1>🙂<h2>Fees &lt;b&gt;</h2><p>One euro.</p><h2>Hours</h2><p>From nine.</p>"
    )
    texts = ("One euro.", "From nine.")
    rows = [{"id": one, "query": "What?", "gold": [{"text": one}]} for one in texts]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    made = ["golden", "import", str(tmp_path / "q.jsonl"), "--documents", str(documents)]
    assert call([*made, "-o", str(tmp_path / "golden")]) == 0
    page = visit(serve(tmp_path / "golden", "ann"))
    for name, section in zip(texts, ("Fees <b>", "Hours"), strict=True):
        at_item(page, name)
        page.wait_for_selector(f"#section >> text='Section: {section}'")
        page.keyboard.press("n")


@pytest.mark.browser
def test_what_almost_answers_is_shown_and_marked_and_provenance_is_folded(
    tmp_path: Path, serve: Any, visit: Any
) -> None:
    store = small(tmp_path / "g", 1)
    item = item_of(store, "i0")
    near = {"document": "library", "start": 29, "end": 45, "text": TEXT[29:45]}
    said = {"query": "When does it close?", "answer": "at six", "spans": [near]}
    item = item.model_copy(update={"gold": [], "references": [],
                                   "provenance": {"seed": 4, "nearly": said}})  # fmt: skip
    GoldenSet(store.folder, [item]).save()
    page = visit(serve(store.folder, "ann"))
    at_item(page, "i0")
    assert page.inner_text(".spans.near li") == TEXT[29:45]
    assert page.inner_text("#nearly") == "It answers: When does it close? – at six"
    assert page.inner_text("#text mark.near") == TEXT[29:45]
    assert page.locator(".provenance dl").is_hidden()
    page.click(".provenance summary")
    assert page.inner_text(".provenance dd >> nth=0") == "4"
