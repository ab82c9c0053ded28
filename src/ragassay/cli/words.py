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
        key, sep, value = piece.partition("=")
        if not sep or not key or not value:
            raise UsageError(f"--columns {piece!r}: write FIELD=COLUMN, as in answer=model_output.")
        found[key.strip()] = value.strip()
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
        key, sep, value = piece.partition("=")
        if not sep or not key:
            raise UsageError(f"{flag} {piece!r}: write NAME=VALUE, as in min_grade=2.")
        found[key.strip()] = yaml.safe_load(value)
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
        name, sep, folder = piece.partition("=")
        if not sep or not name or not folder:
            raise UsageError(
                f"{flag} {piece!r}: write NAME=FOLDER, as in xlm-roberta-large=models."
            )
        if found.get(name.strip(), folder.strip()) != folder.strip():
            raise UsageError(f"{flag}: two folders are named for {name.strip()}. Keep one of them.")
        found[name.strip()] = folder.strip()
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
