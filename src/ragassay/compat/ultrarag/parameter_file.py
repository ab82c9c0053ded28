"""The parameter file of a pipeline: where it is, what it holds, and how ``build`` adds to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ragassay.base.errors import InputError
from ragassay.base.files import write_text
from ragassay.base.yaml_files import Marked, marked, text_of

_FOLDERS = ("parameters", "parameter")
"""Folders beside the pipeline: ours, as UltraRAG's page prints it, and the one its code writes."""

Values = Mapping[str, Mapping[str, Any]]

_BREAKS = "\n\r\x85\u2028\u2029"
_LINE = re.compile(f"[^{_BREAKS}]*(?:\r\n|[{_BREAKS}])|[^{_BREAKS}]+")
"""A line as YAML counts them, with its end."""


@dataclass(frozen=True)
class Built:
    """What ``build`` did with a parameter file: which parameters (``server.name``) were added, and
    what a person should know."""

    path: Path
    is_new: bool
    added: tuple[str, ...]
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
    return _read(text_of(file), file)


def _read(text: str, file: Path) -> tuple[Values, Marked]:
    content = marked(text, file, later_wins=True)
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
    """Writes a parameter file, or adds to one what it lacks. What stands in it stays as it is."""
    values, content = read(file) if file.is_file() else ({}, None)
    missing = {
        server: lacking
        for server, parameters in needed.items()
        if (lacking := {n: v for n, v in parameters.items() if n not in values.get(server, {})})
    }
    added = tuple(sorted(f"{server}.{name}" for server, one in missing.items() for name in one))
    if content is None:
        write_text(file, _block(missing))
    elif added:
        lines = _LINE.findall(file.read_bytes().decode())
        # From the end to the beginning: the line numbers above stay true.
        listed = [server for server in missing if server in values]
        for server in sorted(listed, key=lambda one: content.lines[(one,)], reverse=True):
            at = content.lines[(server,)]
            indent = _indent(lines[at:])
            block = _block(missing[server]).removesuffix("\n").split("\n")
            lines.insert(at, "".join(f"{indent}{line}\n" for line in block))
        if new := {server: missing[server] for server in missing if server not in values}:
            lines.append(_block(new))
        # What is added begins a line of its own.
        text = "".join(
            line if line[-1] in _BREAKS or at == len(lines) else f"{line}\n"
            for at, line in enumerate(lines, start=1)
        )
        wanted = {
            server: {**values.get(server, {}), **missing.get(server, {})}
            for server in {**values, **missing}
        }
        if not _holds(text, file, wanted):
            raise InputError(
                f"lacks {', '.join(added)}, which cannot be added to a file of this form",
                path=file,
                hint="Write servers and parameters a line each, without brackets.",
            )
        write_text(file, text)
    return Built(file, content is None, added)


def _holds(text: str, file: Path, wanted: Values) -> bool:
    """Whether a text holds exactly these values."""
    try:
        return bool(_comparable(_read(text, file)[0]) == _comparable(wanted))
    except InputError:
        return False


def _comparable(value: Any) -> Any:
    """A value in a form that can be compared: no NaN equals another, and a tuple no list."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _comparable(one)) for key, one in value.items())
    return list(map(_comparable, value)) if isinstance(value, list | tuple) else repr(value)


def _indent(lines: list[str]) -> str:
    """How far the parameters of a server are indented."""
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first[: len(first) - len(first.lstrip())] or "  "


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
