"""What an option says beside its name, type and default: help, flag, whether it is a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

GENERAL, JUDGING, MODELS = GROUPS = ("Parameters", "Judging", "Neural models")
"""The groups that options are listed in."""


@dataclass(frozen=True)
class Option:
    """The annotation of a field that is an option.

    Attributes:
        help: sentences that say what it is.
        group: where it is listed.
        default: in words, what holds where nothing is given; empty where the field's own default
            says so.
        flags: on the command line, where they are not the field's name.
        short: a flag of one letter.
        path: whether its value names what is read or what is written.
        commas: a flag takes several values joined with commas.
        text: a flag takes a text, whatever the field's type is.
        form, example: how a flag with a name and a value is written (NAME=VALUE).
        page: the page of the documentation that says more.
    """

    help: str
    group: str = GENERAL
    default: str = ""
    flags: tuple[str, ...] = ()
    short: str = ""
    path: Literal["read", "write"] | None = None
    commas: bool = False
    text: bool = False
    form: str = ""
    example: str = ""
    page: str = ""

    def flags_of(self, name: str) -> tuple[str, ...]:
        """The long flags of the field of this name, the usual one first."""
        return self.flags or (f"--{name.replace('_', '-')}",)


def option_of(field: FieldInfo) -> Option:
    """The option that a field is."""
    return next(one for one in field.metadata if isinstance(one, Option))


def options_of(schema: type[BaseModel]) -> Mapping[str, Option]:
    """The options of a model, by the names of its fields."""
    return {name: option_of(field) for name, field in schema.model_fields.items()}


def default_of(field: FieldInfo) -> str:
    """The default of an option in words; empty for none."""
    given = None if field.default_factory else field.default
    return option_of(field).default or ("" if given is None or given is False else str(given))
