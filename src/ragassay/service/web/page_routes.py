"""The pages: each shows what is stored. What a page changes it asks of the REST interface, by the
scripts in ``assets/``; deleting needs none."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from ragassay.reports.html.pages import ASSETS
from ragassay.service.api.problems import answer_with_problems
from ragassay.service.web import (
    access_pages,
    deletion_pages,
    project_pages,
    report_pages,
    task_pages,
)
from ragassay.service.web.page_parts import HERE, shown_problem


def add_pages(app: FastAPI) -> None:
    """Adds the pages to an application; errors are pages, too, for who asks for pages.

    Args:
        app: it has its store and its views already.
    """
    answer_with_problems(app, shown_problem)
    for part in (project_pages, task_pages, report_pages, deletion_pages, access_pages):
        app.include_router(part.router)
    for name, assets in (("report", ASSETS), ("service", HERE / "assets")):
        app.mount(f"/assets/{name}", StaticFiles(directory=assets), name=name)
