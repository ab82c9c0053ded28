"""The benchmark's own choice of algorithmic metrics: the file that ``-e`` names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import InputError, did_you_mean
from ragassay.base.yaml_files import text_of, value_of
from ragassay.metrics.core.metric import Metric

_FIELD_OF = {
    ("recall", "target"): "Recall",
    ("rouge_l", "target"): "RougeL_stemFalse",
    ("bert_prec", "target"): "BertscoreP",
    ("bert_recall", "target"): "BertscoreR",
    ("bert_prec", "passage"): "BertKPrec",
    ("extractiveness_rouge", "passage"): "Extractiveness_RougeL",
    ("length", "target"): "Length",
}
"""What a function of the published scripts computes, by what it is held against."""

_AGGREGATE = ("RB_agg", "RB_agg_zero_denominator")
_AGGREGATED = {"Recall", "RougeL_stemFalse", "BertscoreR", "BertKPrec"}


def read_evaluators(path: Path, *, published: bool = False) -> dict[str, Metric]:
    """The metrics that a ``config.yaml`` of the benchmark names, by the fields that they fill.

    Each entry is ``NAME: {func: ..., prediction: prediction, target: target | passage}``. As in the
    published scripts ``RB_agg`` comes on top where all its parts are named."""
    body = value_of(text_of(path), path)
    if not isinstance(body, Mapping) or not body:
        raise InputError("is not a mapping of metrics", path=path, hint=_FORM)
    suite = suites.get("mtrag")
    fields = {str(name): _field(str(name), entry, path) for name, entry in body.items()}
    if fields.keys() >= _AGGREGATED:
        fields.update({name: name for name in _AGGREGATE})
    return {name: suite.resolve([field], published=published)[0] for name, field in fields.items()}


_FORM = "Write NAME: {func: recall, prediction: prediction, target: target}."


def _field(name: str, entry: Any, path: Path) -> str:
    if name in _AGGREGATE:
        return name
    if not isinstance(entry, Mapping) or entry.get("prediction", "prediction") != "prediction":
        raise InputError("is no metric's entry", path=path, field=name, hint=_FORM)
    func, target = str(entry.get("func")), str(entry.get("target"))
    field = _FIELD_OF.get((func, target))
    if field is None:
        choices = {f"{one} against {other}" for one, other in _FIELD_OF}
        wrong = f"{func} against {target}"
        raise InputError(
            f"there is no metric {wrong}",
            path=path,
            field=name,
            hint=f"{did_you_mean(wrong, choices)} There are: {', '.join(sorted(choices))}.",
        )
    return field
