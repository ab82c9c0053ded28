"""The TREC evaluator of Open RAG Eval's configurations: the suite ``trecrag``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.yaml_files import Place
from ragassay.engine.config.config_file import ConfigFile
from ragassay.engine.config.config_paths import found_from
from ragassay.engine.open_rag_eval_config.published_judge import (
    Cutoff,
    EvaluatorEntry,
    Keys,
    translate_judge,
)
from ragassay.metrics.core import naming
from ragassay.models.classifiers.hhem import HHEM


class Hallucination(Keys):
    """``hallucination_metric`` of the TREC evaluator."""

    backend_type: str | None = None
    model_name: str | Path | None = None
    detection_threshold: float | None = None
    max_chars: Cutoff | None = None
    api_key: str | None = None
    base_url: str | None = None


class TrecOptions(Keys):
    """``options`` of the TREC evaluator."""

    k_values: Annotated[list[Cutoff], Field(min_length=1)] | None = None
    run_consistency: bool | None = None
    metrics_to_run_consistency: list[str] | None = None
    hallucination_metric: Hallucination | None = None
    model_kwargs: dict[str, Any] | None = None


def translate_trec(file: ConfigFile, one: EvaluatorEntry, place: Place) -> None:
    """Translates a TREC evaluator: judge, cut-offs, parameters, and the metrics that are compared
    over repeated runs.

    Args:
        file: takes the keys; has the file.
        one: the evaluator, as the file has it.
        place: of the evaluator in the file.

    Raises:
        InputError: an unknown key, an impossible value, or what ragassay cannot do.
    """
    translate_judge(file, one.model, suites.get("trecrag").default_model, (*place, "model"))
    body, place = one.options or {}, (*place, "options")
    parameters = naming.parameters(*suites.get("trecrag").resolve())
    fields: dict[str, Any] = dict.fromkeys(parameters, (Any, None))
    form = create_model("Options", __base__=TrecOptions, **fields)
    options = file.validated(form, body, place)
    file.sample(options.model_kwargs, (*place, "model_kwargs"))
    if options.k_values is not None:
        file.put("ks", options.k_values, (*place, "k_values"))
    for key, value in body.items():
        if key in parameters:
            file.option(key, value, (*place, key))
    if options.hallucination_metric is not None:
        _hallucination(file, options.hallucination_metric, (*place, "hallucination_metric"))
    _repeats(file, options, place)


def _hallucination(file: ConfigFile, metric: Hallucination, place: Place) -> None:
    if metric.backend_type not in (None, "hhem"):
        raise file.wrong(
            (*place, "backend_type"),
            f"there is no backend {metric.backend_type!r} here",
            "Write hhem, which runs on this machine; ragassay asks no service for this.",
        )
    if metric.model_name not in (None, HHEM.name):
        folder = found_from(file.path.parent, str(metric.model_name))
        if not folder.is_dir():
            raise file.wrong(
                (*place, "model_name"),
                f"{metric.model_name!r} is neither {HHEM.name} nor a folder that holds it",
            )
        file.put("models", {HHEM.name: str(folder)}, (*place, "model_name"))
    if metric.max_chars is not None:
        file.option("max_chars", metric.max_chars, (*place, "max_chars"))
    if metric.detection_threshold is not None:
        file.note(
            (*place, "detection_threshold"),
            "changes nothing, as in Open RAG Eval itself: the score is reported as it is.",
        )
    for key in ("api_key", "base_url"):
        if getattr(metric, key):
            file.note((*place, key), "is not used: the model runs on this machine.")


def _repeats(file: ConfigFile, options: TrecOptions, place: Place) -> None:
    """Translates the metrics that are compared over repeated runs."""
    where = (*place, "metrics_to_run_consistency")
    places: dict[str, Place] = {}
    for at, name in enumerate(options.metrics_to_run_consistency or []):
        here = (*where, str(at))
        try:
            metrics = suites.get("trecrag").resolve([name])
        except UsageError as error:
            raise file.wrong(here, str(error)) from error
        places |= dict.fromkeys(map(str, metrics), here)
    wanted = options.run_consistency
    if wanted is None:  # as in the tool
        wanted = bool(places)
    if not wanted:
        if places:
            file.note(where, "is not looked at, because run_consistency is not true.")
        file.put("first_runs", True, (*place, "run_consistency"))
        return
    file.over_runs = True
    file.add_suite("consistency", (*place, "run_consistency"))
    if places:
        file.put("consistency_of", list(places), where, *places.values())
