"""The consistency evaluator of Open RAG Eval's configurations: the suite ``consistency``."""

from __future__ import annotations

from typing import Any

from ragassay.engine.config import found_from
from ragassay.engine.published.published_draft import Draft
from ragassay.engine.published.published_options import (
    SIMILARITIES,
    BertOptions,
    ConsistencyOptions,
    Evaluator,
)
from ragassay.errors import did_you_mean
from ragassay.metrics.core import naming
from ragassay.models.weights import is_path, no_folder
from ragassay.suites import SPREAD
from ragassay.yaml_files import Place


def translate_consistency(draft: Draft, one: Evaluator, place: Place) -> None:
    """Translates a consistency evaluator: the metrics that it lists. Where it lists none, the suite
    has all.

    Args:
        draft: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an unknown key or metric, or an impossible value.
    """
    if one.model is not None:
        draft.note((*place, "model"), "is not asked: this evaluator needs no judge.")
    options = draft.validated(ConsistencyOptions, one.options, (*place, "options"))
    if options.metrics is None:
        return
    where = (*place, "options", "metrics")
    places: dict[str, Place] = {}
    for at, entry in enumerate(options.metrics):
        pairs = {entry: None} if isinstance(entry, str) else entry
        if not isinstance(pairs, dict) or not pairs:
            raise draft.wrong(
                (*where, str(at)),
                "is no metric",
                "Write 'bert_score: {}' or 'rouge_score: {}'.",
            )
        for name, parameters in pairs.items():
            here = (*where, str(at), *([] if isinstance(entry, str) else [str(name)]))
            for metric in _similarity(draft, str(name), parameters, here):
                places.setdefault(metric, here)
    draft.put("consistency_metrics", list(places), where, *places.values())


def add_spread(draft: Draft) -> None:
    """Adds the spread of the metrics of the TREC evaluator, where it has repeated runs, to the
    similarities that are listed. Where none are listed, the whole suite is computed anyway.
    """
    if draft.over_runs and draft.values.get("consistency_metrics"):
        draft.values["consistency_metrics"] += SPREAD


def _similarity(draft: Draft, name: str, parameters: Any, place: Place) -> list[str]:
    """The metrics that an entry of the evaluator's list stands for."""
    form = SIMILARITIES.get(name)
    if form is None:
        hint = did_you_mean(name, SIMILARITIES)
        raise draft.wrong(
            place,
            f"there is no metric {name!r}",
            f"{hint} There are: {', '.join(SIMILARITIES)}.",
        )
    if parameters is not None and not isinstance(parameters, dict):
        raise draft.wrong(place, "is not a mapping of keys", f"Write '{name}: {{}}'.")
    chosen = draft.validated(form, parameters, place)
    if isinstance(chosen, BertOptions):
        folder = found_from(draft.path.parent, chosen.model_type)
        if is_path(chosen.model_type) and not folder.is_dir():
            raise draft.wrong((*place, "model_type"), no_folder(chosen.model_type))
        if folder.is_dir():
            chosen = chosen.model_copy(update={"model_type": str(folder)})
        if chosen.rescale_with_baseline and not chosen.rescaled:
            draft.note(
                place,
                f"is not rescaled: there is no baseline for this model and lang {chosen.lang}.",
            )
    if getattr(chosen, "max_length", None) is not None:
        draft.note(
            (*place, "max_length"),
            "is not used: as much is read as the model takes, and a score says where that was "
            "not all.",
        )
    return [
        draft.checked(lambda text: str(naming.parse(text)), metric, place)
        for metric in chosen.metrics
    ]
