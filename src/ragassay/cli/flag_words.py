"""Reads lists, mappings and numbers from the words of a command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError


def listed(flag: str, values: Sequence[str] | None) -> list[str] | None:
    """Repeated and comma-separated values as one list.

    Args:
        flag: that they were given to, for messages.
        values: as they were given; ``None`` for a flag that was not.

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


def _split(
    flag: str, piece: str, form: str, example: str, *, empty: bool = False
) -> tuple[str, str]:
    """The texts before and after the first equals sign; with ``empty`` the second may be empty."""
    key, sep, value = (part.strip() for part in piece.partition("="))
    if not sep or not key or not (value or empty):
        raise UsageError(f"{flag} {piece!r}: write {form}, as in {example}.")
    return key, value


def pairs(
    flag: str,
    pieces: Sequence[str] | None,
    form: str = "NAME=VALUE",
    example: str = "min_grade=2",
    *,
    scalars: bool = False,
) -> dict[str, Any]:
    """``name=value`` pieces as a mapping.

    Args:
        flag: that they were given to, for messages.
        pieces: one a pair.
        form, example: how a piece is written, for messages.
        scalars: values are YAML scalars (3, 0.5, true, words, or nothing), not texts.

    Raises:
        UsageError: a piece has no equals sign, or a name has two values.
    """
    import yaml

    values: dict[str, Any] = {}
    for piece in pieces or ():
        name, text = _split(flag, piece, form, example, empty=scalars)
        value = yaml.safe_load(text) if scalars else text
        if values.get(name, value) != value:
            what = form.partition("=")[2].casefold()
            raise UsageError(f"{flag}: two {what}s are named for {name}. Keep one of them.")
        values[name] = value
    return values


def numbers(flag: str, text: str | None) -> list[int] | None:
    """``1,5,10`` as whole numbers of at least 1.

    Args:
        flag: that they were given to, for messages.
        text: as it was given; ``None`` for a flag that was not.

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
