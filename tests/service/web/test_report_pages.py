"""The pages of a report and of a task: what is uploaded, and what is deleted."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import httpx2
import pytest
from sqlalchemy import update

from ragassay.base.errors import RagassayError
from ragassay.base.sample import Answer, Sample
from ragassay.client.clients import Client
from ragassay.client.service_shapes import Progress
from ragassay.reports.views.diagnosis_view import FAULTS
from ragassay.service.store.jobs import add_job, get_job
from ragassay.service.store.projects import get_project, get_task
from ragassay.service.store.records import add_records
from ragassay.service.store.reports import add_report, create_report, get_report, list_reports
from ragassay.service.store.schema import jobs
from ragassay.service.store.store_errors import NotThere
from ragassay.service.views import view_folders
from served_pages import Served, report_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("forked")]


def test_the_address_keeps_what_the_list_shows_and_samples_follow_it(page: Any, served) -> None:
    samples = [
        Sample(
            id=f"q{at}", query=f"Query {at}", answer=Answer("word " * (at % 7)), timestamp=5.0,
            metadata={"half & half": "first" if at < 60 else "second"},
        )
        for at in range(120)
    ]  # fmt: skip
    report = report_of(served, samples, metrics=["answer_words"], slice_by=["half & half"])
    place = f"{served.url}/reports/{report}"
    page.goto(f"{place}#browse")
    page.wait_for_selector("#queries tbody tr")
    assert page.url == f"{place}#browse", "nothing is asked for that is not the default"
    page.fill("#search", "query")
    page.select_option("select[data-slice]", label="second")
    page.wait_for_selector("#count:has-text('60 of 120')")
    page.select_option("#size", "25")
    page.wait_for_selector("#page:has-text('Page 1 of 3')")  # the head is made anew, too
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
    assert "&first=0#" in str(page.get_attribute(".crumbs >> text=report", "href"))
    page.click(".crumbs >> text=report")
    page.wait_for_selector("#page:has-text('Page 1 of 3')")
    assert page.inner_text("#queries tbody tr >> nth=0 >> .expand") == "q119"
    page.goto(f"{place}/samples/60?sort=id&slice=%5B%22half%20%26%20half%22,%22second%22%5D")
    assert page.locator("[rel=prev]").count() == 0, "the first one of its half"
    page.goto(f"{place}/samples/59?slice=%5B%22half%20%26%20half%22,%22second%22%5D")
    assert "Not among" in page.inner_text("nav[aria-label=Sections]")
    page.goto(f"{place}/samples/59")
    assert "60 of 120" in page.inner_text("nav[aria-label=Sections]")


@pytest.fixture
def scriptless(chromium: Any, served: Served) -> Any:
    context = chromium.new_context(java_script_enabled=False, base_url=served.url)
    yield context.new_page()
    context.close()


def parts_of(page: Any) -> list[str]:
    """The titles of the parts that can be seen."""
    return list(page.locator("main h2:visible").all_inner_texts())


def test_parts_of_a_report_are_tabs_and_failing_samples_a_link(page, scriptless, served) -> None:
    samples = [
        Sample(
            id=f"q{at}", query=f"Query {at}", timestamp=5.0, references=("It is blue.",),
            answer=Answer("It is blue." if at % 3 else "I do not know."),
        )
        for at in range(30)
    ]  # fmt: skip
    report = report_of(served, samples, metrics=["contains_answer"])
    page.goto(f"/reports/{report}")
    current = "header nav [aria-current]"
    page.wait_for_selector(current)
    assert parts_of(page) == page.locator(current).all_inner_texts() == ["Why samples fail"]
    page.focus("nav >> text=Metrics")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{current} >> text=Metrics")
    assert parts_of(page) == ["Metrics"] and page.is_visible("table >> text=contains_answer")
    page.click("nav >> text=Method")
    page.wait_for_selector(f"{current} >> text=Method")
    assert parts_of(page) == ["Method"] and page.is_visible("text=Configuration and versions")
    page.go_back()
    page.wait_for_selector(f"{current} >> text=Metrics")
    page.go_back()
    page.click("a >> text=10 of 30 samples fail")
    page.wait_for_selector("#count:has-text('10 of 30 samples')")
    assert parts_of(page) == ["Samples"]
    assert page.locator(".expand").all_inner_texts() == [f"q{at}" for at in range(0, 30, 3)]
    why = page.inner_text("#queries .fault >> nth=0")
    page.reload()
    page.wait_for_selector("#count:has-text('10 of 30 samples')")
    page.select_option("#filter", label=f"{why} (10)")
    page.wait_for_selector("#count:has-text('10 of 30 samples')")
    rows = f"{served.url}/reports/{report}/samples?filter=fault-0-"
    found = [httpx2.get(f"{rows}{fault.name}").json()["n"] for fault in FAULTS]
    assert sorted(found) == [0] * (len(FAULTS) - 1) + [10]

    scriptless.goto(f"/reports/{report}")
    assert {"Why samples fail", "Metrics", "Samples"} <= {*parts_of(scriptless)}


def test_the_means_of_a_tasks_reports_are_lines_and_a_table(page: Any, served: Served) -> None:
    samples = [
        Sample(id=f"q{at}", query="?", answer=Answer("so " * at), system="v1", timestamp=5.0)
        for at in range(9)
    ]
    first = get_report(served.store, report_of(served, samples, metrics=["answer_words"]))
    page.goto(f"/tasks/{first.task_id}")
    assert page.locator("figure").count() == 0 and page.is_visible("td >> text=4.0000")
    words = {"metrics": ["answer_words", "answered"], "where": ["system=v2"]}
    older = {"system": "v2", "answer": Answer("so " * 7), "timestamp": 1.0}
    add_records(served.store, first.task_id, [replace(one, **older) for one in samples])
    second, _ = create_report(served.store, first.task_id, "second", 0.0, 2.0, words)
    while not get_report(served.store, second.id).is_there:
        time.sleep(0.05)
    page.reload()
    assert page.locator("figure").count() == 1, "the other metric has one mean only"
    assert page.locator("figure text:has-text('v')").all_text_contents() == ["v2", "v1"]
    said = page.get_attribute("figure svg", "aria-label")  # in the order of their records
    assert said.startswith("answer_words: second 7.0000") and "report 4.0000 [" in said
    assert page.is_hidden("table >> text=answered")
    page.focus("summary >> text=The means as a table")
    page.keyboard.press("Enter")
    cells = page.locator("details tbody tr >> nth=0 >> td").all_inner_texts()
    assert cells[0] == "7.0000" and len(cells) == 2, "equal values have no interval"
    page.click("figure a >> nth=0")
    page.wait_for_url(f"**/reports/{second.id}")


def test_a_running_report_says_how_far_it_is_and_how_long(page: Any, served, monkeypatch) -> None:
    ended = get_report(served.store, report_of(served, [Sample(id="q", query="?", timestamp=5.0)]))
    with served.store.writing() as connection:
        key = add_report(connection, ended.task_id, "slow")
        job = add_job(connection, "report", ended.task_id, report_id=key, status="running")

        def go(**progress: Any) -> None:
            values = {"progress": Progress(total=6_000, **progress).model_dump(), "worker": "w"}
            connection.execute(update(jobs).where(jobs.c.id == job).values(**values))

        go(done=0)
    page.goto(f"/reports/{key}")
    assert "0 of 6,000 records" in page.inner_text("#progress")
    assert "left" not in page.inner_text("#progress")
    with served.store.writing() as connection:
        go(done=1_500, calls=3_000, cost=0.5, seconds=100.0)
    page.wait_for_selector("#progress:has-text('1,500 of 6,000 records, 3,000 requests, $0.50')")
    assert "about 5 min left" in page.inner_text("#progress")
    page.click("text=Cancel")
    page.wait_for_selector("#progress")
    assert get_job(served.store, job).cancelled


def test_an_address_that_asks_for_nonsense_is_refused(served: Served) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])
    place, html = f"{served.url}/reports/{report}", {"Accept": "text/html"}
    for query in ("slice=x", "slice=[1]", "sort=m7", "filter=;", "slice=[%22a%22,%22b%22]"):
        assert httpx2.get(f"{place}/samples?{query}").status_code == 422, query
    for row, status in ((7, 404), (10**30, 422)):
        assert httpx2.get(f"{place}/samples/{row}").status_code == status
    for path in ("?slice=x", "?size=-1", "?down=perhaps", "/samples/0?sort=m7"):
        shown = httpx2.get(f"{place}{path}", headers=html)
        assert (shown.status_code, shown.headers["content-type"][:9]) == (422, "text/html"), path


def test_a_file_that_cannot_be_made_says_so_and_is_tried_again(served: Served, monkeypatch) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])

    def broken(*_: Any, **__: Any) -> bytes:
        raise RagassayError("The process that made it died (memory?).")

    place, html = f"{served.url}/reports/{report}/files/csv", {"Accept": "text/html"}
    with monkeypatch.context() as patched:
        patched.setattr(view_folders, "make_file", broken)
        shown = httpx2.get(place, headers=html)
        assert shown.status_code >= 400 and "died (memory?)" in shown.text
    assert httpx2.get(place, headers=html).headers["content-disposition"].startswith("attachment")


def test_a_file_is_made_once_whoever_asks_for_it_meanwhile(served, monkeypatch, tmp_path) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])
    made, n_made = view_folders.make_file, 0

    def slow(*words: Any, **options: Any) -> bytes:
        nonlocal n_made
        n_made += 1
        time.sleep(0.2)
        return made(*words, **options)

    monkeypatch.setattr(view_folders, "make_file", slow)
    published = f"{served.url}/sdk/v1/rag-evaluation/{report}/export"
    with ThreadPoolExecutor() as threads, Client(served.url) as client:
        wire = threads.submit(httpx2.get, published, timeout=60)
        path = client.export_rag_evaluation_report(report, tmp_path, "november")
    shown = httpx2.get(f"{served.url}/reports/{report}/files/xlsx")
    assert shown.headers["content-disposition"].startswith('attachment; filename="report.xlsx"')
    assert wire.result().content == path.read_bytes() == shown.content and n_made == 1
    assert ZipFile(path).testzip() is None


SAMPLES = [Sample(id="q", query="?", answer=Answer("so"), timestamp=5.0)]


def a_report(served: Served) -> Any:
    return get_report(served.store, report_of(served, SAMPLES, metrics=["answer_words"]))


def test_what_is_deleted_is_asked_for_and_needs_no_script(scriptless: Any, served: Served) -> None:
    report = a_report(served)
    task = get_task(served.store, report.task_id)
    scriptless.goto(f"/tasks/{task.id}")
    scriptless.click("tbody >> text=Delete")
    assert scriptless.inner_text("h1") == "Delete the report report?"
    scriptless.click("text=Keep it")
    assert scriptless.url.endswith(f"/reports/{report.id}")
    scriptless.click("text=Delete the report")
    scriptless.click("text=Delete it")
    assert scriptless.url.endswith(f"/tasks/{task.id}")
    assert list_reports(served.store, task.id) == []

    scriptless.goto(f"/tasks/{task.id}/records/q")
    scriptless.click("text=Delete the record")
    scriptless.click("text=Delete it")
    assert "0 records" in scriptless.inner_text("main")
    scriptless.goto(f"/tasks/{task.id}/settings")
    scriptless.click("text=Delete the task")
    scriptless.click("text=Delete it")
    assert scriptless.url.endswith(f"/projects/{task.project_id}")
    scriptless.click("text=Delete the project")
    scriptless.click("text=Delete it")
    assert scriptless.inner_text("h1") == "Projects"
    with pytest.raises(NotThere):
        get_project(served.store, task.project_id)


def test_the_upload_page_asks_for_a_separator_and_a_zone_where_needed(page: Any, served) -> None:
    task = a_report(served).task_id

    def look(content: str) -> None:
        page.goto(f"/tasks/{task}/upload")
        file = {"name": "a.csv", "mimeType": "text/csv", "buffer": content.encode()}
        page.set_input_files("#file [name=file]", file)
        page.click("text=Look at it")
        page.wait_for_selector("#found:has-text('Format')")

    look("id,query,timestamp\n1,Why?,2026-07-01T12:00:00Z\n")
    assert page.is_visible("[name=delimiter]") and page.is_hidden("[name=zone]")
    look("id^query^timestamp\n1^Why, so?^2026-07-01T12:00:00\n")
    page.select_option("[name=delimiter]", "^")
    page.wait_for_selector("#found:has-text('3 columns')")
    page.fill("[name=zone]", "Europe/Berlin")
    page.press("[name=zone]", "Tab")
    page.wait_for_selector("#found:not(:has-text('without a zone'))")
    page.click("text=Store the records")
    page.wait_for_url("**/records")
    assert "2026-07-01 10:00:00 UTC" in page.inner_text("tbody tr >> nth=0")
