"""The page on which people review items and label answers, and what its scripts ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path as InPath, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field

from ragassay.base import printable
from ragassay.base.errors import UsageError
from ragassay.golden.golden_item import GoldenItem, nearly, unplaced
from ragassay.reports.html.pages import ASSETS, environment
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import label_text, shown_question
from ragassay.review.review_agreement import shown_reviews
from ragassay.review.review_store import (
    HIDDEN,
    Editable,
    ReviewConflictError,
    ReviewStore,
    version_of,
)
from ragassay.review.reviewing import Reviewing
from ragassay.service import web
from ragassay.service.api.access import Access, Guard
from ragassay.service.api.problems import answer_with_problems, problem

_HERE = Path(__file__).parent
MOST_BYTES = 4 * 1024**2
MOST_SECONDS = 600.0
"""For a decision: who takes longer was probably elsewhere."""
Name = Annotated[str, Query(max_length=100)]
Set = Literal["golden", "calibration"]


class ByReviewer(BaseModel):
    """What a person does, as the script of the page sends it: known fields alone."""

    model_config = ConfigDict(extra="forbid")

    reviewer: Annotated[str, Field(min_length=1, max_length=100)]


class _Decided(ByReviewer):
    key: str
    seconds: Annotated[float, Field(ge=0)] = 0.0


class _Review(_Decided):
    calibration: bool = False
    decision: Literal["accept", "reject", "tag"]
    version: str
    fields: dict[Editable, Any] = Field(
        default_factory=dict, description="Of an item, see `edited`"
    )


class _Label(_Decided):
    answer: Any = Field(None, description="null: the person cannot tell")
    final: bool = Field(False, description="The page showed what others had said")


def create_review_app(
    store: ReviewStore,
    reviewer: str = "",
    labels: AnswerLabels | None = None,
    where: Sequence[str] = (),
) -> FastAPI:
    """The application of the page: for this machine alone."""
    app = FastAPI(title="ragassay review", docs_url=None, redoc_url=None, openapi_url=None)
    answer_with_problems(app)
    pages = environment(_HERE / "templates", served="/assets", crumbs=())

    @app.exception_handler(ReviewConflictError)
    def conflict(request: Any, error: ReviewConflictError) -> JSONResponse:
        answer = problem(409, str(error))
        if error.item is None:
            return answer
        return JSONResponse({"detail": str(error), "item": _shown(error.item)}, 409)

    def shown(template: str) -> Response:
        text = pages.get_template(template).render(
            name=store.folder.resolve().name,
            reviewer=reviewer,
            instructions=store.instructions(),
            labels=labels is not None,
        )
        return HTMLResponse(printable.escaped(text).encode("utf-8", "replace"))

    @app.get("/")
    def page() -> Response:
        return shown("review.html.j2")

    _add_routes(app, "items", store, where)

    @app.get("/items/{kind}/{key:path}")
    def item(kind: Set, key: Annotated[str, InPath()], reviewer: Name) -> dict[str, Any]:
        return _item(store, key, reviewer, calibration=kind == "calibration")

    @app.post("/items")
    def review(body: _Review) -> dict[str, Any]:
        made = store.review(
            body.key,
            body.reviewer,
            body.decision,
            body.version,
            fields=body.fields,
            seconds=min(body.seconds, MOST_SECONDS),
            calibration=body.calibration,
        )
        known = store.item(made.key, calibration=True).status if made.calibration else None
        return {**made.model_dump(include={"decision", "applied", "right"}), "known": known}

    if labels is not None:

        @app.get("/answers")
        def answers() -> Response:
            return shown("labels.html.j2")

        _add_routes(app, "labels", labels)

        @app.get("/labels/golden/{key}")
        def question(key: str, reviewer: Name) -> dict[str, Any]:
            return _question(labels, key, reviewer)

        @app.post("/labels")
        def label(body: _Label) -> None:
            seconds = min(body.seconds, MOST_SECONDS)
            labels.label(body.key, body.reviewer, body.answer, seconds, final=body.final)

    @app.get("/documents/{kind}")
    def documents(kind: Set) -> list[str]:
        return list(store.documents(calibration=kind == "calibration"))

    @app.get("/documents/{kind}/{name:path}")
    def document(kind: Set, name: str) -> dict[str, Any]:
        shown = store.documents(calibration=kind == "calibration").get(name)
        if shown is None:
            raise UsageError(f"There is no document {name!r}.")
        headings = [{"title": heading.title, "start": heading.start} for heading in shown.headings]
        return {"id": shown.id, "text": shown.text, "headings": headings}

    styles = Path(str(web.__file__)).parent / "assets"
    for name, folder in (("report", ASSETS), ("service", styles), ("review", _HERE / "assets")):
        app.mount(f"/assets/{name}", StaticFiles(directory=folder), name=name)
    app.add_middleware(Guard, hosts=(), most_bytes=MOST_BYTES, asks=lambda _: Access(None))
    return app


def _add_routes(
    app: FastAPI, name: str, reviewing: Reviewing[Any], where: Sequence[str] = ()
) -> None:
    @app.get(f"/{name}")
    def listed(
        reviewer: Name,
        also: Annotated[list[str], Query(alias="where", max_length=20)] = [],  # noqa: B006
    ) -> dict[str, Any]:
        entries = reviewing.entries(reviewer, [*where, *also])
        return {"entries": entries, "progress": reviewing.progress(reviewer)}

    @app.post(f"/{name}/undo")
    def undo(body: ByReviewer) -> dict[str, Any]:
        last = reviewing.undo(body.reviewer)
        return {"key": last.key, "calibration": last.calibration}


def _item(store: ReviewStore, key: str, reviewer: str, *, calibration: bool) -> dict[str, Any]:
    item = store.item(key, calibration=calibration)
    if calibration:  # without what is known of it
        hidden = {**HIDDEN, "reviewer": "", "verified_on": None, "metadata": dict[str, Any]()}
        return {"item": {**_shown(item), **hidden}, "reviews": []}
    standing = store.current()
    entries = standing.of.get(key, {})
    # Who still has to decide does not see what others decided.
    if store.thing(item).state(reviewer, standing) in ("todo", "waiting"):
        entries = {name: entry for name, entry in entries.items() if name == reviewer}
    return {"item": _shown(item), "reviews": shown_reviews(entries)}


def _question(labels: AnswerLabels, key: str, reviewer: str) -> dict[str, Any]:
    question, query, sample = labels.question(key)
    return {
        **shown_question(question, query),
        "sample": sample,
        "given": labels.own_label(key, reviewer),
        "others": [
            {"reviewer": who, "answer": label_text(question, answer)}
            for who, answer in labels.others(key).items()
        ],
    }


def _shown(item: GoldenItem) -> dict[str, Any]:
    return {
        **item.model_dump(mode="json"),
        "version": version_of(item),
        "nearly": [span.model_dump(mode="json") for span in nearly(item)],
        "unplaced": unplaced(item),
    }
