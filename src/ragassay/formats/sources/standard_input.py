"""Standard input as data. It is kept in a file while the program runs, since data is read more than
once."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO, TextIO, cast

from ragassay.formats.format_words import wrong

NAME = "/dev/stdin"
"""How standard input is called; a command line may also say ``-``."""

_files: list[IO[bytes]] = []
"""The file that holds it, once it is kept; the file goes when the program ends."""


def keep(text: TextIO | None) -> None:
    """Takes what stands on standard input as the data called `NAME`, up to its end. Only the
    command line calls this. A terminal, and one that is closed (``None``), are errors."""
    if text is None:
        raise wrong("stdin_closed", path=NAME)
    stream = text.buffer
    if stream.isatty():
        raise wrong("stdin_terminal", path=NAME)
    file = tempfile.NamedTemporaryFile(prefix="ragassay-")  # noqa: SIM115  # deleted at the end
    shutil.copyfileobj(stream, file)
    file.flush()
    _files[:] = [cast("IO[bytes]", file)]


def on_disk(path: Path) -> Path:
    """The file that holds the data of a path: the path itself, but for standard input."""
    return Path(_files[0].name) if _files and str(path) == NAME else path
