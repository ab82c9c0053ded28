"""Values of flags: read from words, and joined with the configuration file that a command names."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

from ragassay.base.errors import UsageError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from ragassay.engine.config.run_config import RunConfig

NONE = type(None)


def value_of(name: str, field: FieldInfo, words: Any) -> Any:
    """The value of an option, converted from its flag.

    Raises:
        UsageError: the words are not of the option's form.
    """
    from ragassay.engine.config.option import options_of
    from ragassay.engine.config.run_config import RunConfig

    option, kind = options_of(RunConfig)[name], kind_of(field)
    flag_name = option.flags_of(name)[0]
    if kind == list[int]:
        return numbers(flag_name, words)
    pieces = listed(flag_name, words) if option.commas else words
    if get_origin(kind) is not dict:
        return pieces
    values = get_args(kind)[1]
    several = list[str] in get_args(values)
    form = (option.form, option.example)
    return pairs(flag_name, pieces, *form, scalars=values is Any, several=several)


def kind_of(field: FieldInfo) -> Any:
    """The type of an option's value where there is one."""
    kinds = get_args(field.annotation)
    return next(one for one in kinds if one is not NONE) if NONE in kinds else field.annotation


def takes_many(kind: Any) -> bool:
    """Whether a flag of this type may be given several times."""
    return get_origin(kind) in (list, dict) and kind != list[int]


def listed(flag: str, values: Sequence[str] | None) -> list[str] | None:
    """Repeated and comma-separated values as one list.

    Raises:
        UsageError: one of them is empty: an unset variable of the shell must not silently change
            the meaning.
    """
    if values is None:
        return None
    names = [piece.strip() for value in values for piece in value.split(",")]
    if not all(names):
        raise UsageError(f"{flag} {','.join(values)!r}: a name is empty (an unset variable?).")
    return names


def pairs(
    flag: str,
    pieces: Sequence[str] | None,
    form: str = "NAME=VALUE",
    example: str = "min_grade=2",
    *,
    scalars: bool = False,
    several: bool = False,
) -> dict[str, Any]:
    """``name=value`` pieces as a mapping.

    Args:
        flag: that they were given to, for messages.
        pieces: one a pair.
        form, example: how a piece is written, for messages.
        scalars: values are YAML scalars (3, 0.5, true, words, or nothing), not texts.
        several: a name may have several values, which become a list.

    Raises:
        UsageError: a piece has no equals sign, or a name has two values.
    """
    import yaml

    values: dict[str, Any] = {}
    for piece in pieces or ():
        name, sep, text = (part.strip() for part in piece.partition("="))
        if not sep or not name or not (text or scalars):
            raise UsageError(f"{flag} {piece!r}: write {form}, as in {example}.")
        value = yaml.safe_load(text) if scalars else text
        if several and values.get(name, value) != value:
            before = values[name]
            value = [*(before if isinstance(before, list) else [before]), value]
        elif values.get(name, value) != value:
            noun = form.partition("=")[2].casefold()
            raise UsageError(f"{flag}: two {noun}s are named for {name}. Keep one of them.")
        values[name] = value
    return values


def numbers(flag: str, text: str | None) -> list[int] | None:
    """``1,5,10`` as whole numbers of at least 1.

    Raises:
        UsageError: something else.
    """
    if text is None:
        return None
    try:
        values = [int(piece) for piece in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{flag} {text!r}: write whole numbers, as in 1,5,10.") from error
    if min(values) < 1:
        raise UsageError(f"{flag} {text!r}: each must be at least 1.")
    return values


def is_config(path: Path) -> bool:
    """Whether a file is a configuration and not data."""
    return path.suffix.casefold() in (".yaml", ".yml")


def configured(
    data: Path | None, config: Path | None, flags: Mapping[str, Any], more: Sequence[Path] = ()
) -> RunConfig:
    """The configuration that a command is to use: of DATA (samples, or itself a configuration), the
    file that ``--config`` names, and flags, which win over it.

    Raises:
        UsageError: nothing is named, or two configurations are, or an impossible flag.
        InputError: the file cannot be read, or something in it is wrong.
    """
    from ragassay.compat.open_rag_eval.published_config import read_config
    from ragassay.engine.config.run_config import make_config
    from ragassay.engine.run.config_reading import checked
    from ragassay.formats.sources import standard_input
    from ragassay.metrics.core import naming
    from ragassay.metrics.core.function_metrics import own_names

    if data is not None and is_config(data):
        if config is not None:
            raise UsageError(
                f"{data} and {config} are both configurations. Name one of them, and the data."
            )
        data, config = None, data
    names = [str(name) for name in (data, *more) if name is not None]
    if standard_input.NAME in names:
        standard_input.keep(sys.stdin)
    keys = {**flags, "data": names if len(names) > 1 else names[0]} if names else dict(flags)
    if keys.get("metrics"):
        keys["metrics"] = own_names(naming.split(keys["metrics"]))
    if config is not None:
        file = read_config(config, keys)
        if "metrics" not in keys and file.values.get("metrics"):
            file.values["metrics"] = own_names(naming.split(file.values["metrics"]), typed=False)
        return checked(file, keys)
    if data is None:
        raise UsageError("No data is named. Give a file, or a configuration with --config.")
    return make_config(**keys)
