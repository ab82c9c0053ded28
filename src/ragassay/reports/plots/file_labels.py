"""What files are called in a picture: short, and never alike."""

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
    """A name for each path: the file's, or with as many of its folders as tell it from others.

    The same path twice gets a number.
    """
    parts = [_parts(path) for path in paths]
    depth = [1] * len(parts)
    while True:
        found = ["/".join(piece[-n:]) for piece, n in zip(parts, depth, strict=True)]
        alike: dict[str, set[tuple[str, ...]]] = {}
        for name, piece in zip(found, parts, strict=True):
            alike.setdefault(name, set()).add(tuple(piece))
        longer = [
            at
            for at, name in enumerate(found)
            if len(alike[name]) > 1 and depth[at] < len(parts[at])
        ]
        if not longer:
            return numbered(found)
        for at in longer:
            depth[at] += 1


def numbered(names: Sequence[str]) -> list[str]:
    """The names; the second of two alike gets (2), the third (3)."""
    found: list[str] = []
    for name in names:
        n, one = 1, name
        while one in found:
            n += 1
            one = f"{name} ({n})"
        found.append(one)
    return found


def shortened(names: Sequence[str], most: int = MOST) -> list[str]:
    """The names with at most ``most`` characters each, all different where they were.

    Where a name is too long, what all names begin or end with goes first, then the middle.
    """
    if all(len(name) <= most for name in names):
        return list(names)
    begin, end = _shared(names)
    cut = []
    for name in names:
        rest = name[begin : len(name) - end]
        cut.append(f"{'…' if begin else ''}{rest}{'…' if end else ''}" if rest else name)
    for tail in (0.5, 0.75, 0.25):
        found = [_middle(name, most, tail) for name in cut]
        if len(set(found)) == len(set(names)):
            return found
    return [
        one if found.count(one) == 1 else f"{at}: {_middle(one, most - 4, 0.5)}"
        for at, one in enumerate(found, start=1)
    ]


def _parts(path: Path) -> list[str]:
    whole = path.absolute()
    name = whole.name
    if not whole.is_dir():
        name = name.removesuffix(".gz")
        name = name.rsplit(".", 1)[0] or name
    folders = [part for part in whole.parts[1:-1] if part != ".."]
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
