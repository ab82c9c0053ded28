"""The content of a configuration file: our keys, each with its place in the file, and notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.base import yaml_positions
from ragassay.base.errors import InputError, OptionError
from ragassay.base.yaml_files import Marked, Place
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
        notes: sentences about parts of the file that have no effect.
    """

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
