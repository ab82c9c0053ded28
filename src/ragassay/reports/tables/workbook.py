"""A run as an Excel workbook: a summary, a row for each record, and how it was computed. Texts stay
texts: nothing becomes a formula or a link."""

from __future__ import annotations

import io
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
from ragassay.reports.text import wording

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

LONGEST = 32_767
"""Characters of a cell, by Excel's limit."""
_CUT = " ... (cut)"
MOST_ROWS = 1_048_576
"""Rows of a sheet, by Excel's limit."""

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
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, len(self._result.columns), len(widths) - 1)
        self._rows("How it was computed", (30, 100), self._how())

    def _rows(self, name: str, widths: Sequence[float], rows: Iterable[_Row]) -> Worksheet:
        """A sheet of these rows. A row of one cell runs over the columns beside it."""
        sheet = self._book.add_worksheet(name)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_landscape()
        for at, (cells, form) in enumerate(rows):
            for column, cell in enumerate(cells):
                own = self._forms.get(type(cell)) if len(cells) > 1 else None
                _put(sheet, at, column, cell, form or own)
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

    def _how(self) -> Iterator[_Row]:
        prompts = ((f"{name}: a prompt", text) for name, text in self._prompts.items())
        for key, value in (*_facts(self._result), *prompts):
            yield [key, value], None


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


def _prompts(judge_answer: Record | None) -> Iterator[tuple[str, str]]:
    """The prompts of a judge's answer and of its votes, as they were sent, with their questions."""
    if judge_answer is None:
        return
    if messages := judge_answer.get("messages"):
        yield (
            judge_answer["question"],
            "\n\n".join(f"{m['role']}: {m['content']}" for m in messages),
        )
    for vote in judge_answer.get("votes", ()):
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
