"""Short and different names for the files in a picture."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

MOST = 26
"""Characters of a name in a picture."""

_GENERIC = ("trecrag", "consistency")
"""Files that every run folder holds, so the folder's name says more."""

_WORDS = re.compile(r".{3,}[-_.\s/·]", re.S)
"""Whole words at the beginning of a name."""


def labels(paths: Sequence[Path]) -> list[str]:
    """A name for each path: that of the file, with as many of its folders as make it different from
    the others.

    The same path twice gets a number.
    """
    parts = [_parts(path) for path in paths]
    names = []
    for own in parts:
        others = [other for other in parts if other != own]
        depths = range(1, len(own))
        unique = (n for n in depths if all(other[-n:] != own[-n:] for other in others))
        names.append("/".join(own[-next(unique, len(own)) :]))
    return numbered(names)


def numbered(names: Sequence[str]) -> list[str]:
    """The names; the second of two alike gets (2), the third (3)."""
    unique: list[str] = []
    for name in names:
        n, one = 1, name
        while one in unique:
            n += 1
            one = f"{name} ({n})"
        unique.append(one)
    return unique


def shortened(names: Sequence[str]) -> list[str]:
    """The names, shortened where they are too long. Names that were different stay different.

    What all names begin with is cut first, in whole words, then the middle.

    Args:
        names: of files.
    """
    if all(len(name) <= MOST for name in names):
        return list(names)
    prefix = os.path.commonprefix(list(names)) if len(names) > 1 else ""  # noqa: RUF071 not a path
    words = _WORDS.match(prefix)
    ends = [name[words.end() :] if words else "" for name in names]
    short = [
        _middle(f"…{end}" if end else name, MOST) for name, end in zip(names, ends, strict=True)
    ]
    return [
        one if short.count(one) == 1 else f"{at}: {_middle(one, MOST - 4)}"
        for at, one in enumerate(short, start=1)
    ]


def _parts(path: Path) -> list[str]:
    absolute = path.absolute()
    name = absolute.name
    if not absolute.is_dir():
        name = name.removesuffix(".gz")
        name = name.rsplit(".", 1)[0] or name
    folders = [part for part in absolute.parts[1:-1] if part != ".."]
    return folders if name in _GENERIC and folders else [*folders, name]


def _middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    last = (most - 1) // 2
    return f"{name[: most - 1 - last]}…{name[len(name) - last :]}"
