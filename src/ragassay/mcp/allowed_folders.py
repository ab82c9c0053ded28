"""Which files an agent may reach: those below the folders that a person named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.base.errors import ArgumentError


class AllowedFolders:
    """The folders below which files are read and written. A relative path is looked up in each; the
    first one that has it counts."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.resolve() for folder in folders]

    def existing(self, path: str, argument: str) -> Path:
        """A file or folder to read, with all links followed. An `ArgumentError` that names the
        argument where it lies outside, or is not there, or a link within it leads outside."""
        resolved = self.writable(path, argument)
        if not resolved.exists():
            raise ArgumentError(f"{argument}: there is no file {path!r} in {self._names()}.")
        for inner in resolved.rglob("*") if resolved.is_dir() else ():
            if inner.is_symlink() and not self._is_inside(inner.resolve()):
                raise ArgumentError(f"{argument}: {inner} leads out of {self._names()}.")
        return resolved

    def writable(self, path: str, argument: str) -> Path:
        """A file or folder to write, with all links followed; an `ArgumentError` where it lies
        outside."""
        if not self._folders:
            raise ArgumentError(
                f"{argument}: no folder is open, so no file can be reached. The person who started "
                "the server names one."
            )
        try:
            candidates = [(folder / path).resolve() for folder in self._folders]
        except (ValueError, RuntimeError):  # a null character, links in a circle
            candidates = []
        inside = [one for one in candidates if self._is_inside(one)]
        if not inside:
            raise ArgumentError(
                f"{argument}: {path!r} lies outside {self._names()}, which alone may be used. "
                "Use a path below it."
            )
        return next((one for one in inside if one.exists()), inside[0])

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self._folders)

    def _names(self) -> str:
        return " and ".join(map(str, self._folders))
