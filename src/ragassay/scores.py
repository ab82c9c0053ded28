"""The nouns: what comes out.

A metric gives a `Score` or an `Unscored`. There is no third thing: no NaN, no neutral 0.5, no zero
for "could not be measured".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Value = float | int | bool | str
"""A score's value: a finite number, a flag, or a label."""


class Reason(StrEnum):
    """Why a metric has no value for a sample.

    ``incomplete`` reasons are accidents: something that should have been scored was not (exit
    code 3). The others state a fact about the sample or the installation.
    """

    NOT_APPLICABLE = "not_applicable"
    """The metric does not apply: no gold passages, no contexts, no references, one run only."""
    MISSING_INPUT = "missing_input"
    """The sample lacks a part that the metric needs (for example its answer)."""
    UNDEFINED = "undefined"
    """The arithmetic has no result, as a reference that normalises to nothing."""
    NEEDS_EXTRA = "needs_extra"
    """An optional package, or a model, is not installed."""
    FAILED = "failed"
    """The metric itself broke down; the detail says how."""

    @property
    def incomplete(self) -> bool:
        """Whether a run with such a score counts as unfinished."""
        return self in _INCOMPLETE


_INCOMPLETE = frozenset({Reason.FAILED})


@dataclass(frozen=True, slots=True)
class Score:
    """A value that was measured.

    Attributes:
        value: finite number, flag or label.
        parts: what the value is made of (per passage, per reference, indices), strict JSON.
        explanation: one sentence for a person, where the value needs one.

    Raises:
        ValueError: the value, or a number inside ``parts``, is NaN or infinite.
    """

    value: Value
    parts: Mapping[str, Any] = field(default_factory=dict)
    explanation: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"a score must be finite, not {self.value}; use Unscored")
        if self.parts:
            _check_finite(self.parts, "parts")

    @property
    def number(self) -> float | None:
        """The value as a float (flags count 0 and 1), or ``None`` for a label."""
        return None if isinstance(self.value, str) else float(self.value)


@dataclass(frozen=True, slots=True)
class Unscored:
    """No value, and why.

    Attributes:
        reason: the typed reason.
        detail: one sentence for a person: what is missing and, where it helps, what to do.
    """

    reason: Reason
    detail: str = ""


Outcome = Score | Unscored
"""What a metric says about one sample."""


def _check_finite(value: Any, where: str) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} holds {value}; only finite numbers are scores")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check_finite(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_finite(item, f"{where}[{index}]")
