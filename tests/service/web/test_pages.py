"""The web pages in a real browser: Chromium, against a started server."""

import html as html_lib
import io
import json
import os
import re
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragassay.base.sample import Answer, Sample
from ragassay.examples import path_of
from ragassay.service.named_models import NamedModels
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_project, create_task, get_task
from ragassay.service.store.records import add_records, read_batch
from ragassay.service.store.reports import add_report, create_report, get_report
from ragassay.service.store.tokens import create_token
from ragassay.service.views.report_view import RowQuery
from ragassay.service.views.view_folders import Views
from ragassay.service.web import data_pages
from ragassay.service.web.page_parts import duration
from reports_examples import HOSTILE
from served_pages import Served, report_of
from service_process import until
from stored_records import a_task, add, asking, item

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("forked")]


def test_a_form_waits_for_its_script(page: Any) -> None:
    script = {"body": "", "content_type": "text/javascript"}
    page.route("**/forms.js*", lambda route: route.fulfill(**script))
    page.goto("/")
    assert page.is_disabled("text=Make the project")


def test_a_person_goes_from_a_file_to_a_report(page: Any) -> None:
    page.goto("/")
    page.fill("[name=name]", "Town")
    page.click("text=Make the project")
    page.wait_for_url("**/projects/*")
    page.fill("[name=name]", "Hybrid search")
    page.click("text=Make the task")
    page.wait_for_url("**/tasks/*")
    task = page.url
    page.click("text=Upload a file of records")
    lines = path_of("hybrid").read_text(encoding="utf-8").splitlines()[:12]
    records = [json.loads(line) for line in lines]
    for record in records:
        record["Frage"] = record.pop("query")
        record["wann"] = "2026-11-20T10:00:00Z"
    del records[0]["references"]
    content = "\n".join(json.dumps(record) for record in records).encode()
    page.set_input_files(
        "#file [name=file]", {"name": "a.jsonl", "mimeType": "application/jsonl", "buffer": content}
    )
    page.click("text=Look at it")
    page.wait_for_selector(".mapping tbody tr")
    page.select_option("select[aria-label='Field of Frage']", "query")
    page.wait_for_selector("#samples >> text=How many books can I have out at once?")
    page.select_option("select[aria-label='Field of wann']", "timestamp")
    page.wait_for_selector("#confirm", state="hidden")
    page.click("text=Store the records")
    page.wait_for_url("**/records")
    assert page.locator("tbody tr").count() == 12
    assert "2026-11-20 10:00:00 UTC" in page.inner_text("tbody tr >> nth=0")
    page.fill("[name=text]", "picture book")
    page.press("[name=text]", "Enter")
    page.wait_for_selector("text=those that hold")
    assert page.locator("tbody tr").count() == 1
    page.click("tbody a")
    page.wait_for_selector("#sample >> text=Is there a fine")

    page.goto(task)
    page.fill("#report [name=name]", "First")
    page.check("input[value=qa]")
    page.click("text=Preview")
    page.wait_for_selector("#preview >> text=the sample has no reference answer (1)")
    page.wait_for_selector("#preview >> text=an LLM judge is needed")
    page.uncheck("input[value=qa]")
    page.click("text=Preview")
    page.wait_for_selector("#preview >> text=12 records, 6 metrics.")
    page.click("text=Start the report")
    page.wait_for_url("**/reports/*")
    page.click("nav >> text=Samples", timeout=60_000)
    page.wait_for_selector("#queries tbody tr")
    assert page.inner_text("#count") == "12 samples"
    page.fill("#search", "volunteer")  # it stands in passages only
    page.wait_for_selector("#count:has-text('3 of 12 samples')")
    page.fill("#search", "DVD")
    page.wait_for_selector("#count:has-text('1 of 12 samples')")
    page.click(".expand")
    page.wait_for_selector(".opened-row >> text=Retrieved passages")
    page.click("text=Open on a page of its own")
    page.wait_for_selector("#sample >> text=How long can I keep a DVD?")


def test_two_reports_are_compared(page: Any, served: Served) -> None:
    def samples(words: int) -> list[Sample]:
        answers = (f"{'word ' * (words + at % 3)}" for at in range(30))
        return [
            Sample(id=f"q{at}", query=f"query {at}", answer=Answer(answer), timestamp=5.0)
            for at, answer in enumerate(answers)
        ]

    new, old = (report_of(served, samples(n), metrics=["answer_words"]) for n in (5, 9))
    page.goto(f"/compare?a={new}&b={old}")
    page.click("nav >> text=Query by query")
    page.wait_for_selector("#queries tbody tr")
    assert page.locator("#waterfall svg").count() == 1
    assert page.inner_text("#count") == "30 queries"
    for form, kind in (("html", "text/html"), ("markdown", "text/markdown")):
        address = page.get_attribute(f".downloads a[href*='form={form}']", "href")
        assert httpx2.get(f"{served.url}{address}").headers["content-type"].startswith(kind)

    def shown() -> list[str]:
        words = [page.inner_text("#count"), page.inner_text("#page"), page.input_value("#search")]
        return [*words, *page.locator("#queries .expand").all_inner_texts()]

    assert page.url.endswith(f"/compare?a={new}&b={old}#browse")
    page.fill("#search", "query 1")
    page.select_option("#filter", label="old higher")
    page.click("[data-key=id] button")
    page.wait_for_selector("[data-key=id][aria-sort=ascending]")
    page.click("[data-key=id] button")
    page.wait_for_selector("[data-key=id][aria-sort=descending]")
    page.click(".expand >> nth=0")
    before = shown()
    assert before[0] == "12 of 30 queries" and before[3:5] == ["q21", "q19"]
    page.reload()
    page.wait_for_selector("tr.opened")
    assert shown() == before and page.inner_text("h1").count("report") == 2


def test_content_from_data_is_inert(page: Any, served: Served) -> None:
    texts = [HOSTILE, "[a](javascript:alert(1)) ![b](//evil)", "a\u202eb\x1b[2J", "{{ 7 * 7 }}"]
    samples = [
        Sample(id=f"{at} {text}", query=text, system=text, timestamp=5.0, metadata={text: "<b>x"})
        for at, text in enumerate(texts)
    ]
    report = report_of(served, samples, metrics=["answer_words"], slice_by=[HOSTILE])
    page.goto(f"/reports/{report}#browse")
    page.wait_for_selector("#queries tbody tr")
    for at in range(len(texts)):
        page.click(f".expand >> nth={at}")
    page.wait_for_selector(".opened-row")
    page.goto(f"/reports/{report}/samples/0")
    page.wait_for_selector("#sample .block")
    assert page.evaluate("document.querySelectorAll('script:not([src]):not([type])').length") == 0


def test_pages_fit_a_phone(chromium: Any, served: Served) -> None:
    samples = [Sample(id="q" * 80, query="a long query " * 30, timestamp=5.0)]
    report = report_of(served, samples, metrics=["answer_words"])
    phone = chromium.new_page(
        viewport={"width": 400, "height": 800}, base_url=served.url, color_scheme="dark"
    )
    for path in ("/", f"/reports/{report}", f"/reports/{report}/samples/0"):
        phone.goto(path)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 400, path
    phone.close()


def test_settings_keep_what_they_do_not_show(page: Any, served: Served) -> None:
    project = create_project(served.store, f"p{time.time_ns()}")
    schema = [{"name": "it's <b>", "role": "x"}]
    task = create_task(
        served.store, project.id, "task", TaskOptions(data_schema=schema, keep_days=3)
    )
    page.goto(f"/tasks/{task.id}/settings")
    page.fill("[name=language]", "de")
    page.fill("[name=keep_days]", "")
    with page.expect_response("**/options"):
        page.click("text=Save")
    options = get_task(served.store, task.id).options
    assert (options.language, options.data_schema) == ("de", schema)
    assert options.keep_days is None


def test_a_sign_in_leads_to_no_other_address(served: Served) -> None:
    for then in ("//evil.org", "/\\evil.org", "/\t/evil.org", "https://evil.org", "/?x y"):
        shown = httpx2.get(f"{served.url}/login", params={"then": then}).text
        assert 'data-then="/"' in shown, then
    shown = httpx2.get(f"{served.url}/login", params={"then": "/compare?a=1&b=2"}).text
    assert 'data-then="/compare?a=1&amp;b=2"' in shown


def test_records_without_parts_and_with_odd_names_are_shown(page: Any, served: Served) -> None:
    names = ["only an answer", "a/../../b", "%2F", "x?y#z", "%2e%2e"]
    samples = [Sample(id="only a query", query="why?", timestamp=5.0)]
    samples += [Sample(id=name, answer=Answer("so"), timestamp=5.0) for name in names]
    report = get_report(served.store, report_of(served, samples, metrics=["answer_words"]))
    page.goto(f"/tasks/{report.task_id}/records")
    assert page.locator("tbody tr").count() == 6
    for name in names:
        page.goto(f"/tasks/{report.task_id}/records")
        page.click(f"tbody a:text-is('{name}')")
        page.wait_for_selector("#sample >> text=so")
        assert page.inner_text("h1") == name
        page.click("text=Delete the record")
        assert page.inner_text("h1") == f"Delete the record {name}?"


def test_pages_and_files_of_a_report_say_its_name_task_interval_and_no_path(page, served) -> None:
    samples = [Sample(id="q", query="?", answer=Answer("x"), timestamp=5.5)]
    first = get_report(served.store, report_of(served, samples))
    report, _ = create_report(served.store, first.task_id, "November", 0.0, 19.5)
    while not get_report(served.store, report.id).is_there:
        time.sleep(0.05)
    told = ["November", "task", "1970-01-01 00:00:00 UTC", "1970-01-01 00:00:19.5 UTC"]
    openpyxl = pytest.importorskip("openpyxl")
    files = f"{served.url}/api/v1/reports/{report.id}/files"
    book = openpyxl.load_workbook(io.BytesIO(httpx2.get(f"{files}/xlsx").content))
    assert book["Summary"]["A1"].value == "ragreport: November"
    rows = book["How it was computed"].iter_rows(max_col=2, values_only=True)
    facts = dict(tuple(row) for row in rows)
    assert [facts[name] for name in ("report", "task", "from_timestamp", "to_timestamp")] == told
    assert facts["suite"] == "ragreport" and "relevance, usefulness" in facts["metrics"]
    exported = httpx2.get(f"{files}/html").text
    assert "<h1>November</h1>" in exported and "<title>November " in exported
    assert httpx2.get(f"{files}/markdown").text.startswith("### November\n")
    shown = httpx2.get(f"{served.url}/reports/{report.id}").text
    for text in (exported, shown):
        assert all(one in text for one in told)
    for text in (exported, shown, str(facts)):
        assert "data.jsonl" not in text and ".sqlite" not in text
    page.goto(f"/tasks/{first.task_id}")
    assert "00:00:19.5 UTC" in page.inner_text("#reports ~ form tbody")
    assert page.input_value("[name=from_timestamp]") == "1970-01-01T00:00:05.5"
    assert page.evaluate("document.querySelector('[name=from_timestamp]').checkValidity()")


def test_a_page_says_that_the_store_is_away(tmp_path: Path) -> None:
    store = Store(tmp_path / "private")
    client = asking(store, views=tmp_path / "views")
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE projects RENAME TO away")
    page = client.get("/", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"][:9]) == (503, "text/html")
    assert client.get("/api/v1/projects").headers["retry-after"]
    assert client.post("/api/v1/projects", json={"name": "p"}).status_code == 503
    assert "Try again later" in page.text and "private" not in page.text
    store.close()


def test_the_view_of_a_report_that_was_deleted_or_tried_again_is_dropped(served: Served) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])
    folder = served.folder / "views"
    views = Views(served.store, folder)
    for name in ("old", "young"):  # half made
        (folder / f"{report}-{name}").mkdir(parents=True)
    os.utime(folder / f"{report}-old", (0, 0))
    for _ in range(2):
        assert views.open(report).find(RowQuery())["n"] == 1
        views.sweep()
        assert len(list(folder.glob(f"{report}*"))) == 2
        with served.store.writing() as connection:  # another try
            another = f"UPDATE report_files SET kept = kept + 1 WHERE report_id = '{report}'"
            connection.exec_driver_sql(another)
        views.sweep()
        assert [one.name for one in folder.glob(f"{report}*")] == [f"{report}-young"]
    views.open(report)
    served.store.remove(schema.reports, report)
    views.sweep()
    assert [one.name for one in folder.glob(f"{report}*")] == [f"{report}-young"]


def test_who_may_only_read_is_shown_no_form_that_writes(store: Store, tmp_path: Path) -> None:
    task = create_task(store, create_project(store, "p").id, "t", TaskOptions())
    logged = [{"id": "a", "timestamp": 1.0, "user_input": "Why?", "response": "So."}]
    add_records(store, task.id, read_batch(logged, TaskOptions()))
    report, _ = create_report(store, task.id, "r", 0.0, 2.0)
    paths = ["/", f"/projects/{task.project_id}", f"/tasks/{task.id}", f"/tasks/{task.id}/records"]
    paths += [f"/tasks/{task.id}/records/a", f"/reports/{report.id}"]
    client = asking(store, views=tmp_path / "views")
    for scope, project in (("read", None), ("write", None), ("write", task.project_id)):
        _, value = create_token(store, scope, scope, project)
        headers = {"Authorization": f"Bearer {value}", "Accept": "text/html"}
        forms = [client.get(path, headers=headers).text for path in paths]
        has = [
            page.count("data-call") > 1 or "/upload" in page or "/delete" in page  # sign-out
            for page in forms
        ]
        assert has == [scope == "write" and not (path == "/" and project) for path in paths], scope
        assert ("token that may write" in forms[2]) == (scope == "read")


def test_who_has_no_token_is_asked_for_one(chromium: Any, tmp_path: Path) -> None:
    with_tokens = Served(tmp_path)
    _, value = create_token(with_tokens.store, "reader", "read", None)
    page = chromium.new_page(base_url=with_tokens.url)
    try:
        page.goto("/")
        assert page.url.endswith("/login?then=/")
        page.fill("[name=token]", "wrong")
        page.click("#content button")
        page.wait_for_selector("[role=alert]:has-text('not valid')")
        page.fill("[name=token]", value)
        page.click("#content button")
        page.wait_for_selector("h1:has-text('Projects')")
        assert page.locator("text=New project").count() == 0
        (cookie,) = page.context.cookies()
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Strict"
        page.wait_for_selector("#who output:has-text('reader (may read)')")
        page.click("text=Sign out")
        page.wait_for_selector("h1:has-text('Sign in')")
        assert not page.context.cookies() and page.locator("#who").is_hidden()
        page.goto("/")
        assert page.url.endswith("/login?then=/")
    finally:
        page.close()
        with_tokens.close()


def test_the_rest_interface_is_described_without_anything_from_elsewhere(page: Any, served) -> None:
    page.goto("/")
    page.click("text=REST interface")
    page.wait_for_url("**/docs")
    described = httpx2.get(f"{served.url}/api/v1/openapi.json").json()
    shown = page.locator("details summary").all_inner_texts()
    calls = [(path, one) for path, methods in described["paths"].items() for one in methods]
    assert sorted(shown) == sorted(f"{method.upper()} {path}" for path, method in calls)
    operation = page.locator("details").filter(has_text="POST /api/v1/tasks/{task_id}/records")
    operation.locator("summary").first.click()
    operation.get_by_text("Batch", exact=True).click()
    assert page.url.endswith("#shape-Batch")
    fields = page.locator("[aria-labelledby='shape-Report'] tbody th").all_inner_texts()
    assert fields == list(described["components"]["schemas"]["Report"]["properties"])
    page.set_viewport_size({"width": 400, "height": 800})
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    widths = "[document.documentElement.scrollWidth, innerWidth]"
    assert page.evaluate(f"{widths}[0] <= {widths}[1]")


def test_asked_in_vain_a_browser_gets_a_page(chromium: Any, served, store, tmp_path: Path) -> None:
    report = report_of(served, [Sample(id="q", query="?", timestamp=5.0)], metrics=["answer_words"])
    api = f"{served.url}/api/v1"
    html = {"Accept": "text/html,*/*;q=0.8"}
    for address, status in (
        (f"{api}/reports/{report}/files/tail", 422), (f"{api}/reports/none/files/xlsx", 404),
        (f"{api}/comparisons?new={report}&old=none", 404), (f"{served.url}/nothing", 404),
    ):  # fmt: skip
        shown, told = httpx2.get(address, headers=html), httpx2.get(address)
        assert shown.status_code == told.status_code == status
        assert shown.headers["content-type"].startswith("text/html")
        assert told.headers["content-type"] == "application/problem+json"
        assert told.json()["detail"] in html_lib.unescape(shown.text)
    plain = chromium.new_page(base_url=served.url)
    plain.goto(f"/reports/{report}")
    served.store.remove(schema.reports, report)
    plain.click(".downloads >> text=Excel")
    plain.wait_for_selector(f"text=There is no report '{report}'")
    plain.close()
    create_token(store, "reader", "read", None)
    asked = asking(store, views=tmp_path / "views").get(
        "/api/v1/reports/x/run?a=1", headers=html, follow_redirects=False
    )
    assert asked.status_code == 303
    assert asked.headers["location"] == "/login?then=/api/v1/reports/x/run%3Fa%3D1"


def test_a_sign_in_is_kept_in_the_browser_until_the_sign_out(store: Store, tmp_path: Path) -> None:
    _, over = create_token(store, "over", "read", expires=1.0)
    _, good = create_token(store, "good", "read")
    client = asking(store, views=tmp_path)
    for token in (over, f"{good}x"):
        assert client.post("/login", json={"token": token}).status_code == 403
    kept = client.post("/login", json={"token": f" {good} "}).headers["set-cookie"].lower()
    assert "httponly" in kept and "samesite=strict" in kept
    assert client.get("/api/v1/whoami").json()["name"] == "good"
    assert client.post("/logout").status_code == 204
    assert client.get("/api/v1/whoami").status_code == 401


def test_pages_of_a_task_list_all_records_and_who_judged(store, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(data_pages, "RECORDS_OF_A_PAGE", 2)
    store.models = NamedModels.parse([f"{name}=http://127.0.0.1:9/v1#m" for name in ("one", "two")])
    task = a_task(store, *(item(n) for n in range(5)))
    add(store, task, [item(4, response="It changed.")])
    (tmp_path / "gone@2_1.000").mkdir()
    with asking(store, views=tmp_path) as client:
        until(lambda: not (tmp_path / "gone@2_1.000").exists())  # the view of no report
    place, asked, seen = f"/tasks/{task.id}/records", "?text=What", list[str]()
    while asked and len(seen) < 9:
        page = client.get(place + asked).text
        assert ("First page" in page) is bool(seen)
        seen += re.findall(r'/records/(r\d)">', page)
        asked = html_lib.unescape("".join(re.findall(r'rel="next" href="([^"]+)"', page)))
    assert seen == [f"r{n}" for n in reversed(range(5))]
    for at, changed in ((0, True), (1, False), (9, False)):
        page = client.get(f"{place}/r4", params={"at": at}).text
        assert ("It changed." in page) is changed, at
    for options in ({}, {"judge": ["two"]}):
        create_report(store, task.id, "r", 0.0, 1e9, {"metrics": ["umbrela"], **options})
    with store.writing() as connection:
        headline = {f"m{n}": {"n_total": n, "mean": None} for n in (3, 1200)}
        add_report(connection, task.id, "sent", headline=headline)
    rows = re.findall(r'<td class="n">([^<]*)</td>\s*<td>([^<]*)</td>', client.get(place[:-8]).text)
    assert rows == [("1,200", "–"), ("–", "two"), ("–", "one")], "the youngest first"
    assert [*map(duration, (40.2, 89.0, 90.0, 7_800.0))] == ["41 s", "89 s", "2 min", "130 min"]


@pytest.mark.parametrize(("sent", "status"), [
    ({"Host": "evil.example"}, 403), ({"Origin": "https://evil.example"}, 403),
    ({"Content-Length": "300000000"}, 413),
])  # fmt: skip
def test_what_the_guard_refuses_is_a_page_for_a_browser(served: Served, sent, status) -> None:
    def answer(**accept: str) -> tuple[HTTPMessage, str]:
        connection = HTTPConnection(served.url.removeprefix("http://"))
        connection.request("POST", "/projects", headers={**sent, **accept})
        with closing(connection), connection.getresponse() as found:
            assert found.status == status
            return found.headers, found.read().decode()

    problem, (headers, shown) = answer()[1], answer(Accept="text/html,*/*;q=0.8")
    assert headers["content-type"].startswith("text/html")
    assert "frame-ancestors" in headers["content-security-policy"]
    assert json.loads(problem)["detail"] in html_lib.unescape(shown)
