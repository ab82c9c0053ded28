"""Answers of systems under test in a ledger: counted by system, deleted by system or age."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragassay.base.errors import UsageError
from ragassay.judges.ledger import ledger_admin
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.system_answers import KeptFailure, SystemAnswers


def keep(ledger: Ledger, system: str, n: int, version: str = "1") -> None:
    answers = SystemAnswers(ledger, system, f"{system}-{version}")

    async def work() -> None:
        for at in range(n):
            await answers.keep(f"request {at}".encode(), f"q{at // 2}", at % 2, "{}")

    asyncio.run(work())


@pytest.fixture(params=["file", "database"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    place = str(tmp_path / "ledger.sqlite")
    if request.param == "database":
        place = str(request.getfixturevalue("postgres").new_database())
    with Ledger(place) as made:
        yield made


def test_answers_are_counted_and_deleted_by_system(ledger: Ledger) -> None:
    assert ledger_admin.stats(ledger).systems == []
    keep(ledger, "one", 4)
    keep(ledger, "two", 6, "2")
    keep(ledger, "two", 2)  # by name, then by when it was asked last
    rows = ledger_admin.stats(ledger).systems
    assert [(row.system, row.fingerprint, row.answers, row.queries) for row in rows] == [
        ("one", "one-1", 4, 2), ("two", "two-2", 6, 3), ("two", "two-1", 2, 1)
    ]  # fmt: skip
    assert ledger_admin.stats(ledger).system_answers == 12
    (_, row, _) = ledger_admin.stats(ledger).to_json()["systems"]
    assert (row["system"], row["answers"], row["queries"]) == ("two", 6, 3)
    assert row["first"][:4] == row["last"][:4] >= "2026"
    assert ledger_admin.prune(ledger, Selection(model="gpt-4o")) == 0
    assert ledger_admin.prune(ledger, Selection(system="two", before=1.0)) == 0
    assert ledger_admin.prune(ledger, Selection(system="two")) == 8
    assert [row.system for row in ledger_admin.stats(ledger).systems] == ["one"]
    assert ledger_admin.prune(ledger, Selection(before=9e9)) == 4
    assert ledger_admin.stats(ledger).systems == []


def test_an_answer_is_found_again_and_takes_the_place_of_failures(ledger: Ledger) -> None:
    def made(fingerprint: str = "f") -> SystemAnswers:
        return SystemAnswers(ledger, "s", fingerprint)

    async def work() -> None:
        answers, late = made(), KeptFailure(2, "late")
        assert not answers.has_answered and answers.find(b"r") is answers.failure(b"r") is None
        await answers.keep_failure(b"r", "q1", 1, late)
        assert ledger_admin.prune(ledger, Selection(failed=True)) == 0, "of judges only"
        for found in (answers, made()):
            assert found.failure(b"r") == late and found.find(b"r") is None
        assert made("g").failure(b"r") is await answers.claim(b"r", lambda: False) is None
        with Ledger(ledger.path) as other:  # in a database, the request is claimed by the first
            asking = SystemAnswers(other, "s", "f").claim(b"r", lambda: True)
            assert await asyncio.wait_for(asking, 60) is None
        assert [made().times_failed("q1", n) for n in (0, 1)] == [0, 2] and not made().has_answered
        assert made("g").times_failed("q1", 1) == 0
        await answers.keep(b"r", "q1", 1, "{}")
        answers.release(b"r")
        assert await made("g").claim(b"r", lambda: False) is None, "another's answer is none"
        answers.release(b"r")
        await made("g").keep_failure(b"r", "q1", 0, late)  # it is another's
        for found in (answers, made()):
            assert found.find(b"r") == "{}" and found.failure(b"r") is None
        assert made().has_answered and made().times_failed("q1", 1) == 0
        await answers.keep_failure(b"r", "q1", 0, late)  # an answer that is there stays
        assert made().find(b"r") == await made().claim(b"r", lambda: False) == "{}"

    asyncio.run(work())
    assert [row.fingerprint for row in ledger_admin.stats(ledger).systems] == ["f"]


def test_a_system_is_named_rightly_and_alone(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        keep(ledger, "my_rag", 1)
        with pytest.raises(UsageError, match="Did you mean 'my_rag'"):
            Selection(system="my_rga").check(ledger)
        for other in (Selection(system="my_rag", failed=True), Selection("m", system="my_rag")):
            with pytest.raises(UsageError, match="--older-than only"):
                other.check(ledger)
