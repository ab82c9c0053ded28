"""Short and different names for the files in a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

MOST = 26
"""Characters of a name in a picture."""

_GENERIC = ("trecrag", "consistency")
"""Files that every run folder holds, so the folder's name says more."""

_TOKEN = re.compile(r"[-_.\s/·]")


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

    What all names begin or end with is cut first, then the middle.

    Args:
        names: of files.
        most: characters that a name may have.
    """
    if all(len(name) <= most for name in names):
        return list(names)
    begin, end = _shared(names)
    cut = []
    for name in names:
        rest = name[begin : len(name) - end]
        cut.append(f"{'…' if begin else ''}{rest}{'…' if end else ''}" if rest else name)
    for tail in (0.5, 0.75, 0.25):
        short = [_middle(name, most, tail) for name in cut]
        if len(set(short)) == len(set(names)):
            return short
    return [
        one if short.count(one) == 1 else f"{at}: {_middle(one, most - 4, 0.5)}"
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


def _shared(names: Sequence[str]) -> tuple[int, int]:
    """How many characters all names begin and end with, in whole words of at least four."""
    if len(set(names)) < 2:
        return 0, 0
    begin = _whole_words(_common(names))
    rest = [name[begin:][::-1] for name in names]
    end = _whole_words(_common(rest))
    return begin if begin >= 4 else 0, end if end >= 4 else 0


def _common(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    at = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if at is None else first[:at]


def _whole_words(text: str) -> int:
    ends = [match.end() for match in _TOKEN.finditer(text)]
    return ends[-1] if ends else 0


def _middle(name: str, most: int, tail: float) -> str:
    if len(name) <= most:
        return name
    last = round((most - 1) * tail)
    return f"{name[: most - 1 - last]}…{name[len(name) - last :]}"
