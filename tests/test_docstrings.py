"""What users import says what goes in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import ragassay

ROOT = Path(ragassay.__file__).parent


def of_faces() -> Iterator[ast.AST]:
    """Functions and classes that the stubs of faces name."""
    for stub in ROOT.rglob("__init__.pyi"):
        for line in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
            if not isinstance(line, ast.ImportFrom) or line.module is None:
                continue
            path = stub.parent.joinpath(*line.module.split(".")).with_suffix(".py")
            names = {one.name for one in line.names}
            if path.is_file():
                tree = ast.parse(path.read_text(encoding="utf-8"))
                yield from (one for one in tree.body if getattr(one, "name", "") in names)


def documented(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Public functions and methods with two or more arguments, and whether they document them."""
    if isinstance(node, ast.ClassDef):
        for one in node.body:
            yield from documented(one)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [argument.arg for argument in taken if argument.arg not in ("self", "cls")]
        told = ast.get_docstring(node)  # a metric's method without one fulfils its base's
        if told and len(names) > 1 and not node.name.startswith("_"):
            yield node.name, "Args:" in told


def test_most_functions_of_faces_document_their_arguments() -> None:
    every = [found for node in of_faces() for found in documented(node)]
    assert len(every) > 30
    share = sum(done for _, done in every) / len(every)
    # The rest fulfil the contract of a base class, which documents them.
    assert share >= 0.85, f"{share:.1%} document their arguments: {dict(every)}"


def test_no_docstring_sends_its_reader_elsewhere_for_what_it_does() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                told = (ast.get_docstring(node) or "").strip()
                assert told not in ("See the class.", "See the module."), f"{path}: {node.name}"
