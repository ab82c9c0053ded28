"""What no table can hold is refused with its field, in both stores."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ragassay.service.store.database import Store
from stored_records import asking

pytestmark = pytest.mark.both_stores

API = "/api/v1"
RECORD = {"id": "a", "timestamp": 1.0, "user_input": "q", "response": "r"}


@pytest.fixture
def client(store: Store) -> TestClient:
    return asking(store)


def sent(client: TestClient, path: str, body: Any) -> Any:
    """What is answered to a body with halves of characters in it."""
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(body), headers=headers)


@pytest.fixture
def task(client: TestClient) -> str:
    """A task's id."""
    project = client.post(f"{API}/projects", json={"name": "p"}).json()["id"]
    made = client.post(f"{API}/projects/{project}/tasks", json={"name": "t"})
    return str(made.json()["id"])


def test_a_record_is_stored_or_refused_with_its_field(client: TestClient, task: str) -> None:
    texts = ("a\0b", "\ud800", "x" * 100_000, "😀" * 300)
    numbers = (2**63, 2**64, -(2**70), 1e308, 10**400)
    cases: list[dict[str, Any]] = [
        *({field: one} for field in ("id", "system", "user_input", "response") for one in texts),
        *({"metadata": {"part": one}} for one in (*texts, *numbers)),
        *({"metadata": {one: "part"}} for one in texts),
        *({field: one} for field in ("timestamp", "query_run") for one in numbers),
    ]
    for at, more in enumerate(cases):
        record = {**RECORD, "id": f"r{at}", **more}
        found = sent(client, f"{API}/tasks/{task}/records", {"records": [record]})
        assert found.status_code in (200, 201, 422), (str(more)[:80], found.text)
        if found.status_code == 422:
            assert found.json().get("field"), found.text
    page = client.get(f"{API}/tasks/{task}/records", params={"limit": 100})
    assert page.status_code == 200 and '"r5"' in page.text


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"id": "x" * 401}, "id"),
        ({"system": "a\0b"}, "system"),
        ({"user_input": "a\0b"}, "user_input"),
        ({"response": "a\0b"}, "response"),
        ({"retrieved_contexts": ["a", "b\0"]}, "retrieved_contexts"),
        ({"metadata": {"trace": {"id": 2**63}}}, "metadata.trace.id"),
        ({"metadata": {"trace": [-(2**63) - 1]}}, "metadata.trace"),
        ({"metadata": {"a\0b": 1}}, "metadata.ab"),
    ],
)
def test_what_no_database_keeps_is_refused_with_its_field(
    client: TestClient, task: str, more: dict[str, Any], field: str
) -> None:
    path = f"{API}/tasks/{task}/records"
    found = sent(client, path, {"records": [RECORD, {**RECORD, "id": "other", **more}]})
    assert (found.status_code, found.json()["field"]) == (422, field)
    assert not client.get(path).json()["items"], "a refused batch stores nothing"


@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_a_record_that_is_nested_deeply_is_refused(
    client: TestClient, task: str, depth: int
) -> None:
    record = json.dumps({**RECORD, "metadata": {"part": 0}}).replace(
        "0}", f"{'[' * depth}{']' * depth}}}"
    )
    found = client.post(
        f"{API}/tasks/{task}/records",
        content=f'{{"records": [{record}]}}',
        headers={"content-type": "application/json"},
    )
    assert found.status_code in (400, 422), found.text
