"""What a function tells of the metric that it becomes: the parts of a sample that it takes, its own
parameters, a hash of its source, and where it can be loaded from."""

from __future__ import annotations

import hashlib
import inspect
import sys
import tokenize
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.metrics.core.metric import Need

_NEEDS: tuple[Need, ...] = (
    *("query", "passages", "answer", "references", "gold", "answerability", "history"),
    "given",
)
"""Parts without which a metric has no value, in the order in which they are looked for."""

_FREE = (
    *("sample", "id", "system", "repeat", "metadata", "timestamp", "failure"),
    *("reference_groups", "negative_references"),
)
"""Parts that every sample has, if only empty."""


def part_of(sample: Sample, name: str) -> Any:
    """A part of a sample as functions get it: texts, and lists of texts.

    Args:
        sample: any sample.
        name: a parameter's name.
    """
    if name == "sample":
        return sample
    value = getattr(sample, name)
    if name == "metadata":
        return deepcopy(value)  # a function that changes it changes no other metric's
    if name == "answer":
        return None if value is None else value.text
    if name == "passages":
        return None if value is None else [one.text for one in value]
    if isinstance(value, tuple):
        return list(value) or None if name in ("references", "history") else list(value)
    return str(value) if name == "answerability" and value is not None else value


def signature_of(
    function: Callable[..., Any], name: str
) -> tuple[tuple[Need, ...], tuple[Need, ...], tuple[str, ...], Mapping[str, Any]]:
    """What a function takes.

    Args:
        function: that is to be a metric.
        name: of the metric, for messages.

    Returns:
        The parts of a sample that it needs, those that it takes where they are there, the names of
        all its parameters that are parts, and its other parameters with their defaults.

    Raises:
        UsageError: a parameter without a fixed name, or that is no part and has no usable default.
    """
    needed: set[str] = set()
    sample_parts: list[str] = []
    parameters: dict[str, Any] = {}
    for one in inspect.signature(function).parameters.values():
        where = f"The metric {name}: its parameter {one.name!r}"
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise UsageError(f"{where} has no fixed name. Name the parts of a sample it takes.")
        if one.name in (*_NEEDS, *_FREE):
            sample_parts.append(one.name)
            if one.default is one.empty:
                needed.add(one.name)
            elif one.default is not None:
                raise UsageError(
                    f"{where} is a part of the sample; its default can only be None, which it gets "
                    "where the sample lacks it."
                )
        elif one.default is one.empty:
            hint = did_you_mean(one.name, (*_NEEDS, *_FREE))
            raise UsageError(
                f"{where} is no part of a sample. {hint} There are: "
                f"{', '.join((*_NEEDS, *_FREE))}; any other parameter needs a default."
            )
        elif not isinstance(one.default, bool | int | float | str):
            kind = type(one.default).__name__
            raise UsageError(
                f"{where} has a {kind} as its default; a metric's parameter is a number, a flag or "
                "a text."
            )
        else:
            parameters[one.name] = one.default
    needs = tuple(need for need in _NEEDS if need in needed)
    uses = tuple(need for need in _NEEDS if need in sample_parts and need not in needed)
    return needs, uses, tuple(sample_parts), parameters


def digest_of(function: Callable[..., Any]) -> str:
    """The hash of a function's source, or of its compiled form where there is none."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        # There is no file, or the file of that name holds something else at that line.
        code = getattr(function, "__code__", None)
        source = "" if code is None else f"{code.co_code!r}{code.co_consts!r}{code.co_names!r}"
    # A function made by another one also depends on the values that this one gave it.
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # not filled yet
            value = cell.cell_contents
            source += f"|{value!r}" if isinstance(value, str | int | float | None) else ""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:12]


def place_of(function: Callable[..., Any]) -> str:
    """``module:function``, from which the function can be loaded again; empty where it cannot."""
    module, path = function.__module__, function.__qualname__
    if module == "__main__" or "<locals>" in path or module not in sys.modules:
        return ""
    return f"{module}:{path}"
