"""What an outsider tries who has the README and the docs: each is refused, and shows nothing."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ragassay.service.api import record_routes, report_routes
from ragassay.service.mlcube_wire import wire_routes
from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_model, create_project, create_task
from ragassay.service.store.reports import create_report
from ragassay.service.store.tokens import create_token
from ragassay.service.store.uploads import create_upload
from ragassay.service.web import data_pages, report_pages
from stored_records import add, asking, item

API = "/api/v1"
SECRET = "what only project B may know"


@dataclass
class Scene:
    """A service with the projects A and B, a task in each, and tokens of several kinds."""

    store: Store
    client: TestClient
    names: dict[str, str]

    def ask(self, who: str, method: str, path: str, **more: Any) -> Any:
        token = self.names.get(f"token {who}", who)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= more.pop("headers", {})
        self.names["api"] = API
        place = path.format(**{name: key for name, key in self.names.items() if " " not in name})
        return self.client.request(method, place, headers=headers, follow_redirects=False, **more)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, names = tmp_path_factory.mktemp("scene"), {}
    store = Store(folder / "store")
    for letter in "ab":
        project = create_project(store, f"project {letter}")
        task = create_task(store, project.id, f"task {letter}", TaskOptions())
        secret = SECRET if letter == "b" else "It is 1."
        add(store, task, [item(1, response=secret, retrieved_context=["One."])])
        report, job = create_report(store, task.id, f"report {letter}", 0.0, 1e9)
        names |= {f"project_{letter}": project.id, f"task_{letter}": task.id}
        names |= {f"report_{letter}": report.id, f"job_{letter}": job.id}
        names[f"model_{letter}"] = create_model(store, task.id, secret, "1").id
        names[f"upload_{letter}"] = create_upload(store, task.id, "a.csv").id
    a = names["project_a"]
    _, names["token read"] = create_token(store, "r", "read")
    _, names["token write"] = create_token(store, "w", "write")
    _, names["token read a"] = create_token(store, "ra", "read", a)
    _, names["token write a"] = create_token(store, "wa", "write", a)
    _, names["token over"] = create_token(store, "o", "write", expires=time.time() - 1)
    gone, names["token gone"] = create_token(store, "g", "write")
    store.remove(schema.tokens, gone.id)
    yield Scene(store, asking(store, "10.0.0.9", views=folder / "views"), names)
    store.close()


PROJECTS = "{api}/projects"
A = "{api}/tasks/{task_a}"
EVIL = {"Origin": "https://evil.example"}
LOCAL = {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"}
REPORT = {"name": "x", "from_timestamp": 0, "to_timestamp": 1e9}
ATTEMPTS: dict[str, tuple[str, str, str, dict[str, Any], set[int]]] = {
    "no token": ("", "GET", PROJECTS, {}, {401}),
    "a guess": ("ragassay_guess", "GET", PROJECTS, {}, {401}),
    "an expired token": ("over", "GET", PROJECTS, {}, {401}),
    "a revoked token": ("gone", "GET", PROJECTS, {}, {401}),
    "a token in the address": ("", "GET", f"{API}/projects?token=x&api_key=x", {}, {401}),
    "says it is local": ("", "GET", PROJECTS, {"headers": LOCAL}, {401}),
    "another origin": ("write", "POST", PROJECTS, {"json": {}, "headers": EVIL}, {403}),
    "another site deletes": ("write", "POST", "/tasks/{task_a}/delete", {"headers": EVIL}, {403}),
    "A reads the numbers of all": ("read a", "GET", "/metrics", {}, {403}),
    "a file of the server's as data": ("write", "POST", A + "/reports",
        {"json": {**REPORT, "options": {"nuggets": "/etc/passwd"}}}, {422}),
    "a place for the output": ("write", "POST", A + "/reports",
        {"json": {**REPORT, "options": {"output": "/tmp/x"}}}, {422}),
    "a function as metric": ("write", "POST", A + "/reports",
        {"json": {**REPORT, "options": {"metrics": ["os:system"]}}}, {422}),
    "out of the assets":
        ("write", "GET", "/assets/service/..%2f..%2f..%2fpage_routes.py", {}, {404}),
    "a forged cursor": ("write", "GET", A + "/records?cursor=AAAA", {}, {422}),
    "SQL in an order": ("write", "GET", "/reports/{report_a}/samples?sort=x;drop", {}, {409, 422}),
    "SQL in a search": ("read a", "GET", A + "/records?text=%25' OR '1'='1", {}, {200}),
    "a form from elsewhere": ("write", "POST", PROJECTS,
        {"content": b"name=x", "headers": {"Content-Type": "text/plain"}}, {415, 422}),
    "a trace": ("write", "TRACE", PROJECTS, {}, {404, 405}),
    "the tokens": ("write", "GET", f"{API}/tokens", {}, {404}),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_refused_and_shows_nothing(scene: Scene, name: str) -> None:
    who, method, path, more, statuses = ATTEMPTS[name]
    found = scene.ask(who, method, path, **more)
    assert found.status_code in statuses, found.text
    for hidden in (SECRET, "evil.example", "Traceback", str(scene.store.where)):
        assert hidden not in found.text
    assert all(value not in found.text for key, value in scene.names.items() if "token" in key)
    left = scene.ask("write", "GET", PROJECTS).json()
    assert [one["name"] for one in left] == ["project a", "project b"]


OPEN = {"/login", "/logout", "/docs", "/sdk/v1/upload/{upload_id}", "/sdk/v1/{path}"}
READING = API + "/tasks/{task_id}/reports/preview"
FORMS = {"settings", "upload", "delete", "delete-record", "presigned-url"}
ROUTERS = [*record_routes.routers, *report_routes.routers]
ROUTERS += [wire_routes.router, data_pages.router, report_pages.router]
SENT = {
    "task_type": "rag", "version": "1", "report_name": "x", "from_timestamp": 0, "to_timestamp": 1,
    "data_schema": {"columns": [{"name": "k", "role": "id"}]},
}  # fmt: skip


def test_each_route_is_closed_to_other_projects_and_each_that_writes_to_readers(scene) -> None:
    def ask(who: str, letter: str, method: str, path: str) -> int:
        own = {name[:-2]: key for name, key in scene.names.items() if name.endswith(f"_{letter}")}
        ids = {f"{name}_id": key for name, key in own.items()}
        place = path.format_map({**ids, "record_id": "r1", "form": "csv", "row": 0})
        asked = ids | dict.fromkeys(("new", "old", "a", "b"), own["report"])
        asked |= {"name": "x", "file_name": "x", "file_type": "csv"}
        body = {"name": "x", **({**SENT, **ids} if "/sdk/" in path else {})}
        found = scene.ask(who, method, place, params=asked, json=None if method == "GET" else body)
        assert letter == "a" or SECRET not in found.text
        return int(found.status_code)

    routes = [(router, route) for router in ROUTERS for route in router.routes]
    assert len(routes) > 70
    for router, route in routes:
        path, (method, *_) = route.path_format, sorted(route.methods)
        path = path if router in ROUTERS[-3:] else API + path
        if path not in OPEN:
            writes = method != "GET" or not FORMS.isdisjoint(path.split("/"))
            assert (ask("read", "a", method, path) == 403) is (writes and path != READING), path
            if "{" in path or method == "POST" or "compar" in path:
                assert {ask(who, "b", method, path) for who in ("read a", "write a")} == {403}, path
    for one, other in ("ab", "ba"):
        for place in (
            "{api}/comparisons?new={report_%s}&old={report_%s}",
            "/compare?a={report_%s}&b={report_%s}",
        ):
            assert scene.ask("write a", "GET", place % (one, other)).status_code == 403, place


def test_lists_show_what_the_token_may_read(scene: Scene) -> None:
    for who in ("read a", "write a"):
        (project,) = scene.ask(who, "GET", PROJECTS).json()
        (job,) = scene.ask(who, "GET", f"{API}/jobs").json()
        assert project["name"] == job["project_name"] == "project a"
        page = scene.ask(who, "GET", "/", headers={"Accept": "text/html"}).text
        assert "project a" in page and "project b" not in page
        (other,) = scene.ask(who, "GET", "/sdk/v1/job").json()
        (seen,) = scene.ask(who, "GET", "/sdk/v1/projects").json()
        assert other["project_name"] == seen["name"] == "project a"


def test_names_are_text_wherever_they_stand(scene: Scene) -> None:
    name = '"><script>alert(1)</script> X-Evil: 1'
    broken = name.replace(" X", "\r\nX")
    assert scene.ask("write", "POST", PROJECTS, json={"name": broken}).status_code == 422
    made = scene.ask("write", "POST", PROJECTS, json={"name": name})
    assert made.status_code == 201
    page = scene.ask("write", "GET", "/", headers={"Accept": "text/html"})
    assert "<script>alert" not in page.text and "X-Evil" not in page.headers
    scene.store.remove(schema.projects, made.json()["id"])
