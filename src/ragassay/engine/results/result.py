"""What an evaluation leaves in memory: scores in columns, rows on demand.

Only twelve bytes a score stay in memory; explanations and parts are rows, kept in memory for a
small evaluation and on disk (the run folder) for a large one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

import ragassay
from ragassay.engine.results.attribution import judges_of
from ragassay.engine.results.sample_frame import sample_frame
from ragassay.engine.results.score_rows import ScoreRows
from ragassay.engine.results.summary import Comparison, Displayed, GateResult, Summary
from ragassay.engine.results.verdicts import KeptVerdicts, Verdicts
from ragassay.errors import extra_needed
from ragassay.samples import Identity, Sample
from ragassay.scores import AND, Outcome, Reason, Score, Unscored, Value, label_of


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of ``scores.jsonl``.

    ``status`` is ``ok``, ``assumed`` (a published value for a missing part), ``given`` (the
    record brought the value) or ``unscored``; ``evidence`` names the verdicts behind it
    (``verdicts.jsonl``), and ``judge`` who gave them, or whoever gave the record's values.
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
        """The row for an outcome.

        Args:
            identity: query id, system and repeat of the sample.
            metric: name that the run shows.
            outcome: a score, or why there is none.
            judge: label of the run's judge.
        """
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
        """The row that a line of ``scores.jsonl`` holds.

        Raises:
            ValueError: the line is no score.
        """
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
        if self.value is None:
            return Unscored(
                Reason(self.reason or Reason.FAILED), self.explanation, tuple(self.evidence)
            )
        given = self.status == "given"
        return Score(
            self.value,
            self.parts,
            self.explanation,
            tuple(self.evidence),
            assumed=self.status == "assumed",
            given=given,
            by=tuple(self.judge.split(AND)) if given and self.judge else (),
        )


if TYPE_CHECKING:
    import pandas
    import polars

    from ragassay.formats import NuggetBank
    from ragassay.reports import Chart, PlotKind

CONSISTENCY = "consistency"
"""The suite of repeated runs, and the folder within a run's that holds what it found: a run folder
itself."""

ROW_FIELDS = tuple(spec.name for spec in fields(ScoreRow))
"""Keys of a line of ``scores.jsonl``, and columns of the long tables."""

Mask = NDArray[np.bool_]


@cache
def _row_form() -> TypeAdapter[ScoreRow]:
    return TypeAdapter(ScoreRow)


class _Kind(NamedTuple):
    """What a score is beside its number; most scores of a run are of a few kinds."""

    judges: str
    given: bool = False
    assumed: bool = False
    label: str | None = None
    reason: Reason | None = None


class ScoreColumns:
    """The numbers of all scores: a float and the number of its kind for each sample and metric.

    Attributes:
        identities: query id, system and repeat of each sample, in the order of evaluation.
        slices: for each slicing column, each sample's value (``None`` where it has none).
        clusters: each sample's cluster (a conversation, a document), when clustering was asked for.
        asked: a number for what each sample asks and expects (see ``engine.fingerprint``); empty
            where that is not known.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[str | None]] = {}
        self.clusters: list[str] | None = None
        self.asked = array("Q")
        self._values = {name: array("d") for name in metrics}
        self._codes = {name: array("I") for name in self._values}
        self._kinds: list[_Kind] = []
        self._code_of: dict[_Kind, int] = {}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order asked for."""
        return list(self._values)

    @property
    def n_queries(self) -> int:
        """How many queries the samples have."""
        return len({query for query, _, _ in self.identities})

    @property
    def systems(self) -> list[str]:
        """The systems, in order of first appearance."""
        return list(dict.fromkeys(system for _, system, _ in self.identities))

    def add(self, metric: str, outcome: Outcome, judge: str = "") -> None:
        """Appends a sample's outcome to a metric's column.

        Args:
            metric: name of the column.
            outcome: of the next sample.
            judge: label of the run's judge.
        """
        number, judges = 0.0, judges_of(outcome, judge)
        if isinstance(outcome, Unscored):
            kind = _Kind(judges, reason=outcome.reason)
        elif isinstance(outcome.value, str | list):
            kind = _Kind(judges, outcome.given, label=label_of(outcome.value))
        else:
            number, kind = float(outcome.value), _Kind(judges, outcome.given, outcome.assumed)
        code = self._code_of.setdefault(kind, len(self._kinds))
        if code == len(self._kinds):
            self._kinds.append(kind)
        self._values[metric].append(number)
        self._codes[metric].append(code)

    def take(self, rows: NDArray[np.int64]) -> ScoreColumns:
        """The same columns for some of the samples, by row number."""
        taken = ScoreColumns(self.metrics)
        kept = rows.tolist()
        taken.identities = [self.identities[at] for at in kept]
        taken.slices = {name: [values[at] for at in kept] for name, values in self.slices.items()}
        if self.clusters is not None:
            taken.clusters = [self.clusters[at] for at in kept]
        if self.asked:
            taken.asked = array("Q", [self.asked[at] for at in kept])
        for name in self.metrics:
            taken._values[name] = array("d", self.values(name)[rows].tobytes())
            taken._codes[name] = array("I", self._code_array(name)[rows].tobytes())
        taken._kinds, taken._code_of = self._kinds, self._code_of
        return taken

    def renamed(self, names: Mapping[str, str]) -> ScoreColumns:
        """The same columns, with some of the metrics under other names; nothing is copied."""
        copied = copy(self)
        for held in ("_values", "_codes"):
            columns = getattr(self, held)
            setattr(copied, held, {names.get(name, name): columns[name] for name in columns})
        return copied

    def unscored(self, metric: str, reasons: Iterable[Reason]) -> Mask:
        """Where a score is missing for one of these reasons, shape ``(n_samples,)``.

        Args:
            metric: name of the column.
            reasons: that are looked for.
        """
        wanted = set(reasons)
        return self._where(metric, lambda kind: kind.reason in wanted)

    def scored(self, metric: str) -> Mask:
        """Which samples have a number, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.label is None and kind.reason is None)

    def assumed(self, metric: str) -> Mask:
        """Which samples have a number that stands for a missing part, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.assumed)

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)

    def reasons(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of unscored samples by reason, most frequent first.

        Args:
            metric: name of the column.
            mask: the samples that count, shape ``(n_samples,)``; all when left out.
        """
        numbers = Counter(dict.fromkeys(Reason, 0))
        for kind, n in self._counted(metric, mask):
            if kind.reason is not None:
                numbers[kind.reason] += n
        return {str(reason): n for reason, n in numbers.most_common() if n}

    def labels(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of samples by label, most frequent first.

        Args:
            metric: name of the column.
            mask: the samples that count, shape ``(n_samples,)``; all when left out.
        """
        labelled = self._where(metric, lambda kind: kind.label is not None)
        codes = self._code_array(metric)[labelled if mask is None else labelled & mask]
        labels = Counter(self._kinds[code].label or "" for code in codes.tolist())
        return dict(labels.most_common())

    def n_given(self, metric: str, mask: Mask | None = None) -> int:
        """The number of values that the records brought.

        Args:
            metric: name of the column.
            mask: the samples that count, shape ``(n_samples,)``; all when left out.
        """
        return sum(n for kind, n in self._counted(metric, mask) if kind.given)

    def judges(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of values by label of judges (`ragassay.engine.results.attribution`), most
        frequent first. Values by arithmetic alone are left out.

        Args:
            metric: name of the column.
            mask: the samples that count, shape ``(n_samples,)``; all when left out.
        """
        numbers: Counter[str] = Counter()
        for kind, n in self._counted(metric, mask):
            numbers[kind.judges] += n if kind.reason is None else 0
        return {label: n for label, n in numbers.most_common() if label and n}

    def _counted(self, metric: str, mask: Mask | None) -> Iterator[tuple[_Kind, int]]:
        """All kinds with the number of the metric's scores among the samples of the mask."""
        codes = self._code_array(metric)
        counts = np.bincount(codes if mask is None else codes[mask], minlength=len(self._kinds))
        return zip(self._kinds, counts.tolist(), strict=True)

    def _where(self, metric: str, holds: Callable[[_Kind], bool]) -> Mask:
        """Where a score is of one of the kinds for which a condition holds."""
        return np.array([holds(kind) for kind in self._kinds], np.bool_)[self._code_array(metric)]

    def value(self, metric: str, row: int) -> float | str | None:
        """A sample's number or label; ``None`` where it is unscored.

        Args:
            metric: name of the column.
            row: number of the sample.
        """
        kind = self._kinds[self._codes[metric][row]]
        if kind.label is not None:
            return kind.label
        return self._values[metric][row] if kind.reason is None else None

    def reason(self, metric: str, row: int) -> Reason | None:
        """Why a sample is unscored; ``None`` where it is not.

        Args:
            metric: name of the column.
            row: number of the sample.
        """
        return self._kinds[self._codes[metric][row]].reason

    def _code_array(self, metric: str) -> NDArray[np.uint32]:
        return np.frombuffer(self._codes[metric], dtype=np.uint32)


@dataclass
class Result(Displayed):
    """One evaluation. It can be pickled; the rows of one with a folder stay in the folder.

    Examples:
        >>> import ragassay
        >>> data = [{"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"]}]
        >>> result = ragassay.evaluate(data, ["em", "answer_words"])
        >>> print(result.summary)
        metrics on samples in memory: mean over the one query, where it is scored
        metric             mean  interval              scored
        em               1.0000                        1/1
        answer_words     1.0000                        1/1
        >>> len(result.scores), result.scores[-1].metric
        (2, 'answer_words')
        >>> result.to_polars().row(0, named=True)["answer"]
        'Ann'

    Attributes:
        summary: means, intervals, counts and slices.
        columns: the scores as arrays.
        config: the resolved configuration (``run.yaml``).
        folder: the run folder, where there is one.
        gates: what the gates (``fail_under``) found.
        bank: the nugget bank that answers were measured by, where a result in memory has one.
        verdicts: what the judge said, by the ids in a score's evidence.

    ``consistency`` is what was found of the runs of each query, where that was asked for: a result
    of its own, with a sample for each query and system.
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
    _consistency: Result | Path | None = None

    @cached_property
    def consistency(self) -> Result | None:
        """The consistency of the runs of each query; ``None`` where it was not asked for."""
        inner = self._consistency
        return ragassay.open_run(inner) if isinstance(inner, Path) else inner

    @property
    def steps(self) -> tuple[Result, ...]:
        """This result, and the consistency of its runs where that was asked for."""
        return (self,) if self.consistency is None else (self, self.consistency)

    @cached_property
    def scores(self) -> ScoreRows:
        """Every score, one row for each sample and metric, sample by sample: a sequence."""
        return ScoreRows(self._rows, len(self.columns) * len(self.columns.metrics))

    @property
    def samples(self) -> Iterator[Sample]:
        """The samples that were evaluated, in order."""
        return self._samples()

    @property
    def name(self) -> str:
        """What the run is called beside another one: its folder, its system or its data."""
        if self.folder is None:
            return self.summary.system or self.summary.title
        # A run's consistency stands in a folder within the run's, and all those have one name.
        is_inner = self.folder.name == self.summary.suite == CONSISTENCY
        outer = self.folder.absolute().parent.name if is_inner else ""
        return f"{outer}/{self.folder.name}" if outer else self.folder.name

    def to_polars(self) -> polars.DataFrame:
        """One row a sample: ``sample``, ``system``, ``repeat``, ``query``, ``answer``,
        ``answerability``, ``failure`` (why the system gave no answer), a column for each field of
        the samples' metadata that holds plain values, then a column a metric.

        A value is ``null`` where the metric is unscored; label metrics are left to `scores`. A
        field of the metadata that is called as another column is ``metadata.NAME``.
        """
        return sample_frame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame (needs pandas: ``pip install ragassay[pandas]``)."""
        with extra_needed("pandas is not installed", "pandas"):
            import pandas
        return pandas.DataFrame(self.to_polars().to_dict(as_series=False))

    def compare(self, other: Result, **options: Any) -> Comparison:
        """This run (A, the new one) against ``other`` (B, the old one): see `ragassay.compare`."""
        return ragassay.compare(self, other, **options)

    def save(self, folder: str | Path) -> Path:
        """Writes the run folder (docs/run-folder.md) and returns its path."""
        return ragassay.save_run(self, folder)

    def __str__(self) -> str:
        """The table of the summary, and that of the consistency of the runs."""
        return "\n\n".join(
            str(one.summary) for one in self.steps if one.summary.metrics or one is self.steps[-1]
        )

    def plot(self, kind: PlotKind = "boxes") -> Chart:
        """A picture of all scores, which a notebook shows and ``save`` writes to a file.

        Args:
            kind: ``boxes`` (a box with its points for each metric, and the mean with its interval)
                or ``histograms``.

        Raises:
            UsageError: no metric has a number, or there is no such kind.
        """
        return ragassay.reports.plot_of(self, kind)

    def __repr__(self) -> str:
        n_metrics, n = len(self.summary.metrics), self.summary.n_samples
        return f"<Result {self.name!r}: metrics={n_metrics} samples={n}>"
