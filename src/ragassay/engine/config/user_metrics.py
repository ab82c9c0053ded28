"""Metrics from a user's files: rubrics, and instructions for ``answer_match``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ragassay.errors import InputError, UsageError
from ragassay.judges.rubrics import JudgePrompt, Rubric, read_judge_prompt, read_rubric
from ragassay.metrics.core import Metric

T = TypeVar("T", Rubric, JudgePrompt)


def own_metrics(config: Mapping[str, Any], base: Path | None = None) -> list[Metric]:
    """The metrics that a configuration's ``rubric`` and ``judge_prompt`` files define.

    Args:
        config: keys of a configuration.
        base: folder that relative paths start from; the working directory when left out.

    Raises:
        InputError: a file cannot be read, or does not define a metric.
    """
    start = base or Path()
    metrics = [load_rubric(start / name) for name in config.get("rubric") or ()]
    if config.get("judge_prompt"):
        metrics.append(load_judge_prompt(start / config["judge_prompt"]))
    return metrics


def load_rubric(path: str | Path) -> Metric:
    """The metric that a rubric's YAML file describes (docs/own-metrics.md).

    Its name is known from then on; loading the edited file again replaces it.

    Raises:
        InputError: the file cannot be read, is no rubric, or has the name of a built-in metric.
    """
    from ragassay.metrics.rubric import rubric_metric

    return _made(rubric_metric, read_rubric(path), path)


def load_judge_prompt(path: str | Path) -> Metric:
    """``answer_match`` by the instructions in a text or YAML file, as a metric of its own.

    Raises:
        InputError: the file cannot be read, holds no instructions, or has the name of a built-in
            metric.
    """
    from ragassay.metrics.answer import with_prompt

    return _made(with_prompt, read_judge_prompt(path), path)


def _made(make: Callable[[T], Metric], definition: T, path: str | Path) -> Metric:
    try:
        return make(definition)
    except UsageError as error:
        raise InputError(str(error), path=path, field="name") from error
