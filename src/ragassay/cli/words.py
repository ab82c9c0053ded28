"""From the words of a command line to values: lists, mappings, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import UsageError


def listed(flag: str, values: Sequence[str] | None) -> list[str] | None:
    """Repeated and comma-separated values as one list.

    Raises:
        UsageError: one of them is empty: what a shell's unset variable leaves must not silently
            become something else.
    """
    if values is None:
        return None
    found = [piece.strip() for value in values for piece in value.split(",")]
    if not all(found):
        raise UsageError(f"{flag} {','.join(values)!r}: a name is empty (an unset variable?).")
    return found


def _parted(
    flag: str, piece: str, form: str, example: str, *, empty: bool = False
) -> tuple[str, str]:
    """What stands before and behind the first equals sign; ``empty``: nothing may stand behind."""
    key, sep, value = (part.strip() for part in piece.partition("="))
    if not sep or not key or not (value or empty):
        raise UsageError(f"{flag} {piece!r}: write {form}, as in {example}.")
    return key, value


def mapping(values: Sequence[str] | None) -> dict[str, str] | None:
    """``a=x,b=y`` as a mapping.

    Raises:
        UsageError: a piece has no equals sign.
    """
    pieces = listed("--columns", values)
    if pieces is None:
        return None
    found = {}
    for piece in pieces:
        key, value = _parted("--columns", piece, "FIELD=COLUMN", "answer=model_output")
        found[key] = value
    return found


def assignments(flag: str, values: Sequence[str] | None) -> dict[str, object] | None:
    """``name=value`` pieces as a mapping; values are YAML scalars (3, 0.5, true, words).

    Raises:
        UsageError: a piece has no equals sign.
    """
    if values is None:
        return None
    import yaml

    found: dict[str, object] = {}
    for piece in values:
        key, value = _parted(flag, piece, "NAME=VALUE", "min_grade=2", empty=True)
        found[key] = yaml.safe_load(value)
    return found


def folders(flag: str, values: Sequence[str] | None) -> dict[str, str] | None:
    """``name=folder`` pieces as a mapping.

    Raises:
        UsageError: a piece has no equals sign.
    """
    if values is None:
        return None
    found: dict[str, str] = {}
    for piece in values:
        name, folder = _parted(flag, piece, "NAME=FOLDER", "xlm-roberta-large=models")
        if found.get(name, folder) != folder:
            raise UsageError(f"{flag}: two folders are named for {name}. Keep one of them.")
        found[name] = folder
    return found


def numbers(flag: str, text: str | None) -> list[int] | None:
    """``1,5,10`` as whole numbers of at least 1.

    Raises:
        UsageError: something else.
    """
    if text is None:
        return None
    try:
        found = [int(piece) for piece in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{flag} {text!r}: write whole numbers, as in 1,5,10.") from error
    if min(found) < 1:
        raise UsageError(f"{flag} {text!r}: each must be at least 1.")
    return found


def is_config(path: Path) -> bool:
    """Whether a file is a configuration and not data."""
    return path.suffix.casefold() in (".yaml", ".yml")
