"""The page on which people review a golden set, and what its script asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path as InPath, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import Field

from ragassay.base import printable
from ragassay.base.errors import UsageError
from ragassay.base.subsets import Subset
from ragassay.golden.golden_item import GoldenItem, NegativeReference, nearly, unplaced
from ragassay.reports.html.pages import ASSETS, environment
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_page import MOST_SECONDS, Body, ByReviewer, Name, add_label_routes
from ragassay.review.review_agreement import shown_reviews
from ragassay.review.review_log import Review
from ragassay.review.review_store import ReviewConflictError, ReviewStore, version_of
from ragassay.service import web
from ragassay.service.api.access import Access, Guard
from ragassay.service.api.problems import answer_with_problems, problem

_HERE = Path(__file__).parent
_WORDS = ("type", "complexity", "style", "language", "source")
"""Fields of a word each: the page proposes those that other items have."""
_HIDDEN = {"status": "draft", "tags": []}
"""In place of what is known of an item of the calibration set."""
MOST_BYTES = 4 * 1024**2
Texts = Annotated[list[str], Field(max_length=100)]


class _Span(Body):
    document: str
    start: int
    end: int
    grade: int = 1


class _Fields(Body):
    """The fields that the page changes."""

    query: str | None = None
    references: Texts | None = None
    negative_references: Annotated[list[NegativeReference], Field(max_length=100)] | None = None
    gold: Annotated[list[_Span], Field(max_length=1_000)] | None = None
    answerability: str | None = None
    type: str | None = None
    complexity: str | None = None
    style: str | None = None
    language: str | None = None
    source: str | None = None
    tags: Texts | None = None
    metadata: Annotated[dict[str, Any], Field(max_length=100)] | None = None


class _Decided(ByReviewer):
    item: str
    decision: Literal["accept", "reject", "tag"]
    version: str
    fields: _Fields = _Fields()
    seconds: Annotated[float, Field(ge=0)] = 0.0
    calibration: bool = False


def create_review_app(
    store: ReviewStore,
    reviewer: str = "",
    labels: AnswerLabels | None = None,
    where: Sequence[str] = (),
) -> FastAPI:
    """The application of the page: for this machine alone.

    Args:
        store: of the golden set.
        reviewer: who reviews; asked on the page where left out.
        labels: questions about answers, which people answer on the page too.
        where: conditions that hold for the items shown (see `ragassay.base.subsets`).
    """
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

    if labels is not None:
        add_label_routes(app, labels)

        @app.get("/answers")
        def answers() -> Response:
            return shown("labels.html.j2")

    @app.get("/items")
    def items(
        reviewer: Name,
        also: Annotated[list[str], Query(alias="where", max_length=20)] = [],  # noqa: B006
    ) -> dict[str, Any]:
        calibration = store.calibration()
        first = calibration.with_status("accepted", "rejected") if calibration else []
        entries = _known_entries(store, first, reviewer)
        chosen = Subset([*where, *also]).of(store.golden().items, GoldenItem.fields, "item")
        entries += _entries(store, list(chosen), reviewer)
        return {"items": entries, "progress": store.progress(reviewer)}

    @app.get("/items/{kind}/{item_id:path}")
    def item(
        kind: Literal["golden", "calibration"], item_id: Annotated[str, InPath()], reviewer: Name
    ) -> dict[str, Any]:
        one = store.item(item_id, calibration=kind == "calibration")
        if kind == "calibration":
            return {"item": _asked(one), "reviews": []}
        reviews = store.standing().of_item.get(item_id, {})
        # Who still has to decide does not see what others decided.
        if store.states([one], reviewer)[0] in ("todo", "waiting"):
            reviews = {name: made for name, made in reviews.items() if name == reviewer}
        return {"item": _shown(one), "reviews": shown_reviews(reviews)}

    @app.get("/documents/{kind}")
    def documents(kind: Literal["golden", "calibration"]) -> list[str]:
        return list(store.documents(calibration=kind == "calibration"))

    @app.get("/documents/{kind}/{name:path}")
    def document(kind: Literal["golden", "calibration"], name: str) -> dict[str, Any]:
        shown = store.documents(calibration=kind == "calibration").get(name)
        if shown is None:
            raise UsageError(f"There is no document {name!r}.")
        headings = [{"title": one.title, "start": one.start} for one in shown.headings]
        return {"id": shown.id, "text": shown.text, "headings": headings}

    @app.post("/reviews")
    def review(body: _Decided) -> dict[str, Any]:
        made = store.review(
            body.item,
            body.reviewer,
            body.decision,
            body.version,
            fields=body.fields.model_dump(exclude_unset=True),
            seconds=min(body.seconds, MOST_SECONDS),
            calibration=body.calibration,
        )
        answer = {"decision": made.decision, "applied": made.applied, **_now(store, made)}
        if made.calibration:
            answer["right"] = made.right
            answer["known"] = store.item(made.item, calibration=True).status
        return answer

    @app.post("/undo")
    def undo(body: ByReviewer) -> dict[str, Any]:
        return _now(store, store.undo(body.reviewer))

    styles = Path(str(web.__file__)).parent / "assets"
    for name, folder in (("report", ASSETS), ("service", styles), ("review", _HERE / "assets")):
        app.mount(f"/assets/{name}", StaticFiles(directory=folder), name=name)
    app.add_middleware(Guard, hosts=(), most_bytes=MOST_BYTES, asks=lambda _: Access(None))
    return app


def _now(store: ReviewStore, review: Review) -> dict[str, Any]:
    """How a review left its item, and how far all are."""
    item = store.item(review.item, calibration=review.calibration)
    entries = _known_entries if review.calibration else _entries
    (entry,) = entries(store, [item], review.reviewer)
    return {"entry": entry, "progress": store.progress(review.reviewer)}


def _known_entries(
    store: ReviewStore, items: list[GoldenItem], reviewer: str
) -> list[dict[str, Any]]:
    """The entries of the calibration set, without what is known of its items."""
    done = store.standing().calibration.get(reviewer, {})
    return [
        {**_entry(one, "done" if one.id in done else "todo", one.id in done), **_HIDDEN}
        | {"calibration": True}
        for one in items
    ]


def _entries(store: ReviewStore, items: list[GoldenItem], reviewer: str) -> list[dict[str, Any]]:
    reviews = store.standing().of_item
    return [
        _entry(one, state, reviewer in reviews.get(one.id, ()) or one.reviewer == reviewer)
        for one, state in zip(items, store.states(items, reviewer), strict=True)
    ]


def _entry(item: GoldenItem, state: str, mine: bool) -> dict[str, Any]:
    return {
        "id": item.id,
        "calibration": False,
        "query": item.query,
        "status": item.status,
        **{name: getattr(item, name) for name in _WORDS},
        "tags": item.tags,
        "state": state,
        "mine": mine,
    }


def _shown(item: GoldenItem) -> dict[str, Any]:
    return {
        **item.model_dump(mode="json"),
        "version": version_of(item),
        "nearly": [one.model_dump(mode="json") for one in nearly(item)],
        "unplaced": unplaced(item),
    }


def _asked(item: GoldenItem) -> dict[str, Any]:
    """An item of the calibration set without what is known of it."""
    return {**_shown(item), **_HIDDEN, "reviewer": "", "verified_on": None, "metadata": {}}
