"""Configuration files: from YAML and flags to the configuration of a run.

A file has our own keys (docs/configuration.md), or is a published tool's that somebody translates.
Each error in it is reported with its line: `read_config` checks names and types, `checked` what
the values mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats
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
    make_plan,
    own_metrics,
)
from ragassay.engine.config.run_config import OWN, POOLED, RunConfig, make_config
from ragassay.engine.models.needed_models import check_folders, check_names, models_used
from ragassay.formats.records.chosen_columns import canonical
from ragassay.formats.sources import opening
from ragassay.user_code.object_loading import has_module

_RECORDED = ("ragassay", "python", "numpy", "fingerprint", "signatures", "judged_by")
"""Keys that ``run.yaml`` adds as a record of the run; a configuration may hold them."""

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
                did_you_mean(key, [*RunConfig.model_fields, *translators])
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
    """The configuration of file and flags; flags win. Notes of the file become warnings."""
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    config = make_config(**(file.values | given))
    if error := _mistake(config):
        place = _place_of(error, config, [*file.values, *given])
        if not place or place[0] in given:
            raise error
        problem = error.problem if isinstance(error, OptionError) else str(error)
        raise file.wrong_key(place, problem) from error
    for note in file.notes:
        warn_user(note)
    return config


def _place_of(error: UsageError, config: RunConfig, keys: Collection[str]) -> Place:
    """The place that a mistake is at: the first key, or item of its list or mapping, without which
    no mistake is found, or else another one. Keys that depend on others are tried before these."""
    first: Place = ()
    for key in sorted(keys, key=lambda one: _TRIED.index(one) if one in _TRIED else len(_TRIED)):
        value = getattr(config, key)
        parts: list[tuple[Place, Any]] = []
        if isinstance(value, Mapping):
            parts = [((key, n), {o: v for o, v in value.items() if o != n}) for n in value]
        elif isinstance(value, list):
            parts = [((key, f"{n}"), value[:n] + value[n + 1 :]) for n in range(len(value))]
        default = RunConfig.model_fields[key].get_default(call_default_factory=True)
        for place, without in [*parts, ((key,), default)]:
            other = _mistake(config.model_copy(update={key: without}))
            if other is None:
                return first if first[:1] == place else place
            if str(other) != str(error):
                first = first or place
    return first


_TRIED = (
    *("fail_under", "models", "options", "consistency_of", "judge", "columns", "encoding"),
    *("format", "ks", "consistency_metrics", "metrics", "suite"),
)
"""The keys in the order in which they are tried, from those that depend on others."""


def _mistake(config: RunConfig) -> UsageError | None:
    try:
        _check(config)
    except UsageError as error:
        return error
    return None


def _check(config: RunConfig) -> None:
    """Looks for all that a configuration names; the data is not read."""
    nuggets = [] if config.nuggets in (OWN, POOLED) else [config.nuggets]
    named = (config.references, config.golden, config.qrels, config.judge_prompt)
    data = () if config.data is None else formats.files_of(config.data)
    for name in (*named, *nuggets, *config.rubric, *data, *config.prompts.values()):
        if name is not None and not Path(name).exists():
            raise UsageError(f"there is no file or folder {name}")
    own = own_metrics(config.model_dump())
    if low := [k for k in config.ks or () if k < 1]:
        raise UsageError(f"a cut-off is at least 1, not {low[0]}")
    if config.format is not None:
        formats.get(config.format)
    opening.checked_encoding(config.encoding)
    canonical(config.columns)
    for word in config.judge:
        _check_judge(word)
    check_folders(config.models)
    for text in config.fail_under:
        gates.parse(text)
    data_format = _format(config)
    if data_format is None and not (config.suite or config.metrics):
        return  # the metrics depend on the data
    plan = make_plan(config, data_format or "", (), own)
    check_names(config.models, models_used(config, plan.every.values()))
    shown = {name: str(metric) for name, metric in plan.metrics.items()}
    gates.resolve(config.fail_under, shown, [suite.name for suite in plan.suites])


def _check_judge(word: str) -> None:
    from ragassay.judges.judge_factory import address_of, kinds
    from ragassay.judges.python_judge import names_object
    from ragassay.transport.secrets import NO_KEY

    if names_object(word) and has_module(word):
        return  # the run imports it when it begins
    if word.strip().partition(":")[0].casefold() not in kinds():
        address_of(word.strip(), "model", os.environ, NO_KEY)


def _format(config: RunConfig) -> str | None:
    """The format of the data; ``None`` where the configuration does not say which data."""
    if config.format or config.data is None:
        return config.format
    if not formats.files_of(config.data)[0].exists():
        return None
    return formats.detect(config.data, config.encoding).name
