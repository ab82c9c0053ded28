"""A configuration file with the mapping of a data file's columns, for a person to check."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.files import write_bytes
from ragassay.engine.config.run_config import RunConfig
from ragassay.formats import Placement
from ragassay.formats.sources import standard_input

_KEYS = ("format", "encoding", "sheet", "separator", "single_chunk", "system", "passages_from")


def save_mapping(path: Path, config: RunConfig, placement: Placement) -> None:
    """Writes the options of a person and the suggested columns as a configuration (YAML).

    Args:
        path: the file; it must not exist yet.
        config: the options that were named.
        placement: of the data's columns.

    Raises:
        UsageError: the file is there, cannot be written, or the data is standard input.
    """
    import yaml

    if path.exists():
        raise UsageError(f"{path} is there already. Name another file, or remove it.")
    data = config.data or ""
    names = [data] if isinstance(data, str) else data
    if standard_input.NAME in names:
        raise UsageError("A mapping names its data, and standard input has no name. Name a file.")
    folder = path.absolute().parent
    relative = [os.path.relpath(Path(name).absolute(), folder) for name in names]
    body: dict[str, Any] = {"data": relative[0] if len(relative) == 1 else relative}
    body |= {key: value for key in _KEYS if (value := getattr(config, key))}
    for key in ("references", "golden", "qrels"):
        if value := getattr(config, key):
            body[key] = os.path.relpath(Path(value).absolute(), folder)
    body |= {key: value for key in ("suite", "metrics") if (value := getattr(config, key))}
    columns: Mapping[str, Any] = {**placement.suggested, **config.columns}
    if columns:
        body["columns"] = dict(columns)
    text = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    by_name = [f"{one} in {name}" for one, name in placement.placed.items() if one not in columns]
    notes = [f"Found by their names: {', '.join(by_name)}"] if by_name else []
    if suggested := [one for one in placement.suggested if one not in config.columns]:
        notes.append(f"Suggested by what the columns hold, to be checked: {', '.join(suggested)}")
    for one, alike in placement.tied.items():
        if one not in config.columns:
            notes.append(f"Name one for {one}, they suit it equally well: {', '.join(alike)}")
    if unplaced := placement.without_field(columns):
        notes.append(f"Columns that are no field: {', '.join(unplaced)}")
    head = "".join(f"# {' '.join(note.split())}.\n" for note in notes)
    write_bytes(path, (head + text).encode())
