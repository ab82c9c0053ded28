"""Makes flags of the options that `RunConfig` declares, and reads their values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from cyclopts import Group, Parameter

from ragassay.cli.flag_words import listed, numbers, pairs

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


NONE = type(None)

Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
"""A flag without a value that is a command's own."""


class OptionsCommand:
    """A command that takes options of a run as flags, beside those of its own.

    The flags are there after `declare`: ``ragassay --help`` need not import what declares the
    options.

    Args:
        command: the function. Its last parameter is ``**given``: the options that were given, as
            `RunConfig` has them.
        takes: whether it takes the option of this name and group.
    """

    def __init__(self, command: Callable[..., int], takes: Callable[[str, str], bool]) -> None:
        functools.update_wrapper(self, command)
        self.name = command.__name__
        self._command, self._takes = command, takes
        self._fields: dict[str, tuple[str, FieldInfo]] = {}

    def declare(self) -> None:
        """Makes the flags of the options."""
        from ragassay.engine.config import GROUPS

        self._fields = {
            name: (group, field)
            for group, declared in GROUPS.items()
            for name, field in declared.model_fields.items()
            if self._takes(name, group)
        }

    def __call__(self, *arguments: Any, **words: Any) -> int:
        """Runs the command with what cyclopts read."""
        given = {
            name: value_of(name, field, words.pop(name))
            for name, (_, field) in self._fields.items()
            if words.get(name) is not None
        }
        own = {name: word for name, word in words.items() if name not in self._fields}
        return self._command(*arguments, **own, **given)

    @property
    def __signature__(self) -> inspect.Signature:
        """The command's own parameters, the options before its switches."""
        signature = inspect.signature(self._command, eval_str=True)
        *own, _ = signature.parameters.values()
        switches = [one for one in own if one.annotation == Switch]
        flags = [flag(name, *declared) for name, declared in self._fields.items()]
        return signature.replace(
            parameters=[*(one for one in own if one not in switches), *flags, *switches]
        )


def takes_options(
    *groups: str, names: Collection[str] = (), without: Collection[str] = ("data",)
) -> Callable[[Callable[..., int]], OptionsCommand]:
    """Makes a function with ``**given`` a command that takes them as flags.

    Args:
        groups: whose options it takes.
        names: of options that it takes besides.
        without: names of options that it does not take.
    """

    def takes(name: str, group: str) -> bool:
        return (group in groups or name in names) and name not in without

    return lambda command: OptionsCommand(command, takes)


def flag(name: str, group: str, field: FieldInfo) -> inspect.Parameter:
    """The parameter of a command line for an option.

    Args:
        name: of the option.
        group: that it is listed in.
        field: of `RunConfig`.
    """
    from ragassay.engine.config import GROUPS, RunConfig, options_of

    option, kind = options_of(RunConfig)[name], _kind(field)
    word: Any = Path if option.path else str
    if _takes_many(kind):
        word = list[word]
    elif get_origin(kind) is Literal or (kind in (bool, int, float) and not option.text):
        word = kind
    sentences = [option.help]
    if _takes_many(kind):
        sentences.append("Repeat or join with commas." if option.commas else "Repeatable.")
    if option.default:
        sentences.append(f"Default: {option.default}.")
    place = list(GROUPS).index(group)
    # The first group is that of the command's own flags, which cyclopts makes.
    listed_in: Any = {"group": Group(group, sort_key=place)} if place else {}
    parameter = Parameter(
        name=[*option.flags_of(name), *([option.short] if option.short else [])],
        help=" ".join(sentences),
        negative=(),
        **listed_in,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[word | None, parameter],
    )


def value_of(name: str, field: FieldInfo, given: Any) -> Any:
    """The value of an option, converted from its flag.

    Args:
        name: of the option.
        field: of `RunConfig`.
        given: what the command line has.

    Raises:
        UsageError: the words are not of the option's form.
    """
    from ragassay.engine.config import RunConfig, options_of

    option, kind = options_of(RunConfig)[name], _kind(field)
    written = option.flags_of(name)[0]
    if kind == list[int]:
        return numbers(written, given)
    if get_origin(kind) is dict:
        pieces = listed(written, given) if option.commas else given
        return pairs(written, pieces, option.form, option.example, scalars=get_args(kind)[1] is Any)
    if option.path:
        return [*map(str, given)] if _takes_many(kind) else str(given)
    return listed(written, given) if option.commas else given


def _kind(field: FieldInfo) -> Any:
    """The type of an option's value where there is one."""
    kinds = get_args(field.annotation)
    return next(one for one in kinds if one is not NONE) if NONE in kinds else field.annotation


def _takes_many(kind: Any) -> bool:
    return get_origin(kind) in (list, dict) and kind != list[int]
