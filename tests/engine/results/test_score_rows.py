"""Rows of scores by their number: few are read once and stay in memory, many are read anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ragassay.engine.results import score_rows


@pytest.mark.parametrize(("most", "reads"), [(5, 1), (4, 3)])
def test_rows_are_read_once_where_they_are_few(
    most: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def read() -> Iterator[Any]:
        begun.append(1)
        yield from "abcde"

    monkeypatch.setattr(score_rows, "KEPT", most)
    rows = score_rows.ScoreRows(read, 5)
    assert len(rows) == 5 and (rows[1], rows[-1], rows[1:4:2]) == ("b", "e", ["b", "d"])
    assert len(begun) == reads
    assert (rows[4:4], rows[::-1]) == ([], ["e", "d", "c", "b", "a"])
    with pytest.raises(IndexError):
        rows[5]
