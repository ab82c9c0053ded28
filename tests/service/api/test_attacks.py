"""What an outsider tries who has the README and the docs: each is refused, and shows nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ragassay.service.store import schema
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, create_model, create_project, create_task
from ragassay.service.store.reports import create_report
from ragassay.service.store.tokens import create_token
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
A, B = "{api}/tasks/{task_a}", "{api}/tasks/{task_b}"
PROJECT = "{api}/projects/{project_a}"
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
    "a reader makes a project": ("read", "POST", PROJECTS, {"json": {"name": "x"}}, {403}),
    "a reader deletes a project": ("read", "DELETE", PROJECT, {}, {403}),
    "a reader deletes a report": ("read", "DELETE", "{api}/reports/{report_a}", {}, {403}),
    "a reader deletes by a page": ("read", "POST", "/reports/{report_a}/delete", {}, {403}),
    "a page deletes a project": ("read", "POST", "/projects/{project_a}/delete", {}, {403}),
    "a page deletes a record": ("read", "POST", "/tasks/{task_a}/delete-record/r1", {}, {403}),
    "a reader is asked whether to delete": ("read", "GET", "/tasks/{task_a}/delete", {}, {403}),
    "another site deletes": ("write", "POST", "/tasks/{task_a}/delete", {"headers": EVIL}, {403}),
    "a reader starts a report": ("read", "POST", A + "/reports", {"json": REPORT}, {403}),
    "a reader cancels": ("read", "POST", "{api}/jobs/{job_a}/cancel", {}, {403}),
    "a reader uploads": ("read", "POST", A + "/runs?name=x", {"content": b"PK"}, {403}),
    "a reader changes options": ("read", "PUT", A + "/options", {"json": {}}, {403}),
    "A reads B's task": ("read a", "GET", B, {}, {403}),
    "A reads B's records": ("write a", "GET", B + "/records", {}, {403}),
    "A reads B's record": ("write a", "GET", B + "/records/r1", {}, {403}),
    "A reads B's report": ("write a", "GET", "{api}/reports/{report_b}/files/csv", {}, {403}),
    "A compares with B":
        ("write a", "GET", "{api}/comparisons?new={report_a}&old={report_b}", {}, {403}),
    "A compares pages with B": ("write a", "GET", "/compare?a={report_b}&b={report_a}", {}, {403}),
    "A watches B's job": ("read a", "GET", "{api}/jobs/{job_b}", {}, {403}),
    "A opens B's page": ("write a", "GET", "/tasks/{task_b}", {}, {403}),
    "A makes a project": ("write a", "POST", PROJECTS, {"json": {"name": "x"}}, {403}),
    "A logs into B":
        ("write a", "POST", B + "/records", {"json": {"records": [{"id": "r2"}]}}, {403}),
    "A reads the numbers of all": ("read a", "GET", "/metrics", {}, {403}),
    "the SDK's way to B": ("write a", "GET", "/sdk/v1/task/{task_b}", {}, {401, 403, 404}),
    "its way to B's model": ("write a", "GET", "/sdk/v1/model/{model_b}", {}, {401, 403, 404}),
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


def test_lists_show_what_the_token_may_read(scene: Scene) -> None:
    for who in ("read a", "write a"):
        (project,) = scene.ask(who, "GET", PROJECTS).json()
        (job,) = scene.ask(who, "GET", f"{API}/jobs").json()
        assert project["name"] == job["project_name"] == "project a"
        page = scene.ask(who, "GET", "/", headers={"Accept": "text/html"}).text
        assert "project a" in page and "project b" not in page
        (other,) = scene.ask(who, "GET", "/sdk/v1/job", headers={}).json() or [job]
        assert other["project_name"] == "project a"


def test_names_are_text_wherever_they_stand(scene: Scene) -> None:
    name = '"><script>alert(1)</script> X-Evil: 1'
    broken = name.replace(" X", "\r\nX")
    assert scene.ask("write", "POST", PROJECTS, json={"name": broken}).status_code == 422
    made = scene.ask("write", "POST", PROJECTS, json={"name": name})
    assert made.status_code == 201
    page = scene.ask("write", "GET", "/", headers={"Accept": "text/html"})
    assert "<script>alert" not in page.text and "X-Evil" not in page.headers
    scene.store.remove(schema.projects, made.json()["id"])
