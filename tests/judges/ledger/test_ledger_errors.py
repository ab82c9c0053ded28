"""A ledger that cannot be written ends a run; the same run goes on when it can be."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay.base.errors import LedgerError
from ragassay.cli.command_line import call
from ragassay.judges.ledger.ledger_store import LedgerFile

DATA = [
    {"id": f"{n}", "query": f"q{n}?", "passages": [random.randbytes(1500).hex()], "answer": f"a{n}"}
    for n in range(40)
]  # which cannot be compressed: a few fill the disk


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, pages: int) -> Iterator[None]:
    """A disk on which a ledger has so many pages of 4 kB at most."""
    connect = LedgerFile.connect

    def small(place: LedgerFile, **options: Any) -> sqlite3.Connection:
        made = connect(place, **options)
        made.execute(f"PRAGMA max_page_count = {pages}")
        return made

    with monkeypatch.context() as patch:
        patch.setattr(LedgerFile, "connect", small)
        yield


@pytest.mark.parametrize("n_judges", [1, 2])
def test_a_full_disk_ends_a_run_and_the_same_run_goes_on(n_judges, tmp_path, monkeypatch) -> None:
    with LLMServer() as server:
        options: dict[str, Any] = {
            "judge": [f"{server.url}#m{n}" for n in range(n_judges)],
            "ledger": tmp_path / "ledger.sqlite", "output": tmp_path / "run", "concurrency": 2,
        }  # fmt: skip
        with full_disk(monkeypatch, 25), pytest.raises(LedgerError, match="the disk is full"):
            ragassay.evaluate(DATA, ["umbrela"], **options)
        assert 0 < server.stats()["requests"] < n_judges * len(DATA)
        result = ragassay.evaluate(DATA, ["umbrela"], **options)
        # What was in flight when the disk was full may be sent again.
        assert server.stats()["requests"] <= n_judges * len(DATA) + 2 * n_judges
    assert result.summary["umbrela"].n_scored == len(DATA)
    assert call(["explain", f"{tmp_path}/run", "39", "umbrela"]) == 0
