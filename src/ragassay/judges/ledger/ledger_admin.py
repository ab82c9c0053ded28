"""Statistics, export and deletion of a ledger's answers. Vectors count as the kind
``embedding``."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.printable import grouped
from ragassay.judges.ledger.ledger_store import MEMORY, Ledger
from ragassay.judges.ledger.paid_answers import (
    ANSWER,
    EMBEDDING,
    END_OF_TIME,
    JUDGE_ANSWER,
    REJECTED,
    TABLE,
    VECTOR,
    Paid,
    damaged,
    unreadable,
)
from ragassay.transport.providers_and_prices import providers


@dataclass(frozen=True, slots=True)
class Selection:
    """Which answers of a ledger are counted, exported or deleted; all where no field is set.
    ``kind`` is that of the question, ``before`` in seconds since 1970; ``system`` is one under
    test."""

    model: str | None = None
    kind: str | None = None
    before: float | None = None
    failed: bool = False
    system: str | None = None

    @property
    def of_systems(self) -> bool:
        """Whether it may select answers of systems, which have no model, no kind and no failure."""
        return self.model is None and self.kind is None and not self.failed

    def check(self, ledger: Ledger) -> None:
        """A `UsageError` for a model, kind or system that no answer has, and for a system together
        with what only answers of judges have."""
        if self.system is not None and not self.of_systems:
            raise UsageError(
                "An answer of a system has no model, no kind of question and no failure that is "
                "kept: --system goes with --older-than only."
            )
        if self.model is self.kind is self.system is None:
            return
        held = stats(ledger)
        for column, value, names in (
            ("model", self.model, {row.model for row in held.rows}),
            ("kind", self.kind, {row.kind for row in held.rows}),
            ("system", self.system, {row.system for row in held.systems}),
        ):
            if value is None or value in names:
                continue
            every = f"There are: {', '.join(sorted(names)) or 'none'}."
            hint = did_you_mean(value, sorted(names)) or every
            raise UsageError(f"No answer is of the {column} {value!r}. {hint}")

    def chosen(self, *kinds: str) -> tuple[str, Sequence[Any]]:
        """The condition in SQL for the selected rows of some kinds, and the values of its marks."""
        found = [kind for kind in kinds if (self.of_systems if kind == ANSWER else not self.system)]
        wanted = {
            "name = ?": self.model or self.system,
            "subject = ?": self.kind,
            "created < ?": self.before,
        }
        conditions = [name for name, value in wanted.items() if value is not None]
        conditions += ["reason IS NOT NULL"] * self.failed
        marks = ", ".join("?" * len(found)) or "NULL"
        values = [value for value in wanted.values() if value is not None]
        return " AND ".join([f"kind IN ({marks})", *conditions]), [*found, *values]


EVERYTHING = Selection()


@dataclass(slots=True)
class Row:
    """What a ledger holds of one kind of question for one model of one endpoint. ``entries``
    includes the failures (by reason); tokens and ``cost`` (US dollars, where a price was known)
    include retries; ``first`` and ``last`` are seconds since 1970."""

    endpoint: str
    model: str
    kind: str
    entries: int
    failures: dict[str, int]
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    first: float
    last: float

    @property
    def judge(self) -> str:
        """The judge's label."""
        return label_of(self.endpoint, self.model)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        values = {"judge": self.judge, **asdict(self), "cost": round(self.cost, 6)}
        values |= {"first": moment(self.first), "last": moment(self.last)}
        return {"question" if name == "kind" else name: value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What a ledger holds of one system under test: answers, to how many queries."""

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
    """What a ledger holds, ``size`` in bytes on the disk. ``rejected``: the parameters that
    endpoints are known not to take, by judge."""

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
    """Counts, tokens and money by judge and kind of question."""
    judged, values = selection.chosen(JUDGE_ANSWER, VECTOR)
    failures: dict[tuple[str, ...], dict[str, int]] = {}
    for *group, reason, n in ledger.select(
        f"SELECT source, name, subject, reason, count(*) AS n FROM {TABLE} WHERE {judged} "
        "AND reason IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY n DESC, reason",
        values,
    ):
        failures.setdefault(tuple(group), {})[reason] = n
    counted = ledger.select(
        "SELECT source, name, subject, count(*), CAST(sum(input_tokens) AS BIGINT), "
        "CAST(sum(output_tokens) AS BIGINT), coalesce(sum(cost), 0.0), count(*) - count(cost), "
        f"min(created), max(created) FROM {TABLE} WHERE {judged} "
        f"GROUP BY 1, 2, 3 ORDER BY subject = '{EMBEDDING}', 1, 2, 3",
        values,
    )
    asked, values = selection.chosen(ANSWER)
    systems = ledger.select(
        "SELECT name, source, count(*), count(DISTINCT subject), min(created), max(created) "
        f"FROM {TABLE} WHERE {asked} AND reason IS NULL GROUP BY 1, 2 ORDER BY 1, 6",
        values,
    )
    if not all(first >= 0 and last < END_OF_TIME for *_, first, last in (*counted, *systems)):
        raise damaged(ledger.path, "a kept answer has no time")
    return Stats(
        ledger.path,
        _size(ledger.path),
        [Row(*(*row[:4], failures.get(row[:3], {}), *row[4:])) for row in counted],
        rejections(ledger),
        [SystemRow(*row) for row in systems],
    )


def export(
    ledger: Ledger, selection: Selection = EVERYTHING, *, messages: bool = False
) -> Iterator[bytes]:
    """The entries as lines of JSON, oldest first, as a replaying judge reads them; a `UsageError`
    where vectors are asked for. With ``messages`` a line also holds what was sent (most of the
    volume)."""
    if selection.kind == EMBEDDING:
        raise UsageError(
            "Vectors are not exported: no judge replays them. To use them elsewhere, take the "
            "ledger's file."
        )
    chosen, values = selection.chosen(JUDGE_ANSWER)
    for paid in ledger.rows(chosen, *values):
        try:
            yield orjson.dumps(record_of(paid, messages=messages)) + b"\n"
        except zlib.error as error:
            raise unreadable(ledger.path, error) from error


def prune(ledger: Ledger, selection: Selection) -> int:
    """Deletes answers, gives their space back to the disk, and returns how many there were; without
    the failures of systems, which only say how often a system was asked in vain."""
    counted = stats(ledger, selection)
    chosen, values = selection.chosen(JUDGE_ANSWER, VECTOR, ANSWER)
    ledger.delete(chosen, *values)
    return counted.entries + counted.system_answers


def rejections(ledger: Ledger, model: str | None = None) -> dict[str, list[str]]:
    """The parameters that endpoints were found not to take, by the judge's label."""
    chosen, values = Selection(model).chosen(REJECTED)
    rows = ledger.select(f"SELECT source, name, subject FROM {TABLE} WHERE {chosen}", values)
    return grouped((label_of(endpoint, name), value) for endpoint, name, value in sorted(rows))


def forget_rejections(ledger: Ledger, model: str | None = None) -> int:
    """Forgets which parameters endpoints do not take, and returns their number. The next run sends
    them again."""
    chosen, values = Selection(model).chosen(REJECTED)
    return ledger.delete(chosen, *values)


def latencies(ledger: Ledger, model: str, most: int) -> list[float]:
    """The seconds that a call took, of the youngest answers of a model."""
    chosen, values = Selection(model).chosen(JUDGE_ANSWER)
    rows = ledger.rows(f"{chosen} AND reason IS NULL", *values, youngest=True, page=most)
    taken = (row.facts for row in islice(rows, most))
    return [facts["latency"] / max(facts["attempts"], 1) for facts in taken]


def record_of(paid: Paid, *, messages: bool = True) -> dict[str, Any]:
    """An answer as plain values, under the names that run folders use."""
    key, repeat = paid.facts["key"], paid.facts["repeat"]
    record = {
        "id": f"{key}.{repeat}" if repeat else key,
        **paid.facts,
        "judge": label_of(paid.source, paid.name),
        "request": paid.key,
        "created": moment(paid.created),
    }
    if messages:
        record["sent"] = orjson.Fragment(zlib.decompress(paid.payload))
    return record


def label_of(endpoint: str, model: str) -> str:
    """The label of an LLM judge: ``openai:gpt-4o``, ``http://localhost:8000/v1#m``."""
    name = _hosted().get(endpoint)
    return f"{name}:{model}" if name else f"{endpoint}#{model}"


@cache
def _hosted() -> dict[str, str]:
    """The names of providers by their URL; servers of one's own are known by their URL."""
    return {
        provider.url: name
        for name, provider in providers().items()
        if provider.url and provider.key_needed
    }


def moment(seconds: float) -> str:
    """A moment in UTC, to the second, as ISO 8601 has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _size(path: str) -> int:
    """Bytes of the file and of its log."""
    if path == MEMORY:
        return 0
    files = (Path(path), Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
