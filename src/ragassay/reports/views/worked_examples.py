"""An example of each metric, computed when it is shown: ``worked_examples.yaml`` holds tiny
samples, and numbers or a reply that stand for what a model or a judge says."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from ragassay import suites
from ragassay.base import packages
from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.base.json_data import dumps
from ragassay.base.sample import Sample
from ragassay.base.score import Score
from ragassay.formats import from_records
from ragassay.metrics.consistency.runs_spread import OfMetric
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.window import Window
from ragassay.models.classifiers.hhem import HhemModel
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.token_matching import WordVectors
from ragassay.models.run_models import Models
from ragassay.reports.text import wording

I = TypeVar("I")  # noqa: E741

_REQUIRED = dataclasses.MISSING
_FIELD = {
    "gold_passages": "gold",
    "answerable": "answerability",
    "metrics": "given",
}
"""The need that a key of a record fulfils, where it has another name."""


_Worked = tuple[str, Any, str, str]
"""The outcome of an example: the metric's shown name, its value, why, and who judged."""


def worked_example(name: str) -> list[tuple[str, str]]:
    """A tiny sample, and what the metric says of it: computed, not written down."""
    cls = next(cls for cls, _ in naming.find(name, suites.every_alias()))
    examples = _examples()
    example = examples["metrics"].get(cls.name)
    if example is None and cls.kind != "model":  # of another package: loading it may take minutes
        example = examples["families"].get(cls.family)
    if example is None:
        return []
    metric = example_of(cls, name)
    if "as" in example:
        metric = naming.parse(example["as"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RagassayWarning)
        worked = _by_model(metric, example) if _MODELS & set(example) else _by_run(metric, example)
    if worked is None:
        return []
    shown_name, value, why, judge = worked
    rows = [("example", _read_by(metric, example))]
    for key, what in _RECORDED.items():
        if recorded := example.get(key):
            text = recorded if isinstance(recorded, str) else dumps(recorded).decode()
            rows.append(("recorded", f"{what}: {text}"))
    rows += [("gives", f"{shown_name} = {wording.value(value)}"), ("because", why)]
    return [row for row in (*rows, ("judged by", judge)) if row[1]]


def example_of(cls: type[Metric], canonical: str | None) -> Metric:
    """The metric of a canonical name, with a value for a required parameter that the name lacks."""
    try:
        return naming.parse(canonical or cls.name)
    except UsageError:
        required = [one.name for one in dataclasses.fields(cls) if one.default is _REQUIRED]
        return cls(**dict.fromkeys(required, 1))  # only cut-offs are required


@cache
def _examples() -> dict[str, dict[str, Any]]:
    """The samples by metric and by family."""
    examples: dict[str, dict[str, Any]] = packages.table(__package__, "worked_examples.yaml")
    return examples


def _records(example: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of an example: one a run, each with what all have in common."""
    common = {key: value for key, value in example.items() if key not in _NOT_OF_RECORDS}
    runs = example.get("runs", [{}])
    return [{"id": "example", "repeat": at, **common, **run} for at, run in enumerate(runs)]


def _by_run(metric: Metric, example: Mapping[str, Any]) -> _Worked | None:
    """The example by an evaluation, with the offline judge or a recorded reply."""
    from ragassay.engine import evaluate

    reply = example.get("reply")
    judge = None if reply is None else lambda _: dumps(reply).decode()
    metrics = [example["of"], metric] if isinstance(metric, OfMetric) else [metric]
    result = evaluate(_records(example), metrics, judge=judge)
    step = result.consistency if "runs" in metric.needs else result
    if step is None:
        return None
    (row,) = step.scores
    if row.value is None:
        return None
    why = _because(row.explanation, row.parts)
    return row.metric, row.value, why, row.judge if reply is None else ""


def _by_model(metric: Metric, example: Mapping[str, Any]) -> _Worked | None:
    """The example with recorded numbers in place of a model."""
    samples = list(from_records(_records(example)))
    if "runs" in metric.needs:
        samples = [Sample(id="example", runs=tuple(samples))]
    (outcome,) = metric.score_window(Window(samples, models=_RecordedModels(example)))
    if not isinstance(outcome, Score):
        return None
    return str(metric), outcome.value, _because(outcome.explanation, outcome.parts), ""


class _RecordedModels(Models):
    """Models that say what an example records."""

    def __init__(self, example: Mapping[str, Any]) -> None:
        super().__init__()
        self._recorded = {
            Encoder: WordVectors(example.get("word_vectors", {})),
            HhemModel: _Probabilities(example.get("probabilities", {})),
        }

    def use(self, kind: type[I], *spec: Hashable) -> I:
        """The recorded model of a kind, else the kind itself."""
        return cast(I, self._recorded.get(kind)) or super().use(kind, *spec)


class _Probabilities:
    """Stands for HHEM: a text has the same probability whatever the source."""

    def __init__(self, of: Mapping[str, float]) -> None:
        self._of = of

    def scores(
        self, pairs: Sequence[tuple[str, str]], at_most: int | None = None
    ) -> list[float | None]:
        del at_most
        return [self._of[text] for _, text in pairs]

    def windows(self, text: str, size: int, overlap: int) -> list[tuple[int, int]]:
        del size, overlap
        return [(0, len(text))]


_MODELS = {"word_vectors", "probabilities"}
_RECORDED = {
    "word_vectors": "vectors of words in place of a model's",
    "probabilities": "probabilities in place of the model's",
    "reply": "a judge's reply",
}
_NOT_OF_RECORDS = {*_RECORDED, "runs", "of", "as"}


def _read_by(metric: Metric, example: Mapping[str, Any]) -> str:
    """The parts of the example that the metric reads."""
    reads = {*metric.needs, *metric.uses, "runs", "metadata", "failure"}
    if isinstance(metric, OfMetric):
        reads |= {"of", "references"}
    used = [name for name in example if _FIELD.get(name, name) in reads]
    return "; ".join(f"{name}: {dumps(example[name]).decode()}" for name in used)


def _because(explanation: str, parts: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (explanation, dumps(parts).decode() if parts else "")))
