"""What docstrings say: those of a face's functions what goes in, and none sends its reader away."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import ragassay

ROOT = Path(ragassay.__file__).parent


def test_functions_of_a_face_document_their_arguments() -> None:
    lacking = []
    for stub in ROOT.rglob("__init__.pyi"):
        package = import_module(".".join(["ragassay", *stub.relative_to(ROOT).parts[:-1]]))
        for name in package.__all__:
            one = getattr(package, name)
            several = inspect.isfunction(one) and len(inspect.signature(one).parameters) > 1
            if several and "Args:" not in (one.__doc__ or ""):
                lacking.append(f"{package.__name__}.{name}")
    assert not lacking


def test_no_docstring_sends_its_reader_elsewhere_for_what_it_does() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                told = (ast.get_docstring(node) or "").strip()
                assert told not in ("See the class.", "See the module."), f"{path}: {node.name}"
