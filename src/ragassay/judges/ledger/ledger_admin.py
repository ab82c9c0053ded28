"""Administration of a ledger: statistics, export, deletion of old answers.

Vectors are counted and deleted like answers, as the kind ``embedding``; they are not exported. The
answers of systems under test are counted by system, and deleted by it or by their age.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.judges.ledger import vectors
from ragassay.judges.ledger.ledger_file import MEMORY, damaged
from ragassay.judges.ledger.ledger_selection import (
    ALL,
    CHOSEN,
    EVERYTHING,
    OF_SYSTEMS,
    VECTORS,
    VERDICTS,
    Selection,
)
from ragassay.judges.ledger.store import END_OF_TIME, PROVENANCE, Entry, Ledger
from ragassay.transport.providers import providers

_OF_A_MODEL = "WHERE CAST(? AS TEXT) IS NULL OR model = ?"


@pydantic_dataclass(frozen=True, config=ConfigDict(strict=True))
class Row:
    """What a ledger holds of one kind of question for one model of one endpoint.

    Attributes:
        entries: verdicts and failures together.
        failures: how many of these are failures, by reason.
        input_tokens, output_tokens: that they took, retries included.
        cost: US dollars, of those whose price was known; ``unpriced`` counts the others.
        first, last: when they were kept, seconds since 1970.
    """

    endpoint: str
    model: str
    kind: str
    entries: int
    failures: dict[str, int]
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    first: float = Field(ge=0)
    last: float = Field(lt=END_OF_TIME)

    @property
    def judge(self) -> str:
        """The judge's label."""
        return label_of(self.endpoint, self.model)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        values = {"judge": self.judge, **asdict(self), "cost": round(self.cost, 6)}
        values |= {"first": moment(self.first), "last": moment(self.last)}
        return {"question" if name == "kind" else name: one for name, one in values.items()}


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What a ledger holds of one system under test.

    Attributes:
        system: its name.
        fingerprint: of the target: a changed mapping or function is another one.
        answers: queries and repeats that it answered.
        queries: different ones among them.
        first, last: when they were kept, seconds since 1970.
    """

    system: str
    fingerprint: str
    answers: int
    queries: int
    first: float
    last: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "first": moment(self.first), "last": moment(self.last)}


@dataclass(frozen=True, slots=True)
class Stats:
    """What a ledger holds.

    Attributes:
        path: the file.
        size: bytes on the disk.
        rows: by judge and kind of question, sorted.
        rejected: parameters that endpoints are known not to take, by judge.
        systems: answers of systems under test, sorted by name.
    """

    path: str
    size: int
    rows: list[Row]
    rejected: dict[str, list[str]] = field(default_factory=dict)
    systems: list[SystemRow] = field(default_factory=list)

    @property
    def entries(self) -> int:
        """All entries, without the answers of systems."""
        return sum(row.entries for row in self.rows)

    @property
    def system_answers(self) -> int:
        """All answers of systems."""
        return sum(row.answers for row in self.systems)

    @property
    def failures(self) -> dict[str, int]:
        """All failures by reason, the most frequent first."""
        counts = sum((Counter(row.failures) for row in self.rows), Counter[str]())
        return dict(counts.most_common())

    def to_json(self) -> dict[str, Any]:
        """Plain values, with totals."""
        return {
            "path": self.path,
            "bytes": self.size,
            "entries": self.entries,
            "failures": self.failures,
            "input_tokens": sum(row.input_tokens for row in self.rows),
            "output_tokens": sum(row.output_tokens for row in self.rows),
            "cost": round(sum(row.cost for row in self.rows), 6),
            "unpriced": sum(row.unpriced for row in self.rows),
            "rows": [row.to_json() for row in self.rows],
            "rejected_parameters": self.rejected,
            "systems": [row.to_json() for row in self.systems],
        }


def stats(ledger: Ledger, selection: Selection = EVERYTHING) -> Stats:
    """Counts, tokens and money by judge and kind of question.

    Args:
        ledger: to be counted.
        selection: of its entries; all when left out.
    """
    values, chosen = asdict(selection), f"FROM {ALL} WHERE {CHOSEN}"
    failures: dict[tuple[str, str, str], dict[str, int]] = {}
    for endpoint, model, kind, reason, n in ledger.select(
        f"SELECT endpoint, model, kind, reason, count(*) AS n {chosen} AND reason IS NOT NULL "
        "GROUP BY 1, 2, 3, 4 ORDER BY n DESC, reason",
        values,
    ):
        failures.setdefault((endpoint, model, kind), {})[reason] = n
    counted = ledger.select(
        "SELECT endpoint, model, kind, count(*), CAST(sum(input_tokens) AS BIGINT), "
        "CAST(sum(output_tokens) AS BIGINT), coalesce(sum(cost), 0.0), count(*) - count(cost), "
        f"min(created), max(created) {chosen} "
        f"GROUP BY 1, 2, 3 ORDER BY kind = '{vectors.KIND}', 1, 2, 3",
        values,
    )
    try:
        judged = counted if selection.of_judges else []
        rows = [Row(*(*row[:4], failures.get(row[:3], {}), *row[4:])) for row in judged]
    except ValidationError as error:
        raise damaged(ledger.path, "a kept answer lacks what each of them has") from error
    return Stats(
        ledger.path, _size(ledger.path), rows, rejections(ledger), _systems(ledger, selection)
    )


def _systems(ledger: Ledger, selection: Selection) -> list[SystemRow]:
    """The answers of systems under test, counted by system and fingerprint."""
    if not selection.of_systems:
        return []
    rows = ledger.select(
        "SELECT system, fingerprint, count(*), count(DISTINCT query), min(created), max(created) "
        f"FROM answers WHERE {OF_SYSTEMS} GROUP BY 1, 2 ORDER BY 1, 6",
        asdict(selection),
    )
    return [SystemRow(*row) for row in rows]


def export(
    ledger: Ledger,
    selection: Selection = EVERYTHING,
    *,
    messages: bool = False,
) -> Iterator[bytes]:
    """The entries as lines of JSON, oldest first, as a replaying judge reads them.

    Args:
        ledger: any.
        selection: which entries.
        messages: whether each line also holds what was sent (most of the volume).

    Raises:
        UsageError: vectors are asked for.
    """
    if selection.kind == vectors.KIND:
        raise UsageError(
            "Vectors are not exported: no judge replays them. To use them elsewhere, take the "
            "ledger's file."
        )
    for entry in ledger.entries(CHOSEN, asdict(selection)):
        yield orjson.dumps(record_of(entry, messages=messages)) + b"\n"


def prune(ledger: Ledger, selection: Selection) -> int:
    """Deletes entries and gives their space back to the disk.

    Where another process is writing at this moment, the space is given back another time.

    Args:
        ledger: to be changed.
        selection: of the entries to delete.

    Returns:
        The number of entries.
    """
    deleted, values = 0, asdict(selection)
    tables = {"verdicts": VERDICTS, vectors.TABLE: VECTORS}
    for table, entries in tables.items() if selection.of_judges else ():
        deleted += ledger.change(
            f"DELETE FROM {table} WHERE rowid IN "
            f"(SELECT id FROM ({entries}) AS entries WHERE {CHOSEN})",
            values,
        )
    if selection.of_systems:
        deleted += ledger.change(f"DELETE FROM answers WHERE {OF_SYSTEMS}", values)
        # Failures are not counted: they only say how often a system was asked in vain.
        ledger.change(f"DELETE FROM failures WHERE {OF_SYSTEMS}", values)
    if deleted:
        with contextlib.suppress(UsageError):
            ledger.shrink()
    return deleted


def rejections(ledger: Ledger, model: str | None = None) -> dict[str, list[str]]:
    """The parameters that endpoints were found not to take, by the judge's label.

    Args:
        ledger: any.
        model: only for this model.
    """
    query = f"SELECT endpoint, model, parameter FROM rejected {_OF_A_MODEL} ORDER BY 1, 2, 3"
    rows = ledger.select(query, (model, model))
    return grouped((label_of(endpoint, name), parameter) for endpoint, name, parameter in rows)


def forget_rejections(ledger: Ledger, model: str | None = None) -> int:
    """Forgets which parameters endpoints do not take. The next run sends them again.

    Args:
        ledger: to be changed.
        model: whose parameters are meant; those of all models when left out.

    Returns:
        The number of parameters.
    """
    return ledger.change(f"DELETE FROM rejected {_OF_A_MODEL}", (model, model))


def record_of(entry: Entry, *, messages: bool = True) -> dict[str, Any]:
    """An entry as plain values, under the names that run folders use for verdicts.

    Args:
        entry: of the ledger.
        messages: whether the messages of the request are included.
    """
    record: dict[str, Any] = {
        "id": f"{entry.question}.{entry.repeat}" if entry.repeat else entry.question,
        "question": entry.kind,
        "version": entry.version,
        "key": entry.question,
        "repeat": entry.repeat,
        "answer": None if entry.answer is None else orjson.Fragment(entry.answer),
    }
    if entry.reason is not None:
        record |= {"reason": entry.reason, "detail": entry.detail}
    record |= {"judge": label_of(entry.endpoint, entry.model), "model": entry.answered_by}
    provenance = {name: getattr(entry, name) for name in PROVENANCE}
    record |= {"prompt_hash": provenance.pop("prompt_hash"), "request": entry.key, **provenance}
    record["created"] = moment(entry.created)
    if messages:
        record["sent"] = orjson.Fragment(entry.request)
    return record


def label_of(endpoint: str, model: str) -> str:
    """The label of an LLM judge: ``openai:gpt-4o``, ``http://localhost:8000/v1#m``.

    Args:
        endpoint: its URL.
        model: its name there.
    """
    name = _hosted().get(endpoint)
    return f"{name}:{model}" if name else f"{endpoint}#{model}"


@cache
def _hosted() -> dict[str, str]:
    """The names of providers by their URL; servers of one's own are known by their URL."""
    return {one.url: name for name, one in providers().items() if one.url and one.key_needed}


def moment(seconds: float) -> str:
    """A moment in UTC, to the second, as ISO 8601 has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _size(path: str) -> int:
    """Bytes of the file and of its log."""
    if path == MEMORY:
        return 0
    files = (Path(path), Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
