"""A run as an Excel workbook: a summary, a row for each record, and how it was computed. Texts stay
texts: nothing becomes a formula or a link."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base import files, printable
from ragassay.base.errors import UsageError, extra_needed
from ragassay.base.json_data import dumps
from ragassay.base.printable import dollars, grouped
from ragassay.engine.results import Result
from ragassay.engine.results.judge_answers import Record
from ragassay.engine.results.result import rights_of, texts_of
from ragassay.engine.results.score_rows import with_samples
from ragassay.reports.tables.published_csv import components
from ragassay.reports.text import wording
from ragassay.reports.views.summary_view import verdict

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

LONGEST = 32_767
"""Characters of a cell, by Excel's limit."""
_CUT = " ... (cut)"
MOST_ROWS = 1_048_576
"""Rows of a sheet, by Excel's limit."""

_Row = tuple[str, Sequence[Any]]
"""The style of a row (``head``, ``strong``, else empty), and its cells."""


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
        prompts: dict[str, str] = {}
        _sheet(book, "Summary", (34, 10, 10, 10, 10, 10, 14, 14, 60), _summary(result))
        widths = (16, 12, 40, 50, 40, 40, *([12, 40] * len(result.summary.metrics)))
        widths += (24,) * len(rights_of(result))
        sheet = _sheet(book, "Records", widths, _records(result, prompts))
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, len(result.columns), len(widths) - 1)
        how = (("", pair) for pair in (*_facts(result), *prompts.items()))
        _sheet(book, "How it was computed", (30, 100), how)
    files.write_bytes(path, stream.getvalue())


def _sheet(
    book: xlsxwriter.Workbook, name: str, widths: Sequence[float], rows: Iterable[_Row]
) -> Worksheet:
    """A sheet of these rows. A row of one cell runs over the columns beside it."""
    forms = {
        "head": book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
        "strong": book.add_format({"bold": True}),
        float: book.add_format({"num_format": "0.0000_)", "valign": "top"}),
        str: book.add_format({"text_wrap": True, "valign": "top"}),
    }
    sheet = book.add_worksheet(name)
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)
    sheet.set_landscape()
    for at, (style, cells) in enumerate(rows):
        for column, cell in enumerate(cells):
            form = forms.get(style, forms.get(type(cell)) if len(cells) > 1 else None)
            if isinstance(cell, int | float):
                number = int(cell) if isinstance(cell, bool) else cell
                sheet.write_number(at, column, number, form)
            elif cell not in (None, ""):
                sheet.write_string(at, column, _text(str(cell)), form)
    return sheet


def _text(value: str) -> str:
    """A text that a cell can hold, cut where it is too long."""
    text = printable.escaped(value)
    units = text.encode("utf-16-le")  # what Excel counts
    if len(units) // 2 <= LONGEST:
        return text
    return units[: 2 * (LONGEST - len(_CUT))].decode("utf-16-le", "ignore") + _CUT


def _summary(result: Result) -> Iterator[_Row]:
    summary = result.summary
    yield "strong", [f"{summary.suite}: {summary.title}"]
    yield "", [verdict(result)]
    yield "", [f"Means over {summary.averaged_over}."]
    yield "", []
    heads = ["metric", "mean", "low", "high", "scored", "of"]
    heads += ["for missing parts", "mean without them", "unscored"]
    for group, metrics in grouped(
        (metric_summary.group, metric_summary) for metric_summary in summary.metrics.values()
    ).items():
        if group:
            yield "strong", [group]
        yield "head", heads
        for metric in metrics:
            # A mean of values for missing parts does not stand alone; a dash is for no mean.
            without = wording.NOTHING if metric.mean_measured is None else metric.mean_measured
            mean = wording.NOTHING if metric.mean is None and metric.n_assumed else metric.mean
            beside = [metric.n_assumed, without] if metric.n_assumed else [None, None]
            cells = [metric.name, mean, metric.low, metric.high, metric.n_scored, metric.n_total]
            yield "", [*cells, *beside, wording.reasons(metric.unscored)]
        yield "", []
    yield from (("", [warning]) for warning in summary.warnings)


def _records(result: Result, prompts: dict[str, str]) -> Iterator[_Row]:
    """A row for each record; finds a prompt of each question that was asked."""
    names, rights = list(result.summary.metrics), rights_of(result)
    heads = [head for name in names for head in (name, f"{name}: explanation")]
    yield "head", ["id", "system", "query", "context", "answer", "reference", *heads, *rights]
    unseen = set(names)
    for at, (identity, sample, rows) in enumerate(with_samples(result)):
        cells: list[Any] = [*identity[:2], *components(sample, "\n")[1:], texts_of(sample)[-1]]
        for name in names:
            row = rows[name]
            why = row.explanation
            if row.status == "unscored":
                reason = wording.reason(row.reason or "")
                why = f"unscored, {reason}: {why}" if why else reason
            elif name in unseen:
                unseen.remove(name)
                for key in row.evidence:
                    _add_prompts(result.judge_answers.get(key), prompts)
            cells += [row.value, why]
        yield "", [*cells, *(values[at] for values in rights.values())]


def _add_prompts(judge_answer: Record | None, prompts: dict[str, str]) -> None:
    """Adds the prompts of a judge's answer and of its votes, as they were sent."""
    if judge_answer is None:
        return
    if messages := judge_answer.get("messages"):
        text = "\n\n".join(f"{message['role']}: {message['content']}" for message in messages)
        prompts.setdefault(f"{judge_answer['question']}: a prompt", text)
    for vote in judge_answer.get("votes", ()):
        _add_prompts(vote, prompts)


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    summary = result.summary
    for key, value in result.config.items():
        if key != "signatures" and value not in (None, [], {}, ""):
            several = isinstance(value, list | tuple)
            text = ", ".join(map(str, value)) if several else dumps(value).decode()
            yield key, value if isinstance(value, str) else text
    if (spent := summary.judging) is not None:
        yield "judge", spent.judge
        yield "requests", f"{spent.calls:,}"
        yield "cost", dollars(spent.cost)
    for metric in summary.metrics.values():
        yield f"{metric.name}: signature", metric.signature
        if metric.judge:
            yield f"{metric.name}: judged by", metric.judge
        if metric.unscored:
            yield f"{metric.name}: unscored", wording.reasons(metric.unscored)
