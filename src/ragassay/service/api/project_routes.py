"""Routes of projects and tasks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BeforeValidator, Field

from ragassay.service.api.route_parts import READS, WRITES, Allowed, Body, InStore, Name, task_for
from ragassay.service.store import (
    Project,
    Task,
    TaskOptions,
    change_task,
    create_project,
    create_task,
    delete_project,
    delete_task,
    get_project,
    list_projects,
    list_tasks,
)

router = APIRouter(tags=["projects and tasks"])


def rag_only(kind: Any) -> Any:
    """Refuses a kind of task that is not evaluated.

    Raises:
        ValueError: it is not ``rag``.
    """
    if kind != "rag":
        raise ValueError("only RAG tasks are evaluated: leave it out, or give 'rag'")
    return kind


class NewProject(Body):
    """A project to be made."""

    name: Name
    description: str = Field("", max_length=10_000)


class NewTask(Body):
    """A task to be made."""

    name: Name
    kind: Annotated[Literal["rag"], BeforeValidator(rag_only)] = "rag"
    options: TaskOptions = TaskOptions()


@router.get("/projects", responses=READS)
def get_projects(store: InStore, access: Allowed) -> list[Project]:
    """The projects that the token may read, oldest first."""
    return [one for one in list_projects(store) if access.may("read", one.id)]


@router.post("/projects", status_code=201, responses=WRITES)
def post_project(new: NewProject, store: InStore, access: Allowed) -> Project:
    """Makes a project."""
    access.check("write", None)
    return create_project(store, new.name, new.description)


@router.get("/projects/{project_id}", responses=READS)
def get_one_project(project_id: str, store: InStore, access: Allowed) -> Project:
    """A project."""
    access.check("read", project_id)
    return get_project(store, project_id)


@router.delete("/projects/{project_id}", status_code=204, responses=WRITES)
def delete_one_project(project_id: str, store: InStore, access: Allowed) -> None:
    """Deletes a project with its tasks, records and reports."""
    access.check("write", project_id)
    delete_project(store, project_id)


@router.get("/projects/{project_id}/tasks", responses=READS)
def get_tasks(project_id: str, store: InStore, access: Allowed) -> list[Task]:
    """The tasks of a project, oldest first."""
    access.check("read", project_id)
    return list_tasks(store, project_id)


@router.post("/projects/{project_id}/tasks", status_code=201, responses=WRITES)
def post_task(project_id: str, new: NewTask, store: InStore, access: Allowed) -> Task:
    """Makes a task in a project."""
    access.check("write", project_id)
    return create_task(store, project_id, new.name, new.options)


@router.get("/tasks/{task_id}", responses=READS)
def get_one_task(task_id: str, store: InStore, access: Allowed) -> Task:
    """A task."""
    return task_for(store, access, "read", task_id)


@router.put("/tasks/{task_id}/options", responses=WRITES)
def put_task_options(task_id: str, options: TaskOptions, store: InStore, access: Allowed) -> Task:
    """Gives a task other options. What is stored stays as it is."""
    task_for(store, access, "write", task_id)
    return change_task(store, task_id, options)


@router.delete("/tasks/{task_id}", status_code=204, responses=WRITES)
def delete_one_task(task_id: str, store: InStore, access: Allowed) -> None:
    """Deletes a task with its records and reports."""
    task_for(store, access, "write", task_id)
    delete_task(store, task_id)
