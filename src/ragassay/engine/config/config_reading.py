"""Configuration files: from YAML and flags to the configuration of a run.

A file has our own keys (docs/configuration.md), or is a published tool's that somebody translates.
Each error in it is reported with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.base.errors import InputError, did_you_mean
from ragassay.base.problem_words import mistakes
from ragassay.base.yaml_files import Marked, Place, text_of
from ragassay.engine.config.config_file import SAMPLING, ConfigFile
from ragassay.engine.config.config_paths import found_from, make_absolute
from ragassay.engine.config.environment import is_for_a_key, read_filled, refuse_keys
from ragassay.engine.config.run_config import RunConfig

_RECORDED = ("ragassay", "python", "numpy", "fingerprint", "signatures", "judged_by")
"""Keys that ``run.yaml`` adds as a record of the run; a configuration may hold them."""

_PARAMETERS = "Parameters of a pipeline are read with it: ragassay run PIPELINE.yaml --param FILE."
_OF_PIPELINES = {
    "pipeline": "A pipeline is run by: ragassay run PIPELINE.yaml.",
    "servers": "A pipeline has the keys 'servers' and 'pipeline': ragassay run PIPELINE.yaml.",
    "pipelines": "Did you mean 'pipeline'? It stands beside 'servers'.",
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
            raise file.wrong_key(
                (key,),
                f"unknown key {key!r}",
                _OF_PIPELINES.get(key)
                or did_you_mean(key, [*RunConfig.model_fields, *translators])
                or f"There are: {', '.join(RunConfig.model_fields)}.",
            )
    try:
        checked = RunConfig(**body)
    except ValidationError as error:
        raise file.wrong_key(*mistakes(error)[0]) from error
    own = {key: getattr(checked, key) for key in body}
    make_absolute(own, source.parent, found_from)
    file.values |= own
    return file


def _mapping(content: Marked, key: str) -> dict[str, Any]:
    """The mapping that a key of the file holds; empty where there is none."""
    mapping = content.value.get(key)
    if not isinstance(mapping, dict | None):
        raise content.wrong((key,), "is not a mapping")
    return mapping or {}
