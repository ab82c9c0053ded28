"""Configuration files: from YAML and flags to the configuration of a run.

A file has our own keys (docs/configuration.md), or is one of Open RAG Eval's (`published_config`).
Each error in it is reported with its line.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.engine.config.config_checks import check
from ragassay.engine.config.config_keys import is_for_a_key, refuse_keys
from ragassay.engine.config.config_paths import found_from, make_absolute
from ragassay.engine.config.environment import read_filled
from ragassay.engine.config.run_config import (
    MODEL_KWARGS,
    RunConfig,
    first_problem,
    make_config,
    model_kwargs,
)
from ragassay.engine.published import command_for, is_published, translate
from ragassay.errors import InputError, OptionError, RagassayWarning, did_you_mean
from ragassay.yaml_files import Marked, Place, text_of

_RECORDED = ("ragassay", "python", "numpy", "fingerprint", "signatures", "judged_by")
"""Keys that ``run.yaml`` adds to say what happened; a configuration may hold them."""

_SAMPLING = "model_kwargs"
"""The judge's sampling parameters under their endpoints' names."""

_NEVER_READ = "connector"
"""A part of Open RAG Eval's files whose variables need not be set."""


@dataclass(frozen=True)
class ConfigFile:
    """What a configuration file says.

    Attributes:
        path: of the file.
        values: keys of `RunConfig`; paths are absolute.
        content: the file's content, with its lines.
        places: where a key (or an item of it) stands, for those that the file calls otherwise.
        notes: sentences about what has no meaning here.
    """

    path: Path
    values: Mapping[str, Any]
    content: Marked
    places: Mapping[Place, Place] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error about a key of ours, with the line where the file has it.

        Args:
            place: a key of ours, and the item of it that is wrong.
            problem: what is wrong there.
            hint: what to do.

        Returns:
            The error, to be raised: with the file, the line and the field.
        """
        written = next((self.places[p] for p in (place, place[:1]) if p in self.places), place)
        while len(written) > 1 and written not in self.content.lines:
            written = written[:-1]  # one value may stand where a list is meant
        return InputError(
            problem,
            path=self.path,
            line=self.content.line(written),
            field=".".join(written),
            hint=hint,
        )

    def config(self, flags: Mapping[str, Any] | None = None) -> RunConfig:
        """The configuration of file and flags; flags win. Notes become warnings.

        Raises:
            InputError: the file names a suite, metric, judge or file that there is not, or holds a
                gate, budget or the like that cannot be read; with the line.
            UsageError: an impossible flag.
        """
        given = {key: value for key, value in (flags or {}).items() if value is not None}
        made = make_config(**(dict(self.values) | given))
        check(made, [key for key in self.values if key not in given], self.wrong)
        for note in self.notes:
            warnings.warn(note, RagassayWarning, stacklevel=2)
        return made


def read_config(path: str | Path, given: Mapping[str, Any] | None = None) -> ConfigFile:
    """Reads a configuration file, and fills in environment variables.

    Args:
        path: the YAML file. Paths in it are relative to its folder; what is to be read and is not
            there is looked for in the working directory.
        given: flags: what they set need not be possible in the file (a variable that is not set).

    Raises:
        InputError: the file is missing, is no YAML mapping, names an unset variable, an unknown key
            or an impossible value, or holds a key to an endpoint; with line and field.
    """
    source, flags = Path(path), given or {}

    def leave(place: Place) -> bool:
        top = place[0] if place else ""
        return top == _NEVER_READ or top in flags or is_for_a_key(place)

    content = read_filled(text_of(source), source, leave=leave)
    if not isinstance(content.value, dict):
        raise InputError("is not a mapping of keys", path=source, hint="Begin with 'data: FILE'.")
    refuse_keys(content, source)
    sampling, places = _sampling(content, source)
    if is_published(content.value):
        made = translate(content, source, flags)
        own = {key: value for key, value in content.value.items() if key in RunConfig.model_fields}
        # Translated paths are complete; our own keys beside them are as in our own files.
        values = sampling | made.values | _typed(ConfigFile(source, own, content))
        return ConfigFile(source, values, content, places | made.places, tuple(made.notes))
    body = {str(key): value for key, value in content.value.items() if key not in _RECORDED}
    body.pop(_SAMPLING, None)
    body = sampling | body
    if "key_map" in body:
        # UltraRAG's word for the same mapping.
        key_map = body.pop("key_map")
        if not isinstance(key_map, dict | None) or not isinstance(body.get("columns"), dict | None):
            raise InputError("is not a mapping", path=source, line=content.line(("key_map",)))
        places |= {("columns", str(name)): ("key_map", str(name)) for name in key_map or {}}
        places |= {} if body.get("columns") else {("columns",): ("key_map",)}
        body["columns"] = {**(body.get("columns") or {}), **(key_map or {})}
    file = ConfigFile(source, body, content, places)
    for key in body:
        if key not in RunConfig.model_fields:
            raise file.wrong(
                (key,),
                f"unknown key {key!r}",
                command_for(body)
                or did_you_mean(key, [*RunConfig.model_fields, "evaluator"])
                or f"There are: {', '.join(RunConfig.model_fields)}.",
            )
    return ConfigFile(source, _typed(file), content, places)


def _sampling(content: Marked, source: Path) -> tuple[dict[str, Any], dict[Place, Place]]:
    """Our keys for the sampling parameters that are given together as ``model_kwargs``, and the
    place of each.
    """
    given = content.value.get(_SAMPLING)
    if given is not None and not isinstance(given, dict):
        raise InputError("is not a mapping", path=source, line=content.line((_SAMPLING,)))
    try:
        values = model_kwargs(given or {})
    except OptionError as error:
        place = (_SAMPLING, error.key)
        raise InputError(
            error.problem, path=source, line=content.line(place), field=".".join(place)
        ) from error
    return values, {(MODEL_KWARGS[name],): (_SAMPLING, str(name)) for name in given or {}}


def _typed(file: ConfigFile) -> dict[str, Any]:
    """The values of our own keys, checked for their types, paths made absolute."""
    try:
        checked = RunConfig(**file.values)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise file.wrong(place, problem) from error
    values = {key: getattr(checked, key) for key in file.values}
    make_absolute(values, file.path.parent, found_from)
    return values
