"""What users import says what goes in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import ragassay

NOT_FOR_READERS = ("overload", "field_validator", "router.", "app.", "token.", "ledger.", "measure")
"""Decorators of functions that a framework calls; of routes, the description is for clients, and a
measure's parameters say themselves what they do."""

ROOT = Path(ragassay.__file__).parent


def documented(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Public functions and methods with two or more arguments, and whether they document them."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
            yield from documented(one)
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]
            names = [argument.arg for argument in taken if argument.arg not in ("self", "cls")]
            marks = [ast.unparse(mark) for mark in one.decorator_list]
            skipped = any(mark.startswith(NOT_FOR_READERS) for mark in marks)
            told = ast.get_docstring(one)  # a metric's method without one fulfils its base's
            if told and len(names) > 1 and not one.name.startswith("_") and not skipped:
                yield one.name, "Args:" in told


def in_faces() -> Iterator[ast.AST]:
    """The functions and classes that the faces of packages name."""
    for stub in ROOT.rglob("*.pyi"):
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                path = stub.parent.joinpath(*node.module.split(".")).with_suffix(".py")
                names = {alias.name for alias in node.names}
                body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
                yield from (one for one in body if getattr(one, "name", None) in names)


def test_most_functions_that_users_import_document_their_arguments() -> None:
    faces = ast.Module([*in_faces()], [])  # type: ignore[list-item]
    every = list(documented(faces))
    share = sum(done for _, done in every) / len(every)
    # The rest fulfil the contract of a base class, which documents them.
    assert len(every) > 50 and share >= 0.85, f"{share:.1%} of {len(every)}"


def test_no_docstring_sends_its_reader_elsewhere_for_what_it_does() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                told = (ast.get_docstring(node) or "").strip()
                assert told not in ("See the class.", "See the module."), f"{path}: {node.name}"
