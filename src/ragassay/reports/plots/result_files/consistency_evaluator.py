"""Result files of the consistency evaluator: ours and Open RAG Eval's.

A column ``consistency_<metric>`` holds JSON for each query: the values over its runs (or over all
pairs of answers), and their statistics. One statistic is drawn: the value of each query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.core import naming
from ragassay.reports.plots.result_files.evaluator_tables import LEVEL, Tables, plain
from ragassay.reports.plots.result_files.results_cell import Cell
from ragassay.reports.tables import consistency_csv
from ragassay.stats.dispersion import spread

PREFIX = "consistency_"

Statistic = Literal["cai", "mean", "median", "variance", "cv", "std", "range", "iqr"]
KEYS = {name: key for key, name in consistency_csv.STATS.items()}
"""What a file calls a statistic."""


class StatisticForm(NamedTuple):
    """A statistic's title, and whether it is on the metric's own scale. The others measure spread,
    where lower values are more consistent."""

    title: str
    level: bool = False


STATISTIC_FORMS: Mapping[Statistic, StatisticForm] = {
    "cai": StatisticForm("consistency-adjusted index, mean / (1 + sd)", True),
    "mean": StatisticForm("mean over the runs", True),
    "median": StatisticForm("median over the runs", True),
    "variance": StatisticForm("sample variance over the runs"),
    "cv": StatisticForm("coefficient of variation over the runs, sd / mean"),
    "std": StatisticForm("population standard deviation over the runs"),
    "range": StatisticForm("range over the runs, highest - lowest"),
    "iqr": StatisticForm("interquartile range over the runs"),
}

TITLES = {
    "mean_umbrela_score": "Retrieval",
    "umbrela": "Retrieval",
    "vital_nuggetizer_score": "Groundedness",
    "mean_nugget_assignment_score": "Groundedness (all nuggets)",
    "hallucination_score": "Factuality",
    "citation_f1_score": "Citation",
    "bert_score": "BERTScore",
    "rouge_score": "ROUGE-L",
}
"""What Open RAG Eval's pictures call a metric, by its column."""

_GRADED = ("mean_umbrela_score", "umbrela")
_HIGHEST_GRADE = 3.0


@dataclass(frozen=True)
class ConsistencyTables(Tables):
    """The consistency evaluator.

    Attributes:
        statistic: that is drawn of each query.
    """

    statistic: Statistic = "cai"

    evaluator = "consistency"
    suite = "consistency"
    default = ()
    titles = TITLES
    share = ""
    query_note = ", each with one value over its repeated runs"

    @property
    def _form(self) -> StatisticForm:
        return STATISTIC_FORMS[self.statistic]

    def direction_note(self) -> str:
        """Which direction is better, of a measure of spread."""
        return "" if self._form.level else " Lower is more consistent."

    def title(self, metrics: Sequence[str]) -> str:
        """The statistic."""
        return f"Consistency: {self._form.title}"

    def column_name(self, column: str) -> str | None:
        """The metric whose values over the runs it holds."""
        return column.removeprefix(PREFIX) if column.startswith(PREFIX) else None

    def rank(self, name: str) -> tuple[int, str, int]:
        """Those with a published title first, in its order; the others as they come."""
        order = list(TITLES)
        return order.index(plain(name)) if plain(name) in order else len(order), "", 0

    def values(self, name: str, cell: Cell) -> Iterator[tuple[str, float | None]]:
        """The statistic of one query; from the values where the file does not have it (Open RAG
        Eval's has neither variance nor coefficient of variation).

        The index of a metric that goes from 0 to 3 is that of its values over 3, as the tool draws
        it.
        """
        stats, listed = cell.object("stats"), cell.object().get("values")
        key, by = KEYS[self.statistic], _HIGHEST_GRADE if self._is_scaled(name) else 1.0
        entries = listed if isinstance(listed, list) else ()
        plain_values = (one for one in entries if not isinstance(one, dict | list))
        numbers = [n for one in plain_values if (n := cell.number(one, "values")) is not None]
        value: float | None = None
        if by == 1.0 and key in stats:
            value = cell.number(stats[key], key)
        elif len(numbers) >= 2:
            try:
                value = getattr(spread([number / by for number in numbers]), self.statistic)
            except ValueError as error:
                raise cell.error(str(error)) from None
        elif by != 1.0:
            mean, std = cell.number(stats.get("mean"), "mean"), cell.number(stats.get("std"), "std")
            if std is not None and std < 0:
                raise cell.error(f"the std is {std:g}, which lies below 0")
            if mean is not None and std is not None:
                value = mean / by / (1 + std / by)
        yield name, value

    def described(self, name: str) -> MetricSummary:
        """The statistic of a metric: spread is 0 or more, a level lies where the metric does."""
        bounds: tuple[float | None, float | None] = (0.0, None)
        if self._form.level:
            graded = plain(name) in _GRADED and self.statistic != "cai"
            # BERTScore rescaled by its baseline may lie below 0.
            low = None if plain(name) == "bert_score" else 0.0
            has_title = plain(name) in TITLES
            bounds = (low, _HIGHEST_GRADE if graded else 1.0) if has_title else (None, None)
        return MetricSummary(
            name=name,
            title=f"{TITLES.get(plain(name), name)}: {self._form.title}",
            family="consistency",
            level=LEVEL,
            higher_is_better=self._form.level,
            bounds=bounds,
            metric=f"{PREFIX}{name}.{self.statistic}",
        )

    def judged(self, name: str) -> bool:
        """Such a file names no judge."""
        return False

    def value_name(self, name: str) -> str:
        """What the file calls the statistic."""
        return KEYS[self.statistic]

    def short(self, name: str) -> str:
        """A metric's name without prefixes."""
        return plain(name)

    def subtitle(self, name: str) -> str:
        """The name, with a mark where grades were divided."""
        return f"{name} of grade / 3" if self._is_scaled(name) else name

    def main_metrics(self, available: Iterable[str]) -> tuple[str, ...]:
        """The metrics that Open RAG Eval draws; all where a file has none of them."""
        every = tuple(available)
        return tuple(name for name in every if plain(name) in TITLES) or every

    def our_names(self, wanted: Sequence[str], available: Mapping[str, str]) -> list[str]:
        """The metrics' names in place of every spelling of their columns."""
        by_spelling = {
            form.casefold(): name
            for name in available
            for form in (name, f"{PREFIX}{name}", plain(name))
        }
        return [by_spelling.get(word.casefold(), word) for word in naming.split(list(wanted))]

    def _is_scaled(self, name: str) -> bool:
        return plain(name) in _GRADED and self.statistic == "cai"
