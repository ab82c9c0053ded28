"""A run as an Excel workbook: a summary, a row for each record, distributions, how it was computed.

Texts stay texts: nothing becomes a formula or a link. Characters that Excel cannot hold are written
as escapes; cells beyond its limit are cut and say so.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base import files, printable
from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError, extra_needed
from ragassay.base.sample import Sample
from ragassay.engine.results import Result
from ragassay.engine.results.judge_answers import Record
from ragassay.engine.results.score_rows import ScoreRow, with_samples
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart
from ragassay.reports.text import wording

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

LONGEST = 32_767
"""Characters of a cell, by Excel's limit."""
_CUT = " ... (cut)"
MOST_ROWS = 1_048_576
"""Rows of a sheet, by Excel's limit."""
_A4 = 9
"""The paper's size, by Excel's number."""
_LINE_POINTS, _MOST_LINES = 15, 12
"""The height of a line of text, and the lines of a row that are shown: Excel shows 27 at most."""
_PAGE_WIDTH = 260
"""The width of columns, in characters, that can be read on a page; wider sheets have more pages."""
_BINS = 20
_CHART_ROWS = 16
"""Rows of a sheet that a chart covers."""
_CHARTS_OF_A_PAGE, _CHART_SCALE = 2, 70
"""How many charts are printed on a page, at how many percent of their size."""


_Row = tuple[Sequence[Any], Any]
"""The cells of a row, and their form: ``None`` for that of each cell's type."""


def write_workbook(result: Result, path: Path) -> None:
    """Writes a run as an Excel workbook."""
    with extra_needed("An Excel workbook needs its package", "excel"):
        import xlsxwriter
    if result.summary.n_samples >= MOST_ROWS:
        raise UsageError(
            f"An Excel sheet has {MOST_ROWS:,} rows, and the run {result.summary.n_samples:,} "
            "samples. Write CSV or Parquet."
        )
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream) as book:
        _Workbook(book, result).write()
    files.write_bytes(path, stream.getvalue())


class _Workbook:
    """A workbook that is being written."""

    def __init__(self, book: xlsxwriter.Workbook, result: Result) -> None:
        self._book, self._result = book, result
        self._prompts: dict[str, str] = {}
        top = {"valign": "top"}
        head = {"bold": True, "bottom": 1, "text_wrap": True}
        self._head, self._strong = book.add_format(head | top), book.add_format({"bold": True})
        number, text = {"num_format": "0.0000_)"}, {"text_wrap": True}
        self._forms = {float: book.add_format(number | top), str: book.add_format(text | top)}

    def write(self) -> None:
        """Writes all sheets."""
        self._rows("Summary", (34, 10, 10, 10, 10, 10, 14, 14, 60), self._summary())
        names = list(self._result.summary.metrics)
        widths = (16, 12, 40, 50, 40, *([12, 40] * len(names)))
        sheet = self._rows("Records", widths, self._records(names))
        sheet.repeat_rows(0)
        sheet.repeat_columns(0)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, len(self._result.columns), len(widths) - 1)
        self._distributions()
        self._rows("How it was computed", (30, 100), self._how())

    def _sheet(self, name: str, widths: Sequence[float]) -> Worksheet:
        sheet = self._book.add_worksheet(name)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_landscape()
        sheet.set_paper(_A4)
        sheet.fit_to_pages(math.ceil(sum(widths) / _PAGE_WIDTH), 0)
        return sheet

    def _rows(self, name: str, widths: Sequence[float], rows: Iterable[_Row]) -> Worksheet:
        """A sheet of these rows. A row of one cell runs over the columns beside it."""
        sheet = self._sheet(name, widths)
        for at, (cells, form) in enumerate(rows):
            for column, cell in enumerate(cells):
                own = self._forms.get(type(cell)) if len(cells) > 1 else None
                _put(sheet, at, column, cell, form or own)
            if len(cells) > 1:
                sheet.set_row(at, _height(cells, widths))
        return sheet

    def _summary(self) -> Iterator[_Row]:
        summary = self._result.summary
        yield [f"{summary.suite}: {summary.title}"], self._strong
        yield [f"Means over {summary.averaged_over}."], None
        yield [], None
        heads = ["metric", "mean", "low", "high", "scored", "of"]
        heads += ["for missing parts", "mean without them", "unscored"]
        groups = grouped((one.group, one) for one in summary.metrics.values())
        for group, metrics in groups.items():
            if group:
                yield [group], self._strong
            yield heads, self._head
            for one in metrics:
                mean = _or_nothing(one.mean) if one.n_assumed else one.mean
                cells: list[Any] = [one.name, mean, one.low, one.high, one.n_scored, one.n_total]
                beside = (one.n_assumed, _or_nothing(one.mean_measured))
                cells += beside if one.n_assumed else (None, None)
                yield [*cells, wording.reasons(one.unscored)], None
            yield [], None
        yield from (([warning], None) for warning in summary.warnings)

    def _records(self, names: Sequence[str]) -> Iterator[_Row]:
        heads = ["id", "system", "query", "context", "answer"]
        for name in names:
            heads += [name, f"{name}: explanation"]
        yield heads, self._head
        examples: dict[str, ScoreRow] = {}
        for identity, sample, scores in with_samples(self._result):
            cells: list[Any] = [identity[0], identity[1], *_texts(sample)]
            for name in names:
                value, why = _value_and_reason(scores.get(name))
                if value is not None:
                    examples.setdefault(name, scores[name])
                cells += [value, why]
            yield cells, None
        for key in dict.fromkeys(key for score in examples.values() for key in score.evidence):
            for question, prompt in _prompts(self._result.judge_answers.get(key)):
                self._prompts.setdefault(question, prompt)

    def _distributions(self) -> None:
        sheet = self._sheet("Distributions", (24, 10))
        row, starts = 0, []
        for metric in self._result.summary.metrics.values():
            bars = list(_bars(self._result, metric))
            if not bars:
                continue
            starts.append(row)
            for offset, cells in enumerate([(metric.name, "samples"), *bars]):
                for column, cell in enumerate(cells):
                    _put(sheet, row + offset, column, cell, None if offset else self._head)
            chart = self._book.add_chart({"type": "column"})
            first, last = row + 1, row + len(bars)
            chart.add_series(
                {
                    "name": metric.name,
                    "categories": ["Distributions", first, 0, last, 0],
                    "values": ["Distributions", first, 1, last, 1],
                    "gap": 20,
                }
            )
            chart.set_title({"name": metric.name, "overlay": False})
            chart.set_legend({"none": True})
            sheet.insert_chart(row, 3, chart)
            row += max(len(bars), _CHART_ROWS) + 2
        sheet.set_print_scale(_CHART_SCALE)  # Excel breaks no page of a sheet that is fitted
        sheet.set_h_pagebreaks(starts[_CHARTS_OF_A_PAGE::_CHARTS_OF_A_PAGE])

    def _how(self) -> Iterator[_Row]:
        prompts = ((f"{name}: a prompt", text) for name, text in self._prompts.items())
        for key, value in (*_facts(self._result), *prompts):
            yield [key, value], None


def _height(cells: Iterable[Any], widths: Iterable[float]) -> float:
    """Points of a row, so that its texts are seen in columns of these widths, up to so many lines.
    Excel would find that out by itself, LibreOffice not."""
    lines = [
        sum(max(1, math.ceil(len(line) / width)) for line in cell.splitlines())
        for cell, width in zip(cells, widths, strict=True)
        if isinstance(cell, str)
    ]
    return _LINE_POINTS * min(max(1, *lines), _MOST_LINES)


def _or_nothing(mean: float | None) -> float | str:
    return wording.NOTHING if mean is None else mean


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    summary = result.summary
    for key, value in result.config.items():
        if key != "signatures" and value not in (None, [], {}, ""):
            yield key, _written(value)
    if summary.judging is not None:
        spent = summary.judging
        yield "judge", spent.judge
        yield "requests", f"{spent.calls:,}"
        yield "cost", f"${spent.cost:,.4f}"
    for metric in summary.metrics.values():
        yield f"{metric.name}: signature", metric.signature
        if metric.judge:
            yield f"{metric.name}: judged by", metric.judge
        if metric.unscored:
            yield f"{metric.name}: unscored", wording.reasons(metric.unscored)


def _written(value: Any) -> str:
    """A value of a configuration: the entries of a list or a mapping with commas between them."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_written(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_written, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _prompts(verdict: Record | None) -> Iterator[tuple[str, str]]:
    """The prompts of a verdict and of its votes, as they were sent, with their questions."""
    if verdict is None:
        return
    if messages := verdict.get("messages"):
        yield verdict["question"], "\n\n".join(f"{m['role']}: {m['content']}" for m in messages)
    for vote in verdict.get("votes", ()):
        yield from _prompts(vote)


def _texts(sample: Sample | None) -> tuple[str, str, str]:
    """Query, context and answer of a sample."""
    if sample is None:
        return "", "", ""
    chunks = [one.text or "" for one in sample.passages or ()]
    context = "\n".join(f"[{number}] {text}" for number, text in enumerate(chunks, start=1))
    return sample.query or "", context, "" if sample.answer is None else sample.answer.text


def _value_and_reason(score: ScoreRow | None) -> tuple[Any, str]:
    if score is None:
        return None, ""
    if score.status == "unscored":
        why = wording.reason(score.reason or "")
        return None, f"unscored, {why}: {score.explanation}" if score.explanation else why
    return score.value, score.explanation


def _bars(result: Result, metric: MetricSummary) -> Iterator[tuple[str, int]]:
    """The distribution of a metric, with the number of each bar: of its labels, of its values where
    these are whole numbers on a scale of few, else of the parts of its range."""
    if metric.labels:
        yield from metric.labels.items()
        return
    values = result.columns.values(metric.name)[result.columns.scored(metric.name)]
    if not values.size:
        return
    low, high = distribution_chart.scale(metric)
    values = values.clip(low, high)
    if low == int(low) and high == int(high) and high - low < _BINS and (values % 1 == 0).all():
        for value in range(int(low), int(high) + 1):
            yield str(value), int((values == value).sum())
        return
    width = (high - low) / _BINS
    for number, count in enumerate(distribution_chart.histogram(values, low, high, _BINS)):
        start = low + number * width
        yield f"{start:.3g} to {start + width:.3g}", count


def _put(sheet: Worksheet, row: int, column: int, value: Any, form: Any = None) -> None:
    """Writes a cell: a number as such, all else as text; nothing for ``None`` and empty text."""
    if value is None or value == "":
        return
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int | float):
        sheet.write_number(row, column, value, form)
        return
    text = printable.escaped(str(value))
    units = text.encode("utf-16-le")  # what Excel counts
    if len(units) // 2 > LONGEST:
        text = units[: 2 * (LONGEST - len(_CUT))].decode("utf-16-le", "ignore") + _CUT
    sheet.write_string(row, column, text, form)
