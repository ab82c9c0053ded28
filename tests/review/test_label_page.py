"""Labels of answers on the page, in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra 'service'")

from fastapi.testclient import TestClient

from ragassay.review.answer_labels import AnswerLabels, answered
from ragassay.review.review_page import create_review_app
from ragassay.review.review_store import ReviewStore
from reports_examples import HOSTILE
from reviewed_set import small

PASSAGES = ["The library opens at nine.", "Cards cost five euros."]


def to_label(folder: Path, *metrics: str, text: str = "It opens at nine.") -> AnswerLabels:
    folder.mkdir(exist_ok=True)
    store, path = small(folder / "g", 1, status="accepted"), folder / "answers.jsonl"
    record = {"id": "i0", "query": "When does it open? 0", "passages": PASSAGES, "answer": text}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return AnswerLabels.of(store.folder, path, metrics)


def said(labels: AnswerLabels, who: str) -> list[Any]:
    given = answered(labels.current())
    return [said[who].answer for _, said in given if who in said]


def asked(page: Any, words: str) -> None:
    page.wait_for_selector(f"#ask >> text={words}")
    page.wait_for_selector("body[data-question]:not([data-question=''])")


@pytest.mark.browser
def test_a_person_labels_an_answer_by_keyboard(tmp_path: Path, serve: Any, visit: Any) -> None:
    labels = to_label(tmp_path, "umbrela", "answer_match", "faithfulness")
    served = serve(labels.folder, "", labels)
    page = visit(served, "/answers")
    page.wait_for_selector("#alert >> text=Write your name")
    assert page.locator(".actions button:enabled").count() == 1, "the help"
    page.keyboard.type("ann")
    page.keyboard.press("Tab")
    asked(page, "How relevant")
    assert page.locator(".actions button:disabled").count() == 0
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    assert "The library opens at nine." in page.inner_text("#beside")
    page.keyboard.press("3")
    page.wait_for_selector("#beside >> text=Cards cost")
    page.keyboard.press("0")
    asked(page, "at least one of the references")
    assert "nine" in page.inner_text("#beside") and "Wrong answer" in page.inner_text("#beside")
    page.keyboard.press("1")
    asked(page, "Which facts")
    page.fill("#item textarea", "It opens at nine.\nIt opens daily.")
    page.keyboard.press("Control+Enter")
    asked(page, "Can each claim")
    page.keyboard.press("Enter")
    page.wait_for_selector("#alert >> text=2 of 2 have no value yet.")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item >> text=Nothing to label")
    assert "5 of 5 questions are answered, 5 by you." in page.inner_text("#progress")
    assert said(labels, "ann") == [{"grade": 3}, {"grade": 0}, {"is_matching": True},
                                   {"claims": ["It opens at nine.", "It opens daily."]},
                                   {"supported": [True, False]}]  # fmt: skip

    page.keyboard.press("u")
    asked(page, "Can each claim")
    assert len(said(labels, "ann")) == 4
    page.keyboard.press("x")
    page.wait_for_selector("#item >> text=Nothing to label")
    assert len(said(labels, "ann")) == 4
    page.select_option("#show", "mine")
    asked(page, "How relevant")
    assert page.inner_text("[aria-pressed=true] b") == "3"
    page.keyboard.press("2")
    page.wait_for_selector("#beside >> text=Cards cost")
    assert said(labels, "ann")[0] == {"grade": 2}
    page.click("text=Items")
    page.wait_for_selector("#item >> text=Nothing to show")
    assert page.input_value("#reviewer") == "ann"


@pytest.mark.browser
def test_disagreements_are_shown_and_settled(tmp_path: Path, serve: Any, visit: Any) -> None:
    labels = to_label(tmp_path / "set", "umbrela")
    labels.change_settings(overlap=1.0)
    page = visit(serve(labels.folder, "ann", labels), "/answers")
    asked(page, "How relevant")
    assert page.inner_text("#place") == "1 of 2"
    for label in "20":
        page.wait_for_selector("body[data-question^='golden/']")
        page.keyboard.press(label)
        page.wait_for_selector(f"#progress >> text={'1 by you' if label == '2' else '2 by you'}")
    assert "2 labels are missing" in page.inner_text("#progress")
    assert said(labels, "ann") == [{"grade": 2}, {"grade": 0}]

    for entry in labels.entries("bob"):
        labels.label(entry["key"], "bob", 2)
    page.fill("#reviewer", "eve")
    page.keyboard.press("Tab")
    page.wait_for_selector("#item .chip >> text=people disagree")
    page.wait_for_selector("body[data-question^='golden/']")
    assert page.inner_text("#others") == "ann: 0\nbob: 2"
    assert "1 of 2 questions are answered" in page.inner_text("#progress")
    assert "1 label is missing" in page.inner_text("#progress")
    page.keyboard.press("2")
    page.wait_for_selector("#item >> text=Nothing to label")
    assert "2 of 2 questions are answered, 1 by you." in page.inner_text("#progress")
    settled = [json.loads(line) for line in labels.path.read_text().splitlines()][-1]
    assert (settled["judge"], settled["final"], settled["answer"]) == ("eve", True, {"grade": 2})


@pytest.mark.browser
def test_hostile_answers_run_nothing(tmp_path: Path, serve: Any, visit: Any) -> None:
    labels = to_label(tmp_path, "answer_match", text=f"safe \u202egnp.exe\u202c {HOSTILE}")
    page = visit(serve(labels.folder, HOSTILE, labels), "/answers")
    asked(page, "references")
    shown = page.inner_text("#item")
    assert "\u202e" not in shown and "<" in shown
    assert page.locator("#item script, #item img, #beside script, #beside img").count() == 0
    page.keyboard.press("2")
    page.wait_for_selector("#item >> text=Nothing to label")
    assert said(labels, HOSTILE) == [{"is_matching": False}]


def test_wrong_requests_are_problems_in_words(tmp_path: Path) -> None:
    labels = to_label(tmp_path, "umbrela")
    client = TestClient(create_review_app(ReviewStore(labels.folder), "", labels),
                        base_url="http://127.0.0.1")  # fmt: skip
    key = client.get("/labels?reviewer=ann").json()["entries"][0]["key"]
    body = {"key": key, "reviewer": "ann", "answer": 3, "seconds": 700}
    for wrong, words in (
        ({"answer": 9}, "grade"), ({"answer": {"grade": None}}, "grade"),
        ({"judge": "eve"}, "judge"), ({"reviewer": ""}, "reviewer"),
        ({"key": "none"}, "no longer asked"),
    ):  # fmt: skip
        answer = client.post("/labels", json={**body, **wrong})
        assert answer.status_code == 422 and words in answer.text
    assert client.post("/labels/undo", json={"reviewer": "ann"}).status_code == 422
    assert client.post("/labels", json=body, headers={"Origin": "http://evil"}).status_code == 403
    assert client.post("/labels", json=body).status_code == 200
    assert client.get("/labels?reviewer=ann").json()["progress"]["mine"] == 1
    assert labels.current().seconds == {"ann": [600]}
    assert client.get(f"/labels/golden/{key}?reviewer=ann").json()["given"] == 3
    assert client.post("/labels", json={**body, "answer": 2, "final": True}).status_code == 200
    assert labels.own_label(key, "ann") == 2 and labels.current().settled(key)
    plain = TestClient(create_review_app(ReviewStore(labels.folder)), base_url="http://127.0.0.1")
    assert plain.get("/answers").status_code == 404 and "Answers</a>" not in plain.get("/").text
