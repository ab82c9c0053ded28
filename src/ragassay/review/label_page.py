"""What the part of the page asks for on which people label answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field

from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.label_forms import answer_text, label_text, shown_question

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
        labels: the questions and their labels.
    """

    @app.get("/labels")
    def listed(reviewer: Name) -> dict[str, Any]:
        return _now(labels, reviewer)

    @app.get("/labels/{kind}/{key}")
    def one(kind: Literal["golden", "calibration"], key: str, reviewer: Name) -> dict[str, Any]:
        others: dict[str, Any] = {}
        if kind == "calibration":
            known = labels.known_question(key)
            question, query, name = known.question, known.query, "calibration"
        else:
            question, sample = labels.question(key)
            query, name, others = sample.query_text, sample.id, labels.others(key)
        return {
            **shown_question(question, query),
            "sample": name,
            "given": labels.own_label(key, reviewer, calibration=kind == "calibration"),
            "others": [
                {"reviewer": who, "answer": label_text(question, answer)}
                for who, answer in others.items()
            ],
        }

    @app.post("/labels")
    def label(body: _Label) -> dict[str, Any]:
        seconds = min(body.seconds, MOST_SECONDS)
        result: dict[str, Any] = {}
        if body.calibration:
            right = labels.calibrate(body.key, body.reviewer, body.answer, seconds)
            known = labels.known_question(body.key)
            result = {"right": right, "known": answer_text(known.question, known.answer)}
        else:
            labels.label(body.key, body.reviewer, body.answer, seconds, final=body.final)
        return {**result, **_now(labels, body.reviewer)}

    @app.post("/labels/undo")
    def undo(body: ByReviewer) -> dict[str, Any]:
        key, calibration = labels.undo(body.reviewer)
        return {"key": key, "calibration": calibration, **_now(labels, body.reviewer)}


def _now(labels: AnswerLabels, reviewer: str) -> dict[str, Any]:
    return {"entries": labels.entries(reviewer), "progress": labels.progress(reviewer)}
