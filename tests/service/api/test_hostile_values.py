"""What no table can hold is refused with its field, in both stores."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs the extra 'service'")

from fastapi.testclient import TestClient

from ragassay.service import create_app
from ragassay.service.store import Store

API = "/api/v1"
RECORD = {"id": "a", "timestamp": 1.0, "user_input": "q", "response": "r"}


@pytest.fixture
def client(store: Store) -> TestClient:
    app = create_app(store)
    return TestClient(
        app, "http://localhost", client=("127.0.0.1", 5), raise_server_exceptions=False
    )


def sent(client: TestClient, path: str, body: Any) -> Any:
    """What is answered to a body with halves of characters in it."""
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(body), headers=headers)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 100_000, "😀" * 300])
@pytest.mark.parametrize("field", ["id", "system", "user_input", "response", "metadata", "key"])
def test_a_record_is_stored_or_refused_with_its_field(
    client: TestClient, field: str, text: str
) -> None:
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    task = client.post(f"{API}/projects/{project}/tasks", json={"name": "t"}).json()["id"]
    more: dict[str, Any] = {field: text}
    if field in ("metadata", "key"):
        more = {"metadata": {"part": text} if field == "metadata" else {text: "part"}}
    found = sent(client, f"{API}/tasks/{task}/records", {"records": [{**RECORD, **more}]})
    assert found.status_code in (200, 201, 422), found.text
    if found.status_code == 422:
        assert found.json().get("field"), found.text
    else:
        page = client.get(f"{API}/tasks/{task}/records")
        assert (page.status_code == 200 and "part" in page.text) or '"id":' in page.text


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**70), 1e308, 10**400])
@pytest.mark.parametrize("field", ["timestamp", "metadata", "query_run"])
def test_a_number_is_stored_or_refused_with_its_field(
    client: TestClient, field: str, number: float
) -> None:
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    task = client.post(f"{API}/projects/{project}/tasks", json={"name": "t"}).json()["id"]
    more: dict[str, Any] = {"metadata": {"n": number}} if field == "metadata" else {field: number}
    found = sent(client, f"{API}/tasks/{task}/records", {"records": [{**RECORD, **more}]})
    assert found.status_code in (200, 201, 422), found.text
    if found.status_code == 422:
        assert found.json().get("field"), found.text


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 301, "x" * 201, "😀" * 201])
def test_a_name_is_kept_or_refused_with_its_field(client: TestClient, name: str) -> None:
    for path in (f"{API}/projects",):
        found = sent(client, path, {"name": name, "description": name})
        assert found.status_code in (201, 422), found.text
        if found.status_code == 422:
            assert found.json().get("field"), found.text
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    asked: dict[str, Any] = {"name": "t", "options": {"language": name, "default_answer": name}}
    found = sent(client, f"{API}/projects/{project}/tasks", asked)
    assert found.status_code in (201, 422), found.text
    part = quote(name[:50], errors="surrogatepass")
    for path in (f"{API}/projects/{part}", f"{API}/tasks/{part}/records"):
        assert client.get(path).status_code in (404, 422)
    for query in ("text", "cursor"):
        given = {query: name.replace("\ud800", "?")}
        found = client.get(f"{API}/tasks/none/records", params=given)
        assert found.status_code in (404, 422), found.text
