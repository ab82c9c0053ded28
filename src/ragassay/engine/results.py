"""What an evaluation leaves in memory: scores in columns, rows on demand.

Only nine bytes a score stay in memory; explanations and parts are rows, kept in memory for a small
evaluation and on disk (the run folder) for a large one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.gates import GateResult
from ragassay.engine.summary import Comparison, Summary
from ragassay.engine.verdicts import KeptVerdicts, Verdicts
from ragassay.errors import UsageError
from ragassay.samples import Identity, Sample
from ragassay.scores import Outcome, Reason, Score, Unscored, Value


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of ``scores.jsonl``.

    ``status`` is ``ok``, ``assumed`` (a published value for a missing part), ``given`` (the
    record brought the value) or ``unscored``; ``evidence`` names the verdicts behind it
    (``verdicts.jsonl``), and ``judge`` who gave them.
    """

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
        """The row for an outcome; ``judge`` is the label of the run's."""
        judge = judge if outcome.evidence else ""
        if isinstance(outcome, Score):
            status = "assumed" if outcome.assumed else "given" if outcome.given else "ok"
            said = outcome.explanation
            return cls(
                *identity, metric, outcome.value, status, None, said, outcome.parts,
                outcome.evidence, judge,
            )  # fmt: skip
        reason, detail = str(outcome.reason), outcome.detail
        row = cls(*identity, metric, None, "unscored", reason, detail)
        return replace(row, evidence=outcome.evidence, judge=judge)

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
        if self.value is None:
            return Unscored(
                Reason(self.reason or Reason.FAILED), self.explanation, tuple(self.evidence)
            )
        return Score(
            self.value,
            self.parts,
            self.explanation,
            tuple(self.evidence),
            assumed=self.status == "assumed",
            given=self.status == "given",
        )


if TYPE_CHECKING:
    import pandas
    import polars

    from ragassay.engine.nugget_bank import NuggetBank

ROW_FIELDS = tuple(spec.name for spec in fields(ScoreRow))
"""Keys of a line of ``scores.jsonl``, and columns of the long tables."""

_NUMBER, _LABEL, _ASSUMED = 0, 1, 2
_REASONS = tuple(Reason)
_FIRST = 3
_CODES = {reason: code for code, reason in enumerate(_REASONS, start=_FIRST)}

Mask = NDArray[np.bool_]


class ScoreColumns:
    """The numeric face of all scores: one float and one byte a sample and metric.

    Attributes:
        identities: query id, system and repeat of each sample, in the order of evaluation.
        slices: for each slicing column, each sample's value (``None`` where it has none).
        clusters: each sample's cluster (a conversation, a document), when clustering was asked for.
        given: by metric, how many values the records brought.
        asked: a number for what each sample asks and expects (see ``engine.fingerprint``); empty
            where that is not known.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[str | None]] = {}
        self.clusters: list[str] | None = None
        self.asked = array("Q")
        self.given: Counter[str] = Counter()
        self._values = {name: array("d") for name in metrics}
        self._codes = {name: array("B") for name in self._values}
        self._labels: dict[str, dict[int, str]] = {name: {} for name in self._values}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order asked for."""
        return list(self._values)

    def add(self, metric: str, outcome: Outcome) -> None:
        """Appends a sample's outcome to a metric's column."""
        number, code = 0.0, _NUMBER
        if isinstance(outcome, Unscored):
            code = _CODES[outcome.reason]
        elif isinstance(outcome.value, str):
            code = _LABEL
            self._labels[metric][len(self._codes[metric])] = outcome.value
        else:
            number = float(outcome.value)
            code = _ASSUMED if outcome.assumed else _NUMBER
        if isinstance(outcome, Score) and outcome.given:
            self.given[metric] += 1
        self._values[metric].append(number)
        self._codes[metric].append(code)

    def take(self, rows: NDArray[np.int64]) -> ScoreColumns:
        """The same columns for some of the samples, by row number."""
        found = ScoreColumns(self.metrics)
        kept = rows.tolist()
        found.identities = [self.identities[at] for at in kept]
        found.slices = {name: [values[at] for at in kept] for name, values in self.slices.items()}
        if self.clusters is not None:
            found.clusters = [self.clusters[at] for at in kept]
        if self.asked:
            found.asked = array("Q", [self.asked[at] for at in kept])
        for name in self.metrics:
            found._values[name] = array("d", self.values(name)[rows].tobytes())
            found._codes[name] = array("B", self._code_array(name)[rows].tobytes())
            labels = self._labels[name]
            found._labels[name] = {new: labels[at] for new, at in enumerate(kept) if at in labels}
        return found

    def scored(self, metric: str) -> Mask:
        """Which samples have a number, shape ``(n_samples,)``."""
        codes = self._code_array(metric)
        scored: Mask = (codes == _NUMBER) | (codes == _ASSUMED)
        return scored

    def assumed(self, metric: str) -> Mask:
        """Which samples have a number that stands for a missing part, shape ``(n_samples,)``."""
        assumed: Mask = self._code_array(metric) == _ASSUMED
        return assumed

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)

    def reasons(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """How many samples (of the mask) went unscored for which reason, most frequent first."""
        codes = self._code_array(metric)
        counts = np.bincount(
            codes if mask is None else codes[mask], minlength=len(_REASONS) + _FIRST
        )
        found = {str(reason): int(counts[_CODES[reason]]) for reason in _REASONS}
        return dict(sorted(((r, n) for r, n in found.items() if n), key=lambda item: -item[1]))

    def labels(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """How many samples (of the mask) have which label, most frequent first."""
        found = self._labels[metric].items()
        return dict(Counter(label for at, label in found if mask is None or mask[at]).most_common())

    def _code_array(self, metric: str) -> NDArray[np.uint8]:
        return np.frombuffer(self._codes[metric], dtype=np.uint8)


@dataclass
class Result:
    """One evaluation.

    Attributes:
        summary: means, intervals, counts and slices.
        columns: the scores as arrays.
        config: the resolved configuration (``run.yaml``).
        folder: the run folder, where there is one.
        gates: what the gates (``fail_under``) found.
        bank: the nugget bank that answers were measured by, where a result in memory has one.
        verdicts: what the judge said, by the ids in a score's evidence.
    """

    summary: Summary
    columns: ScoreColumns
    config: Mapping[str, Any]
    folder: Path | None
    _rows: Callable[[], Iterator[ScoreRow]]
    _samples: Callable[[], Iterator[Sample]]
    gates: tuple[GateResult, ...] = ()
    bank: NuggetBank | None = None
    verdicts: Verdicts = field(default_factory=KeptVerdicts)

    @property
    def scores(self) -> Iterator[ScoreRow]:
        """Every score, one row for each sample and metric, sample by sample."""
        return self._rows()

    @property
    def samples(self) -> Iterator[Sample]:
        """The samples that were evaluated, in order."""
        return self._samples()

    @property
    def name(self) -> str:
        """What the run is called beside another one: its folder, its system or its data."""
        return self.folder.name if self.folder else self.summary.system or self.summary.title

    def to_polars(self) -> polars.DataFrame:
        """One row a sample: ``sample``, ``system``, ``repeat``, then a column a metric.

        A value is ``null`` where the metric is unscored; label metrics are left to `scores`.
        """
        import polars

        columns = self.columns
        frame = polars.DataFrame(
            columns.identities,
            schema={"sample": polars.String, "system": polars.String, "repeat": polars.Int64},
            orient="row",
        )
        return frame.with_columns(
            polars.when(polars.Series(columns.scored(name)))
            .then(polars.Series(columns.values(name)))
            .alias(name)
            for name in columns.metrics
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame (needs pandas: ``pip install ragassay[pandas]``)."""
        try:
            import pandas
        except ImportError as error:
            raise UsageError("pandas is not installed: pip install 'ragassay[pandas]'.") from error
        return pandas.DataFrame(self.to_polars().to_dict(as_series=False))

    def compare(self, other: Result, **options: Any) -> Comparison:
        """This run (A, the new one) against ``other`` (B, the old one): see `ragassay.compare`."""
        from ragassay.engine.comparison import compare

        return compare(self, other, **options)

    def save(self, folder: str | Path) -> Path:
        """Writes the run folder (docs/run-folder.md) and returns its path."""
        from ragassay.engine.folder import save

        return save(self, folder)

    def __str__(self) -> str:
        return str(self.summary)

    def __repr__(self) -> str:
        n_metrics, n = len(self.summary.metrics), self.summary.n_samples
        return f"<Result {self.name!r}: metrics={n_metrics} samples={n}>"
