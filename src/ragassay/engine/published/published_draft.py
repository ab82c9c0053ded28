"""One of Open RAG Eval's configurations on its way to the keys of a `RunConfig`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay import yaml_positions
from ragassay.errors import InputError, UsageError
from ragassay.yaml_files import Marked, Place
from ragassay.yaml_positions import M


@dataclass
class Draft:
    """What of a published configuration is said in our words so far.

    Attributes:
        found: the file's content.
        path: of the file.
        given: keys that flags set, so that the file need not say them.
        values: keys of `RunConfig`.
        places: where in the file a key's value (or an item of it) stands.
        notes: sentences about what has no meaning here.
        over_runs: whether the metrics of single samples are looked at over repeated runs.
    """

    found: Marked
    path: Path
    given: Collection[str] = ()
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[Place, Place] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    over_runs: bool = False

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error at a place of the file."""
        return InputError(
            problem,
            path=self.path,
            line=self.found.line(place),
            field=".".join(place) or None,
            hint=hint,
        )

    def note(self, place: Place, sentence: str) -> None:
        """One sentence about what stands at a place."""
        self.notes.append(
            f"{self.path}, line {self.found.line(place)}: {'.'.join(place)}: {sentence}"
        )

    def put(self, key: str, value: Any, place: Place, *items: Place) -> None:
        """Sets a key of ours, said at a place; the items of a list may have places of their own."""
        self.values[key] = value
        self.places[(key,)] = place
        self.places |= {(key, str(at)): item for at, item in enumerate(items)}

    def add_suite(self, name: str, place: Place) -> None:
        """One more suite; one that is there already stays where it is in the order."""
        suites = list(dict.fromkeys([*self.values.get("suite", []), name]))
        self.put("suite", suites, place)
        self.places[("suite", str(suites.index(name)))] = place

    def option(self, name: str, value: Any, place: Place) -> None:
        """Sets a parameter of metrics."""
        self.values.setdefault("options", {})[name] = value
        self.places.setdefault(("options",), place)
        self.places[("options", name)] = place

    def validated(self, model: type[M], body: Any, place: Place) -> M:
        """A part of the file in its form; ``null`` is an empty mapping.

        Raises:
            InputError: what stands there has another form.
        """
        return yaml_positions.validated(self.found, body or {}, model, self.path, place)

    def checked(self, find: Callable[[str], str], name: str, place: Place) -> str:
        """What ``find`` makes of a name.

        Raises:
            InputError: where ``find`` raises a `UsageError`.
        """
        try:
            return find(name)
        except UsageError as error:
            raise self.wrong(place, str(error)) from error
