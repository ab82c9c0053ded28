"""What each call of a client sends, and what it makes of the answer: the same for both clients."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ragassay.base.errors import UsageError
from ragassay.base.problem_words import system_problem
from ragassay.client.client_errors import NotFound, RequestRefused, Unauthorised, Unreachable
from ragassay.client.run_folders import packed

T = TypeVar("T")
S = TypeVar("S", bound=BaseModel)

URL_VARIABLE, TOKEN_VARIABLE = "RAGASSAY_URL", "RAGASSAY_TOKEN"
POLLING_VARIABLE = "RAGASSAY_POLLING"
"""Seconds between two looks at a job."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Any = None
    query: Mapping[str, Any] | None = None
    file: Path | None = None
    """Sent as the body, piece by piece; a folder as an archive of it."""
    as_bytes: bool = False
    """Whether the answer is a file; else it is JSON, or nothing."""
    once: bool = False
    """Whether it is not to be sent again where it may have been done."""


def shaped(kind: type[S]) -> Callable[[Any], S]:
    """Reads an object; what a newer service adds is left out.

    Args:
        kind: one of `ragassay.client.shapes`.
    """
    return kind.model_validate


def several(kind: type[S]) -> Callable[[Any], list[S]]:
    """Reads a list of objects; see `shaped`."""
    read = shaped(kind)
    return lambda body: [read(one) for one in body]


def pieces_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, or of an archive of a folder, in pieces.

    Raises:
        UsageError: it cannot be opened.
    """
    try:
        with packed(path) as file, file.open("rb") as stream:
            yield from iter(lambda: stream.read(1 << 20), b"")
    except OSError as error:
        raise UsageError(f"{path} cannot be opened: {system_problem(error)}.") from error


_KINDS: Mapping[int, type[RequestRefused]] = {
    **dict.fromkeys((401, 403), Unauthorised),
    404: NotFound,
    **dict.fromkeys((502, 503, 504), Unreachable),
}


def refusal(status: int, text: str) -> RequestRefused:
    """The error for an answer that is no success.

    Args:
        status: HTTP's.
        text: of the answer: the service's JSON, or what something before it says.
    """
    kind = _KINDS.get(status, RequestRefused)
    with suppress(ValueError):
        body = json.loads(text)
        if isinstance(body, Mapping) and "detail" in body:
            return kind(status, str(body["detail"]), body.get("field"), body.get("line"))
    return kind(status, " ".join(text.split())[:200] or "No reason was given.")


def address(url: str | None) -> str:
    """The base of all paths.

    Args:
        url: of the service; the variable ``RAGASSAY_URL`` or this machine where left out.
    """
    base = url or os.environ.get(URL_VARIABLE) or "http://127.0.0.1:8765"
    return base.rstrip("/") + "/api/v1"


def polling_seconds(polling: float | None) -> float:
    """Seconds between two looks at a job.

    Args:
        polling: seconds; the variable ``RAGASSAY_POLLING`` or 1 where left out.
    """
    return polling if polling is not None else float(os.environ.get(POLLING_VARIABLE, "1"))


def headers(token: str | None) -> dict[str, str]:
    """The headers of every request.

    Args:
        token: that allows it; the variable ``RAGASSAY_TOKEN`` where left out, none where that is
            not set.
    """
    sent = token or os.environ.get(TOKEN_VARIABLE)
    return {"Authorization": f"Bearer {sent}"} if sent else {}
