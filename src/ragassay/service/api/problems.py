"""Errors as problem details (RFC 9457): a title, a status, and a sentence that says what to do."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ragassay.base.errors import InputError, RagassayError, mistakes, system_problem
from ragassay.service.operation.service_log import log_problem
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable

Answer = Callable[[Request, Exception], Response]

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request was not done."""

    type: str = Field("about:blank", description="a URI that names the kind of problem")
    title: str = Field(description="the kind of problem, in a few words")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="a sentence that says what is wrong, and what to do")
    field: str | None = Field(None, description="the field of the request or file that is wrong")
    line: int | None = Field(None, description="the line of the file, or number of the record")


TITLES: Mapping[int, str] = {
    400: "The request cannot be read",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    405: "The address does not support this method",
    408: "The request took too long",
    409: "Conflict",
    413: "Too large",
    415: "This kind of content is not supported",
    422: "The request is not possible",
    500: "Internal error",
    503: "The store cannot be used",
}

DEFECT = "Internal error. The log of the service says what happened: please report it."
UNAVAILABLE = "The store cannot be used now; the log of the service says why. Try again later."

RETRY_S = "5"
"""Seconds after which a client may try again where the service could not work."""

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES}
"""What a disk says that is full, limited or read-only."""


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for its documentation."""
    return {
        status: {
            "description": TITLES[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **place: Any
) -> JSONResponse:
    """The answer for a problem; ``field`` and ``line`` are those of the request or file."""
    title = TITLES.get(status, "Error")
    if status == 503:
        headers = {"Retry-After": RETRY_S, **(headers or {})}
    body = Problem(title=title, status=status, detail=detail, **place)
    return JSONResponse(
        body.model_dump(exclude_none=True), status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def answer_with_problems(app: FastAPI, answer: Answer | None = None) -> None:
    """Makes an application answer every error with a problem, or with what ``answer`` makes of
    it."""
    for kind in (OSError, RagassayError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer or problem_of)


def problem_of(request: Request, error: Exception) -> JSONResponse:
    """The answer for an error of any kind. One of the server's own goes into the log only."""
    cause, is_ours = error.__cause__, not isinstance(error, InputError | StoreUnavailable)
    if is_ours and isinstance(cause, OSError) and cause.errno in _DISK:
        error = cause  # the sentence names a place of the server's
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return problem(error.status_code, sentence_of(error), headers=error.headers)
    if isinstance(error, InputError):
        return problem(422, str(error), field=error.field, line=error.line)
    if isinstance(error, RagassayError) and not isinstance(error, StoreUnavailable):
        return problem({NotThere: 404, Conflict: 409}.get(type(error), 422), str(error))
    log_problem(request.scope, error)
    if isinstance(error, StoreUnavailable):
        return problem(503, UNAVAILABLE)
    if isinstance(error, OSError) and error.errno in _DISK:
        return problem(503, f"The service cannot write to its disk: {system_problem(error)}.")
    return problem(500, DEFECT)


def sentence_of(error: HTTPException) -> str:
    """What an error of a route, or of FastAPI, with a status of its own says."""
    if error.status_code == 400 and isinstance(error.__cause__, RecursionError):
        return "The body is nested too deeply."
    if error.status_code == 400 and isinstance(error.__cause__, ValueError):
        return "The body is not text in UTF-8."
    detail = str(error.detail or TITLES.get(error.status_code, "Error"))
    return f"{detail.rstrip('.')}."


def _invalid(error: RequestValidationError) -> JSONResponse:
    """The answer for a request that does not have the form that its route takes."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        character, reason = int(first["loc"][-1]) + 1, str(first["ctx"]["error"]).lower()
        return problem(422, f"The body is not JSON: {reason}, at character {character}.")
    if first["loc"] == ("body",) and isinstance(first.get("input"), bytes):
        return problem(422, "The body is not sent as JSON. Send 'Content-Type: application/json'.")
    place, mistake = mistakes(error)[0]
    field = ".".join(text for text in place if text not in ("body", "query", "path"))
    sentence = f"{'' if field else 'The body '}{mistake.rstrip('.')}."
    return problem(422, f"{field}: {sentence}" if field else sentence, field=field or None)
