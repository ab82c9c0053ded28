"""Rubrics and judge's instructions from files; the bundled rubrics (``ragassay/rubrics``)."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from ragassay.base import yaml_positions
from ragassay.base.errors import InputError
from ragassay.base.yaml_files import text_of
from ragassay.judges.rubrics.rubric import JudgePrompt, Rubric, RubricPart

STEPS = 100
"""Most steps of a scale: a judge does not distinguish more."""

MOST_BYTES = 200_000
"""A larger file is something else, given by mistake."""

_Name = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_\-]*$", max_length=60),
]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50_000)]
_Line = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=300, pattern=r"^[^\n]*$")
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Scale(_Model):
    low: int = Field(ge=-1000, le=1000)
    high: int = Field(ge=-1000, le=1000)
    levels: dict[int, _Text] = {}

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low must be below high, but they are {self.low} and {self.high}")
        if self.high - self.low > STEPS:
            raise ValueError(f"the scale has more than {STEPS} steps; a judge cannot keep to it")
        for score in self.levels:
            if not self.low <= score <= self.high:
                raise ValueError(f"level {score} is not on the scale {self.low} to {self.high}")
        return self


class _RubricFile(_Model):
    name: _Name
    title: _Line = ""
    criteria: _Text
    scale: _Scale
    sees: list[RubricPart] = Field(["query", "answer"], min_length=1)
    also_sees: list[RubricPart] = []
    higher_is_better: bool | None = True
    normalise: bool = False
    recommended_for: _Line = ""

    @model_validator(mode="after")
    def _shows_each_part_once(self) -> Self:
        parts = [*self.sees, *self.also_sees]
        twice = next((part for part in parts if parts.count(part) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice!r} stands twice in sees and also_sees")
        return self


class _PromptFile(_Model):
    name: _Name
    title: _Line = ""
    instructions: _Text
    temperature: float | None = Field(None, ge=0, le=2)


def read_rubric(path: str | Path) -> Rubric:
    """The rubric in a YAML file (docs/own-metrics.md).

    Raises:
        InputError: the file cannot be read or is no rubric, with line and field.
    """
    return parse_rubric(_content(path), path)


def parse_rubric(text: str, path: object = "rubric") -> Rubric:
    """The rubric that a text holds.

    Args:
        text: in YAML.
        path: names it in errors.

    Raises:
        InputError: it holds none; with the line.
    """
    content = yaml_positions.parse(text, _RubricFile, path)
    return Rubric(
        name=content.name,
        title=content.title.rstrip(".") or content.name.replace("_", " ").replace("-", " "),
        criteria=content.criteria,
        low=content.scale.low,
        high=content.scale.high,
        levels=tuple(sorted(content.scale.levels.items())),
        sees=tuple(content.sees),
        also_sees=tuple(content.also_sees),
        higher_is_better=content.higher_is_better,
        normalise=content.normalise,
        recommended_for=content.recommended_for,
    )


def read_judge_prompt(path: str | Path) -> JudgePrompt:
    """Instructions for ``answer_match`` from a file.

    A YAML file (``.yaml``, ``.yml``) has ``name``, ``instructions`` and, where wanted, ``title``
    and ``temperature``. Any other file is a text that is the instructions; its metric is called
    ``answer_match_`` and the file's name.

    Raises:
        InputError: the file cannot be read, or holds no instructions.
    """
    source, text = Path(path), _content(path)
    if source.suffix.casefold() in (".yaml", ".yml"):
        content = yaml_positions.parse(text, _PromptFile, path)
        title = content.title.rstrip(".")
        return JudgePrompt(content.name, content.instructions, title, content.temperature)
    if not text.strip():
        raise InputError(
            "holds no instructions", path=path, hint="Write what the judge is to do into it."
        )
    stem = re.sub(r"[^A-Za-z0-9_\-]+", "_", source.stem).strip("_") or "own"
    return JudgePrompt(f"answer_match_{stem}"[:60], text.strip())


@cache
def bundled() -> tuple[Rubric, ...]:
    """The rubrics that come with ragassay, by name."""
    folder = resources.files("ragassay") / "rubrics"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=str)
    return tuple(parse_rubric(file.read_text(encoding="utf-8"), file.name) for file in files)


def _content(path: str | Path) -> str:
    source = Path(path)
    if source.is_file() and source.stat().st_size > MOST_BYTES:
        raise InputError(
            f"has more than {MOST_BYTES:,} bytes", path=path, hint="Is it the right file?"
        )
    return text_of(source)
