"""Projects, their tasks, and the models of a task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay.base.errors import InputError, mistake
from ragassay.client import service_shapes
from ragassay.client.service_shapes import Project, named
from ragassay.formats import MapperOptions
from ragassay.service.store.database import Store, new_id
from ragassay.service.store.schema import models, projects, tasks
from ragassay.service.store.store_errors import Conflict


class TaskOptions(service_shapes.TaskOptions):
    """What is true of all records of a task; a name that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    def reading(self, **options: Unpack[MapperOptions]) -> MapperOptions:
        """How records of the task are read, with further options."""
        return {**options, "separator": self.separator, "single_chunk": self.single_chunk}


class Task(service_shapes.Task):
    """A task: one RAG system's records, and the reports over them."""

    options: TaskOptions = TaskOptions()


class Model(BaseModel):
    """A version of the system that answers, as ML cube's clients name it."""

    id: str
    task_id: str
    name: str
    version: str
    created: float


def checked_name(name: str) -> str:
    """A name of anything as it is stored."""
    try:
        return named(name)
    except ValueError as error:
        raise InputError(str(error), field="name") from error


def create_project(
    store: Store, name: str, description: str = "", key: str | None = None
) -> Project:
    """Makes a project, unless another one is called so. Where its id (``key``) is there already,
    the request was sent again: it is the answer."""
    problem = "There is already a project {name!r}"
    return Project(**_insert(store, projects, problem, key, name, description=description))


def list_projects(store: Store) -> list[Project]:
    """All projects, oldest first."""
    return [Project(**row._mapping) for row in store.rows(select(projects).order_by("created"))]


def get_project(store: Store, key: str) -> Project:
    """The project of an id."""
    return Project(**store.row(projects, key)._mapping)


def create_task(
    store: Store, project_id: str, name: str, options: TaskOptions, key: str | None = None
) -> Task:
    """Makes a task in a project, unless another one of it is called so; see `create_project`."""
    get_project(store, project_id)
    store.models.chosen(options.model_dump())
    values = {"project_id": project_id, "options": options.model_dump()}
    problem = "The project already has a task {name!r}"
    return Task(**_insert(store, tasks, problem, key, name, **values))


def list_tasks(store: Store, project_id: str) -> list[Task]:
    """The tasks of a project, oldest first."""
    get_project(store, project_id)
    chosen = select(tasks).where(tasks.c.project_id == project_id).order_by("created")
    return [Task(**row._mapping) for row in store.rows(chosen)]


def get_task(store: Store, key: str) -> Task:
    """The task of an id."""
    return Task(**store.row(tasks, key)._mapping)


def change_task(store: Store, key: str, options: TaskOptions) -> Task:
    """Gives a task those options that are set, where they go with those that stay."""
    before = get_task(store, key).options.model_dump()
    try:
        chosen = TaskOptions(**before | options.model_dump(exclude_unset=True)).model_dump()
    except ValidationError as error:
        field, problem = mistake(error)
        raise InputError(problem, field=field) from error
    store.models.chosen(chosen)
    store.write(update(tasks).where(tasks.c.id == key).values(options=chosen))
    return get_task(store, key)


def create_model(store: Store, task_id: str, name: str, version: str) -> Model:
    """Makes a model of a task known."""
    get_task(store, task_id)
    values = {"task_id": task_id, "version": checked_name(version)}
    problem = "The task already has {name}@{version}"
    return Model(**_insert(store, models, problem, None, name, **values))


def list_models(store: Store, task_id: str) -> list[Model]:
    """The models of a task, oldest first."""
    get_task(store, task_id)
    chosen = select(models).where(models.c.task_id == task_id).order_by("created")
    return [Model(**row._mapping) for row in store.rows(chosen)]


def get_model(store: Store, key: str) -> Model:
    """The model of an id."""
    return Model(**store.row(models, key)._mapping)


def _insert(
    store: Store, table: Table, problem: str, key: str | None, name: str, **values: Any
) -> Mapping[str, Any]:
    """Inserts a row; the row of this id where there is one. ``problem``: its name is taken."""
    values |= {"id": key or new_id(), "name": checked_name(name), "created": time.time()}
    try:
        store.write(insert(table).values(values))
        return values
    except IntegrityError as error:
        for row in store.rows(select(table).where(table.c.id == values["id"])):
            return row._mapping  # type: ignore[no-any-return]
        raise Conflict(f"{problem.format_map(values)}. Choose another name.") from error
