"""The pages of a report: its list of samples, which the address describes, and one sample."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra 'service'")

import httpx2

from ragassay.samples import Answer, Sample
from served_pages import Served, report_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("forked")]


def test_the_address_keeps_what_the_list_shows_and_samples_follow_it(
    page: Any, served: Served
) -> None:
    samples = [
        Sample(
            id=f"q{at}", query=f"Query {at}", answer=Answer("word " * (at % 7)), timestamp=5.0,
            metadata={"half & half": "first" if at < 60 else "second"},
        )
        for at in range(120)
    ]  # fmt: skip
    report = report_of(served, samples, metrics=["answer_words"], slice_by=["half & half"])
    place = f"{served.url}/reports/{report}"
    page.goto(place)
    page.wait_for_selector("#queries tbody tr")
    assert page.url == place, "nothing is asked for that is not the default"
    page.fill("#search", "query")
    page.select_option("select[data-slice]", label="second")
    page.wait_for_selector("#count:has-text('60 of 120')")
    page.select_option("#size", "25")
    page.click("[data-key=id] button")
    page.wait_for_selector("[data-key=id][aria-sort=ascending]")
    page.click("[data-key=id] button")
    page.wait_for_selector("[data-key=id][aria-sort=descending]")
    page.click("#next")
    page.wait_for_selector("#page:has-text('Page 2 of 3')")
    first = page.inner_text("#queries tbody tr >> nth=0 >> .expand")
    assert first == "q94"
    page.reload()
    page.wait_for_selector("#page:has-text('Page 2 of 3')")
    assert page.inner_text("#queries tbody tr >> nth=0 >> .expand") == first
    assert page.input_value("#search") == "query" and page.input_value("#size") == "25"
    assert "60 of 120" in page.inner_text("#count")

    page.click(".expand >> nth=0")
    page.click("text=Open on a page of its own")
    page.wait_for_selector("h1:has-text('q94')")
    assert "26 of 60" in page.inner_text("nav[aria-label=Sections]")
    page.click("[rel=prev]")
    page.wait_for_selector("h1:has-text('q95')")
    page.click(".crumbs >> text=report")
    page.wait_for_selector("#page:has-text('Page 1 of 3')")
    assert page.inner_text("#queries tbody tr >> nth=0 >> .expand") == "q119"
    page.goto(f"{place}/samples/60?sort=id&slice=%5B%22half%20%26%20half%22,%22second%22%5D")
    assert page.locator("[rel=prev]").count() == 0, "the first one of its half"
    page.goto(f"{place}/samples/59?slice=%5B%22half%20%26%20half%22,%22second%22%5D")
    assert "Not among" in page.inner_text("nav[aria-label=Sections]")
    page.goto(f"{place}/samples/59")
    assert "60 of 120" in page.inner_text("nav[aria-label=Sections]")


def test_an_address_that_asks_for_nonsense_is_refused_with_a_page(served: Served) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])
    html = {"Accept": "text/html"}
    for query in ("slice=x", "size=-1", "down=perhaps"):
        shown = httpx2.get(f"{served.url}/reports/{report}?{query}", headers=html)
        assert (shown.status_code, shown.headers["content-type"][:9]) == (422, "text/html"), query
    shown = httpx2.get(f"{served.url}/reports/{report}/samples/0?sort=m7", headers=html)
    assert shown.status_code == 422 and "no metric number" in shown.text
