"""What the pages share: their templates, their crumbs, and errors that are pages."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from ragassay.base import printable
from ragassay.reports.html.pages import environment
from ragassay.service.api.access import Access
from ragassay.service.api.problems import problem_of
from ragassay.service.store.database import Store
from ragassay.service.store.projects import Task, get_project
from ragassay.service.store.report_files import shown_time


def duration(seconds: float) -> str:
    """A time for people, roughly: 40 s, 3 min, 130 min."""
    return f"{math.ceil(seconds)} s" if seconds < 90 else f"{math.ceil(seconds / 60)} min"


HERE = Path(__file__).parent
_PAGES = environment(HERE / "templates", served="/assets", crumbs=())
_PAGES.filters["time"] = lambda seconds: "–" if seconds is None else shown_time(seconds)
_PAGES.filters["duration"] = duration
_PAGES.filters["dollars"] = printable.dollars
_PAGES.filters["part"] = partial(quote, safe="")

Crumbs = list[tuple[str, str]]
"""Names and addresses of the pages above one."""


def wants_json(request: Request) -> bool:
    """Whether a request is a script's or program's: a browser that shows a page asks for HTML."""
    return "text/html" not in request.headers.get("accept", "")


def shown_problem(request: Request, error: Exception) -> Response:
    """The answer for an error: a page for a person, who is asked for a token where one lacks."""
    problem = problem_of(request, error)
    if wants_json(request):
        return problem
    if problem.status_code == 401:
        then = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?then={quote(then)}", 303)
    body = json.loads(bytes(problem.body))
    return page("error.html.j2", status=problem.status_code, problem=body)


def page(template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """The page of a template in ``templates/`` and what it takes."""
    return HTMLResponse(rendered(template, **context), status)


def task_page(
    template: str, store: Store, access: Access, task: Task, **context: Any
) -> HTMLResponse:
    """A page of a task, with its crumbs, for one who may write or only read."""
    context.setdefault("crumbs", crumbs_of(store, task.project_id, task))
    return page(template, task=task, may_write=access.may("write", task.project_id), **context)


def rendered(template: str, **context: Any) -> bytes:
    """The HTML of a page."""
    text = _PAGES.get_template(template).render(**context)
    return printable.escaped(text).encode("utf-8", "replace")


def crumbs_of(store: Store, project_id: str, task: Task | None = None) -> Crumbs:
    """Names and addresses of the pages above one in a project, or below a task."""
    crumbs = [("Projects", "/"), (get_project(store, project_id).name, f"/projects/{project_id}")]
    return crumbs if task is None else [*crumbs, (task.name, f"/tasks/{task.id}")]
