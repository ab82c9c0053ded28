"""Where the servers of a pipeline are: a folder, a command, a URL, or built in."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragassay.base.errors import InputError, UsageError
from ragassay.base.yaml_files import Marked, Place, marked, text_of
from ragassay.base.yaml_positions import validated
from ragassay.compat.ultrarag.pipeline_file import Pipeline
from ragassay.compat.ultrarag.pipeline_tools import FLOWS

CALL_S, START_S = 3600.0, 60.0
"""Seconds for a call, and until a server says what its tools are, where the pipeline is silent."""

_URL = ("http://", "https://")

_FORMS = (
    "Write a folder with src/NAME.py and parameter.yaml, a command such as 'python server.py', a "
    "URL, or servers/benchmark or servers/evaluation for the built-in ones."
)

_BINARIES = ("bin/python", "Scripts/python.exe")
"""Where a virtual environment has its interpreter."""

_OF_OURS = re.compile(r"^\s*(?:from|import) ragassay\b", re.MULTILINE)


class _Written(BaseModel):
    """What a pipeline may say of a server; a text in its place is a folder, URL or command."""

    model_config = ConfigDict(extra="forbid")
    folder: str | None = None
    python: str | None = None
    command: str | list[str] | None = None
    url: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    timeout: float = Field(CALL_S, gt=0, allow_inf_nan=False)
    start_timeout: float = Field(START_S, gt=0, allow_inf_nan=False)


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is.

    Attributes:
        kind: ``builtin``: of this package; ``process``: started here; ``url``: runs elsewhere.
        where: the built-in server's name, the command as it is shown, or the URL.
        command, env: of a process; the variables come on top of those of this one.
        folder: of UltraRAG's layout, where the process is of one.
        headers: of requests to a URL.
        timeout, start_timeout: seconds for a call, and until it says what its tools are.
    """

    kind: Literal["builtin", "process", "url"]
    where: str
    command: tuple[str, ...] = ()
    folder: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = CALL_S
    start_timeout: float = START_S


def address(pipeline: Pipeline, name: str) -> ServerAddress:
    """Where a server of a pipeline is.

    A text names a folder (relative to the working directory, or to the pipeline's folder), a URL or
    a command. ``servers/evaluation`` and ``servers/benchmark`` are the built-in ones where there is
    no such folder. A mapping has ``folder``, ``command`` or ``url``, and more.

    Raises:
        InputError: it is none of these; with line and field.
    """
    content, place, body = pipeline.marked, ("servers", name), pipeline.servers[name]
    inside = place if isinstance(body, str) else (*place, "command")
    if isinstance(body, str):
        if body.startswith(_URL):
            body = {"url": body}
        elif not body.strip():
            raise content.wrong(place, "is empty", _FORMS)
        elif _folder(pipeline, body) is not None:
            body = {"folder": body}
        elif Path(body).name in FLOWS:
            return ServerAddress("builtin", Path(body).name)
        elif " " in body or shutil.which(body):
            body = {"command": body}
        else:
            raise content.wrong(place, f"there is no folder {body!r}", _FORMS)
    if not isinstance(body, dict):
        raise content.wrong(place, "is neither a text nor a mapping", _FORMS)
    written = validated(content, body, _Written, place)
    n = sum(bool(one) for one in (written.folder, written.command, written.url))
    if n != 1:
        raise content.wrong(place, f"has {n or 'none'} of folder, command and url", "Write one.")
    more: dict[str, Any] = {"timeout": written.timeout, "start_timeout": written.start_timeout}
    for key in ("env", "headers"):
        more[key] = _filled(content, (*place, key), getattr(written, key))
    for header, value in more["headers"].items():
        if not f"{header}{value}".isascii() or not f"{header}{value}".isprintable():
            problem = "has characters that no header can have"
            raise content.wrong((*place, "headers", header), problem)
    if written.folder:
        folder = _folder(pipeline, written.folder)
        if folder is None:
            raise content.wrong((*place, "folder"), f"there is no folder {written.folder!r}")
        return _of_folder(content, place, folder, written.python, more)
    if written.url:
        return ServerAddress("url", written.url, **more)
    if written.python:
        raise content.wrong((*place, "python"), "is the interpreter of a folder", "Name it.")
    command = written.command or []
    try:
        return of_command(shlex.split(command) if isinstance(command, str) else command, **more)
    except ValueError as error:
        raise content.wrong(inside, f"is no command: {str(error).casefold()}") from error
    except UsageError as error:
        raise content.wrong(inside, str(error).rstrip("."), _FORMS) from error


def of_command(words: list[str], **more: Any) -> ServerAddress:
    """The address of a server that a command starts."""
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"there is no program {words[0] if words else ''!r}.")
    # "python" is the one that runs the pipeline: a virtual environment need not be activated.
    first = sys.executable if words[0] in ("python", "python3") else words[0]
    return ServerAddress("process", shlex.join(words), command=(first, *words[1:]), **more)


def _folder(pipeline: Pipeline, text: str) -> Path | None:
    tried = (Path(text), pipeline.path.parent / text)
    return next((folder for folder in tried if os.path.isdir(folder)), None)  # noqa: PTH112 - never raises


def _of_folder(
    content: Marked, place: Place, folder: Path, python: str | None, more: Mapping[str, Any]
) -> ServerAddress:
    """A server of UltraRAG's layout: its program, or where its parameters say that it runs."""
    path = _parameter_file(folder).get("path")
    if isinstance(path, str) and path.startswith(_URL):
        if python is not None:
            raise content.wrong((*place, "python"), f"starts nothing: the server is at {path}")
        return ServerAddress("url", path, folder=folder, **more)
    name = folder.resolve().name
    program = folder / "src" / f"{name}.py"
    if not program.is_file():
        raise content.wrong(place, f"the folder {folder} has no src/{name}.py", _FORMS)
    if python is not None and shutil.which(python) is None:
        raise content.wrong((*place, "python"), f"there is no program {python!r}")
    command = (python or _interpreter(program), str(program))
    return ServerAddress("process", str(folder), command=command, folder=folder, **more)


def _interpreter(program: Path) -> str:
    """The interpreter of a server folder's program: ours for one that imports ragassay, else that
    of a ``.venv`` in or above its folder, else ``python`` on the path. UltraRAG's servers need
    packages of versions that cannot stand beside ours."""
    if _OF_OURS.search(program.read_text(encoding="utf-8", errors="replace")):
        return sys.executable
    places = (above / ".venv" / name for above in program.resolve().parents for name in _BINARIES)
    of_folder = next((str(one) for one in places if one.is_file()), None)
    return of_folder or shutil.which("python") or shutil.which("python3") or sys.executable


def _filled(content: Marked, place: Place, values: Mapping[str, str]) -> dict[str, str]:
    """The values with ``${NAME}`` from the environment: a secret does not stand in a pipeline."""
    filled = {name: os.path.expandvars(value) for name, value in values.items()}
    for name, value in filled.items():
        if "${" in value:
            problem = f"{values[name]!r} names a variable that is not set"
            raise content.wrong((*place, name), problem)
    return filled


def parameters_of(folder: Path) -> Mapping[str, Any]:
    """The parameters of a server folder, with their defaults."""
    return {name: value for name, value in _parameter_file(folder).items() if name != "path"}


def _parameter_file(folder: Path) -> dict[str, Any]:
    path = folder / "parameter.yaml"
    body = marked(text_of(path), path, later_wins=True).value if path.is_file() else None
    if not isinstance(body, dict | None):
        raise InputError("is not a mapping of parameters", path=path)
    return {str(name): value for name, value in (body or {}).items()}


def entries_of(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The tools and prompts that a ``server.yaml`` lists."""
    body = marked(text_of(path), path, later_wins=True).value
    parts = [body.get(key) or {} for key in ("tools", "prompts")] if isinstance(body, dict) else []
    if not parts or not all(
        isinstance(part, dict) and all(map(_is_entry, part.values())) for part in parts
    ):
        raise InputError("does not list tools with input and output", path=path)
    return parts[0], parts[1]


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("input") or {}, dict)
        and isinstance(entry.get("output") or [], list)
    )
