"""Errors in the form that ML cube's client reads: ``{"errorCode": ..., "errorMessage": ...}``."""

from __future__ import annotations

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ragassay.base.errors import RagassayError
from ragassay.base.problem_words import mistakes
from ragassay.service.api.problems import DEFECT, RETRY_S, sentence_of
from ragassay.service.operation.requests_seen import log_problem
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable

_CODES = {NotThere: (404, "NOT_FOUND"), Conflict: (409, "CONFLICT")}


def wire_problem(request: Request, error: Exception) -> JSONResponse:
    """The answer for an error of any kind."""
    if isinstance(error, HTTPException):
        return wire_error(error.status_code, "REFUSED", sentence_of(error))
    if isinstance(error, RequestValidationError):
        (_, *place), mistake = mistakes(error)[0]
        field = f"{'.'.join(place)}: " if place else ""
        return wire_error(422, "INVALID", f"{field}{mistake}")
    if isinstance(error, RagassayError) and not isinstance(error, StoreUnavailable):
        return wire_error(*_CODES.get(type(error), (400, "INVALID")), str(error))
    log_problem(request.scope, error)
    if isinstance(error, StoreUnavailable):
        return wire_error(503, "UNAVAILABLE", "The store cannot be used now. Try again.")
    return wire_error(500, "DEFECT", DEFECT)


def wire_error(status: int, code: str, message: str) -> JSONResponse:
    """The answer for an error: HTTP's status, a code for programs, a message for people."""
    headers = {"Retry-After": RETRY_S} if status == 503 else None
    return JSONResponse({"errorCode": code, "errorMessage": message}, status, headers)
