"""Tasks, records and jobs of a store."""

from collections.abc import Sequence
from typing import Any

from fastapi.testclient import TestClient

from ragassay.client.service_shapes import Ingested
from ragassay.service.application import ServiceOptions, create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import (
    Task,
    TaskOptions,
    create_project,
    create_task,
    list_projects,
    list_tasks,
)
from ragassay.service.store.records import add_records, read_batch
from ragassay.service.store.reports import create_report

CSV = b"""id,timestamp,question,contexts,answer,team
a,2026-11-01T00:00:00Z,Why?,"[""one"",""two""]",Because.,x
b,2026-11-02T00:00:00Z,How?,"[""one"","" ""]",So.,y
"""
SEPARATOR = "<<sep>>"


def a_task(store: Store, *items: dict[str, Any], name: str = "task", **options: Any) -> Task:
    """A task that holds these items."""
    projects = {one.name: one for one in list_projects(store)}
    project = projects.get("project") or create_project(store, "project")
    task = create_task(store, project.id, name, TaskOptions(separator=SEPARATOR, **options))
    if items:
        add(store, task, items)
    return task


def item(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}", "timestamp": 1000.0 + number, "user_input": f"What is number {number}?",
        "retrieved_context": f"It is {number}.{SEPARATOR}Something else.",
        "response": f"It is {number}.", **more,
    }  # fmt: skip


def add(store: Store, task: Task, items: Sequence[dict[str, Any]]) -> Ingested:
    return add_records(store, task.id, read_batch(items, task.options))


def a_job(store: Store, name: str = "x") -> str:
    tasks = [one for project in list_projects(store) for one in list_tasks(store, project.id)]
    task = tasks[0] if tasks else a_task(store)
    add(store, task, [item(1)])
    return create_report(store, task.id, name, 0.0, 1e9)[1].id


def asking(store: Store, place: str = "127.0.0.1", **options: Any) -> TestClient:
    """Asks the application over a store, from an address."""
    app = create_app(store, ServiceOptions(**options))
    return TestClient(app, "http://localhost", client=(place, 5), raise_server_exceptions=False)
