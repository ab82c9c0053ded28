"""Remarks about the data that do not stop the reading: counted, and shown once."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.base.errors import called, warn_user


class Notes:
    """Remarks made while reading.

    Each kind of remark is one line, with its number and its first place. Iterating gives the lines;
    they stay few however large the file is.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[int, int | None]] = {}

    def add(self, fact: str, consequence: str, *, line: int | None = None, count: int = 1) -> None:
        """Counts a remark.

        Args:
            fact: what occurs, as a plural: ``records without an id``.
            consequence: what follows, as a sentence.
            line: 1-based line (or record) number.
            count: how often it occurs.
        """
        before, first = self._seen.get((fact, consequence), (0, line))
        self._seen[fact, consequence] = (before + count, first)

    def __iter__(self) -> Iterator[str]:
        for (fact, consequence), (count, first) in self._seen.items():
            where = f" (first: line {first})" if first is not None else ""
            yield f"{fact}: {count}{where}. {consequence}"

    def __len__(self) -> int:
        return len(self._seen)

    def warn(self, about: object) -> None:
        """Issues every line as a `RagassayWarning`, for callers that gave no notes of their own."""
        for line in self:
            warn_user(f"{called(about)}: {line}")
