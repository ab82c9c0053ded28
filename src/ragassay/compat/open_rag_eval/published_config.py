"""Open RAG Eval's YAML configurations, as its page prints them (``name: trecrag``) and as its tool
wants them (``type: TRECEvaluator``): to the keys of a `RunConfig`, by spec/open-rag-eval.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import did_you_mean
from ragassay.base.yaml_files import Place
from ragassay.compat.open_rag_eval.published_evaluators import (
    EvaluatorEntry,
    translate_consistency,
    translate_golden,
    translate_trec,
)
from ragassay.engine.config.config_paths import found_from
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.run import config_reading
from ragassay.engine.run.config_reading import SAMPLING, ConfigFile

_WITHOUT_EFFECT = (
    *("connector", "eval_results_file", "evaluation_results", "metrics_file", "log_level"),
)
"""The keys of a file that do nothing here."""

EVALUATOR = "evaluator"
"""The key by which one of Open RAG Eval's configurations is recognised."""

_EVALUATORS = {
    "trecrag": "trecrag",
    "trec": "trecrag",
    "consistency": "consistency",
    "goldenanswer": "golden",
    "golden_answer": "golden",
}
_TRANSLATIONS = {
    "trecrag": translate_trec,
    "golden": translate_golden,
    "consistency": translate_consistency,
}
_ONE_OF = "Write 'name: trecrag', 'name: consistency', or the tool's 'type: TRECEvaluator'."


def read_config(path: str | Path, flags: Mapping[str, Any] | None = None) -> ConfigFile:
    """A configuration file, ours or Open RAG Eval's; see `config_reading.read_config`."""
    return config_reading.read_config(path, flags, {EVALUATOR: translate})


def translate(file: ConfigFile) -> None:
    """Sets the keys of a `RunConfig` that a published configuration means. Our own keys may
    be beside ``evaluator``; paths are taken from the file's folder, or else from the working
    directory."""
    _check_keys(file)
    seen: dict[str, tuple[Place, Any]] = {}
    listed = file.content.value[EVALUATOR]
    if not isinstance(listed, list):
        _evaluator(file, listed, (EVALUATOR,), seen)
    elif not listed:
        raise file.wrong((EVALUATOR,), "names no evaluator", _ONE_OF)
    else:
        for at, body in enumerate(listed):
            _evaluator(file, body, (EVALUATOR, str(at)), seen)
    _files(file, golden="golden" in seen)
    if "consistency" in seen and file.values.get("first_runs"):
        file.note(
            seen["consistency"][0],
            "compares all runs of a query, so the other evaluators judge all of them, although "
            "run_consistency is not true.",
        )
    over_runs = "trecrag" in seen and not file.values.get("first_runs")
    if over_runs and file.values.get("consistency_metrics"):
        # The spread of the TREC evaluator's metrics beside the similarities that are listed. Where
        # none are listed, the whole suite is computed anyway.
        file.values["consistency_metrics"] += ("runs_mean", "runs_variance", "runs_cv")
    _check_once(file)


# Keys beside the evaluators


def _check_keys(file: ConfigFile) -> None:
    """Refuses unknown keys, and notes those that have no effect here."""
    files = ("results_folder", "generated_answers", "input_results", "input_queries")
    published = [*_WITHOUT_EFFECT, EVALUATOR, *files, SAMPLING]
    for key in file.content.value:
        if key not in published and key not in RunConfig.model_fields:
            hint = did_you_mean(str(key), [*published, *RunConfig.model_fields])
            hint = hint or f"There are: {', '.join(published)}."
            raise file.wrong((str(key),), f"unknown key {key!r}", hint)
        if key in _WITHOUT_EFFECT:
            file.note((str(key),), "has no effect here.")


def _files(file: ConfigFile, *, golden: bool) -> None:
    """Translates the paths of the data, of the run folder, and of the golden answers, which only
    the golden-answer evaluator reads."""
    base = file.path.parent
    queries = _path_of(file, "input_queries")
    if queries is not None and golden and "references" not in file.flags:
        file.put("references", str(found_from(base, queries)), ("input_queries",))
    folder = _path_of(file, "results_folder")
    if folder is not None and "output" not in file.flags:
        file.put("output", str(found_from(base, folder)), ("results_folder",))
    if "data" in file.flags:
        return
    for key in ("generated_answers", "input_results"):
        name = _path_of(file, key)
        if name is not None:
            # The tool looks for them in the folder of the results.
            inside, beside = (found_from(base, Path(text) / name) for text in (folder or "", ""))
            chosen = inside if inside.exists() or not beside.exists() else beside
            file.put("data", str(chosen), (key,))


def _path_of(file: ConfigFile, key: str) -> str | None:
    value = file.content.value.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise file.wrong((key,), "is not the name of a file or folder")
    return value


def _check_once(file: ConfigFile) -> None:
    """Refuses a key of ours that an evaluator sets as well."""
    for key in file.content.value:
        place = file.places.get((key,), (SAMPLING,))
        if key in RunConfig.model_fields and key in file.values and place[0] != SAMPLING:
            raise file.wrong(
                (key,),
                f"is given twice: here and by {'.'.join(place)} in line {file.content.line(place)}",
                "Keep one of them.",
            )


# Evaluators


def _evaluator(
    file: ConfigFile, body: Any, place: Place, seen: dict[str, tuple[Place, Any]]
) -> None:
    """Translates an evaluator, and adds it to those seen."""
    if not isinstance(body, dict):
        raise file.wrong(place, "is not a mapping of keys", _ONE_OF)
    entry = file.validated(EvaluatorEntry, body, place)
    kind = _kind(file, entry, place)
    options = entry.options or {}
    first, first_options = seen.setdefault(kind, (place, options))
    if options != first_options:
        raise file.wrong(
            place,
            f"is named again, with other options than in line {file.content.line(first)}",
            "One run has each evaluator once: keep one, or make two files.",
        )
    file.add_suite(kind, place)
    _TRANSLATIONS[kind](file, entry, place)


def _kind(file: ConfigFile, entry: EvaluatorEntry, place: Place) -> str:
    """The suite of an evaluator."""
    words = {key: word for key in ("name", "type") if (word := getattr(entry, key))}
    if not words:
        raise file.wrong(place, "has neither a name nor a type", _ONE_OF)
    kinds = set()
    for key, word in words.items():
        kind = _EVALUATORS.get(word.strip().casefold().removesuffix("evaluator"))
        if kind is None:
            hint = _ONE_OF
            if word in suites.all_suites():
                hint = f"For the suite {word} leave out evaluator, and write 'suite: [{word}]'."
            raise file.wrong((*place, key), f"there is no evaluator {word!r}", hint)
        kinds.add(kind)
    if len(kinds) > 1:
        raise file.wrong((*place, "type"), "names another evaluator than name does")
    return kinds.pop()
