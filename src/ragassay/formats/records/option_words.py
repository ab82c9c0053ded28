"""How messages name the options that mend a record."""

from __future__ import annotations

import shlex
from contextvars import ContextVar

BY_FLAGS: ContextVar[bool] = ContextVar("by_flags", default=False)
"""Whether messages name flags alone: on the command line, where no keyword can be given."""


class OptionWords:
    """Words for who reads a file by the command line or from Python. Who sets these options
    elsewhere derives words of their own."""

    def columns(self, field: str, column: str) -> str:
        """What says that a column holds a field.

        Args:
            field: of ours.
            column: of the file.
        """
        flag = f"--columns {field}={shlex.quote(column)}"
        if BY_FLAGS.get():
            return flag
        return f"columns={{{field!r}: {column!r}}}, on the command line {flag}"

    def separator(self, mark: str) -> str:
        """What names the text between the chunks of a context.

        Args:
            mark: the text that seems to stand there.
        """
        keyword = "" if BY_FLAGS.get() else " (separator=...)"
        return f"Name what separates the chunks, --separator '{mark}'{keyword}"

    def single_chunk(self) -> str:
        """What says that each context is one chunk; empty where nothing can."""
        keyword = "" if BY_FLAGS.get() else " (single_chunk=True)"
        return f"say that each context is one chunk, --single-chunk{keyword}"
