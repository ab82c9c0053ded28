"""The consistency evaluator of Open RAG Eval's configurations: the suite ``consistency``."""

from __future__ import annotations

from typing import Any

from ragassay.engine.config import ConfigFile, found_from
from ragassay.engine.published.published_options import (
    SIMILARITIES,
    BertOptions,
    ConsistencyOptions,
    Evaluator,
)
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics.core import naming
from ragassay.models.weights import is_path, no_folder
from ragassay.yaml_files import Place


def translate_consistency(file: ConfigFile, one: Evaluator, place: Place) -> None:
    """Translates a consistency evaluator: the metrics that it lists. Where it lists none, the suite
    has all.

    Args:
        file: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an unknown key or metric, or an impossible value.
    """
    if one.model is not None:
        file.note((*place, "model"), "is not asked: this evaluator needs no judge.")
    options = file.validated(ConsistencyOptions, one.options, (*place, "options"))
    if options.metrics is None:
        return
    where = (*place, "options", "metrics")
    places: dict[str, Place] = {}
    for at, entry in enumerate(options.metrics):
        pairs = {entry: None} if isinstance(entry, str) else entry
        if not isinstance(pairs, dict) or not pairs:
            raise file.wrong(
                (*where, str(at)),
                "is no metric",
                "Write 'bert_score: {}' or 'rouge_score: {}'.",
            )
        for name, parameters in pairs.items():
            here = (*where, str(at), *([] if isinstance(entry, str) else [str(name)]))
            for metric in _similarity(file, str(name), parameters, here):
                places.setdefault(metric, here)
    file.put("consistency_metrics", list(places), where, *places.values())


def add_spread(file: ConfigFile) -> None:
    """Adds the spread of the metrics of the TREC evaluator, where it has repeated runs, to the
    similarities that are listed. Where none are listed, the whole suite is computed anyway.
    """
    if file.over_runs and file.values.get("consistency_metrics"):
        file.values["consistency_metrics"] += ("runs_mean", "runs_variance", "runs_cv")


def _similarity(file: ConfigFile, name: str, parameters: Any, place: Place) -> list[str]:
    """The metrics that an entry of the evaluator's list stands for."""
    form = SIMILARITIES.get(name)
    if form is None:
        hint = did_you_mean(name, SIMILARITIES)
        raise file.wrong(
            place,
            f"there is no metric {name!r}",
            f"{hint} There are: {', '.join(SIMILARITIES)}.",
        )
    if parameters is not None and not isinstance(parameters, dict):
        raise file.wrong(place, "is not a mapping of keys", f"Write '{name}: {{}}'.")
    chosen = file.validated(form, parameters, place)
    if isinstance(chosen, BertOptions):
        folder = found_from(file.path.parent, chosen.model_type)
        if is_path(chosen.model_type) and not folder.is_dir():
            raise file.wrong((*place, "model_type"), no_folder(chosen.model_type))
        if folder.is_dir():
            chosen = chosen.model_copy(update={"model_type": str(folder)})
        if chosen.rescale_with_baseline and not chosen.rescaled:
            file.note(
                place,
                f"is not rescaled: there is no baseline for this model and lang {chosen.lang}.",
            )
    if getattr(chosen, "max_length", None) is not None:
        file.note(
            (*place, "max_length"),
            "is not used: as much is read as the model takes, and a score says where that was "
            "not all.",
        )
    try:
        return [str(naming.parse(metric)) for metric in chosen.metrics]
    except UsageError as error:
        raise file.wrong(place, str(error)) from error
