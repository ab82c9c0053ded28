"""What a person writes for judges: prompts in place of the package's (one file for each kind of
question, written as these are), rubrics, and instructions for ``answer_match``, in YAML. The
built-in rubrics are the files in ``ragassay/rubrics``."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from ragassay.base import yaml_files
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.yaml_files import text_of
from ragassay.judges.question import PART, Question, environment, kinds

ALWAYS = "rule"
"""The placeholder that every prompt may have: what fences mean (`question.RULE`)."""


def placeholders(kind: type[Question[Any]]) -> dict[str, bool]:
    """The placeholders of a kind of question, and whether a prompt needs each."""
    fields = dataclasses.fields(kind)
    return {field.name: field.default is dataclasses.MISSING for field in fields} | {ALWAYS: False}


def read_prompts(named: Mapping[str, str | os.PathLike[str]]) -> dict[str, str]:
    """The prompts in files by kind of question, as `Question.messages` takes them. A `UsageError`
    for an unknown kind, an `InputError` for a file that cannot be read or has wrong
    placeholders."""
    known = kinds()
    for kind in named:
        if kind not in known:
            raise UsageError(
                f"prompts: there is no question {kind!r}. {did_you_mean(kind, known)} There are: "
                f"{', '.join(known)}. `ragassay metrics NAME` says which of them a metric asks."
            )
    return {kind: _read(known[kind], path) for kind, path in named.items()}


def _read(kind: type[Question[Any]], path: str | os.PathLike[str]) -> str:
    import jinja2
    from jinja2 import nodes

    written = text_of(Path(path))
    source = written if PART.search(written) else f"--- user ---\n{written}"
    offset = source.count("\n") - written.count("\n")
    known = placeholders(kind)
    shown = ", ".join(f"{{{{ {name} }}}}" for name in known)
    try:
        tree = environment().parse(source)
        environment().from_string(source)  # unknown filters
    except jinja2.TemplateSyntaxError as error:
        raise InputError(
            f"is not valid: {error.message}", path=path, line=max(1, error.lineno - offset),
            hint="Placeholders are written {{ name }}; other double braces and {% need {% raw %}.",
        ) from error  # fmt: skip
    found = list(tree.find_all(nodes.Name))
    own = {item.name for item in found if item.ctx != "load"} | {"loop"}
    used = [item for item in found if item.ctx == "load" and item.name not in own]
    for value in used:
        if value.name not in known:
            raise InputError(
                f"{kind.kind} has no placeholder {{{{ {value.name} }}}}",
                path=path, line=value.lineno - offset,
                hint=f"{did_you_mean(value.name, known)} There are: {shown}.".strip(),
            )  # fmt: skip
    lacking = [name for name, needed in known.items() if needed]
    lacking = [name for name in lacking if name not in {item.name for item in used}]
    if lacking:
        name = lacking[0]
        # Published prompts are often written for str.format.
        single = re.search(rf"(?<!{{){{{name}}}(?!}})", written)
        raise InputError(
            f"{kind.kind} needs the placeholder {{{{ {name} }}}}, and the prompt does not have it",
            path=path, line=written.count("\n", 0, single.start() if single else None) + 1,
            hint=f"Placeholders are written with two braces. There are: {shown}.",
        )  # fmt: skip
    return source


STEPS = 100  # most steps of a scale: a judge does not distinguish more
MOST_BYTES = 200_000  # a larger file is something else, given by mistake

RubricPart = Literal["query", "history", "passages", "answer", "references"]


_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_\-]*$", max_length=60)]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50_000)]
_Line = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=300, pattern=r"^[^\n]*$")
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Scale(_Model):
    """Whole numbers from ``low`` to ``high``, and what some of them mean."""

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


_Parts = Annotated[tuple[RubricPart, ...], Field(strict=False)]


class Rubric(_Model):
    """Criteria, as a file gives them, with a scale (default: 1 to 5) and a name (default: the
    file's). A sample without one of the parts that the judge ``sees`` is unscored; it is shown
    those of ``also_sees`` where they are there. ``normalise`` puts the metric's value on 0 to 1
    instead of the scale."""

    name: _Name = "rubric"
    title: _Line = ""
    criteria: _Text
    scale: Scale = Scale(low=1, high=5)
    sees: _Parts = Field(("query", "answer"), min_length=1)
    also_sees: _Parts = ()
    higher_is_better: bool | None = True
    normalise: bool = False

    @model_validator(mode="after")
    def _shows_each_part_once(self) -> Self:
        parts = [*self.sees, *self.also_sees]
        twice = next((part for part in parts if parts.count(part) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice!r} is named twice in sees and also_sees")
        return self

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """What scores mean, lowest first; not all need be described."""
        return tuple(sorted(self.scale.levels.items()))

    @property
    def digest(self) -> str:
        """Twelve digits that change with whatever can change a score; words for people do not."""
        parts = (self.levels, self.sees, self.also_sees)
        scale = [self.scale.low, self.scale.high]
        return _digest(self.criteria, scale, *parts, self.higher_is_better, self.normalise)


class JudgePrompt(_Model):
    """Instructions that take the place of ``answer_match``'s own system prompt. What the answer
    looks like, and that fenced text is data, is added to them."""

    name: _Name
    instructions: _Text
    title: _Line = ""
    temperature: float | None = Field(None, ge=0, le=2)

    @property
    def digest(self) -> str:
        """Twelve digits that change with instructions or temperature."""
        return _digest(self.instructions, self.temperature)


def _digest(*content: Any) -> str:
    body = json.dumps(content, ensure_ascii=True)
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def read_rubric(path: str | Path) -> Rubric:
    """The rubric in a YAML file (docs/own-metrics.md); an `InputError` with line and field."""
    return parse_rubric(_content(path), path)


def parse_rubric(text: str, path: object = "rubric") -> Rubric:
    """The rubric that a text holds; raises as `read_rubric`."""
    rubric = yaml_files.parse(text, Rubric, path)
    if "name" not in rubric.model_fields_set:
        rubric = rubric.model_copy(update={"name": _named_by(Path(str(path)))})
    title = rubric.title.rstrip(".") or re.sub("[_-]", " ", rubric.name)
    return rubric.model_copy(update={"title": title})


def read_judge_prompt(path: str | Path) -> JudgePrompt:
    """Instructions for ``answer_match`` from a file, or an `InputError`. A YAML file has ``name``,
    ``instructions`` and perhaps ``title`` and ``temperature``; any other file is the instructions,
    and its metric is called ``answer_match_`` and the file's name."""
    source, text = Path(path), _content(path)
    if source.suffix.casefold() in (".yaml", ".yml"):
        prompt = yaml_files.parse(text, JudgePrompt, path)
        return prompt.model_copy(update={"title": prompt.title.rstrip(".")})
    if not text.strip():
        raise InputError(
            "holds no instructions", path=path, hint="Write the judge's instructions into it."
        )
    return JudgePrompt(name=f"answer_match_{_named_by(source)}"[:60], instructions=text.strip())


def _named_by(file: Path) -> str:
    """The name of a file as a metric can have it."""
    return re.sub(r"[^A-Za-z0-9_\-]+", "_", file.stem).strip("_")[:60] or "own"


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
