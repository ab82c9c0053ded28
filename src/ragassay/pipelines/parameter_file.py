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

FOLDERS = ("parameters", "parameter")
"""Folders beside the pipeline: ours, as UltraRAG's page prints it, and the one its code writes."""

Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Built:
    """What ``build`` did.

    Attributes:
        path: of the parameter file.
        is_new: whether it was not there before.
        added: parameters that were added, as ``server.name``.
        notes: what a person should know.
    """

    path: Path
    is_new: bool
    added: tuple[str, ...]
    notes: tuple[str, ...] = ()


def existing(pipeline: Path) -> Path | None:
    """The parameter file of a pipeline; ``None`` where there is none."""
    paths = [path(pipeline, folder) for folder in FOLDERS]
    return next((one for one in paths if one.is_file()), None)


def path(pipeline: Path, folder: str = FOLDERS[0]) -> Path:
    """Where the parameter file of a pipeline is.

    Args:
        pipeline: its path.
        folder: one of `FOLDERS`.
    """
    return pipeline.parent / folder / f"{pipeline.stem}_parameter.yaml"


def read(file: Path) -> tuple[Values, Marked]:
    """The parameters of each server, and the file with its lines.

    Of a key that is given twice the later one counts.

    Raises:
        InputError: no YAML, or no mapping of servers.
    """
    content = marked(text_of(file), file, later_wins=True)
    return _values(content), content


def _values(content: Marked) -> Values:
    body = {} if content.value is None else content.value
    if not isinstance(body, dict):
        raise content.wrong((), "is not a mapping of servers")
    values: dict[str, dict[str, Any]] = {}
    for server, parameters in body.items():
        if not isinstance(parameters, dict | None):
            raise content.wrong((str(server),), "is not a mapping of parameters")
        values[str(server)] = {str(name): value for name, value in (parameters or {}).items()}
    return values


def write(file: Path, needed: Values) -> Built:
    """Writes a parameter file, or adds to one what it lacks. What stands in it stays as it is.

    Args:
        file: its path.
        needed: for each server the parameters that the pipeline uses, with their defaults.

    Raises:
        InputError: the file there is not a parameter file.
    """
    values, content = read(file) if file.is_file() else ({}, None)
    missing = {
        server: lacking
        for server, parameters in needed.items()
        if (lacking := {n: v for n, v in parameters.items() if n not in values.get(server, {})})
    }
    added = _names(missing)
    if content is None:
        write_text(file, _block(missing))
    elif added:
        lines = _LINE.findall(file.read_bytes().decode())
        # From the end to the beginning: the line numbers above stay true.
        listed = [server for server in missing if server in values]
        for server in sorted(listed, key=lambda one: content.lines[(one,)], reverse=True):
            at = content.lines[(server,)]
            lines.insert(at, _indented(_block(missing[server]), _indent(lines[at:])))
        if new := {server: missing[server] for server in missing if server not in values}:
            lines.append(_block(new))
        # What is added begins a line of its own.
        text = "".join(
            line if line[-1] in _BREAKS or at == len(lines) else f"{line}\n"
            for at, line in enumerate(lines, start=1)
        )
        _check_merged(file, text, values, missing)
        write_text(file, text)
    return Built(file, content is None, added)


_BREAKS = "\n\r\x85\u2028\u2029"
_LINE = re.compile(f"[^{_BREAKS}]*(?:\r\n|[{_BREAKS}])|[^{_BREAKS}]+")
"""A line as YAML counts them, with its end."""


def _check_merged(file: Path, text: str, values: Values, missing: Values) -> None:
    """Refuses a merged text that does not hold the old values and the missing ones."""
    wanted = {
        server: {**values.get(server, {}), **missing.get(server, {})}
        for server in {**values, **missing}
    }
    try:
        merged = _values(marked(text, file, later_wins=True))
    except InputError:
        merged = {}
    if _comparable(merged) != _comparable(wanted):
        raise InputError(
            f"lacks {', '.join(_names(missing))}, which cannot be added to a file of this form",
            path=file,
            hint="Write servers and parameters a line each, without brackets.",
        )


def _comparable(value: Any) -> Any:
    """A value in a form that can be compared: no NaN equals another, and a tuple no list."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _comparable(one)) for key, one in value.items())
    return list(map(_comparable, value)) if isinstance(value, list | tuple) else repr(value)


def _names(values: Values) -> tuple[str, ...]:
    return tuple(sorted(f"{server}.{name}" for server, one in values.items() for name in one))


def _indent(lines: list[str]) -> str:
    """How far the parameters of a server are indented."""
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first[: len(first) - len(first.lstrip())] or "  "


def _indented(block: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in block.removesuffix("\n").split("\n"))


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
