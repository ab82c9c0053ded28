"""The content of a configuration file: our keys, each with its place in the file, and notes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.base import yaml_positions
from ragassay.base.errors import InputError, OptionError
from ragassay.base.yaml_files import Marked, Place, marked
from ragassay.base.yaml_positions import M
from ragassay.engine.config.run_config import sampling_key

SAMPLING = "model_kwargs"
"""The judge's sampling parameters under their endpoints' names."""


@dataclass
class ConfigFile:
    """A configuration file, as far as it is read or translated.

    Attributes:
        content: the file's content, with its lines.
        path: of the file.
        flags: keys that flags set, so that the file need not have them.
        values: keys of `RunConfig`; paths are absolute.
        places: the place of a key (or of an item of it) that has another name in the file.
        notes: sentences about parts of the file that have no effect."""

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
        """Sets the judge's sampling parameters, under their endpoints' names, except those that
        flags set."""
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
        return yaml_positions.validated(self.content, body or {}, model, place)

    def wrong_key(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error about a key of ours or an item of it, with the line where the file has it."""
        in_file = next((self.places[p] for p in (place, place[:1]) if p in self.places), place)
        while len(in_file) > 1 and in_file not in self.content.lines:
            in_file = in_file[:-1]  # one value may stand where a list is meant
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
                f"{match[0]} is no reference to an environment variable",
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
    empty. A key that stands in the file itself is refused."""
    if value in (None, ""):
        return None
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    reference = None if match is None else _reference(match[1])
    if reference is not None and reference["default"] in (None, "", "null"):
        return reference["name"]
    raise content.wrong(
        place,
        "a key must not stand in the file",
        "Write ${oc.env:NAME} and set that environment variable, or keep the key in a file of "
        "its own (--key-file). For a server that needs none, leave it out.",
    )


def _scalars(value: Any) -> Iterator[tuple[Place, Any]]:
    """Every scalar with its place."""
    seen: set[int] = set()
    waiting: list[tuple[Place, Any]] = [((), value)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, dict | list):
            if id(part) in seen:
                continue
            seen.add(id(part))
            pairs = part.items() if isinstance(part, dict) else enumerate(part)
            waiting += [((*place, str(key)), inner) for key, inner in pairs]
        else:
            yield place, part
