"""Standard input where a file is expected."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragassay.errors import InputError

STANDARD_INPUT = Path("-")
NAME = "standard input"


@contextmanager
def seekable(path: Path) -> Iterator[Path]:
    """The file itself; for ``-`` a copy of standard input, which exists inside the block.

    Formats are told by the first bytes and read again where a line is at fault, so a pipe does not
    do. Errors that name the copy name standard input instead.
    """
    if path != STANDARD_INPUT:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="ragassay-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        try:
            yield Path(copy.name)
        except InputError as error:
            if str(error.path) != copy.name:
                raise
            raise InputError(
                error.problem, path=NAME, line=error.line, field=error.field, hint=error.hint
            ) from None
