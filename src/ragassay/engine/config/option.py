"""The annotation of an option: its help, its flags, whether it is a path."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

MODEL_CONFIG = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Of the classes that declare options."""

ONE_OR_MANY = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
EMPTY = BeforeValidator(lambda value: {} if value is None else value)
Names = Annotated[list[str], ONE_OR_MANY]
"""Several names; one may be given as it is."""


@dataclass(frozen=True)
class Option:
    """The annotation of a field that is an option, where its name, type and text do not say all:
    the default in words, the flags (the usual one first) and one of a letter, whether its value is
    a path, several joined with ``commas`` or a ``text``, how NAME=VALUE is written, and the docs'
    page."""

    default: str = ""
    flags: tuple[str, ...] = ()
    short: str = ""
    path: Literal["read", "write"] | None = None
    commas: bool = False
    text: bool = False
    form: str = ""
    example: str = ""
    page: str = ""
    help: str = ""


@cache
def options_of(schema: type[BaseModel]) -> Mapping[str, Option]:
    """The options of a model, by the names of its fields; the text below a field is its help, the
    flag that is not declared has its name."""
    texts = _texts_of_fields(schema.__module__)
    options = {}
    for name, field in schema.model_fields.items():
        declared = next((one for one in field.metadata if isinstance(one, Option)), Option())
        own: Any = None if field.default_factory else field.default
        usual = "" if own is None or own is False else str(own)
        text, flag = " ".join(texts.get(name, "").split()), f"--{name.replace('_', '-')}"
        options[name] = replace(
            declared,
            help=text,
            default=declared.default or usual,
            flags=declared.flags or (flag,),
        )
    return options


@cache
def _texts_of_fields(module: str) -> Mapping[str, str]:
    """The text below each field of a module's classes; pydantic takes ten times as long for it."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    bodies = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        field.target.id: below.value.value
        for body in bodies
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
