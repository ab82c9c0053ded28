"""Administration of a ledger: statistics, export, deletion of old answers.

Vectors are counted and deleted like answers, as the kind ``embedding``; they are not exported. The
answers of systems under test are counted by system, and deleted by it or by their age.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.judges.ledger import vectors
from ragassay.judges.ledger.entry import PROVENANCE, Entry, entry_of
from ragassay.judges.ledger.ledger_file import MEMORY
from ragassay.judges.ledger.paid import (
    ANSWER,
    NO_ANSWER,
    NO_VERDICT,
    REJECTED,
    VECTOR,
    VERDICT,
    Paid,
    damaged,
)
from ragassay.judges.ledger.store import Ledger
from ragassay.transport.protocol_registry import providers

_JUDGED, _ASKED = (VERDICT, NO_VERDICT, VECTOR), (ANSWER, NO_ANSWER)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which answers of a ledger are counted, exported or deleted; all where no field is set.

    Attributes:
        model: the model that was asked for.
        kind: of question.
        before: kept before this moment (seconds since 1970).
        failed: only those that hold a failure.
        system: only answers of this system under test.
    """

    model: str | None = None
    kind: str | None = None
    before: float | None = None
    failed: bool = False
    system: str | None = None

    @property
    def of_systems(self) -> bool:
        """Whether it may select answers of systems, which have no model, no kind and no failure."""
        return self.model is None and self.kind is None and not self.failed

    @property
    def all(self) -> bool:
        """Whether nothing is left out."""
        return self == EVERYTHING

    def check(self, ledger: Ledger) -> None:
        """Refuses names that occur nowhere in the ledger.

        Raises:
            UsageError: a model, kind or system that no answer has, or a system together with what
                only answers of judges have.
        """
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
            entry, none = "entry", "The ledger is empty."
            if column == "system":
                entry, none = "answer", "It holds answers of none."
            every = f"There are: {', '.join(sorted(names))}." if names else none
            hint = did_you_mean(value, sorted(names)) or every
            raise UsageError(f"No {entry} is of the {column} {value!r}. {hint}")

    def of(self, ledger: Ledger, *kinds: str) -> Iterator[Paid]:
        """Yields the selected rows among those of some kinds, oldest first."""
        return filter(self._takes, ledger.rows(*kinds, before=self.before))

    def _takes(self, paid: Paid) -> bool:
        if paid.kind in _ASKED:
            return self.of_systems and self.system in (None, paid.facts.get("system"))
        return (
            self.system is None
            and self.model in (None, _judge(paid)[1])
            and self.kind in (None, paid.facts.get("kind"))
            and not (self.failed and paid.kind != NO_VERDICT)
        )


EVERYTHING = Selection()


@dataclass(slots=True)
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
    entries: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    first: float = inf
    last: float = 0.0

    def add(self, paid: Paid) -> None:
        """Counts one more."""
        self.entries += 1
        if (reason := paid.facts["reason"]) is not None:
            self.failures[reason] = self.failures.get(reason, 0) + 1
        self.input_tokens += paid.facts["input_tokens"]
        self.output_tokens += paid.facts["output_tokens"]
        self.cost += paid.facts["cost"] or 0.0
        self.unpriced += paid.facts["cost"] is None
        self.first, self.last = min(self.first, paid.created), max(self.last, paid.created)

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
    judged: dict[tuple[str, str, str], Row] = {}
    asked = defaultdict[tuple[str, str], list[tuple[float, str]]](list)
    try:
        for paid in selection.of(ledger, *_JUDGED):
            group = (*_judge(paid), paid.facts["kind"])
            judged.setdefault(group, Row(*group)).add(paid)
        for paid in selection.of(ledger, ANSWER):
            asked[paid.facts["system"], paid.source].append((paid.created, paid.facts["query"]))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(ledger.path, "a kept answer lacks what each of them has") from error
    for row in judged.values():
        row.failures = dict(sorted(row.failures.items(), key=lambda one: (-one[1], one[0])))
    systems = [
        SystemRow(*group, len(rows), len({query for _, query in rows}), rows[0][0], rows[-1][0])
        for group, rows in asked.items()
    ]
    return Stats(
        ledger.path,
        _size(ledger.path),
        [row for _, row in sorted(judged.items(), key=_vectors_last)],
        rejections(ledger),
        sorted(systems, key=attrgetter("system", "last")),
    )


def _vectors_last(group: tuple[tuple[str, str, str], Row]) -> tuple[bool, tuple[str, str, str]]:
    return group[0][2] == vectors.KIND, group[0]


def _judge(paid: Paid) -> tuple[str, str]:
    """Endpoint and model of a verdict, a vector or a rejected parameter."""
    endpoint, model, *_ = paid.source.split("\n")
    return endpoint, model


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
    for paid in selection.of(ledger, VERDICT, NO_VERDICT):
        yield orjson.dumps(record_of(entry_of(ledger, paid), messages=messages)) + b"\n"


def prune(ledger: Ledger, selection: Selection) -> int:
    """Deletes answers and gives their space back to the disk.

    Args:
        ledger: to be changed.
        selection: of the answers to delete.

    Returns:
        The number of answers. Failures of systems are not counted: they only say how often a system
        was asked in vain.
    """
    kinds = {paid.key: paid.kind for paid in selection.of(ledger, *_JUDGED, *_ASKED)}
    ledger.delete(kinds)
    return sum(kind != NO_ANSWER for kind in kinds.values())


def rejections(ledger: Ledger, model: str | None = None) -> dict[str, list[str]]:
    """The parameters that endpoints were found not to take, by the judge's label.

    Args:
        ledger: any.
        model: only for this model.
    """
    rows = sorted((*_judge(paid), paid.facts["parameter"]) for paid in _rejected(ledger, model))
    return grouped((label_of(endpoint, name), parameter) for endpoint, name, parameter in rows)


def forget_rejections(ledger: Ledger, model: str | None = None) -> int:
    """Forgets which parameters endpoints do not take. The next run sends them again.

    Args:
        ledger: to be changed.
        model: whose parameters are meant; those of all models when left out.

    Returns:
        The number of parameters.
    """
    return ledger.delete([paid.key for paid in _rejected(ledger, model)])


def _rejected(ledger: Ledger, model: str | None) -> Iterator[Paid]:
    return (one for one in ledger.rows(REJECTED) if model in (None, _judge(one)[1]))


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
