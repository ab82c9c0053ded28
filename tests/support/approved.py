"""Approved outputs: files of lines that a person has read, with which a test compares what is made.

Where a change of code changes a line, ``pytest FILE --approve`` writes the files of these tests
anew: their difference in git shows what the change does.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np


def number(value: object, digits: int = 7) -> str:
    """A value as it is approved: floats with so many digits, also those in arrays, lists and
    mappings, and of a dataclass the values of its fields."""
    shown = partial(number, digits=digits)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = astuple(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shown(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    return value.__name__ if isinstance(value, type) else str(value)


def result(call: Callable[..., Any], *given: Any, digits: int = 7, **options: Any) -> str:
    """What a call returns, or the error that it raises, with its message."""
    try:
        return number(call(*given, **options), digits)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


WORDS_OF_LIBRARIES = (
    (r"version:[\d.]+", "version:*"),  # of sacrebleu
    (r"(is not JSON|is not a valid table|is not YAML) \((?:[^()]|\([^()]*\))*\)", r"\1 (*)"),
)
"""What differs from one version of a package to another."""


def check(path: Path, made: Iterable[str], approve: bool) -> None:
    """Compares lines with an approved file.

    Args:
        path: of the file.
        made: the lines. Spaces at their ends do not count.
        approve: whether to write them to the file instead.
    """
    now = "".join(f"{part.rstrip()}\n" for line in made for part in line.split("\n"))
    for pattern, shown in WORDS_OF_LIBRARIES:
        now = re.sub(pattern, shown, now)
    if approve:
        path.write_text(now, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8").split("\n")
    after = now.split("\n")
    different = [pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]]
    assert not different, different[:10]
    assert len(before) == len(after)
