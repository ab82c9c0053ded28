"""Lists and objects in the cells of tables: as JSON, or as Python prints them, which is what
a frame of pandas writes into CSV."""

from __future__ import annotations

import ast
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records.values.retrieved import unpacked

_MOST = 1_000_000
"""Characters of a cell that is read as Python, whose parser takes some hundred times as much
memory."""


def opened(cell: str | None, column: str) -> Any:
    """What a cell holds: its list or object, else its text.

    Args:
        cell: its text.
        column: its name, for errors.

    Raises:
        InputError: it holds objects of Python (``Timestamp('2026-01-31')``), or is too long to be
            read as Python.
    """
    value = unpacked(cell)
    if value is not cell or cell is None or cell.lstrip()[:1] not in ("[", "{"):
        return value
    if len(cell) > _MOST:
        if cell.lstrip()[:2] not in ("[{", "['", '["', "{'"):
            return cell
        raise InputError(
            f"the cell is no JSON, and its {len(cell):,} characters are too many to be read as "
            f"what Python prints (at most {_MOST:,})",
            field=column,
            hint="Write the column as JSON (json.dumps), or the frame as Parquet.",
        )
    try:
        tree = ast.parse(cell.strip(), mode="eval")
        return ast.literal_eval(_Missing().visit(tree))
    except (SyntaxError, MemoryError, RecursionError):
        return cell
    except ValueError:
        called = next((one for one in ast.walk(tree) if isinstance(one, ast.Call)), None)
        if called is None:
            return cell
        raise InputError(
            f"the cell holds an object of Python, {ast.unparse(called)[:60]}, which is no data",
            field=column,
            hint="Write the column as JSON (json.dumps(value, default=str)), the frame as Parquet, "
            "or leave the column out.",
        ) from None


class _Missing(ast.NodeTransformer):
    """Puts None where Python prints a missing number."""

    def visit_Name(self, node: ast.Name) -> ast.AST:  # the name that ast looks for
        return ast.Constant(None) if node.id in ("nan", "NaN", "NaT") else node
