"""Configuration files: from YAML and flags to the configuration of a run.

A file has our own keys (docs/configuration.md), or is a published tool's that somebody translates.
Each error in it is reported with its line: `read_config` checks names and types, `checked` what
the values mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats, suites
from ragassay.base.errors import InputError, OptionError, UsageError, did_you_mean, warn_user
from ragassay.base.problem_words import mistakes
from ragassay.base.yaml_files import Marked, Place, text_of
from ragassay.engine.comparison import gates
from ragassay.engine.config.config_file import (
    SAMPLING,
    ConfigFile,
    is_for_a_key,
    read_filled,
    refuse_keys,
)
from ragassay.engine.config.config_paths import found_from, make_absolute
from ragassay.engine.config.metric_selection import (
    MetricSelection,
    make_plan,
    own_metrics,
    published_names,
    templates,
    with_options,
)
from ragassay.engine.config.run_config import OWN, POOLED, RunConfig, make_config
from ragassay.engine.models.modelling import check_folders, check_names, models_used
from ragassay.formats.records.chosen_columns import canonical
from ragassay.formats.sources import encodings
from ragassay.metrics.core.metric import Metric
from ragassay.user_code.object_loading import has_module

_RECORDED = ("ragassay", "python", "numpy", "fingerprint", "signatures", "judged_by")
"""Keys that ``run.yaml`` adds as a record of the run; a configuration may hold them."""

_PARAMETERS = "Parameters of a pipeline are read with it: ragassay run PIPELINE.yaml --param FILE."
_OF_PIPELINES = {
    "pipeline": "A pipeline is run by: ragassay run PIPELINE.yaml.",
    "servers": "A pipeline has the keys 'servers' and 'pipeline': ragassay run PIPELINE.yaml.",
    "pipelines": "Did you mean 'pipeline'? It is a key beside 'servers'.",
    "benchmark": _PARAMETERS,
    "evaluation": _PARAMETERS,
}
"""Hints for the keys of UltraRAG's pipelines and their parameters."""

_NEVER_READ = "connector"
"""A part of Open RAG Eval's files whose variables need not be set."""


def read_config(
    path: str | Path,
    flags: Mapping[str, Any] | None = None,
    translators: Mapping[str, Callable[[ConfigFile], None]] | None = None,
) -> ConfigFile:
    """Reads a configuration file, and fills in environment variables.

    Args:
        path: the YAML file. Paths in it are relative to its folder; a file to be read that does not
            exist there is looked for in the working directory.
        flags: keys that they set may be impossible in the file (an unset variable).
        translators: of published files, each by the key that such a file has: sets the keys of ours
            that it stands for.

    Raises:
        InputError: the file is missing, is no YAML mapping, names an unset variable, an unknown key
            or an impossible value, or holds a key to an endpoint; with line and field.
    """
    source, flags = Path(path), flags or {}

    def leave(place: Place) -> bool:
        top = place[0] if place else ""
        return top == _NEVER_READ or top in flags or is_for_a_key(place)

    content = read_filled(text_of(source), source, leave=leave)
    if not isinstance(content.value, dict):
        raise InputError("is not a mapping of keys", path=source, hint="Begin with 'data: FILE'.")
    refuse_keys(content)
    file = ConfigFile(content, source, flags)
    body = {str(key): value for key, value in content.value.items() if key not in _RECORDED}
    file.sample(_mapping(content, SAMPLING), (SAMPLING,))
    body.pop(SAMPLING, None)
    translators = translators or {}
    if key := next((one for one in translators if one in body), None):
        translators[key](file)
        # Translated paths are complete; our own keys beside them are as in our own files.
        body = {key: value for key, value in body.items() if key in RunConfig.model_fields}
    elif "key_map" in body:
        # UltraRAG's word for the same mapping.
        key_map, columns = _mapping(content, "key_map"), _mapping(content, "columns")
        file.places |= {("columns", str(name)): ("key_map", str(name)) for name in key_map}
        file.places |= {} if columns else {("columns",): ("key_map",)}
        body["columns"] = {**columns, **key_map}
        del body["key_map"]
    for key in body:
        if key not in RunConfig.model_fields:
            hint = (
                _OF_PIPELINES.get(key)
                or did_you_mean(key, [*RunConfig.model_fields, *translators])
                or f"There are: {', '.join(RunConfig.model_fields)}."
            )
            raise file.wrong_key((key,), f"unknown key {key!r}", hint)
    try:
        values = RunConfig(**body)
    except ValidationError as error:
        raise file.wrong_key(*mistakes(error)[0]) from error
    own = {key: getattr(values, key) for key in body}
    make_absolute(own, source.parent, found_from)
    file.values |= own
    return file


def _mapping(content: Marked, key: str) -> dict[str, Any]:
    """The mapping that a key of the file holds; empty where there is none."""
    mapping = content.value.get(key)
    if not isinstance(mapping, dict | None):
        raise content.wrong((key,), "is not a mapping")
    return mapping or {}


def checked(file: ConfigFile, flags: Mapping[str, Any] | None = None) -> RunConfig:
    """The configuration of file and flags; flags win. Notes of the file become warnings.

    Args:
        file: as `read_config` gives it.
        flags: keys with their values; ``None`` is one that was not given.

    Raises:
        InputError: the file names a suite, metric, judge or file that there is not, or holds a
            gate, budget or the like that cannot be read; with the line.
        UsageError: an impossible flag.
    """
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    config = make_config(**(file.values | given))
    for place, attempt in _attempts(config, [key for key in file.values if key not in given]):
        if error := _failure(attempt):
            problem = error.problem if isinstance(error, OptionError) else str(error)
            raise file.wrong_key(place, problem) from error
    for note in file.notes:
        warn_user(note)
    return config


Attempt = Callable[[], object]
"""Raises `UsageError` where a value is impossible."""

Check = Callable[[RunConfig, Any], object]
"""The same for the value of a key, an item of its list, or a mapping with one of its items."""


def _failure(attempt: Attempt) -> UsageError | None:
    try:
        attempt()
    except UsageError as error:
        return error
    return None


def _attempts(config: RunConfig, keys: Collection[str]) -> Iterator[tuple[Place, Attempt]]:
    """What is tried of the values of some keys, each with the place that an error is about."""
    yield from _of_items(config, keys, _FILES)
    own = own_metrics(config.model_dump())  # makes their names known
    yield from _of_items(config, keys, _CHECKS)
    if {"options", "fail_under", "consistency_of", "models"} & set(keys):
        yield from _of_metrics(config, keys, own)


def _of_items(
    config: RunConfig, keys: Collection[str], checks: Mapping[str, Check]
) -> Iterator[tuple[Place, Attempt]]:
    for key in keys:
        value, check = getattr(config, key), checks.get(key)
        if check is None or value is None:
            continue
        items: list[tuple[Place, Any]]
        if isinstance(value, Mapping):
            items = [((key, name), {name: one}) for name, one in value.items()]
        elif isinstance(value, list):
            items = [((key, str(at)), one) for at, one in enumerate(value)]
        else:
            items = [((key,), value)]
        yield from ((place, partial(check, config, one)) for place, one in items)


def _there(_: RunConfig, name: str) -> None:
    if not Path(name).exists():
        raise UsageError(f"there is no file or folder {name}")


def _data(config: RunConfig, name: str) -> None:
    for path in formats.files_of(name):
        _there(config, str(path))


def _prompts(config: RunConfig, files: Mapping[str, str]) -> None:
    for name in files.values():
        _there(config, name)


def _nuggets(config: RunConfig, name: str) -> None:
    if name not in (OWN, POOLED):
        _there(config, name)


def _cutoff(config: RunConfig, k: int) -> None:
    if k < 1:
        raise UsageError(f"a cut-off is at least 1, not {k}")


def _judge(config: RunConfig, word: str) -> None:
    from ragassay.judges.judge_factory import address_of, kinds
    from ragassay.judges.python_judge import names_object
    from ragassay.transport.secrets import NO_KEY

    if names_object(word) and has_module(word):
        return  # the run imports it when it begins
    if word.strip().partition(":")[0].casefold() not in kinds():
        address_of(word.strip(), "model", os.environ, NO_KEY)


_FILES: Mapping[str, Check] = {
    **dict.fromkeys(("references", "golden", "qrels", "judge_prompt", "rubric"), _there),
    "nuggets": _nuggets,
    "data": _data,
    "prompts": _prompts,
}
"""The checks that files are there; they come first, because others read files."""

_CHECKS: Mapping[str, Check] = {
    "suite": lambda config, name: suites.get(name),
    "metrics": lambda config, name: suites.metrics_by_name(
        name, ks=config.ks, local=published_names(config, _format(config))
    ),
    "consistency_metrics": lambda config, name: templates(
        config.model_copy(update={"consistency_metrics": [name]}), []
    ),
    "ks": _cutoff,
    "format": lambda config, name: formats.get(name),
    "encoding": lambda config, name: encodings.checked(name),
    "columns": lambda config, mapping: canonical(mapping),
    "fail_under": lambda config, text: gates.parse(text),
    "judge": _judge,
    "models": lambda config, folders: check_folders(folders),
}


def _of_metrics(
    config: RunConfig, keys: Collection[str], own: Sequence[Metric]
) -> Iterator[tuple[Place, Attempt]]:
    """The keys whose values depend on the metrics: parameters, gates, models, and the metrics whose
    spread is reported."""
    data_format = _format(config)
    if data_format is None and not (config.suite or config.metrics):
        return  # the metrics depend on the data

    def plan(**changed: Any) -> MetricSelection:
        return make_plan(config.model_copy(update=changed), data_format or "", (), own)

    for at, name in enumerate(config.consistency_of) if "consistency_of" in keys else ():
        yield ("consistency_of", str(at)), partial(plan, options={}, consistency_of=[name])
    without_options = plan(options={})
    if "options" in keys:
        yield from _of_options(list(without_options.every.values()), config.options)
    full = plan()
    if "models" in keys:
        models = models_used(config, full.every.values())
        yield from ((("models", n), partial(check_names, [n], models)) for n in config.models)
    if "fail_under" in keys:
        shown = {name: str(metric) for name, metric in full.metrics.items()}
        used = [suite.name for suite in full.suites]
        for at, text in enumerate(config.fail_under):
            yield ("fail_under", str(at)), partial(gates.resolve, [text], shown, used)


def _of_options(
    metrics: Sequence[Metric], options: Mapping[str, Any]
) -> Iterator[tuple[Place, Attempt]]:
    """All parameters together, because one may need another. The place is that of the parameter
    without which the others fit, or else of the first that does not fit those before it."""

    def setting(names: Collection[str]) -> Attempt:
        return partial(with_options, metrics, {name: options[name] for name in names})

    names = list(options)
    together = setting(names)
    if _failure(together):
        alone = [one for one in names if not _failure(setting([n for n in names if n != one]))]
        yield from ((("options", name), together) for name in alone[:1])
        yield from ((("options", one), setting(names[: n + 1])) for n, one in enumerate(names))


def _format(config: RunConfig) -> str | None:
    """The format of the data; ``None`` where the configuration does not say which data."""
    if config.format or config.data is None:
        return config.format
    if not formats.files_of(config.data)[0].exists():
        return None
    return formats.detect(config.data, config.encoding).name
