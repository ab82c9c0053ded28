"""Paths in a configuration: relative to its file where they are written, absolute where they are
used; and a configuration with the columns of a data file, for a person to check."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.files import write_bytes
from ragassay.engine.config.run_config import OWN, POOLED, RunConfig, options_of
from ragassay.formats import Placement
from ragassay.formats.records.chosen_columns import ChosenColumns
from ragassay.formats.sources import opening
from ragassay.models.weights.weight_files import is_path

Change = Callable[[str], str]


def found_from(base: Path, name: str | Path) -> Path:
    """The file or folder that a configuration in the folder ``base`` names: relative to that, else
    to the working directory, if it exists there."""
    in_base = base / name
    return Path(name).absolute() if not _exists(in_base) and _exists(Path(name)) else in_base


def _exists(path: Path) -> bool:
    """Whether there is such a file or folder, or one of such a pattern."""
    return path.exists() or bool(glob.has_magic(str(path)) and glob.glob(str(path)))  # noqa: PTH207


def make_absolute(
    values: dict[str, Any], base: Path, find: Callable[[Path, str], Path] = Path.joinpath
) -> None:
    """Makes the paths in a configuration absolute, in place. They start from ``base``; ``find``
    makes the path of what is read from that and a name."""

    def read(name: str) -> str:
        return name if name == opening.STANDARD_INPUT else str(find(base, name))

    _change(values, read, lambda name: Path(read(name)).is_dir(), lambda name: str(base / name))


def make_relative(values: dict[str, Any], folder: str | Path) -> None:
    """Makes the paths in a configuration relative to a folder, in place."""

    def change(name: str) -> str:
        return name if name == opening.STANDARD_INPUT else os.path.relpath(name, folder)

    _change(values, change, lambda name: Path(name).is_dir())


def named_files(values: Mapping[str, Any]) -> list[str]:
    """The files and folders that the keys of a configuration name."""
    names: list[str] = []

    def note(name: str) -> str:
        names.append(name)
        return name

    _change(dict(values), note, lambda name: is_path(name) or Path(name).is_dir())
    return names


def _change(
    values: dict[str, Any],
    read: Change,
    is_folder: Callable[[str], bool],
    written: Change | None = None,
) -> None:
    """Changes what is read, and what is written where that is changed in another way."""
    changes: dict[str, Change] = {
        key: read if option.path == "read" else written or read
        for key, option in options_of(RunConfig).items()
        if option.path is not None and "://" not in (values.get(key) or "")
    }
    changes["models"] = read
    changes["judge"] = lambda word: _replay(word, read)
    changes["nuggets"] = lambda name: name if name in (OWN, POOLED) else read(name)
    changes["embedder"] = lambda word: read(word) if is_folder(word) else word
    for key, change in changes.items():
        value = values.get(key)
        if not value:
            continue
        if isinstance(value, dict):
            values[key] = {name: change(str(item)) for name, item in value.items()}
        else:
            values[key] = [*map(change, value)] if isinstance(value, list) else change(value)


def _replay(word: str, change: Change) -> str:
    """A judge's word with the file of ``replay:FILE`` changed."""
    kind, _, name = word.partition(":")
    is_replay = kind.strip().casefold() == "replay"
    return f"{kind}:{change(name)}" if is_replay and name else word


def save_mapping(path: Path, config: RunConfig, placement: Placement) -> None:
    """Writes the options of a person and the suggested columns as a configuration (YAML)."""
    import yaml

    if path.exists():
        raise UsageError(f"{path} already exists. Name another file, or remove it.")
    data = config.data or ""
    names = [data] if isinstance(data, str) else data
    if opening.STANDARD_INPUT in names:
        raise UsageError("A mapping names its data, and standard input has no name. Name a file.")
    given = config.model_dump(exclude_unset=True, exclude={"columns"})
    body = {key: value for key, value in given.items() if value}
    make_relative(body, path.absolute().parent)
    columns: Mapping[str, Any] = {**placement.suggested, **config.columns}
    if columns:
        body["columns"] = dict(columns)
    text = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    by_name = [
        f"{word} in {name}" for word, name in placement.placed.items() if word not in columns
    ]
    notes = [f"Found by their names: {', '.join(by_name)}"] if by_name else []
    if suggested := [name for name in placement.suggested if name not in config.columns]:
        notes.append(f"Suggested by their names, to be checked: {', '.join(suggested)}")
    used = ChosenColumns(columns).used(placement.unplaced)
    if unplaced := [name for name in placement.unplaced if name not in used]:
        notes.append(f"Columns that are not a field: {', '.join(unplaced)}")
    head = "".join(f"# {' '.join(note.split())}.\n" for note in notes)
    write_bytes(path, (head + text).encode())
