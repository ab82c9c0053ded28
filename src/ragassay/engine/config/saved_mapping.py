"""A configuration file with the mapping of a data file's columns, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.files import write_bytes
from ragassay.engine.config.config_paths import make_relative
from ragassay.engine.config.run_config import RunConfig
from ragassay.formats import Placement
from ragassay.formats.sources import standard_input


def save_mapping(path: Path, config: RunConfig, placement: Placement) -> None:
    """Writes the options of a person and the suggested columns as a configuration (YAML)."""
    import yaml

    if path.exists():
        raise UsageError(f"{path} is there already. Name another file, or remove it.")
    data = config.data or ""
    names = [data] if isinstance(data, str) else data
    if standard_input.NAME in names:
        raise UsageError("A mapping names its data, and standard input has no name. Name a file.")
    given = config.model_dump(exclude_unset=True, exclude={"columns"})
    body = {key: value for key, value in given.items() if value}
    make_relative(body, path.absolute().parent)
    columns: Mapping[str, Any] = {**placement.suggested, **config.columns}
    if columns:
        body["columns"] = dict(columns)
    text = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=1000)
    by_name = [f"{one} in {name}" for one, name in placement.placed.items() if one not in columns]
    notes = [f"Found by their names: {', '.join(by_name)}"] if by_name else []
    if suggested := [one for one in placement.suggested if one not in config.columns]:
        notes.append(f"Suggested by their names, to be checked: {', '.join(suggested)}")
    if unplaced := placement.without_field(columns):
        notes.append(f"Columns that are no field: {', '.join(unplaced)}")
    head = "".join(f"# {' '.join(note.split())}.\n" for note in notes)
    write_bytes(path, (head + text).encode())
