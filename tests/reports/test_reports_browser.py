"""The HTML report in a real browser: Chromium, opened from disk."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragassay import compare, evaluate
from ragassay.reports.html import pages
from reports_examples import HOSTILE, comparison, example, hostile, pair

METRICS = "[aria-labelledby=metrics] table"
NAMES = "cells => cells.map(cell => cell.dataset.name)"
FAULTS = "[aria-labelledby=why-samples-fail]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of 1,400 queries, a comparison of 300, and of hostile data."""
    base = tmp_path_factory.mktemp("reports")
    pages.write_report(example(1_400, system="hybrid", lift=0.06, seed=1), base / "run.html")
    pages.write_comparison(pair(300)[0], base / "comparison.html")
    bad = hostile()
    pages.write_report(bad, base / "hostile.html")
    hostile_pair = replace(comparison(bad, bad), runs=(bad, bad))
    pages.write_comparison(hostile_pair, base / "hostile-comparison.html")
    pages.write_report(example(12), base / "small.html")
    return base


class Tabs:
    """The browser's pages, which each test finds empty: a new one takes longer than most tests."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.pages: list[Any] = []
        self.heard: list[str] = []
        """Requests, messages, errors and dialogues of all pages."""

    def new(self, **options: Any) -> Any:
        page = self.browser.new_page(**options)
        page.on("request", lambda r: self.heard.append(r.url))
        page.on("console", lambda m: self.heard.append(m.text) if m.type != "log" else None)
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("dialog", self.close)
        return page

    def close(self, dialog: Any) -> None:
        self.heard.append(dialog.message)
        dialog.dismiss()

    def empty(self, at: int) -> Any:
        """The page of that number, as a new one is."""
        if at == len(self.pages):
            self.pages.append(self.new())
        page = self.pages[at]
        page.set_viewport_size({"width": 1280, "height": 900})
        page.mouse.move(0, 0)
        return page


@pytest.fixture(scope="module")
def tabs(chromium: Any) -> Tabs:
    return Tabs(chromium)


@pytest.fixture
def visit(tabs: Tabs, folder: Path) -> Iterator[Any]:
    """Opens a report; at the end, no request but the file's own and no error may have been seen."""
    tabs.heard.clear()
    urls: list[str] = []

    def visit(name: str, theme: str = "") -> Any:
        page = tabs.new(color_scheme=theme) if theme else tabs.empty(len(urls))
        urls.append((folder / name).as_uri())
        page.goto(urls[-1])
        page.wait_for_selector("#queries tbody tr")
        return page

    yield visit
    for page in tabs.pages:
        page.goto("about:blank")
    assert [said for said in tabs.heard if said.partition("?")[0] not in urls] == []


def first_column(page: Any) -> list[str]:
    return [cell.inner_text() for cell in page.locator("#queries .expand").all()]


def place(page: Any, key: str) -> int:
    """The place of a column among the cells of a row, after the head of the row."""
    keys = page.locator("#queries thead th").evaluate_all("all => all.map((th) => th.dataset.key)")
    return keys.index(key)


def numbers(page: Any, column: int) -> list[float]:
    cells = page.locator(f"#queries tbody tr td:nth-of-type({column})").all_inner_texts()
    return [float(cell) for cell in cells if re.fullmatch(r"[+-]?[\d.]+", cell)]


def test_a_long_list_is_paged_searched_and_filtered(visit: Any) -> None:
    page = visit("run.html")
    assert page.locator("#count").inner_text() == "1,400 samples" and len(first_column(page)) == 50
    assert page.locator("#page").inner_text() == "Page 1 of 28, rows 1 to 50 of 1400"
    for event, n in (("beforeprint", 1_000), ("afterprint", 50)):  # what is printed, up to a limit
        page.evaluate("name => { dispatchEvent(new Event(name)) }", event)
        assert len(first_column(page)) == n
        assert f"ows 1 to {n} of 1400" in page.locator("#page").inner_text()
    page.click("#next")
    assert first_column(page)[0] == "q0146"
    page.fill("#search", "number 1321")
    page.locator("#count", has_text="1 of 1,400").wait_for()
    assert first_column(page) == ["q1321"]
    page.fill("#search", "")
    page.locator("#count", has_text="1,400 samples").wait_for()
    page.select_option("#filter", label="unscored: f1 (200)")
    assert page.locator("#count").inner_text() == "200 of 1,400 samples"
    assert page.locator("#queries tbody tr").first.locator(".unscored").count() == 1
    page.select_option("#filter", "")
    page.select_option("select[data-slice=domain]", label="waste")
    assert page.locator("#count").inner_text() == "350 of 1,400 samples"


def test_sorting_puts_values_in_order_and_unscored_last(visit: Any) -> None:
    page = visit("run.html")
    page.locator("#queries thead th[data-key=m3] button").click()
    assert page.locator("th[data-key=m3]").get_attribute("aria-sort") == "ascending"
    up = numbers(page, place(page, "m3"))
    assert up == sorted(up) and len(up) == 50
    page.locator("#queries thead th[data-key=m3] button").click()
    down = numbers(page, place(page, "m3"))
    assert down == sorted(down, reverse=True) and down[0] > up[0]
    small = visit("small.html")
    for order in ("ascending", "descending"):
        small.locator("#queries thead th[data-key=m3] button").click()
        assert small.locator("th[data-key=m3]").get_attribute("aria-sort") == order
        at = place(small, "m3")
        cells = small.locator(f"#queries tbody td:nth-of-type({at})").all_inner_texts()
        assert cells[-2:] == ["not applicable"] * 2 and "not applicable" not in cells[:-2]


def test_a_row_opens_to_its_conversation_passages_scores_and_parts(visit: Any) -> None:
    page = visit("run.html")
    page.fill("#search", "q0002")
    page.locator("#count", has_text="1 of 1,400").wait_for()
    button = page.locator("#queries .expand").first
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    detail = page.locator("tr.detail")
    detail.locator(".opened-row").wait_for()
    text = detail.inner_text()
    for said in ("Earlier turns", "Query", "Answer", "References", "Retrieved passages (5)",
                 "gold, grade 2", "doc5#9", "2 of 2 relevant found"):  # fmt: skip
        assert said in text
    detail.locator(".passages summary").first.click()
    assert "(section 1)." in detail.locator(".passages li").first.inner_text()
    detail.locator(".score summary").first.click()
    assert "ranks" in detail.locator(".score pre").first.inner_text()
    button.click()
    assert page.locator("tr.detail").count() == 0


def test_columns_can_be_chosen_and_added(visit: Any) -> None:
    for name, at, more in (("small.html", 0, -1), ("comparison.html", 2, 1)):
        page = visit(name)
        heads = page.locator("#queries thead th")
        before = heads.count()
        page.locator(".columns summary").click()
        page.locator("#columns input").nth(at).click()
        assert heads.count() == before + more
    assert heads.last.inner_text().startswith("difference, AP")


def test_a_comparison_sorts_filters_and_opens_side_by_side(visit: Any) -> None:
    page = visit("comparison.html")
    first = first_column(page)
    page.locator("#queries thead [data-key=diff] button").click()
    differences = numbers(page, 4)
    assert len(differences) == 50 and differences == sorted(differences)
    page.select_option("#filter", index=1)
    broken = first_column(page)  # which come first, unless something is asked for
    assert "became wrong" in page.locator("#filter option:checked").inner_text()
    assert first[: len(broken)] == broken and len(broken) < 50
    page.select_option("#filter", "")
    assert page.locator("#metric option:checked").inner_text() == "f1"
    page.select_option("#metric", label="Recall@5")
    assert "300 queries" in page.locator("#readout").inner_text()
    page.select_option("#filter", label="new higher")
    assert min(numbers(page, 4)) > 0
    page.locator("#queries .expand").first.click()
    sides = page.locator("tr.detail .side")
    answers = [sides.nth(at).locator(".block p.text").first.inner_text() for at in range(2)]
    assert sides.locator("h3").all_inner_texts() == ["new · hybrid", "old · bm25"]
    assert answers[0] != answers[1] and all(answers)


def test_a_click_in_the_plot_opens_that_query(visit: Any) -> None:
    page = visit("comparison.html")
    for at in range(page.locator("#metric option").count()):
        page.select_option("#metric", index=at)
        assert "quer" in page.locator("#readout").inner_text()
        assert page.locator("#waterfall svg").count() == 1, "each metric has its differences"
    page.select_option("#metric", index=0)
    plot = page.locator("#waterfall svg")
    box = plot.bounding_box()
    plot.click(position={"x": box["width"] - 2, "y": 100})
    assert page.locator("tr.detail").count() == 1
    assert page.locator("tr.opened td").last.inner_text().startswith("+")
    assert page.evaluate("document.activeElement.className") == "expand"


def test_the_theme_follows_the_system_until_it_is_chosen(visit: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (visit("small.html", theme=theme) for theme in ("light", "dark"))
    assert light.evaluate(ground) != dark.evaluate(ground)
    assert light.locator("#theme").inner_text() == "Dark theme"
    light.click("#theme")
    assert light.evaluate(ground) == dark.evaluate(ground)
    assert light.locator("#theme").inner_text() == "Light theme"


@pytest.mark.parametrize("name", ["hostile.html", "hostile-comparison.html"])
def test_hostile_data_is_shown_and_never_run(visit: Any, name: str) -> None:
    page = visit(name)
    assert "owned" not in page.title() or HOSTILE[:9] in page.title()
    page.locator("#queries .expand").first.click()
    page.locator("tr.detail summary").first.wait_for()
    for summary in page.locator("tr.detail summary").all():
        summary.click()
    page.locator("tr.detail", has_text=HOSTILE).wait_for()
    assert page.locator("img").count() == 0
    assert page.evaluate("document.title") != "owned"


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", ["small.html", "hostile-comparison.html", "hostile.html"])
def test_the_page_never_scrolls_sideways(visit: Any, name: str, width: int) -> None:
    page = visit(name)
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#queries .expand").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name == "small.html":
        assert "nDCG\u200b@10" in page.locator("td[data-name]").evaluate_all(NAMES)


def test_on_a_desk_no_table_of_a_comparison_scrolls_or_says_so(visit: Any) -> None:
    page = visit("comparison.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    boxes = page.evaluate(
        "[...document.querySelectorAll('section .scroll')].map(one =>"
        " [one.scrollWidth - one.clientWidth, one.hasAttribute('data-wider')])"
    )
    assert len(boxes) > 3 and {tuple(one) for one in boxes} == {(0, False)}


def test_without_scripts_the_numbers_still_show(chromium: Any, folder: Path) -> None:
    page = chromium.new_page(java_script_enabled=False)
    page.goto((folder / "small.html").as_uri())
    assert "nDCG@10" in page.locator(METRICS).inner_text()
    assert "scripts are off" in page.locator("#browse ~ noscript").inner_text()
    page.emulate_media(media="print")
    folded = page.locator("details:has(> summary :is(h2, h3)) > :not(summary)")
    assert folded.count() == folded.filter(visible=True).count() > 0, "printed with their text"
    page.close()


@pytest.fixture(scope="module")
def faulty(folder: Path) -> Path:
    """Reports of a run whose answers cite, are supported in part, and fail in known ways."""
    gold, other = "The mill closes at noon.", "The ferry runs until ten in the evening."

    def record(at: int, answer: str, cited: list[str], found: bool = True) -> dict[str, Any]:
        passages = [{"id": "ferry", "text": other}, {"id": "town", "text": "The town is old."}]
        if found:
            passages.insert(1, {"id": "mill", "text": gold})
        answers = {"text": answer, "statements": [{"text": answer[:-5] + ".", "citations": cited}]}
        return {
            "id": f"q{at}", "query": f"When does the mill close, asked {at}?", "answer": answers,
            "passages": passages, "references": [gold], "gold": [{"id": "mill"}],
            "metadata": {"note": "zanzibar" if at == 2 else "plain"},
        }  # fmt: skip

    new = [
        record(1, "The mill closes at noon [2].", ["mill"]),
        record(2, "The mill closes at noon [1].", ["ferry"]),
        record(10, "The ferry runs until ten in the evening [1].", ["ferry"], found=False),
    ]
    old = [*new[:2], record(10, "The mill closes at noon [2].", ["mill"])]
    metrics = ["contains_answer", "token_f1.f", "RR", "faithfulness", "citation.f1"]
    a, b = evaluate(new, metrics), evaluate(old, metrics)
    pages.write_report(a, folder / "faulty.html")
    pages.write_comparison(compare(a, b), folder / "faulty-comparison.html")
    return folder


def test_the_panel_of_faults_leads_to_the_samples(visit: Any, faulty: Path) -> None:
    page = visit("faulty.html")
    panel = page.locator(FAULTS)
    assert "Cited wrongly" in panel.inner_text() and "not retrieved" in panel.inner_text()
    panel.locator("tr", has_text="Not retrieved").locator("a[data-filter]").click()
    page.locator("#count", has_text="1 of 3 samples").wait_for()
    assert first_column(page) == ["q10"]
    page.reload()
    page.locator("#count", has_text="1 of 3 samples").wait_for()
    assert first_column(page) == ["q10"]
    panel.locator("a[data-filter=fails]").click()
    page.locator("#count", has_text="2 of 3 samples").wait_for()
    page.locator("#queries .expand", has_text="q2").click()
    page.locator(".opened-row").wait_for()
    assert "Cited wrongly" in page.locator("tr.detail .own").inner_text()


def test_the_panel_of_a_comparison_filters_by_class_and_run(visit: Any, faulty: Path) -> None:
    page = visit("faulty-comparison.html")
    row = page.locator(f"{FAULTS} tr", has_text="Not retrieved")
    assert row.locator("td").all_inner_texts()[:4] == ["1", "0", "1", "0"]
    row.locator("a[data-filter]").click()
    page.locator("#count", has_text="1 of 3 queries").wait_for()
    assert "new Answer not retrieved" in page.locator("#queries tbody tr").first.inner_text()
    for kind, n in (("right", 0), ("wrong", 1)):
        page.select_option("#filter", f"became {kind}")
        page.locator("#count", has_text=f"{n} of 3 queries").wait_for()


def test_the_answer_stands_once_with_its_support_and_its_citations_as_links(visit, faulty) -> None:
    page = visit("faulty.html")
    page.get_by_role("button", name="q1", exact=True).click()
    detail = page.locator("tr.detail .opened-row")
    detail.wait_for()
    block = detail.locator(".block", has=page.locator(".answer"))
    assert block.locator(".answer").inner_text() == "The mill closes at noon [2]."
    assert detail.inner_text().count("The mill closes at noon [2].") == 1
    mark = block.locator("mark.yes")
    assert mark.all_inner_texts() == ["The mill closes at noon"]  # the claim of rl_f
    block.locator(".colours label", has_text="citation.f1").click()
    assert mark.inner_text() == "The mill closes at noon"
    mark.click()
    assert "supported" in block.locator(".piece-note").inner_text()
    block.locator("button.cite").click()
    opened = detail.locator(".passages li.lit")
    assert opened.locator("code").inner_text() == "mill"
    assert opened.locator("details").get_attribute("open") is not None


def test_a_search_looks_into_answers_passages_explanations_and_labels(visit, faulty: Path) -> None:
    page = visit("faulty.html")
    for words, wanted in (
        ("mill closes noon", ["q2", "q10", "q1"]),  # those that fail come first
        ("town is old", ["q2", "q10", "q1"]),
        ("[1]", ["q2", "q10"]),
        ("NONE of relevant", ["q2", "q10"]),
        ("undefined", []),
        ("zanzibar", ["q2"]),
        ("q2", ["q2"]),
        ("nowhere", []),
    ):
        page.fill("#search", words)
        page.locator("#queries[aria-busy=false]").wait_for()
        assert first_column(page) == wanted, words


def test_a_row_has_an_address_that_survives_a_reload(visit: Any) -> None:
    page = visit("run.html")
    page.fill("#search", "q1321")
    page.locator("#count", has_text="1 of 1,400").wait_for()
    page.locator("#queries .expand").first.click()
    assert page.url.endswith("#sample=q1321")
    page.reload()
    page.locator("tr.opened").wait_for()
    assert page.locator("tr.opened .expand").inner_text() == "q1321"
    assert page.locator("#count").inner_text() == "1 of 1,400 samples"
    assert page.locator(".permalink").get_attribute("href") == "#sample=q1321"
    page.locator("tr.opened .expand").click()
    assert "#" not in page.url
    page.goto(f"{page.url.partition('?')[0]}?text=no+such+text#sample=q1321")
    page.locator("tr.opened").wait_for()
    assert page.locator("#page").inner_text().startswith("Page 28 of 28, rows 1351 to")


def test_ids_are_sorted_as_people_order_them(visit: Any, faulty: Path) -> None:
    page = visit("faulty.html")
    head = page.locator("#queries thead th[data-key=id] button")
    head.click()
    assert first_column(page) == ["q1", "q2", "q10"]
    head.click()
    assert first_column(page) == ["q10", "q2", "q1"]
    head.click()
    assert page.locator("th[data-key=id]").get_attribute("aria-sort") == "none"


@pytest.mark.parametrize(("name", "cells"), [
    ("small.html", f"{METRICS} td small, {METRICS} td:nth-of-type(3) svg"),
    ("faulty.html", f"{FAULTS} td"), ("faulty-comparison.html", f"{FAULTS} td"),
    ("comparison.html", "[aria-labelledby=differences] td.nowrap"),
    ("small.html", "#slices td:nth-of-type(2)"),
])  # fmt: skip
def test_on_a_phone_this_is_seen_without_scrolling(visit, faulty, name: str, cells: str) -> None:
    page = visit(name)
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    beyond = page.evaluate(
        "cells => [...document.querySelectorAll(cells)].map((one) => {"
        " const text = document.createRange(); text.selectNodeContents(one);"
        " return text.getBoundingClientRect().right"
        " - one.closest('.scroll').getBoundingClientRect().right; })", cells,
    )  # fmt: skip
    assert beyond and max(beyond) < 0
