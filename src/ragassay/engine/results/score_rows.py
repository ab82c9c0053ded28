"""The scores of a run as rows, the lines of ``scores.jsonl``: one for each sample and metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ragassay.base.sample import Identity, Sample
from ragassay.base.score import AND, Outcome, Reason, Score, Unscored, Value
from ragassay.engine.results.score_columns import judges_of

if TYPE_CHECKING:
    from ragassay.engine.results.result import Result


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of ``scores.jsonl``.

    ``status`` is ``ok``, ``assumed`` (a published value for a missing part), ``given`` (the
    record brought the value) or ``unscored``; ``evidence`` has the ids of the answers that the
    value rests on (``judge_answers.jsonl``), and ``judge`` the label of who gave them, or the
    record's value."""

    sample: str
    system: str
    repeat: int
    metric: str
    value: Value | None
    status: str
    reason: str | None = None
    explanation: str = ""
    parts: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    judge: str = ""

    @classmethod
    def of(cls, identity: Identity, metric: str, outcome: Outcome, judge: str = "") -> ScoreRow:
        """The row for an outcome."""
        judge = judges_of(outcome, judge)
        if isinstance(outcome, Score):
            status = "assumed" if outcome.assumed else "given" if outcome.given else "ok"
            return cls(
                *identity, metric, outcome.value, status, None, outcome.explanation,
                outcome.parts, outcome.evidence, judge,
            )  # fmt: skip
        reason, detail = str(outcome.reason), outcome.detail
        return cls(*identity, metric, None, "unscored", reason, detail, {}, outcome.evidence, judge)

    @classmethod
    def from_record(cls, record: Any) -> ScoreRow:
        """The row that a line of ``scores.jsonl`` holds."""
        row = _row_form().validate_python(record)
        if row.value is None:
            Reason(row.reason or "")
        return row

    @property
    def identity(self) -> Identity:
        """Query id, system and repeat of the sample."""
        return (self.sample, self.system, self.repeat)

    def to_record(self) -> dict[str, Any]:
        """The row as a mapping: one line of ``scores.jsonl``."""
        return {name: getattr(self, name) for name in ROW_FIELDS}

    @property
    def outcome(self) -> Outcome:
        """The outcome that the row holds."""
        why, evidence = self.explanation, tuple(self.evidence)
        if self.value is None:
            return Unscored(Reason(self.reason or Reason.FAILED), why, evidence)
        assumed, given = self.status == "assumed", self.status == "given"
        by = tuple(self.judge.split(AND)) if given and self.judge else ()
        return Score(self.value, self.parts, why, evidence, assumed=assumed, given=given, by=by)


ROW_FIELDS = tuple(spec.name for spec in fields(ScoreRow))
"""Keys of a line of ``scores.jsonl``, and columns of the long tables."""


@cache
def _row_form() -> TypeAdapter[ScoreRow]:
    return TypeAdapter(ScoreRow)


Rows = Mapping[str, ScoreRow]
"""A sample's rows by metric, under the names that the run shows."""


class ScoreRows(Sequence[ScoreRow]):
    """Every score of a result, one row for each sample and metric, sample by sample.

    An iteration streams the rows; all stay in memory once one was asked for by its number."""

    def __init__(self, read: Callable[[], Iterator[ScoreRow]], n: int) -> None:
        self._read, self._n = read, n
        self._kept: list[ScoreRow] | None = None

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[ScoreRow]:
        return self._read() if self._kept is None else iter(self._kept)

    def __getitem__(self, at: Any) -> Any:
        if self._kept is None:
            self._kept = list(self._read())
        return self._kept[at]

    def __repr__(self) -> str:
        return f"<{self._n:,} scores: iterate, index or slice them>"


def by_sample(result: Result) -> Iterator[tuple[Identity, Rows]]:
    """Each sample's rows, in the order of evaluation."""
    for identity, rows in groupby(result.scores, lambda row: row.identity):
        yield identity, {row.metric: row for row in rows}


def with_samples(result: Result) -> Iterator[tuple[Identity, Sample, Rows]]:
    """Each sample's rows together with the sample; nothing of a run without metrics of samples."""
    for sample, (identity, rows) in zip(result.samples, by_sample(result), strict=False):
        yield identity, sample, rows
