"""Configuration files (docs/configuration.md): from YAML and flags to the configuration of a run.
Each error is reported with its line: `read_config` checks names and types, `checked` what values
mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats
from ragassay.base import yaml_files
from ragassay.base.errors import (
    InputError,
    OptionError,
    UsageError,
    did_you_mean,
    mistakes,
    warn_user,
)
from ragassay.base.yaml_files import M, Marked, Place, marked, text_of
from ragassay.engine.comparison import gates
from ragassay.engine.config.config_paths import found_from, make_absolute
from ragassay.engine.config.metric_selection import own_metrics, select_metrics
from ragassay.engine.config.run_config import OWN, POOLED, RunConfig, make_config, sampling_key
from ragassay.engine.models.needed_models import check_folders, check_names, models_used
from ragassay.formats.records.chosen_columns import canonical
from ragassay.formats.sources import opening
from ragassay.user_code.object_loading import has_module

SAMPLING = "model_kwargs"
"""The judge's sampling parameters under their endpoints' names."""


@dataclass
class ConfigFile:
    """A configuration file, as far as it is read or translated: its content with lines, the keys
    that ``flags`` set, the ``values`` of our keys (paths are absolute), the ``places`` of those
    that have another name in the file, and notes on parts that have no effect."""

    content: Marked
    path: Path
    flags: Collection[str] = ()
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[Place, Place] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error about a place of the file; see `Marked.wrong`."""
        return self.content.wrong(place, problem, hint)

    def note(self, place: Place, sentence: str) -> None:
        """Adds a note about a place of the file."""
        where = f"{self.content.path}, line {self.content.line(place)}: "
        prefix = where if self.content.path is not None else ""
        self.notes.append(f"{prefix}{'.'.join(place)}: {sentence}")

    def put(self, key: str, value: Any, place: Place, *items: Place) -> None:
        """Sets a key of ours, with its place in the file and those of its items."""
        self.values[key] = value
        self.places[(key,)] = place
        self.places |= {(key, str(at)): item for at, item in enumerate(items)}

    def add_suite(self, name: str, place: Place) -> None:
        """Adds a suite at the end; one that is there already keeps its position."""
        suites = list(dict.fromkeys([*self.values.get("suite", []), name]))
        self.put("suite", suites, place)
        self.places[("suite", str(suites.index(name)))] = place

    def option(self, name: str, value: Any, place: Place) -> None:
        """Sets a parameter of metrics."""
        self.values.setdefault("options", {})[name] = value
        self.places.setdefault(("options",), place)
        self.places[("options", name)] = place

    def sample(self, parameters: Mapping[str, Any] | None, place: Place) -> None:
        """Sets the judge's sampling parameters by their endpoints' names, unless flags set them."""
        for name, value in (parameters or {}).items():
            here = (*place, str(name))
            try:
                key = sampling_key(str(name), value)
            except OptionError as error:
                raise self.wrong(here, error.problem) from error
            if key not in self.flags:
                self.put(key, value, here)

    def validated(self, model: type[M], body: Any, place: Place) -> M:
        """A part of the file, validated."""
        return yaml_files.validated(self.content, body or {}, model, place)

    def wrong_key(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error about a key of ours or an item of it, with the line where the file has it."""
        in_file = next((self.places[p] for p in (place, place[:1]) if p in self.places), place)
        while len(in_file) > 1 and in_file not in self.content.lines:
            in_file = in_file[:-1]  # one value may be where a list is meant
        return self.content.wrong(in_file, problem, hint)


_FORM = re.compile(r"\$\{([^}]*)\}")
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_REFERENCES = (
    re.compile(rf"{_NAME}(?::-(?P<default>.*))?", re.DOTALL),
    re.compile(
        rf"\s*oc\.env\s*:\s*{_NAME}\s*(?:,\s*(?P<quote>['\"]?)(?P<default>.*?)(?P=quote)\s*)?",
        re.DOTALL,
    ),
)
_FOREIGN = re.compile(r"\s*(?:\.|[A-Za-z_]\w*\s*[.:\[]).*", re.DOTALL)
"""References that OmegaConf would resolve: to another key, or to a resolver of its own."""


def read_filled(
    text: str,
    path: object,
    *,
    leave: Callable[[Place], bool] = lambda place: False,
    environment: Mapping[str, str] | None = None,
) -> Marked:
    """The content of a YAML text, with environment variables filled in.

    They are filled in after the text was parsed, so no value can change its structure, and
    references in comments are ignored."""
    mark = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
    variables = os.environ if environment is None else environment
    matches: list[re.Match[str]] = []

    def noted(match: re.Match[str]) -> str:
        matches.append(match)
        return f"{mark}{len(matches) - 1}{mark}"

    safe = _FORM.sub(noted, text)  # braces mean something inside YAML's own brackets

    def fill(scalar: str, place: Place) -> str:
        if mark not in scalar:
            return scalar
        left = leave(place)

        def value(token: re.Match[str]) -> str:
            match = matches[int(token[1])]
            line = text.count("\n", 0, match.start()) + 1
            return match[0] if left else _value(match, variables, path, line)

        return re.sub(f"{mark}(\\d+){mark}", value, scalar)

    return marked(safe, path, fill)


def _value(match: re.Match[str], environment: Mapping[str, str], path: object, line: int) -> str:
    reference = _reference(match[1])
    if reference is None:
        if _FOREIGN.fullmatch(match[1]):
            raise InputError(
                f"{match[0]} is not a reference to an environment variable",
                path=path,
                line=line,
                hint="Write ${NAME} or ${oc.env:NAME}; references to other keys are not followed.",
            )
        return match[0]
    name, default = reference["name"], reference["default"]
    if name not in environment and default is None:
        raise InputError(
            f"names the environment variable {name}, which is not set",
            path=path,
            line=line,
            hint=f"Set it, or write ${{{name}:-default}}.",
        )
    return environment.get(name, default)


def _reference(body: str) -> re.Match[str] | None:
    return next((match for form in _REFERENCES if (match := form.fullmatch(body))), None)


_NAMED = re.compile(r"(?:^|_)(?:api_?key|(?:access|auth|hf|api)_token|password|secret)$", re.I)


def is_for_a_key(place: Place) -> bool:
    """Whether the key of a place is one for API keys, passwords or the like."""
    return bool(place) and _NAMED.search(place[-1].replace("-", "_")) is not None


def refuse_keys(content: Marked) -> None:
    """Refuses an API key that is written out. A reference to the environment is allowed."""
    for place, value in _scalars(content.value):
        if is_for_a_key(place) and value not in (None, ""):
            variable_of(value, content, place)


def variable_of(value: Any, content: Marked, place: Place) -> str | None:
    """The environment variable that an API key is to be read from; ``None`` where the value is
    empty. A key written out in the file is refused."""
    if value in (None, ""):
        return None
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    reference = None if match is None else _reference(match[1])
    if reference is not None and reference["default"] in (None, "", "null"):
        return reference["name"]
    raise content.wrong(
        place,
        "a key must not be in the file",
        "Write ${oc.env:NAME} and set that environment variable, or keep the key in a file of "
        "its own (--key-file). For a server that needs none, leave it out.",
    )


def _scalars(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every scalar with its place."""
    if not isinstance(value, dict | list):
        yield place, value
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _scalars(inner, (*place, str(key)))


_RECORDED = ("ragassay", "python", "numpy", "date", "fingerprint", "signatures", "judged_by")
"""Keys that ``run.yaml`` adds as a record of the run; a configuration may hold them."""

_OF_PIPELINES = ("pipeline", "pipelines", "servers", "benchmark", "evaluation")
_A_PIPELINE = (
    "UltraRAG's pipelines are run with their parameters: ragassay run PIPELINE.yaml --param FILE."
)
_NEVER_READ = "connector"
"""A part of Open RAG Eval's files whose variables need not be set."""


def read_config(
    path: str | Path,
    flags: Mapping[str, Any] | None = None,
    translators: Mapping[str, Callable[[ConfigFile], None]] | None = None,
) -> ConfigFile:
    """Reads a configuration file, and fills in environment variables.

    Paths in it are relative to its folder; a file to be read that does not exist there is looked
    for in the working directory. Keys that ``flags`` set may be impossible in the file (an unset
    variable). ``translators`` of published files are by the key that such a file has."""
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
    if key := next((translator for translator in translators if translator in body), None):
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
                (_A_PIPELINE if key in _OF_PIPELINES else None)
                or did_you_mean(key, [*RunConfig.model_fields, *translators])
                or f"There are: {', '.join(RunConfig.model_fields)}."
            )
            raise file.wrong_key((key,), f"unknown key {key!r}", hint)
    try:
        values = RunConfig(**{key: body[key] for key in body if flags.get(key) is None})
    except ValidationError as error:
        raise file.wrong_key(*mistakes(error)[0]) from error
    own = {key: getattr(values, key) for key in body if key in values.model_fields_set}
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
    given = flags or {}
    config = make_config(**{**file.values, **given})
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
    """The place of a mistake: the key, or item of its list or mapping, with which it comes in where
    the configuration is built up. Keys that depend on others come after these."""
    built = RunConfig()
    for key in sorted(keys, key=lambda key: _ORDER.index(key) if key in _ORDER else -1):
        value = getattr(config, key)
        parts: list[tuple[Place, Any]] = [((key,), value)]
        if isinstance(value, Mapping):
            parts = [((key, name), {name: value[name]}) for name in value]
        elif isinstance(value, list):
            parts = [((key, f"{n}"), value[: n + 1]) for n in range(len(value))]
        for place, part in parts:
            found = _mistake(built.model_copy(update={key: part}))
            if str(found) == str(error):
                return place
        built = built.model_copy(update={key: value})
    return ()


_ORDER = (
    *("suite", "metrics", "consistency_metrics", "ks", "format", "encoding", "columns", "judge"),
    *("consistency_of", "options", "models", "fail_under"),
)
"""Keys after all others, each after those that it depends on."""


def _mistake(config: RunConfig) -> UsageError | None:
    try:
        _check(config)
    except UsageError as error:
        return error
    return None


def _check(config: RunConfig) -> None:
    """Looks for all that a configuration names; the data is not read."""
    from ragassay.judges.judge_factory import address_of, kinds, names_object
    from ragassay.transport.secrets import NO_KEY

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
        names_own = names_object(word) and has_module(word)  # the run imports it when it begins
        if not names_own and word.strip().partition(":")[0].casefold() not in kinds():
            address_of(word.strip(), "model", os.environ, NO_KEY)
    check_folders(config.models)
    for text in config.fail_under:
        gates.parse(text)
    data_format = config.format
    if data_format is None and data and data[0].exists():
        data_format = formats.detect(config.data or "", config.encoding).name
    if data_format is None and not (config.suite or config.metrics):
        return  # the metrics depend on the data
    selection = select_metrics(config, data_format or "", own=own)
    check_names(config.models, models_used(config, selection.every.values()))
    gates.check(config, selection)
