"""The models that metrics use: where they are on this machine, and whether they work."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Score, Unscored
from ragassay.engine.models.needed_models import by_cosine, weights_among
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, Window
from ragassay.models.embedders.embedder import DEFAULT
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import (
    KNOWN,
    KnownModel,
    Unavailable,
    Weights,
    facts,
    folder_of,
    place_of,
)

NEAR = {"float32": 1e-3}
ROUGH = 0.03
"""How far a score may be from the published one: in single precision, and in half."""

_EXAMPLE = ("Paris is the capital of France.", "The capital of France is Paris.", 1.0)
"""A text, what follows from it, and the value of that; for models without examples of their own."""


@dataclass(frozen=True)
class Surveyed:
    """A model and its state on this machine: its name on the hub and the pinned commit, the metrics
    that use it (each with its suites), its folder (``given`` where a user named it) with its bytes,
    and why it cannot be used, where it cannot."""

    name: str
    commit: str
    facts: KnownModel
    metrics: Mapping[str, Sequence[str]]
    folder: Path | None
    given: bool
    size: int
    problem: str


class Checked(NamedTuple):
    """Whether a model loads and scores, and a sentence that says so."""

    ok: bool
    sentence: str


def survey(folders: Mapping[str, str]) -> list[Surveyed]:
    """All models that ragassay uses by itself, and those whose folder is named."""
    used, found = users(), []
    for name in dict.fromkeys([*KNOWN, *(weights.name for weights in used), *folders]):
        weights = Weights.parse(name)
        model_facts, folder, problem = facts(weights), None, ""
        try:
            folder = place_of(weights, folders)
            if not model_facts.tokenizer:
                folder_of(weights, folders)
        except Unavailable as error:
            problem = str(error)
        by_suite = {
            metric_name: [s.name for s in suites.all_suites().values() if metric in s.resolve()]
            for item, metrics in used.items()
            for metric_name, metric in metrics.items()
            if item.name == weights.name
        }
        found.append(
            Surveyed(
                weights.name, weights.revision, model_facts, by_suite, folder,
                weights.name in folders, 0 if folder is None else _size(folder), problem,
            )
        )  # fmt: skip
    return found


def users() -> dict[Weights, dict[str, Metric]]:
    """The metrics that use each model: those of the suites, all with their defaults, and those that
    can compare by cosine.

    Metrics that embed count as users of the default embedder."""
    metrics: dict[Metric, None] = {}
    for suite in suites.all_suites().values():
        metrics.update(dict.fromkeys(suite.resolve()))
    at_ranks: list[Metric] = []
    for cls in naming.metric_classes().values():
        needed = [
            field for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING
        ]
        if not needed:
            metrics.setdefault(cls(), None)
        elif all(field.metadata.get("role") == "cutoff" for field in needed):
            with suppress(UsageError):  # it counts something else than ranks
                at_ranks.append(cls(**{field.name: 5 for field in needed}))
    embedding = [metric for metric in (*by_cosine(metrics), *at_ranks) if metric.embeds]
    metrics.update(dict.fromkeys(embedding))
    by_model: dict[Weights, dict[str, Metric]] = {}
    for metric in metrics:
        for weights in weights_among([metric], DEFAULT):
            by_model.setdefault(weights, {})[str(metric)] = metric
    return by_model


def check(name: str, options: ModelOptions) -> Checked:
    """Loads a model and scores one known pair with it."""
    weights = Weights.parse(name)
    used = [by_name for item, by_name in users().items() if item.name == weights.name]
    metrics = [metric for by_name in used for metric in by_name.values()]
    if not metrics:
        near = did_you_mean(name, KNOWN)
        raise UsageError(f"No metric uses the model {name!r}. {near} 'ragassay models' lists them.")
    model_facts = facts(weights)
    if model_facts.tokenizer:
        return _tokenizer(options)
    first = next(iter(model_facts.examples), _EXAMPLE)
    models = Models(options)
    direct = [metric for metric in metrics if weights in metric.weights or metric.embeds]
    details = []
    for metric in direct or metrics:
        outcome = Window([_pair(*first[:2])], models=models).outcomes(metric)[0]
        if isinstance(outcome, Score):
            return _compared(model_facts, metric, outcome, models)
        details.append(outcome.detail)
    return Checked(False, details[0])


def _compared(model_facts: KnownModel, metric: Metric, score: Score, models: Models) -> Checked:
    """The score of the metric, with the value that the model's page has, if any."""
    said = ""
    near = NEAR.get(models.options.dtype or "float32", ROUGH)
    for source, text, published in model_facts.examples:
        outcome = Window([_pair(source, text)], models=models).outcomes(metric)[0]
        if not isinstance(outcome, Score) or outcome.number is None:
            return Checked(False, outcome.detail if isinstance(outcome, Unscored) else "")
        if abs(outcome.number - published) > near:
            return Checked(
                False,
                f"loads and scores, but {text!r} has {outcome.number:.4f} where the model's page "
                f"says {published:.4f}: these are other weights",
            )
        of = f"the last of {len(model_facts.examples)} pairs"
        said = f", as published ({published:.4f} for {of})"
    return Checked(True, f"{metric} {score.number:.4f}{said}")


def _tokenizer(options: ModelOptions) -> Checked:
    """A model of which only the tokenizer is needed."""
    from ragassay.models.classifiers.hhem import tokenizer_of

    try:
        tokenizer = tokenizer_of(options)
    except Unavailable as error:
        return Checked(False, str(error))
    n = len(tokenizer.encode("Paris is the capital of France.").ids)
    return Checked(True, f"the tokenizer cuts a sentence into {n} tokens")


def _pair(source: str, text: str) -> Sample:
    return Sample(
        id="check",
        query="What is it about?",
        passages=(Passage(source, id="1"),),
        answer=Answer(text),
        references=(source,),
    )


def _size(folder: Path) -> int:
    """Bytes of the files, without those that a download left for its own use."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(
        path.stat().st_size
        for path in files
        if not path.relative_to(folder).parts[0].startswith(".")
    )
