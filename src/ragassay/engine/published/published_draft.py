"""A partly translated configuration of Open RAG Eval's."""

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
    """The part of a published configuration that is translated so far.

    Attributes:
        content: of the file, with its lines.
        path: of the file.
        given: keys that flags set, so that the file need not say them.
        values: keys of `RunConfig`.
        places: where in the file a key's value (or an item of it) stands.
        notes: sentences about what has no meaning here.
        over_runs: whether the metrics of single samples are looked at over repeated runs.
    """

    content: Marked
    path: Path
    given: Collection[str] = ()
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[Place, Place] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    over_runs: bool = False

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error at a place of the file.

        Args:
            place: in the file.
            problem: what is wrong there.
            hint: what to do.

        Returns:
            The error, to be raised: with file, line and field.
        """
        return InputError(
            problem,
            path=self.path,
            line=self.content.line(place),
            field=".".join(place) or None,
            hint=hint,
        )

    def note(self, place: Place, sentence: str) -> None:
        """Adds a note about a place of the file.

        Args:
            place: in the file.
            sentence: what a reader should know of it.
        """
        self.notes.append(
            f"{self.path}, line {self.content.line(place)}: {'.'.join(place)}: {sentence}"
        )

    def put(self, key: str, value: Any, place: Place, *items: Place) -> None:
        """Sets a key of ours.

        Args:
            key: of `RunConfig`.
            value: of the key.
            place: in the file that says it.
            items: places of the items, where the value is a list.
        """
        self.values[key] = value
        self.places[(key,)] = place
        self.places |= {(key, str(at)): item for at, item in enumerate(items)}

    def add_suite(self, name: str, place: Place) -> None:
        """Adds a suite at the end; one that is there already keeps its position.

        Args:
            name: of the suite.
            place: in the file that names it.
        """
        suites = list(dict.fromkeys([*self.values.get("suite", []), name]))
        self.put("suite", suites, place)
        self.places[("suite", str(suites.index(name)))] = place

    def option(self, name: str, value: Any, place: Place) -> None:
        """Sets a parameter of metrics.

        Args:
            name: of the parameter.
            value: of the parameter.
            place: in the file that says it.
        """
        self.values.setdefault("options", {})[name] = value
        self.places.setdefault(("options",), place)
        self.places[("options", name)] = place

    def validated(self, model: type[M], body: Any, place: Place) -> M:
        """A part of the file, validated.

        Args:
            model: the form that the part must have.
            body: the part; ``None`` is an empty mapping.
            place: of the part in the file.

        Raises:
            InputError: what stands there has another form.
        """
        return yaml_positions.validated(self.content, body or {}, model, self.path, place)

    def checked(self, find: Callable[[str], str], name: str, place: Place) -> str:
        """The value that ``find`` gives for a name.

        Args:
            find: gives the value for a name, or raises a `UsageError`.
            name: that the file has.
            place: of the name.

        Raises:
            InputError: where ``find`` raises a `UsageError`.
        """
        try:
            return find(name)
        except UsageError as error:
            raise self.wrong(place, str(error)) from error
