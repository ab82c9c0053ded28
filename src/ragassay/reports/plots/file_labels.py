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
    depth = [1] * len(parts)
    while True:
        names = ["/".join(piece[-n:]) for piece, n in zip(parts, depth, strict=True)]
        alike: dict[str, set[tuple[str, ...]]] = {}
        for name, piece in zip(names, parts, strict=True):
            alike.setdefault(name, set()).add(tuple(piece))
        longer = [
            at
            for at, name in enumerate(names)
            if len(alike[name]) > 1 and depth[at] < len(parts[at])
        ]
        if not longer:
            return numbered(names)
        for at in longer:
            depth[at] += 1


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


def shortened(names: Sequence[str], most: int = MOST) -> list[str]:
    """The names, shortened where they are too long. Names that were different stay different.

    What all names begin with is cut first, in whole words, then the middle.

    Args:
        names: of files.
        most: characters that a name may have.
    """
    if all(len(name) <= most for name in names):
        return list(names)
    begun = os.path.commonprefix(list(names)) if len(names) > 1 else ""  # noqa: RUF071 not a path
    words = _WORDS.match(begun)
    begin = 0 if words is None else words.end()
    short = [
        _middle(f"…{name[begin:]}" if name[begin:] and begin else name, most) for name in names
    ]
    return [
        one if short.count(one) == 1 else f"{at}: {_middle(one, most - 4)}"
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
