"""Result files of the consistency evaluator: ours and Open RAG Eval's.

A column ``consistency_<metric>`` holds JSON for each query: the values over its runs (or over all
pairs of answers), and their statistics. One statistic is drawn: the value of each query.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from ragassay.engine.results import MetricSummary, Result
from ragassay.errors import InputError
from ragassay.formats import kind
from ragassay.reports.plots import trec_plot
from ragassay.reports.plots.tabled import BY_FILE, LEVEL, ROUNDING, Cell, Collected, header, rows
from ragassay.reports.tables import consistency_csv
from ragassay.stats import Spread, spread

PREFIX = "consistency_"

Statistic = Literal["cai", "mean", "median", "variance", "cv", "std", "range", "iqr"]
STATISTICS = get_args(Statistic)


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

GRADED = ("mean_umbrela_score", "umbrela")
_HIGHEST_GRADE = 3.0


def plain(name: str) -> str:
    """A metric's name without the evaluator's prefixes, by which titles go."""
    name = name.removeprefix(PREFIX)
    for begin in ("retrieval_score_", "generation_score_"):
        name = name.removeprefix(begin)
    return name


def columns_of(heads: tuple[str, ...]) -> dict[str, str]:
    """The file's consistency columns by their metric, those with a published title first."""
    heads_of = {head.removeprefix(PREFIX): head for head in heads if head.startswith(PREFIX)}
    order = {name: at for at, name in enumerate(TITLES)}
    names = sorted(heads_of, key=lambda name: order.get(plain(name), len(order)))
    return {name: heads_of[name] for name in names}


def read(
    path: Path, statistic: Statistic, signatures: Mapping[str, str] | None = None
) -> list[Result]:
    """Reads the consistency of a results file: a value of the statistic for each query.

    Args:
        path: of a results file.
        statistic: that is drawn.
        signatures: how the values were computed, by column, where a run folder says it.

    Returns:
        One result a system, with one metric a column.

    Raises:
        InputError: the file is of another kind, or a cell holds what it should not; the message has
            line and column.
    """
    heads = header(path)
    columns = columns_of(heads)
    if not columns:
        raise InputError("has no column of the consistency evaluator", path=path)
    systems: dict[str, Collected] = {}
    for line, row, query, system in rows(path):
        values = {
            name: _within(Cell(path, line, head, row[head]), name, statistic)
            for name, head in columns.items()
        }
        systems.setdefault(system, Collected(system)).add((query, system, 0), values)
    # Only we write what is unscored, and citations by the formula of the tool's page.
    formula = trec_plot.PAGE if "unscored" in heads else trec_plot.TOOL
    signed = {
        name: (signatures or {}).get(head) or _by_file(name, formula)
        for name, head in columns.items()
    }
    metrics = [_described(name, statistic, signed[name]) for name in columns]
    return [one.result(path.stem, metrics, "consistency") for one in systems.values()]


def _by_file(name: str, formula: str) -> str:
    """The signature of a column whose file alone is known."""
    return f"{BY_FILE}|{formula}" if trec_plot.by_two_formulas(plain(name)) else BY_FILE


def _within(cell: Cell, name: str, statistic: Statistic) -> float | None:
    """The statistic of one query, which must lie where such statistics can."""
    value = _value(cell, statistic, plain(name) in GRADED)
    low, high = _bounds(name, statistic)
    least, most = -inf if low is None else low, inf if high is None else high
    if value is not None and not least - ROUNDING <= value <= most + ROUNDING:
        where = "below 0" if value < 0 else f"above {high:g}"
        raise cell.wrong(f"{KEYS[statistic]} is {value:g}, which lies {where}")
    return value


def _value(cell: Cell, statistic: Statistic, graded: bool) -> float | None:
    """The statistic of one query; from the values where the file does not have it (Open RAG Eval's
    has neither variance nor coefficient of variation).

    The index of a metric that goes from 0 to 3 is that of its values over 3, as the tool draws it.

    Raises:
        InputError: the cell does not hold what it should.
    """
    body = cell.object()
    stats = body.get("stats") or {}
    if not isinstance(stats, dict):
        raise cell.wrong(f"'stats' is {kind(stats)}, where an object should stand")
    values = _values(cell, body.get("values"))
    if graded and statistic == "cai":
        if len(values) >= 2:
            return _spread(cell, [value / _HIGHEST_GRADE for value in values]).cai
        mean, std = cell.number(stats.get("mean"), "mean"), cell.number(stats.get("std"), "std")
        if mean is None or std is None:
            return None
        if std < 0:
            raise cell.wrong(f"the std is {std:g}, which lies below 0")
        return mean / _HIGHEST_GRADE / (1 + std / _HIGHEST_GRADE)
    key = KEYS[statistic]
    if key in stats:
        return cell.number(stats[key], key)
    if len(values) < 2:
        return None
    statistic_of_values: float | None = getattr(_spread(cell, values), statistic)
    return statistic_of_values


def _values(cell: Cell, values: object) -> list[float]:
    if not isinstance(values, list):
        return []
    numbers = [
        cell.number(value, "values") for value in values if not isinstance(value, dict | list)
    ]
    return [value for value in numbers if value is not None]


def _spread(cell: Cell, values: list[float]) -> Spread:
    try:
        return spread(values)
    except ValueError as error:
        raise cell.wrong(str(error)) from None


def _bounds(name: str, statistic: Statistic) -> tuple[float | None, float | None]:
    """The lowest and the highest value that the statistic of a metric may have."""
    if not STATISTIC_FORMS[statistic].level:
        return 0.0, None
    if plain(name) not in TITLES:
        return None, None
    # BERTScore rescaled by its baseline may lie below 0.
    low = None if plain(name) == "bert_score" else 0.0
    return low, _HIGHEST_GRADE if plain(name) in GRADED and statistic != "cai" else 1.0


def _described(name: str, statistic: Statistic, signature: str) -> MetricSummary:
    told = STATISTIC_FORMS[statistic]
    return MetricSummary(
        name=name,
        title=f"{TITLES.get(plain(name), name)}: {told.title}",
        family="consistency",
        mean=None,
        low=None,
        high=None,
        level=LEVEL,
        interval="none",
        n_scored=0,
        n_total=0,
        higher_is_better=told.level,
        bounds=_bounds(name, statistic),
        metric=f"{PREFIX}{name}.{statistic}",
        signature=signature,
    )
