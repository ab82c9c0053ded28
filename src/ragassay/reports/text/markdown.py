"""Markdown for a pull request: the verdict first, then the table, then how it was computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.engine.results.summary import MetricSummary, Slice, Summary, missing_by_accident
from ragassay.reports.text import grouping, wording
from ragassay.reports.text.footnotes import comparison_footnotes, summary_footnotes

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def summary(run_summary: Summary) -> str:
    """A run as Markdown (GitHub's dialect)."""
    names = (run_summary.title, run_summary.suite, run_summary.system)
    title = ", ".join(filter(None, names)) or "Evaluation"
    size = wording.size(run_summary)
    if run_summary.incomplete:
        size += f", ⚠ **incomplete**: {missing_by_accident(run_summary)}"
    lines = [f"### {escape(title)}", "", f"{size}.", ""]
    if run_summary.is_empty:
        return _finish(lines[:-1], (), run_summary.warnings)
    judged = any(metric.judge for metric in run_summary.metrics.values())
    lines += table(
        ["metric", "mean", "interval", "scored", *(["judge"] if judged else []), "unscored"],
        "lrrrll" if judged else "lrrrl",
        (_metric_cells(metric, judged) for metric in run_summary.metrics.values()),
    )
    for column, pieces in grouping.by_column(run_summary.slices).items():
        lines += ["", f"<details><summary>By {escape(column)}</summary>", ""]
        lines += _slice_table(column, pieces)
        lines += ["", "</details>"]
    notes = summary_footnotes.summary_notes(run_summary) + summary_footnotes.label_notes(
        run_summary
    )
    return _finish(lines, notes, run_summary.warnings)


def comparison(compared: Comparison) -> str:
    """A comparison as Markdown (GitHub's dialect)."""
    lines = [f"**{escape(comparison_footnotes.verdict_line(compared))}**", ""]
    if rows := compared.with_scores:
        heads = ["metric", *wording.compared(rows[0])]
        lines += table(heads, "lrrrrrrrlrr", map(_difference_cells, rows))
    for gate in comparison_footnotes.gate_notes(compared):
        lines += ["", escape(gate)]
    warnings, notes = comparison_footnotes.every_line(compared)
    return _finish(lines, notes, warnings)


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no end of a table cell, nobody mentioned."""
    plain = _SPECIAL.sub(r"\\\1", wording.one_line(text).translate(_ENTITIES))
    return _MENTION.sub("@\u200b", plain)


def _metric_cells(metric: MetricSummary, judged: bool) -> list[str]:
    note, group = wording.aggregate_note(metric), metric.group and f"{escape(metric.group)}: "
    name = _name(metric.name, metric.higher_is_better)
    return [
        f"{group}{name} ({note})" if note else f"{group}{name}",
        wording.number(metric.mean),
        wording.bounds(metric.low, metric.high),
        wording.coverage(metric),
        *([escape(wording.judge_and_agreement(metric))] if judged else []),
        wording.reasons(metric.unscored),
    ]


def _difference_cells(d: Difference) -> list[str]:
    mark = {"better": "✅ ", "worse": "❌ ", "different": "⚠ "}.get(d.verdict, "")
    cells = wording.compared(d)
    cells |= {head: escape(cells[head]) for head in ("p", "t-test p", "corrected p")}
    cells["verdict"] = mark + cells["verdict"]
    return [_name(d.name, d.higher_is_better), *cells.values()]


def _slice_table(column: str, pieces: Sequence[Slice]) -> list[str]:
    names = list(dict.fromkeys(name for piece in pieces for name in piece.metrics))
    rows = [
        [escape(piece.value), f"{piece.n:,}"]
        + [_slice_cell(piece.metrics.get(name)) for name in names]
        for piece in pieces
    ]
    heads = [escape(column), "n", *(escape(name) for name in names)]
    return table(heads, "lr" + "r" * len(names), rows)


def _slice_cell(metric: MetricSummary | None) -> str:
    if metric is None:
        return ""
    return f"{wording.number(metric.mean)} ({wording.coverage(metric)})"


def _name(name: str, higher: bool | None) -> str:
    return " ".join(filter(None, (escape(name), wording.arrow(higher))))


def table(heads: Sequence[str], align: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A table.

    Args:
        heads: of its columns, escaped.
        align: of each column, ``l`` or ``r``.
        rows: their cells, escaped.
    """
    rule = ["---:" if side == "r" else ":---" for side in align]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]


def _finish(lines: list[str], notes: Iterable[str], warnings: Iterable[str]) -> str:
    for warning in warnings:
        lines += ["", f"> ⚠ {escape(warning)}"]
    first, *rest = [escape(note) for note in notes] or [""]
    lines += ["", first]
    if rest:
        lines += ["", "<details><summary>How this was computed</summary>", ""]
        lines += [*(f"- {note}" for note in rest), "", "</details>"]
    return "\n".join(lines).rstrip() + "\n"
