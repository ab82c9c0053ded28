"""The parameter file of a pipeline: where it is, what it holds, and how ``build`` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ragassay.base.files import write_text
from ragassay.base.yaml_files import Marked, marked, text_of

_FOLDERS = ("parameters", "parameter")
"""Folders beside the pipeline: ours, as UltraRAG's page prints it, and the one its code writes."""

Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Built:
    """What ``build`` did with a parameter file: whether it was written, else the YAML of what it
    lacks, and what a person should know."""

    path: Path
    is_new: bool
    lacking: str = ""
    notes: tuple[str, ...] = ()


def paths(pipeline: Path) -> list[Path]:
    """Where the parameter file of a pipeline may be; a new one is the first."""
    return [pipeline.parent / one / f"{pipeline.stem}_parameter.yaml" for one in _FOLDERS]


def existing(pipeline: Path) -> Path | None:
    """The parameter file of a pipeline; ``None`` where there is none."""
    return next((one for one in paths(pipeline) if one.is_file()), None)


def read(file: Path) -> tuple[Values, Marked]:
    """The parameters of each server, and the file with its lines.

    Of a key that is given twice the later one counts."""
    content = marked(text_of(file), file, later_wins=True)
    body = {} if content.value is None else content.value
    if not isinstance(body, dict):
        raise content.wrong((), "is not a mapping of servers")
    values: dict[str, dict[str, Any]] = {}
    for server, parameters in body.items():
        if not isinstance(parameters, dict | None):
            raise content.wrong((str(server),), "is not a mapping of parameters")
        values[str(server)] = {str(name): value for name, value in (parameters or {}).items()}
    return values, content


def write(file: Path, needed: Values) -> Built:
    """Writes a parameter file. An existing one is not changed; what it lacks is printed."""
    if not file.is_file():
        write_text(file, _block(needed))
        return Built(file, is_new=True)
    values, _ = read(file)
    lacking = {
        server: {n: v for n, v in parameters.items() if n not in values.get(server, {})}
        for server, parameters in needed.items()
    }
    lacking = {server: parameters for server, parameters in lacking.items() if parameters}
    return Built(file, is_new=False, lacking=_block(lacking) if lacking else "")


def _block(values: Mapping[str, Any]) -> str:
    plain = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in values.items()
    }
    text: str = yaml.dump(plain, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=100)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block, which a person can edit."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
