"""Mapping files: how an HTTP endpoint is asked, and where its reply holds what (YAML)."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote, urlsplit

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from ragassay.base.errors import InputError
from ragassay.base.json_data import EVERY, NOTHING, JsonPath, PathError
from ragassay.base.yaml_files import marked, text_of, validated, value_of
from ragassay.targets.target import Request

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")
_SLOT = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_SLOTS = (
    *("query", "id", "history", "messages", "repeat", "passages", "metadata"),
    "metadata.NAME",
)

DONE = "[DONE]"
"""The event that ends a stream of OpenAI's protocol, and of many others."""

_BY_NAME = "event:"
"""Begins an end mark that is the name of an event."""


def _each(paths: str | list[str] | None) -> list[JsonPath]:
    """The paths, parsed; a `ValueError` where one is none."""
    return [JsonPath.parse(path) for path in ([paths] if isinstance(paths, str) else paths or ())]


def _checked(paths: str | list[str] | None) -> str | list[str] | None:
    _each(paths)
    return paths


Paths = Annotated[str | list[str] | None, AfterValidator(_checked)]
"""A path as `JsonPath` reads it, or several: the first that finds something counts."""


def paths_text(paths: Paths) -> str:
    """The paths as messages show them."""
    return paths if isinstance(paths, str) else ", ".join(paths or ())


def find_first(values: Iterable[Any], paths: Paths) -> Any:
    """What the first of the paths that leads somewhere finds, in the first value where one does.
    Where they find nothing: `NOTHING` if one of them is optional, else a `PathError`."""
    problem: PathError | None = None
    parsed = _each(paths)
    for value, path in product(values, parsed):
        try:
            if (part := path.find(value)) is not NOTHING:
                return part
        except PathError as error:
            problem = problem or error
    if problem is not None and not any(path.optional for path in parsed):
        raise problem
    return NOTHING


def value_at(value: Any, paths: Paths) -> Any:
    """What the paths find in a value; ``None`` for nothing."""
    found = (path.reach(value) for path in _each(paths))
    return next((item for item in found if item is not NOTHING), None)


def texts_joined(value: Any, paths: Paths) -> Any:
    """The text whose pieces a path with ``[*]`` finds; anything else unchanged."""
    is_pieces = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if is_pieces and any(EVERY in path.steps for path in _each(paths)):
        return "".join(value)
    return value


def end_marks(written: str | Sequence[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """What marks the end of a stream, beside `DONE`: names of server-sent events that are the last
    (``event: NAME``), and paths to what only an event at the end holds."""
    marks = [text.strip() for text in ([written] if isinstance(written, str) else written)]
    names = [mark.removeprefix(_BY_NAME).strip() for mark in marks if mark.startswith(_BY_NAME)]
    paths = [mark for mark in marks if mark != DONE and not mark.startswith(_BY_NAME)]
    return frozenset(names), tuple(path.text for path in _each(paths))


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PassagePaths(_Part):
    """Where each passage holds its parts, seen from the passage."""

    id: Paths = None
    text: Paths = None
    score: Paths = None
    document: Paths = None
    start: Paths = None
    end: Paths = None


class UsagePaths(_Part):
    """Where the reply says what it took."""

    input_tokens: Paths = None
    output_tokens: Paths = None
    cost: Paths = None


class HttpMapping(_Part):
    """How an endpoint is asked, and where its reply holds what: see the table in docs/ask.md."""

    name: str | None = None
    url: str
    method: Literal["POST", "GET", "PUT"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)
    body: Any = None
    answer: Paths
    passages: Paths = None
    passage: PassagePaths | None = None
    citations: Paths = None
    usage: UsagePaths = Field(default_factory=UsagePaths)
    version: Paths = None
    error: Paths = None
    stream: Literal["sse", "lines"] | None = None
    end_mark: str | list[str] | None = None

    @field_validator("end_mark", mode="after")
    @classmethod
    def _is_mark(cls, value: str | list[str] | None) -> str | list[str] | None:
        end_marks(value or ())
        return value

    @field_validator("answer", mode="after")
    @classmethod
    def _there(cls, value: Paths) -> Paths:
        if not value:
            raise ValueError("needs a path")
        return value


def read_mapping(path: Path) -> HttpMapping:
    """The mapping of a file, or an `InputError` with line and field."""
    content = marked(text_of(path), path)
    if not isinstance(content.value, dict):
        raise InputError(
            "is not a mapping of keys", path=path, hint="It takes url, body, answer and more."
        )
    mapping = validated(content, content.value, HttpMapping)
    for place, slot in slots_in(mapping):
        if slot not in _SLOTS[:-1] and not slot.startswith("metadata."):
            problem = f"there is nothing to fill in for '{{{{{slot}}}}}'"
            raise content.wrong(place, problem, f"There are {', '.join(_SLOTS)}.")
    if not any(slot in ("query", "messages") for _, slot in slots_in(mapping)):
        problem = "does not send the query: no {{query}} or {{messages}} in url, params or body"
        hint = 'Write {{query}} where the endpoint takes it, as in `body: {question: "{{query}}"}`.'
        raise InputError(problem, path=path, hint=hint)
    if mapping.end_mark is not None and mapping.stream is None:
        hint = "Add `stream: sse` or `stream: lines`."
        raise content.wrong(("end_mark",), "is for streams only", hint)
    for name, value in {"url": mapping.url, **mapping.headers}.items():
        for variable in unset(value):
            place = ("url",) if name == "url" else ("headers", name)
            raise content.wrong(place, f"names the variable {variable}, which is not set")
    try:
        urlsplit(with_environment(mapping.url))
    except ValueError as error:
        raise content.wrong(("url",), f"is not a URL ({error})") from error
    return mapping


def slots_in(mapping: HttpMapping) -> Iterator[tuple[tuple[str, ...], str]]:
    """The place and the name of each slot that is filled in (``query``, ``metadata.NAME``)."""
    yield from _slots({"url": mapping.url, "params": mapping.params, "body": mapping.body}, ())


def _slots(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield from ((place, slot) for slot in _SLOT.findall(value))
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _slots(item, (*place, str(key)))


def unset(text: str) -> Iterator[str]:
    """The variables that a text names without a default and that are not set."""
    for match in _VARIABLE.finditer(text):
        if match[2] is None and not os.environ.get(match[1]):
            yield match[1]


def with_environment(text: str) -> str:
    """The text with ``${NAME}`` and ``${NAME:-default}`` filled in."""
    return _VARIABLE.sub(lambda value: os.environ.get(value[1]) or value[2] or "", text)


def with_defaults(text: str) -> str:
    """The text with the defaults of variables that are not set; values of others stay hidden."""
    return _VARIABLE.sub(
        lambda value: f"${{{value[1]}}}" if os.environ.get(value[1]) else value[2] or value[0], text
    )


def secrets_in_url(template: str) -> list[str]:
    """What of a URL no message may hold: values of variables, and the password in its forms."""
    user = urlsplit(with_environment(template).partition("?")[0]).netloc.rpartition("@")[0]
    _, colon, password = user.partition(":")
    basic = base64.b64encode(unquote(user).encode()).decode()
    values = [os.environ.get(name, "") for name, _ in _VARIABLE.findall(template)]
    return [*filter(None, values), *((password, unquote(password), basic) if colon else ())]


def secrets_in(text: str) -> list[str]:
    """The names of the variables that a text names."""
    return [name for name, _ in _VARIABLE.findall(text)]


def filled(value: Any, request: Request) -> Any:
    """A template with a request's parts in it. A text that is one slot becomes the part itself (a
    list, a number); what a query lacks (``{{metadata.NAME}}``) is null."""
    if isinstance(value, dict):
        return {key: filled(item, request) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, request) for item in value]
    if not isinstance(value, str):
        return value
    alone = _SLOT.fullmatch(value.strip())
    if alone is not None:
        return _part(alone[1], request)
    return _SLOT.sub(lambda item: _as_text(_part(item[1], request)), value)


def _part(name: str, request: Request) -> Any:
    if name.startswith("metadata."):
        return request.metadata.get(name.removeprefix("metadata."))
    if name == "history":
        return request.messages[:-1]
    part = getattr(request, name)
    if name == "metadata":
        return dict(part)
    return list(part) if isinstance(part, tuple) else part


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        lines = (f"{x['role']}: {x['content']}" if isinstance(x, dict) else str(x) for x in value)
        return "\n".join(lines)
    return "" if value is None else str(value)


def filled_url(url: str, request: Request) -> str:
    """A URL with a request's parts in it, each in the form that a URL can hold."""
    return re.sub(
        r"\{\{.*?\}\}", lambda value: quote(_in_url(filled(value[0], request)), safe=""), url
    )


def filled_params(params: Mapping[str, Any], request: Request) -> dict[str, str]:
    """The parameters of a URL with a request's parts in them: texts, or JSON."""
    return {name: _in_url(filled(value, request)) for name, value in params.items()}


def _in_url(part: Any) -> str:
    return "" if part is None else part if isinstance(part, str) else orjson.dumps(part).decode()


def preset(name: str, **words: str) -> HttpMapping:
    """The mapping of a known API: of a file in ``presets/``, with words in place of ``<NAME>``."""
    file = resources.files("ragassay.targets.http_api") / "presets" / f"{name}.yaml"
    text = file.read_text("utf-8")
    for key, value in words.items():
        text = text.replace(f"<{key}>", value)
    return HttpMapping.model_validate(value_of(text, file))
