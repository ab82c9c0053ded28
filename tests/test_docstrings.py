"""Functions that packages export say what goes in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import ragassay

NOT_FOR_READERS = ("overload", "field_validator", "router.", "app.", "token.", "ledger.", "measure")
"""Decorators of functions that a framework calls; of routes, the description is for clients, and a
measure's parameters say themselves what they do."""

ROOT = Path(ragassay.__file__).parent
EXPORTED = {
    alias.name
    for stub in ROOT.rglob("__init__.pyi")
    for node in ast.parse(stub.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
"""Names that packages export to users. Inside, one line may say enough."""


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


def exported(path: Path) -> ast.Module:
    """A module with those of its functions and classes alone that a package exports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = [one for one in tree.body if getattr(one, "name", None) in EXPORTED]
    return ast.Module(body, [])


def test_most_public_functions_document_their_arguments() -> None:
    every = [found for path in ROOT.rglob("*.py") for found in documented(exported(path))]
    assert len(every) > 100
    share = sum(done for _, done in every) / len(every)
    # The rest fulfil the contract of a base class, which documents them.
    assert share >= 0.85, f"{share:.1%} document their arguments"


def test_no_docstring_sends_its_reader_elsewhere_for_what_it_does() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                told = (ast.get_docstring(node) or "").strip()
                assert told not in ("See the class.", "See the module."), f"{path}: {node.name}"
