"""No option, column or setting is accepted and then read by nothing."""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from pydantic import BaseModel

import ragassay
from ragassay.base.sample import Sample
from ragassay.engine.config.run_config import GROUPS
from ragassay.service.mlcube_wire import wire_routes
from ragassay.service.store.projects import TaskOptions

SOURCE = Path(ragassay.__file__).parent


def settings() -> Iterator[tuple[str, str, Path]]:
    """The fields of every class that users fill in: run options, tasks, bodies of the wire."""
    for cls in (*GROUPS.values(), TaskOptions):
        for name in cls.__annotations__:
            if name != "model_config":
                yield cls.__name__, name, Path(inspect.getfile(cls))
    for cls in vars(wire_routes).values():
        if inspect.isclass(cls) and cls.__module__ == wire_routes.__name__:
            # Read where it is declared: that module holds the routes, too.
            names = cls.model_fields if issubclass(cls, BaseModel) else ()
            yield from ((cls.__name__, name, Path("nowhere")) for name in names)


def test_every_setting_and_every_field_of_a_sample_is_read_by_something() -> None:
    reads: dict[str, set[Path]] = defaultdict(set)  # as an attribute, or as a text that looks it up
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                reads[node.attr].add(path)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                reads[node.value].add(path)
    idle = {(cls, name) for cls, name, path in settings() if not reads[name] - {path}}
    # Text for people: the pages and the API show the whole task.
    assert idle <= {("TaskOptions", "language")}
    for name in (field.name for field in fields(Sample)):
        outside = {path for path in reads[name] if "formats" not in path.parts}
        assert outside - {SOURCE / "base" / "sample.py"}, name
