"""What an evaluation leaves: its summary, scores in columns, and rows on demand, kept in memory or
on disk (the run folder)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.note import Displayed, drawing
from ragassay.base.sample import Sample
from ragassay.engine.results.comparison_result import GateResult, as_pandas
from ragassay.engine.results.judge_answers import JudgeAnswers
from ragassay.engine.results.score_columns import ScoreColumns, language_shown
from ragassay.engine.results.score_rows import ScoreRow, ScoreRows
from ragassay.engine.results.summary import MetricSummary, Summary

if TYPE_CHECKING:
    import pandas
    import polars

    from ragassay.engine.diagnosis.diagnosing import Diagnosis
    from ragassay.engine.results.comparison_result import Comparison
    from ragassay.formats import NuggetBank
    from ragassay.reports.charts.svg import Chart

T = TypeVar("T")

CONSISTENCY = "consistency"
"""The suite of repeated runs, and the folder with its result in a run's folder: a run folder
itself."""


@dataclass
class Result(Displayed):
    """An evaluation. It can be pickled; if it has a folder, its rows stay there.

    Examples:
        >>> import ragassay
        >>> data = [{"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"]}]
        >>> result = ragassay.evaluate(data, ["em", "answer_words"])
        >>> result["em"]
        <em: mean 1.0000, 1/1 scored>
        >>> len(result.scores), result.scores[-1].metric
        (2, 'answer_words')
        >>> result.to_polars().row(0, named=True)["answer"]
        'Ann'

    Attributes:
        summary: means, intervals, counts and slices.
        columns: the scores as arrays.
        config: the resolved configuration (``run.yaml``).
        folder: the run folder, where there is one.
        gates: the results of the gates (``fail_under``).
        bank: the nugget bank that answers were measured by, if a result in memory has one.
        judge_answers: the answers of the judge, by the ids in a score's evidence.
        called: its name in a comparison with a run of the same name.

    ``consistency`` is a result for the suite of that name, with a sample for each query of a
    system."""

    summary: Summary
    columns: ScoreColumns
    config: Mapping[str, Any]
    folder: Path | None
    _rows: Callable[[], Iterator[ScoreRow]] | None
    _samples: Callable[[], Iterator[Sample]] | None
    gates: tuple[GateResult, ...] = ()
    bank: NuggetBank | None = None
    judge_answers: JudgeAnswers = field(default_factory=dict)
    _consistency: Result | Path | None = None
    called: str = ""

    def __getitem__(self, name: str) -> MetricSummary:
        """The summary of one metric, by any of its names: ``mean``, ``low``, ``high``, ``n_scored``
        and more. A ``KeyError`` that lists the metrics where the run has none of that name."""
        try:
            return self.summary[name]
        except UsageError as error:
            raise KeyError(str(error)) from None

    @cached_property
    def consistency(self) -> Result | None:
        """The consistency of the runs of each query; ``None`` where it was not asked for."""
        inner = self._consistency
        return ragassay.open_run(inner) if isinstance(inner, Path) else inner

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Why samples fail (`ragassay.diagnose`); ``None`` where no metric says which do."""
        try:
            return None if self._rows is None else ragassay.diagnose(self)
        except UsageError:
            return None

    @property
    def steps(self) -> tuple[Result, ...]:
        """This result, and the consistency of its runs where that was asked for."""
        return (self,) if self.consistency is None else (self, self.consistency)

    @cached_property
    def scores(self) -> ScoreRows:
        """Every score, one row for each sample and metric, sample by sample: a sequence."""
        return ScoreRows(_kept(self._rows), len(self.columns) * len(self.columns.metrics))

    @property
    def samples(self) -> Iterator[Sample]:
        """The samples that were evaluated, in order."""
        return _kept(self._samples)()

    @property
    def name(self) -> str:
        """The name of the run in comparisons: what it is called, its folder, system or data."""
        if self.called or self.folder is None:
            return self.called or self.summary.system or self.summary.title
        # The folders of all consistencies have the same name; that of the run tells them apart.
        is_inner = self.folder.name == self.summary.suite == CONSISTENCY
        outer = self.folder.absolute().parent.name if is_inner else ""
        return f"{outer}/{self.folder.name}" if outer else self.folder.name

    def to_polars(self) -> polars.DataFrame:
        """A row per sample: ``sample``, ``system``, ``repeat``, ``query``, ``answer``,
        ``reference``, ``answerability``, ``language`` (else that of the query's
        words), ``failure`` (why there is no answer), a column for each metadata field with plain
        values, one for each metric, then ``right`` and ``cause``: whether the answer is right, if
        a metric rates answers, and why the sample fails (`ragassay.diagnose`).

        A value is ``null`` if the metric is unscored; labels are only in `scores`. A field of the
        metadata with the name of another column is called ``metadata.NAME``.
        """
        return sample_frame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame (needs pandas: ``pip install ragassay[pandas]``)."""
        return as_pandas(self.to_polars())

    def compare(self, other: Result, **options: Any) -> Comparison:
        """This run (A, the new one) against ``other`` (B, the old one): see `ragassay.compare`."""
        return ragassay.compare(self, other, **options)

    def save(self, folder: str | Path, title: str | None = None) -> Path:
        """Writes the run folder (docs/run-folder.md) with its reports (under a title), as
        ``ragassay run -o`` does, and returns its path."""
        path = ragassay.save_run(self, folder)
        drawing().write_reports(self, path, title=title)
        return path

    def plot(self) -> Chart:
        """A picture of all scores, which a notebook shows and ``save`` writes to a file: a box with
        its points for each metric, and the mean with its interval.

        Raises:
            UsageError: no metric has a number.
        """
        chart: Chart = drawing().plot_of(self)
        return chart

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the diagnosis, which is made again."""
        return {name: value for name, value in vars(self).items() if name != "diagnosis"}

    def __repr__(self) -> str:
        n_metrics, n = len(self.summary.metrics), self.summary.n_samples
        return f"<Result {self.name!r}: metrics={n_metrics} samples={n}>"


def _kept(read: Callable[[], T] | None) -> Callable[[], T]:
    """What reads the rows or the samples of a result, where it kept them."""
    if read is None:
        raise UsageError("This result kept its summary only; evaluate with save=FOLDER.")
    return read


_PLAIN = (str, bool, int, float)
_OWN = ("query", "answer", "reference", "answerability", "language", "failure")
_FOUND = ("right", "cause")
"""The columns that every sample has beside its identity."""


def texts_of(sample: Sample) -> tuple[str | None, str | None, str | None]:
    """Query, answer and references of a sample, as all tables of samples have them."""
    answer = None if sample.answer is None else sample.answer.text
    return sample.query, answer, "\n".join(sample.references or ()) or None


def rights_of(result: Result) -> dict[str, list[Any]]:
    """Whether the answer of each sample is right, where that is measured, and why it fails
    (`Result.to_polars`), by column; empty without a diagnosis."""
    if (found := result.diagnosis) is None:
        return {}
    rates = found.measures == "answers"
    right = [bool(value) if rates and value is not None else None for value in found.right]
    return dict(zip(_FOUND, (right, [*found.classes]), strict=True))


def sample_frame(result: Result) -> polars.DataFrame:
    """The samples with their texts, metadata and scores; see `Result.to_polars`."""
    import polars

    columns = result.columns
    schema = {"sample": polars.String, "system": polars.String, "repeat": polars.Int64}
    frame = polars.DataFrame(columns.identities, schema=schema, orient="row")
    reserved = {*frame.columns, *_OWN, *_FOUND, *columns.metrics}
    rows: list[dict[str, Any]] = []
    for sample in result.samples:
        label = None if sample.answerability is None else sample.answerability.value
        own = (*texts_of(sample), label, language_shown(sample) or None, sample.failure)
        row = dict[str, Any](zip(_OWN, own, strict=True))
        for name, value in sample.metadata.items():
            if isinstance(value, _PLAIN):
                row[f"metadata.{name}" if name in reserved else name] = value
        rows.append(row)
    names = dict.fromkeys([*_OWN, *(name for row in rows for name in row)])
    texts: dict[str, list[Any]] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {float if type(x) is int else type(x) for x in values if x is not None}
        # Values of several kinds become texts.
        mixed = len(kinds) != 1
        texts[name] = [None if x is None else str(x) for x in values] if mixed else values
    types = dict(zip(_FOUND, (polars.Boolean, polars.String), strict=True))
    return frame.with_columns(
        *(polars.Series(name, values, strict=False) for name, values in texts.items()),
        *(
            polars.when(polars.Series(columns.scored(name)))
            .then(polars.Series(columns.values(name)))
            .alias(name)
            for name in columns.metrics
        ),
        *(polars.Series(name, each, types[name]) for name, each in rights_of(result).items()),
    )
