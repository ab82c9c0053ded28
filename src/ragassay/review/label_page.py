"""What the part of the page asks for on which people label answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field

from ragassay.errors import UsageError
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import answer_text, said_of, shown_question

MOST_SECONDS = 600.0
"""Of a label: who takes longer was probably elsewhere."""

Name = Annotated[str, Query(max_length=100)]


class Body(BaseModel):
    """What the script of the page sends: known fields alone."""

    model_config = ConfigDict(extra="forbid")


class ByReviewer(Body):
    """What a person does."""

    reviewer: Annotated[str, Field(min_length=1, max_length=100)]


class _Label(ByReviewer):
    key: str
    answer: Any = Field(None, description="null: the person cannot tell")
    seconds: Annotated[float, Field(ge=0)] = 0.0
    calibration: bool = False
    final: bool = Field(False, description="The page showed what others had said")


def add_label_routes(app: FastAPI, labels: AnswerLabels) -> None:
    """Adds what the script of the page asks for.

    Args:
        app: of the page.
        labels: questions and what people said.
    """

    @app.get("/labels")
    def listed(reviewer: Name) -> dict[str, Any]:
        return _now(labels, reviewer)

    @app.get("/labels/{kind}/{key}")
    def one(kind: Literal["golden", "calibration"], key: str, reviewer: Name) -> dict[str, Any]:
        if kind == "calibration":
            known = labels.known().get(key)
            if known is None:
                raise UsageError("This question is not among those with known answers.")
            question, query, sample = known.question, known.query, "calibration"
        else:
            question, found = labels.question(key)
            query, sample = found.query_text, found.id
        given = labels.given(key, reviewer, calibration=kind == "calibration")
        others = {} if kind == "calibration" else labels.others(key)
        return {
            **shown_question(question, query),
            "sample": sample,
            "given": given,
            "others": [
                {"reviewer": who, "answer": said_of(question, answer)}
                for who, answer in others.items()
            ],
        }

    @app.post("/labels")
    def label(given: _Label) -> dict[str, Any]:
        seconds = min(given.seconds, MOST_SECONDS)
        told: dict[str, Any] = {}
        if given.calibration:
            right = labels.calibrate(given.key, given.reviewer, given.answer, seconds)
            known = labels.known()[given.key]
            told = {"right": right, "known": answer_text(known.question, known.answer)}
        else:
            labels.label(given.key, given.reviewer, given.answer, seconds, final=given.final)
        return {**told, **_now(labels, given.reviewer)}

    @app.post("/labels/undo")
    def undo(given: ByReviewer) -> dict[str, Any]:
        key, calibration = labels.undo(given.reviewer)
        return {"key": key, "calibration": calibration, **_now(labels, given.reviewer)}


def _now(labels: AnswerLabels, reviewer: str) -> dict[str, Any]:
    return {"entries": labels.entries(reviewer), "progress": labels.progress(reviewer)}
