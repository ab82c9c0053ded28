"""Where the servers of a pipeline are: a folder of UltraRAG's layout, or built in."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ragassay.base.errors import InputError, UsageError
from ragassay.base.yaml_files import marked, text_of
from ragassay.compat.ultrarag.pipeline_file import Pipeline
from ragassay.compat.ultrarag.pipeline_tools import FLOWS

CALL_S, START_S = 3600.0, 120.0
"""Seconds for a call, and until a server says what its tools are."""

_FORM = (
    "Write a folder with src/NAME.py and parameter.yaml, or servers/benchmark or "
    "servers/evaluation for the built-in ones."
)

_BINARIES = ("bin/python", "Scripts/python.exe")
"""Where a virtual environment has its interpreter."""

_OF_OURS = re.compile(r"^\s*(?:from|import) ragassay\b", re.MULTILINE)


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is: of this package (``builtin``), started here, or elsewhere; ``where`` is
    its name, folder, command or URL as it is shown. ``timeout`` are seconds for a call."""

    kind: Literal["builtin", "process", "url"]
    where: str
    command: tuple[str, ...] = ()
    folder: Path | None = None
    timeout: float | None = None


def address(pipeline: Pipeline, name: str) -> ServerAddress:
    """Where a server of a pipeline is: a folder (relative to the working directory, or to the
    pipeline's folder), or the built-in one where there is no such folder. The parameters of a
    folder may say, by ``path``, that its server runs at a URL."""
    place, text = ("servers", name), pipeline.servers[name]
    if not isinstance(text, str) or not text.strip():
        raise pipeline.marked.wrong(place, "is not the name of a folder", _FORM)
    tried = (Path(text), pipeline.path.parent / text)
    folder = next((one for one in tried if os.path.isdir(one)), None)  # noqa: PTH112 - never raises
    if folder is None:
        if Path(text).name in FLOWS:
            return ServerAddress("builtin", Path(text).name)
        raise pipeline.marked.wrong(place, f"there is no folder {text!r}", _FORM)
    url = _parameter_file(folder).get("path")
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return ServerAddress("url", url, folder=folder)
    program = folder / "src" / f"{folder.resolve().name}.py"
    if not program.is_file():
        problem = f"the folder {folder} has no src/{program.name}"
        raise pipeline.marked.wrong(place, problem, _FORM)
    return ServerAddress("process", str(folder), (_interpreter(program), str(program)), folder)


def of_command(words: list[str], timeout: float) -> ServerAddress:
    """The address of a server that a command starts."""
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"there is no program {words[0] if words else ''!r}.")
    # "python" is the one that runs this: a virtual environment need not be activated.
    first = sys.executable if words[0] in ("python", "python3") else words[0]
    return ServerAddress("process", shlex.join(words), (first, *words[1:]), timeout=timeout)


def _interpreter(program: Path) -> str:
    """The interpreter of a server folder's program: ours for one that imports ragassay, else that
    of a ``.venv`` in or above its folder, else ``python`` on the path. UltraRAG's servers need
    packages of versions that cannot stand beside ours."""
    if _OF_OURS.search(program.read_text(encoding="utf-8", errors="replace")):
        return sys.executable
    places = (above / ".venv" / name for above in program.resolve().parents for name in _BINARIES)
    of_folder = next((str(one) for one in places if one.is_file()), None)
    return of_folder or shutil.which("python") or shutil.which("python3") or sys.executable


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
