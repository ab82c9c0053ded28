"""A cell of a results file, and the values that its text or JSON holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats import kind
from ragassay.formats.sources import json_values


@dataclass(frozen=True)
class Cell:
    """A cell of a results file: its text, and its place."""

    path: Path
    line: int
    column: str
    text: str | None

    def error(self, problem: str, hint: str = "") -> InputError:
        """The error about the cell, with its line and column.

        Args:
            problem: what is wrong in the cell.
            hint: what to do.
        """
        return InputError(problem, path=self.path, line=self.line, field=self.column, hint=hint)

    def number(self, value: Any, name: str = "") -> float | None:
        """A finite number, or ``None`` for null (and NaN, which Python's writers write for it).

        Args:
            value: from the JSON of the cell.
            name: of the value in it.

        Raises:
            InputError: it is something else, or infinite.
        """
        subject = f"{name!r} is" if name else "this is"
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{subject} {kind(value)}, where a number should stand")
        if math.isinf(value):
            raise self.error(f"{subject} infinite")
        return None if math.isnan(value) else float(value)

    @cached_property
    def content(self) -> Any:
        """The cell's value; ``None`` where it is empty.

        Raises:
            InputError: it is not JSON.
        """
        if self.text is None or self.text.strip().casefold() in ("", "nan", "none", "null"):
            return None
        try:
            return json_values.parse_json(self.text.encode())
        except InputError as error:
            raise self.error(
                error.problem, "The cell should hold JSON: write the file again from its run."
            ) from None

    def object(self, key: str = "") -> Mapping[str, Any]:
        """The cell's JSON object, or an object within it; an empty one where there is none.

        Args:
            key: of the object within.

        Raises:
            InputError: it is not JSON, or no object.
        """
        content = self.content if not key else self.object().get(key)
        if content is None:
            return {}
        if not isinstance(content, dict):
            subject = repr(key) if key else "this"
            raise self.error(f"{subject} is {kind(content)}, where an object should stand")
        return content
