"""A ledger of version 1, which had a table a kind, is read: nothing is paid for again."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from test_ledger import entry

from ragassay.base.errors import InputError, LedgerError
from ragassay.judges.ledger import ledger_admin, ledger_file
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.system_answers import KeptFailure, SystemAnswers
from ragassay.models.embedders.embedding_endpoint import VectorStore

OLD = (Path(__file__).parent / "ledger_of_version_1.sql").read_text()
"""What version 1 wrote."""

URL = "https://api.openai.com/v1"


def file_of(path: Path, sql: str = OLD) -> str:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
    return str(path)


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return file_of(tmp_path / "ledger.sqlite")
    import psycopg

    address = str(request.getfixturevalue("postgres").new_database())
    sql = re.sub(r"PRAGMA .*;", "", OLD)
    sql = re.sub(r"X'([0-9A-F]+)'", r"'\\x\1'", sql)
    for ours, theirs in (("BLOB", "BYTEA"), ("REAL", "DOUBLE PRECISION"), ("INTEGER", "BIGINT")):
        sql = sql.replace(f"{ours} NOT", f"{theirs} NOT").replace(f"{ours},", f"{theirs},")
    sql = re.sub(r"(CREATE TABLE \w+ \()", r"\1rowid BIGSERIAL, ", sql)
    sql = re.sub(r"INSERT INTO (\S+) VALUES\(", r"INSERT INTO \1 VALUES(DEFAULT,", sql)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql)  # type: ignore[call-overload]
    return address


def check(ledger: Ledger) -> None:
    assert ledger.get(entry(0).key) == entry(0)
    refused = entry(
        1,
        reason="refused",
        detail="It would not say.",
        cost=None,
        reply="Ich möchte nicht. 不",
        dropped=["temperature", "seed"],
        repeat=3,
    )
    assert ledger.get(refused.key) == refused
    assert list(ledger.rejected(URL, "o3")) == ["seed", "temperature", "min_p"]
    vectors = VectorStore(ledger, URL, "small", 2)
    assert vectors.width() == 2 and vectors.find(["a text"])["a text"].tolist() == [0.5, -1.0]
    answers = SystemAnswers(ledger, "my_rag", "f1")
    assert answers.find(b"request 1") == '{"answer": "Yes."}'
    assert answers.failure(b"request 1") is None, "it has been answered"
    assert answers.failure(b"request 2") == KeptFailure(2, '{"failure": "timeout"}')
    assert answers.times_failed("q2", 1) == 2
    rows = ledger_admin.stats(ledger).rows
    assert [(row.kind, row.entries, row.input_tokens) for row in rows] == [
        ("relevance_grade", 2, 1400), ("embedding", 1, 3)
    ]  # fmt: skip
    (system,) = ledger_admin.stats(ledger).systems
    assert (system.system, system.fingerprint, system.first) == ("my_rag", "f1", 1_750_000_100.0)


def test_an_older_ledger_is_moved_when_it_is_opened(place: str) -> None:
    for _ in range(2):
        with Ledger(place) as ledger:
            check(ledger)
    with Ledger(place) as ledger:
        assert ledger_admin.prune(ledger, Selection()) == 4
    with Ledger(place) as ledger:
        assert ledger_admin.stats(ledger).entries == 0, "the old tables are gone"


def test_a_ledger_from_before_systems_were_asked_is_moved(tmp_path: Path) -> None:
    few = f"{OLD} DROP TABLE answers; DROP TABLE failures; DROP TABLE vectors;"
    with Ledger(file_of(tmp_path / "ledger.sqlite", few)) as ledger:
        assert ledger.get(entry(0).key) == entry(0)


def test_an_older_ledger_that_cannot_be_moved_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    place = file_of(path, OLD.replace("'[]'", "'{'"))
    with pytest.raises(InputError, match="is damaged"):
        Ledger(place)
    path.unlink()
    file_of(path)
    make = ledger_file.make

    def full(*arguments: object) -> None:
        make(*arguments)  # type: ignore[arg-type]
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(ledger_file, "make", full)
    with pytest.raises(LedgerError, match="the disk is full"):
        Ledger(place)
    monkeypatch.undo()
    with Ledger(place) as ledger:
        check(ledger)
