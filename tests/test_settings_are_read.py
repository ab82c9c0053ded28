"""No option, column or setting is accepted and then read by nothing."""

from __future__ import annotations

import ast
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

import ragassay
from ragassay.base.sample import Sample
from ragassay.engine.config.run_config import GROUPS
from ragassay.service.mlcube_wire import wire_routes
from ragassay.service.store.projects import TaskOptions

SOURCE = Path(ragassay.__file__).parent

NOT_READ = {
    # Text for people: the pages and the API show the whole task.
    ("TaskOptions", "language"),
}


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


@cache
def _reads() -> dict[str, Counter[Path]]:
    """Where each name is read: as an attribute, or as a text that looks it up."""
    reads: dict[str, Counter[Path]] = defaultdict(Counter)
    for path, module in _modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                reads[node.attr][path] += 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                reads[node.value][path] += 1
    return reads


def _is_read(name: str, declared_in: Path) -> bool:
    return any(path != declared_in for path in _reads()[name])


def _settings() -> Iterator[tuple[str, str, Path]]:
    """The fields of every class that users fill in: run options, tasks, bodies of the wire."""
    bodies = [
        one
        for one in vars(wire_routes).values()
        if inspect.isclass(one)
        and issubclass(one, BaseModel)
        and one.__module__ == wire_routes.__name__
    ]
    for cls in (*GROUPS.values(), TaskOptions):
        for name in cls.__annotations__:
            if name != "model_config":
                yield cls.__name__, name, Path(inspect.getfile(cls))
    for cls in bodies:
        for name in cls.model_fields:
            # Read where it is declared: that module holds the routes, too.
            yield cls.__name__, name, Path("nowhere")


@pytest.mark.parametrize(("cls", "name", "path"), list(_settings()))
def test_every_setting_is_read_by_something(cls: str, name: str, path: Path) -> None:
    assert _is_read(name, path) or (cls, name) in NOT_READ


@pytest.mark.parametrize("name", [field.name for field in fields(Sample)])
def test_every_field_of_a_sample_is_read_outside_the_readers(name: str) -> None:
    outside = {path for path in _reads()[name] if "formats" not in path.parts}
    assert len(outside - {SOURCE / "base" / "sample.py"}) > 0
