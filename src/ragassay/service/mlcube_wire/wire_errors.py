"""Errors in the form that ML cube's client reads: ``{"errorCode": ..., "errorMessage": ...}``."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from ragassay.base.errors import RagassayError
from ragassay.base.problem_words import mistakes
from ragassay.service.api.problems import RETRY_S, sentence_of
from ragassay.service.operation.requests_seen import log_problem
from ragassay.service.store.store_errors import Conflict, NotThere, StoreUnavailable

_CODES = {NotThere: (404, "NOT_FOUND"), Conflict: (409, "CONFLICT")}


class WireRoute(APIRoute):
    """A route whose errors have ML cube's form."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, its errors caught."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except HTTPException as error:
                return refused(error.status_code, sentence_of(error))
            except RequestValidationError as error:
                (_, *place), mistake = mistakes(error)[0]
                field = f"{'.'.join(place)}: " if place else ""
                return wire_error(422, "INVALID", f"{field}{mistake}")
            except StoreUnavailable as error:
                log_problem(request.scope, error)
                return wire_error(503, "UNAVAILABLE", "The store cannot be used now. Try again.")
            except RagassayError as error:
                return wire_error(*_CODES.get(type(error), (400, "INVALID")), str(error))
            except Exception as error:
                log_problem(request.scope, error)
                return wire_error(500, "DEFECT", "The service has a defect; its log says more.")

        return answer


def wire_error(status: int, code: str, message: str) -> JSONResponse:
    """The answer for an error.

    Args:
        status: HTTP's.
        code: for programs.
        message: for people.
    """
    headers = {"Retry-After": RETRY_S} if status == 503 else None
    return JSONResponse({"errorCode": code, "errorMessage": message}, status, headers)


def refused(status: int, message: str) -> JSONResponse:
    """The answer for what is not allowed.

    Args:
        status: HTTP's.
        message: for people.
    """
    return wire_error(status, "REFUSED", message)
