"""Routes of projects and tasks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BeforeValidator, Field

from ragassay.client.service_shapes import Line, Name, Project
from ragassay.service.api.route_parts import (
    READS,
    WRITES,
    Allowed,
    Body,
    InStore,
    MadeId,
    ProjectToRead,
    ProjectToWrite,
    TaskToRead,
    TaskToWrite,
)
from ragassay.service.store.projects import (
    Task,
    TaskOptions,
    change_task,
    create_project,
    create_task,
    get_project,
    list_projects,
    list_tasks,
)
from ragassay.service.store.schema import projects, tasks

router = APIRouter(tags=["projects and tasks"])


def rag_only(kind: Any) -> Any:
    """Refuses a kind of task that is not evaluated."""
    if kind != "rag":
        raise ValueError("only RAG tasks are evaluated: leave it out, or give 'rag'")
    return kind


class NewProject(Body):
    """A project to be made."""

    name: Name
    description: Line = Field("", max_length=10_000)


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
def post_project(new: NewProject, store: InStore, access: Allowed, key: MadeId) -> Project:
    """Makes a project."""
    access.check("write", None)
    return create_project(store, new.name, new.description, key)


@router.get("/projects/{project_id}", responses=READS)
def get_one_project(project_id: ProjectToRead, store: InStore) -> Project:
    """A project."""
    return get_project(store, project_id)


@router.delete("/projects/{project_id}", status_code=204, responses=WRITES)
def delete_one_project(project_id: ProjectToWrite, store: InStore) -> None:
    """Deletes a project with its tasks, records and reports."""
    store.remove(projects, project_id)


@router.get("/projects/{project_id}/tasks", responses=READS)
def get_tasks(project_id: ProjectToRead, store: InStore) -> list[Task]:
    """The tasks of a project, oldest first."""
    return list_tasks(store, project_id)


@router.post("/projects/{project_id}/tasks", status_code=201, responses=WRITES)
def post_task(project_id: ProjectToWrite, new: NewTask, store: InStore, key: MadeId) -> Task:
    """Makes a task in a project."""
    return create_task(store, project_id, new.name, new.options, key)


@router.get("/tasks/{task_id}", responses=READS)
def get_one_task(task: TaskToRead) -> Task:
    """A task."""
    return task


@router.put("/tasks/{task_id}/options", responses=WRITES)
def put_task_options(task: TaskToWrite, options: TaskOptions, store: InStore) -> Task:
    """Changes options of a task: those that are not named stay as they are, and null takes one
    away. What is stored stays as it is."""
    return change_task(store, task.id, options)


@router.delete("/tasks/{task_id}", status_code=204, responses=WRITES)
def delete_one_task(task: TaskToWrite, store: InStore) -> None:
    """Deletes a task with its records and reports."""
    store.remove(tasks, task.id)
