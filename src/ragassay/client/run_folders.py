"""Run folders as archives, to be sent to the service and back."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragassay.base.errors import UsageError


def unpack(archive: bytes, target: Path) -> Path:
    """Unpacks a run folder.

    Args:
        archive: a zip.
        target: a new or empty folder.

    Raises:
        UsageError: it holds something, or the archive names a file outside.
    """
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"{target} holds something already. Name a new folder.")
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        for name in source.namelist():
            if not (target / name).resolve().is_relative_to(target.resolve()):
                raise UsageError(f"The archive holds {name!r}, which is no file of a run folder.")
        source.extractall(target)
    return target


@contextmanager
def packed(path: Path) -> Iterator[Path]:
    """An archive of a run folder, or the archive that was named."""
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "run.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            for one in sorted(path.rglob("*")):
                if one.is_file():
                    target.write(one, one.relative_to(path).as_posix())
        yield archive
