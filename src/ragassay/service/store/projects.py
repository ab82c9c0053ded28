"""Projects and their tasks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from ragassay.base.errors import InputError
from ragassay.base.problem_words import mistake
from ragassay.client import shapes
from ragassay.client.shapes import Project, named
from ragassay.formats import MapperOptions
from ragassay.service.store.database import Store, new_id, remove
from ragassay.service.store.schema import models, projects, tasks
from ragassay.service.store.store_errors import Conflict


class TaskOptions(shapes.TaskOptions):
    """What is true of all records of a task; a name that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    def reading(self, **options: Unpack[MapperOptions]) -> MapperOptions:
        """How records of the task are read: contexts that are one string as it says.

        Args:
            options: further ones.
        """
        return {**options, "separator": self.separator, "single_chunk": self.single_chunk}


class Task(shapes.Task):
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
    """A name as it is stored.

    Args:
        name: of a project, task, report, model or token.

    Raises:
        InputError: it is none.
    """
    try:
        return named(name)
    except ValueError as error:
        raise InputError(str(error), field="name") from error


def create_project(
    store: Store, name: str, description: str = "", key: str | None = None
) -> Project:
    """Makes a project.

    Args:
        store: where.
        name: not that of another project.
        description: for people.
        key: its id; a new one where left out. Where it is there already, the request was sent
            again: it is the answer.

    Raises:
        Conflict: the name is taken.
    """
    name = checked_name(name)
    project = Project(id=key or new_id(), name=name, description=description, created=time.time())
    problem = f"A project is called {name!r} already"
    return Project(**_insert(store, projects, project.model_dump(), problem))


def list_projects(store: Store) -> list[Project]:
    """All projects, oldest first."""
    chosen = select(projects).order_by(projects.c.created)
    return [Project(**row._mapping) for row in store.rows(chosen)]


def get_project(store: Store, key: str) -> Project:
    """The project of an id.

    Raises:
        NotThere: there is none.
    """
    return Project(**store.row(projects, "project", key)._mapping)


def delete_project(store: Store, key: str) -> None:
    """Deletes a project with its tasks, records, reports and paid answers.

    Raises:
        NotThere: there is none.
    """
    with store.writing() as connection:
        remove(connection, projects, "project", key)
        store.drop_ledger(connection, key)


def create_task(
    store: Store, project_id: str, name: str, options: TaskOptions, key: str | None = None
) -> Task:
    """Makes a task in a project.

    Args:
        store: where.
        project_id: of the project.
        name: not that of another task of the project.
        options: what is true of its records.
        key: as of `create_project`.

    Raises:
        NotThere: there is no such project.
        Conflict: the name is taken.
    """
    get_project(store, project_id)
    store.models.check(options.model_dump())
    name = checked_name(name)
    task = Task(
        id=key or new_id(), project_id=project_id, name=name, options=options, created=time.time()
    )
    values = task.model_dump(exclude={"kind"})
    problem = f"A task of this project is called {name!r} already"
    return Task(**_insert(store, tasks, values, problem))


def list_tasks(store: Store, project_id: str) -> list[Task]:
    """The tasks of a project, oldest first.

    Raises:
        NotThere: there is no such project.
    """
    get_project(store, project_id)
    chosen = select(tasks).where(tasks.c.project_id == project_id).order_by(tasks.c.created)
    return [Task(**row._mapping) for row in store.rows(chosen)]


def get_task(store: Store, key: str) -> Task:
    """The task of an id.

    Raises:
        NotThere: there is none.
    """
    return Task(**store.row(tasks, "task", key)._mapping)


def change_task(store: Store, key: str, options: TaskOptions) -> Task:
    """Gives a task other options; what is stored stays as it is.

    Args:
        store: where.
        key: of the task.
        options: that change; those that are not set stay as they are.

    Raises:
        NotThere: there is none.
        InputError: they do not go with those that stay.
    """
    before = get_task(store, key).options.model_dump()
    try:
        chosen = TaskOptions(**before | options.model_dump(exclude_unset=True))
    except ValidationError as error:
        field, problem = mistake(error)
        raise InputError(problem, field=field) from error
    store.models.check(chosen.model_dump())
    store.write(update(tasks).where(tasks.c.id == key).values(options=chosen.model_dump()))
    return get_task(store, key)


def delete_task(store: Store, key: str) -> None:
    """Deletes a task with its records and reports.

    Raises:
        NotThere: there is none.
    """
    with store.writing() as connection:
        remove(connection, tasks, "task", key)


def create_model(store: Store, task_id: str, name: str, version: str) -> Model:
    """Makes a model of a task known.

    Raises:
        NotThere: there is no such task.
        Conflict: it is known already.
    """
    get_task(store, task_id)
    name, version = checked_name(name), checked_name(version)
    model = Model(id=new_id(), task_id=task_id, name=name, version=version, created=time.time())
    _insert(store, models, model.model_dump(), f"{name}@{version} is there already")
    return model


def list_models(store: Store, task_id: str) -> list[Model]:
    """The models of a task, oldest first.

    Raises:
        NotThere: there is no such task.
    """
    get_task(store, task_id)
    chosen = select(models).where(models.c.task_id == task_id).order_by(models.c.created)
    return [Model(**row._mapping) for row in store.rows(chosen)]


def get_model(store: Store, key: str) -> Model:
    """The model of an id.

    Raises:
        NotThere: there is none.
    """
    return Model(**store.row(models, "model", key)._mapping)


def _insert(store: Store, table: Table, values: dict[str, Any], problem: str) -> Mapping[str, Any]:
    """Inserts a row; the row of this id where there is one."""
    try:
        store.write(insert(table).values(values))
        return values
    except IntegrityError as error:
        for row in store.rows(select(table).where(table.c.id == values["id"])):
            return row._mapping  # type: ignore[no-any-return]
        raise Conflict(f"{problem}. Choose another name.") from error
