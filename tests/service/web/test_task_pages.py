"""The pages of a task: its tabs, the list of its reports, and what is deleted from them."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.base.sample import Answer, Sample
from ragassay.service.store.projects import get_project, get_task
from ragassay.service.store.reports import get_report, list_reports
from ragassay.service.store.store_errors import NotThere
from served_pages import Served, report_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("forked")]

SAMPLES = [Sample(id="q", query="?", answer=Answer("so"), timestamp=5.0)]


def a_report(served: Served) -> Any:
    return get_report(served.store, report_of(served, SAMPLES, metrics=["answer_words"]))


@pytest.fixture
def scriptless(chromium: Any, served: Served) -> Any:
    context = chromium.new_context(java_script_enabled=False, base_url=served.url)
    yield context.new_page()
    context.close()


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


def test_the_upload_page_asks_for_a_separator_and_a_zone_where_they_are_needed(
    page: Any, served: Served
) -> None:
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
