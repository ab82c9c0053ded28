"""What a person writes to have something judged: a rubric, or instructions of their own.

Both are data. ``ragassay.metrics.rubric.rubric_grade`` and ``ragassay.metrics.answer.answer_match``
make metrics of them, ``ragassay.judges.rubrics.rubric_files`` reads them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

RubricPart = Literal["query", "history", "passages", "answer", "references"]


@dataclass(frozen=True)
class Rubric:
    """Criteria and a scale.

    Attributes:
        name: the metric's name.
        title: one line for people.
        criteria: what is judged, and how; told to the judge.
        low, high: ends of the scale of whole numbers.
        levels: what scores mean, as ``((1, "unusable"), ...)``, lowest first; not all need be
            described.
        sees: parts of a sample that the judge is shown; a sample without one of them is unscored.
        also_sees: parts that it is shown where the sample has them.
        higher_is_better: direction; ``None`` where neither is better.
        normalise: whether the metric's value is put on 0 to 1 instead of the scale.
        recommended_for: what a person would pick it for.
    """

    name: str
    title: str
    criteria: str
    low: int
    high: int
    levels: tuple[tuple[int, str], ...] = ()
    sees: tuple[RubricPart, ...] = ("query", "answer")
    also_sees: tuple[RubricPart, ...] = ()
    higher_is_better: bool | None = True
    normalise: bool = False
    recommended_for: str = ""

    @property
    def digest(self) -> str:
        """Twelve digits that change with whatever can change a score; words for people do not."""
        return _digest(
            self.criteria,
            [self.low, self.high],
            self.levels,
            self.sees,
            self.also_sees,
            self.higher_is_better,
            self.normalise,
        )


@dataclass(frozen=True)
class JudgePrompt:
    """Instructions that take the place of ``answer_match``'s own.

    Attributes:
        name: the metric's name.
        instructions: the judge's system prompt. What the answer looks like, and that fenced text is
            data, is added to it.
        title: one line for people.
        temperature: of the judge; ``None`` leaves it as it is.
    """

    name: str
    instructions: str
    title: str = ""
    temperature: float | None = None

    @property
    def digest(self) -> str:
        """Twelve digits that change with instructions or temperature."""
        return _digest(self.instructions, self.temperature)


def _digest(*content: Any) -> str:
    body = json.dumps(content, ensure_ascii=True)
    return hashlib.sha256(body.encode()).hexdigest()[:12]
