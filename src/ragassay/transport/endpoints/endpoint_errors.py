"""What an endpoint's error means, in the forms of OpenAI, vLLM, FastAPI, Anthropic and Google: may
the request be sent again, and what of it must be changed?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import orjson

from ragassay.base import packages
from ragassay.base.errors import system_problem
from ragassay.base.score import Reason
from ragassay.transport.endpoints.endpoint import SAMPLING, SYSTEM, EndpointError
from ragassay.transport.secrets import Secret

_READ = 2000  # characters of an error that are looked at: it may quote the whole request

_SHOWN = 300  # characters of an error that a message shows
_quoted = True


def hide_replies() -> None:
    """From now on no error of this process quotes what an endpoint replied: clients of a service
    read these, and the endpoint may be a server of its operator that they cannot reach."""
    global _quoted
    _quoted = False


FORMS = ("json_schema", "json_object")  # the modes that ask for the answer's form by a parameter

_OVERLOADED = frozenset({429, 503, 529})
_REASONS = {408: Reason.TIMEOUT, 429: Reason.RATE_LIMITED, 504: Reason.TIMEOUT}
_SAYS = {429: "rejected the request for its rate"}
_SAYS |= dict.fromkeys((408, 504), "ran out of time")
_NEVER_SENT = {
    *("ConnectError", "ConnectTimeout", "PoolTimeout", "LocalProtocolError"),
    *("UnsupportedProtocol", "ClientConnectorError", "ClientConnectorDNSError"),
    *("ConnectionTimeoutError", "InvalidUrlClientError", "NonHttpUrlClientError"),
    *("ConnectionRefusedError", "gaierror"),
}
"""Names of errors, of httpx2 and aiohttp, that come before a request has left."""

_ILLEGAL = re.compile(r"Illegal header|in HTTP status message or header|detected in header")


def from_status(
    status: int,
    body: bytes,
    *,
    headers: Mapping[str, str],
    url: str,
    model: str,
    key: Secret,
    sent: Collection[str],
    role: str = "judge",
) -> EndpointError:
    """The error for a reply (``body``, without the key) whose status is not 200. ``sent`` are the
    names of the parameters that were sent, and the mode: what may be rejected."""
    message, code, param = _read_error(body)
    all_text = f"{message} {code} {param}"[:_READ]
    shown = _shown(message) or code or "it gave no reason"
    for meaning in _table()["meanings"]:
        if status in meaning["always"] or (
            status in meaning["with"] and _says(meaning["words"], all_text)
        ):
            sentence = (
                meaning["says"] if key or "without_key" not in meaning else meaning["without_key"]
            )
            words = {"url": url, "status": status, "model": model, "shown": shown, "role": role}
            detail = sentence.format(**words, advice=key.advice, source=key.source)
            return EndpointError(Reason(meaning["reason"]), detail)
    if status in (400, 422):
        detail = f"{url} rejects the request ({status}): {shown}"
        parameters = frozenset(rejected(message, param, body, sent))
        return EndpointError(Reason.SERVER_ERROR, detail, rejected=parameters)
    says = f"{_SAYS.get(status, 'failed')} ({status})"
    error = passing(status, f"{url} {says}: {shown}", headers, body)
    if status == 429 and _says("never_fits", all_text):
        error.again = error.overloaded = False
    return error


def passing(status: int, detail: str, headers: Mapping[str, str], body: bytes) -> EndpointError:
    """The error for a status, with the time that the endpoint asks to wait where it may pass."""
    overloaded = status in _OVERLOADED
    return EndpointError(
        _REASONS.get(status, Reason.SERVER_ERROR),
        detail,
        again=status >= 500 or status in (408, 409, 425, 429),
        overloaded=overloaded,
        retry_after=retry_after(headers, body) if overloaded else None,
    )


def redirected(url: str, origin: object, role: str) -> EndpointError:
    """The error for a redirect elsewhere: prompt and key are not sent there."""
    there = f", {origin}," if _quoted else ","
    detail = f"{url} redirects to another address{there} and nothing was sent there. If that is "
    detail += f"the right one, name it as the {role}'s address."
    return EndpointError(Reason.AUTH, detail, free=True)


def foreign(content: bytes, url: str, expected: str, why: str = "") -> EndpointError:
    """The error for a reply with status 200 that is not of the protocol (a login page): what was
    expected (``chat completion``), and what is wrong, or how the reply begins."""
    shown = why or (repr(content[:120].decode("utf-8", "replace")) if _quoted else "not shown here")
    detail = f"{url} did not answer with {expected}: {shown}"
    return EndpointError(Reason.SERVER_ERROR, detail, again=True)


def unreached(error: Exception, url: str, key: Secret) -> EndpointError:
    """The error for a request that the client could not send, or whose reply never came."""
    chain = list(causes(error))
    if any(isinstance(item, UnicodeError) or _ILLEGAL.search(str(item)) for item in chain):
        # These quote the header; and what cannot be sent now cannot be sent later.
        detail = f"{url} cannot be asked: a header of the request is not valid."
        return EndpointError(Reason.CONNECTION, detail, free=True, sent=False)
    free = any(type(item).__name__ in _NEVER_SENT for item in chain)
    names = [type(item).__name__ for item in chain if type(item) is not TimeoutError]
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        detail = f"{url} did not answer in time"
        return EndpointError(Reason.TIMEOUT, detail, again=True, free=free, sent=not free)
    cause = chain[-1]
    problem = system_problem(cause) if isinstance(cause, OSError) else str(cause)
    shown = key.hidden_in(problem or type(cause).__name__)
    detail = f"{url} cannot be reached: {shown}"
    return EndpointError(Reason.CONNECTION, detail, again=True, free=free, sent=not free)


_SYSTEM_ROLE = re.compile(r"\brole\b.{0,80}\bsystem\b|\bsystem\b.{0,20}\brole\b", re.I | re.S)


def rejected(message: str, param: str, body: bytes, sent: Collection[str]) -> set[str]:
    """Which of the parameters and modes that were sent the server does not take, as far as its
    sentence, the cause that it names (``param``) and the places that FastAPI lists in the body say
    so; where it names nothing at all, both ways to ask for the answer's form."""
    if SYSTEM in sent and _SYSTEM_ROLE.search(message[:_READ]):
        return {SYSTEM}
    form = {name for name in sent if name in FORMS}
    mentioned = {re.split(r"[.\[]", param.removeprefix("body."))[0]} if param else set()
    mentioned |= set(_places(body))
    names = {name for name in mentioned if name in sent}
    if form and any(_table()["words"]["form"].fullmatch(name) for name in mentioned):
        names |= form
    if names:
        return names
    text = message[:_READ]
    names = {name for name in sent if name not in form and re.search(rf"\b{name}\b", text)}
    if {"temperature", "top_p"} <= names and re.search(r"\bboth\b", text):
        names.remove("temperature")  # one of them is enough: the one that matters stays
    if not names and form and _says("form", text):
        names = form
    if not names and not mentioned:
        # A parameter that no model needs is the likeliest cause: once more without it.
        names = set(FORMS) if form else set()
    return names


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Seconds that the endpoint asks to wait, or ``None``: by ``retry-after-ms`` or ``retry-after``
    (seconds, or a date) of the headers, or ``retryDelay`` of a body of Google's."""
    by_name = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = by_name.get(name, "")
        with suppress(ValueError):
            return min(max(0.0, float(text) / scale), 1e9)
        with suppress(ValueError):
            moment = parsedate_to_datetime(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    delay = re.search(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"', body)
    return float(delay[1]) if delay else None


@cache
def _table() -> Mapping[str, Any]:
    """What errors mean, and the words that say so: ``errors.yaml``."""
    listed = packages.table("ragassay.transport.endpoints", "errors.yaml")
    words = {name: re.compile("|".join(word), re.I) for name, word in listed["words"].items()}
    return {**listed, "words": words}


def _says(meaning: str, text: str) -> bool:
    return _table()["words"][meaning].search(text) is not None


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error, what it came from, what that came from."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def _read_error(body: bytes) -> tuple[str, str, str]:
    """The server's sentence, its code, and the parameter that it names."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = re.sub(r"<[^>]*>", " ", body[:_READ].decode("utf-8", "replace"))
        return " ".join(text.split()), "", ""
    if isinstance(content, list) and content:
        content = content[0]
    if isinstance(content, Mapping):
        error = content.get("error", content)
        if isinstance(error, str):
            return error, "", ""
        if isinstance(error, Mapping):
            sentence = error.get("message") or error.get("detail") or content.get("message") or ""
            message = sentence if isinstance(sentence, str) else orjson.dumps(sentence).decode()
            code = error.get("code") or error.get("status") or error.get("type") or ""
            return message, str(code), str(error.get("param") or "")
    return str(content)[:_READ], "", ""


def _places(body: bytes) -> Iterator[str]:
    """The parameters that a FastAPI server lists (``loc``), in its ``detail`` or in a message."""
    text = body[:_READ].decode("utf-8", "replace")
    is_form = _table()["words"]["form"].fullmatch
    for match in re.finditer(r"""['"]loc\\?['"]\s*:\s*[\[(]([^\])]*)[\])]""", text):
        for name in re.findall(r"[A-Za-z_]\w+", match[1]):
            if name in SAMPLING or name == "max_completion_tokens" or is_form(name):
                yield name


def _shown(message: str) -> str:
    text = " ".join(message.split()) if _quoted else "what it replied is not shown here"
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return text if not text or text[-1] in ".!?…" else text + "."
