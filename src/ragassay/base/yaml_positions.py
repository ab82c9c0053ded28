"""YAML that becomes a model, and with errors that name line and field."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ragassay.base.errors import InputError, did_you_mean
from ragassay.base.problem_words import mistakes
from ragassay.base.yaml_files import Marked, Place, marked

M = TypeVar("M", bound=BaseModel)


def parse(text: str, model: type[M], path: object) -> M:
    """The model that a YAML mapping holds."""
    content = marked(text, path)
    if not isinstance(content.value, dict):
        hint = f"It takes {_named(model)}."
        raise InputError("is not a mapping of keys", path=path, hint=hint)
    return validated(content, content.value, model)


def validated(content: Marked, body: Any, model: type[M], at: Place = ()) -> M:
    """The model that a part of a YAML text holds."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _explained(error, model, content, at) from error


def _explained(
    error: ValidationError, model: type[BaseModel], content: Marked, at: Place
) -> InputError:
    # A key that is missing is most often one that is misspelt.
    unknown = next((one for one in error.errors() if one["type"] == "extra_forbidden"), None)
    if unknown is None:
        place, problem = mistakes(error)[0]
        return content.wrong((*at, *place), problem)
    inside = tuple(str(piece) for piece in unknown["loc"])
    inner = _model_at(model, inside[:-1])
    near = "" if inner is None else did_you_mean(inside[-1], inner.model_fields)
    hint = near or (f"There are {_named(inner)}." if inner is not None else None)
    return content.wrong((*at, *inside), "is not a key that is known", hint)


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
