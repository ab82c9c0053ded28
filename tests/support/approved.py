"""Approved outputs: files of lines that a person has read, with which a test compares what is made.

Where a change of code changes a line, ``pytest FILE --approve`` writes the files of these tests
anew: their difference in git shows what the change does.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def number(value: object) -> str:
    """A value as it is approved: floats with seven digits, what holds some of them likewise."""
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {number(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(number, value)) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(number, value))) + "}"
    return str(value)


def check(path: Path, made: Iterable[str], approve: bool) -> None:
    """Compares lines with an approved file.

    Args:
        path: of the file.
        made: the lines. Spaces at their ends do not count.
        approve: whether to write them to the file instead.
    """
    now = "".join(f"{part.rstrip()}\n" for line in made for part in line.split("\n"))
    if approve:
        path.write_text(now, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8").split("\n")
    after = now.split("\n")
    different = [pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]]
    assert not different, different[:10]
    assert len(before) == len(after)
