"""YAML that becomes a model, and whose mistakes are told with their line and field."""

from __future__ import annotations

import re
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ragassay.errors import InputError, did_you_mean
from ragassay.yaml_files import Marked, Place, marked

M = TypeVar("M", bound=BaseModel)

_SHOWN = 60
"""Longest piece of a wrong value in a message."""

_KEY_LIKE = re.compile(r"(?<![\w./-])[A-Za-z0-9_-]{24,}(?![\w./-])")
"""What may be a secret that stands in the wrong place."""


def parse(text: str, model: type[M], path: object) -> M:
    """The model that a YAML mapping holds.

    Args:
        text: the whole file.
        model: a pydantic model.
        path: names the file in errors.

    Raises:
        InputError: no YAML mapping, a key given twice, or something that the model refuses; with
            the line, the field and what to do.
    """
    found = marked(text, path)
    if not isinstance(found.value, dict):
        raise InputError(
            "is not a mapping of keys",
            path=path,
            hint=f"It takes {_named(model)}.",
        )
    return validated(found, found.value, model)


def validated(found: Marked, body: Any, model: type[M], at: Place = ()) -> M:
    """The model that a part of a YAML text holds.

    Args:
        found: the whole text.
        body: the part.
        model: a pydantic model.
        at: where the part stands.

    Raises:
        InputError: something that the model refuses; with the line, the field and what to do.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _explained(error, model, found, at) from error


def _explained(
    error: ValidationError, model: type[BaseModel], found: Marked, at: Place
) -> InputError:
    errors = error.errors()
    # A key that is missing is most often one that is misspelt.
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    inside = tuple(str(piece) for piece in first["loc"] if piece != "[key]")
    return found.wrong((*at, *inside), *_words(first, _model_at(model, inside[:-1])))


def _words(first: Any, model: type[BaseModel] | None) -> tuple[str, str | None]:
    """What is wrong, and what to do."""
    name = str(first["loc"][-1]) if first["loc"] else ""
    if first["type"] == "missing":
        return "is missing", None
    if first["type"] == "extra_forbidden" and model is not None:
        near = did_you_mean(name, model.model_fields)
        return "is not a key that is known", near or f"There are {_named(model)}."
    said = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "value_error":
        return said, None
    return f"{said[0].lower()}{said[1:]}, not {shown(first['input'])}", None


def shown(value: object) -> str:
    """A wrong value as messages show it: not all of a long one, and nothing like a key."""
    text = _KEY_LIKE.sub("...", repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The model of a nested place, as far as it is one."""
    for name in place:
        field = model.model_fields.get(name)
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        inner = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        if not inner:
            return None
        model = inner[0]
    return model


def _named(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)
