"""What a package exports: the names in its stub, each imported when it is first used."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    A package exports what its ``__init__.pyi`` imports: type checkers read it, and so does this.
    Nothing is imported before it is used, so that a command loads only what it needs.

    Args:
        package: its name.
    """
    homes = _homes(package)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        home = importlib.import_module(module)
        value = home if original is None else getattr(home, original)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def _homes(package: str) -> dict[str, tuple[str, str | None]]:
    """For each exported name its module and its name there; ``None`` for a module itself."""
    file = sys.modules[package].__file__
    assert file is not None
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes: dict[str, tuple[str, str | None]] = {}
    for node in ast.parse(stub).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        start = f"{package}." if node.level else ""
        for one in node.names:
            name = one.asname or one.name
            if node.module is None:
                homes[name] = (f"{start}{one.name}", None)
            else:
                homes[name] = (f"{start}{node.module}", one.name)
    return homes
