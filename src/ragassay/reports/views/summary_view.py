"""What a run shows: its metrics, its slices, and what must be known to read them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import PurePath

from ragassay import suites
from ragassay.base.note import joined
from ragassay.base.printable import few, grouped, share
from ragassay.base.score import AND, Reason
from ragassay.engine.comparison.compare_runs import weakest_slice
from ragassay.engine.comparison.offline_agreement import judge_agreement, trusted
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summary import (
    FAILURES,
    MetricSummary,
    Spending,
    Summary,
    lacks_no_sample,
    left_out,
    missing_by_failure,
    plain,
)
from ragassay.metrics.core import naming
from ragassay.reports.charts import svg
from ragassay.reports.model import (
    Block,
    Cell,
    Column,
    Part,
    Report,
    Row,
    Style,
    Table,
    lines,
    part,
    table,
)
from ragassay.reports.tables.tables import consistency_of
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.reports.views.diagnosis_view import causes, shares_right, unrated, verdict_of

_NUMERIC = re.compile(r"[+-]?\d+(\.\d+)?")

MOST_LABELS = 6
"""Labels of a metric, or names of metrics, that are listed one by one."""

_LACKED: Mapping[Reason, AbstractSet[str]] = {
    Reason.NOT_APPLICABLE: {"references", "gold", "answerability", "history", "runs"},
    Reason.MISSING_INPUT: {"query", "passages", "answer", "answerability"},
}
"""The parts of a sample whose absence is the reason."""

_WARNED = (Reason.NEEDS_EXTRA, Reason.UNSUPPORTED)
"""Reasons that a warning of the run explains."""

_COUNTED = {"no_answer": "yes", "ragreport_attribution": "[]"}
"""The label of a metric whose number says more than a list of all."""


def result_report(result: Result, *, every: bool = False, gates: bool = True) -> Report:
    """A run, with the slices asked for, and with the consistency of its repeats (alone in a run of
    only that suite)."""
    summary, inner = result.summary, result.consistency
    beside = [] if every else left_out(summary, result.config.get("suite") or ())
    metrics = {name: metric for name, metric in summary.metrics.items() if name not in beside}
    report = summary_report(replace(summary, metrics=metrics))
    # A share of right answers needs an interval, and that two samples.
    diagnosis = result.diagnosis if summary.n_samples > 1 else None
    blocks: list[Block] = [*report.blocks, *([lines(unrated(diagnosis))] if diagnosis else [])]
    if result.config.get("slice_by") is not None:
        blocks += slice_parts(result.summary, ("", result.diagnosis, result.columns))
    if beside:
        how = wording.by_flag("'--metrics all'", ".summary")
        further = {"n": len(beside), "how": how, "which": ", ".join(beside)}
        blocks.append(lines([sentence("further_metrics", **further)]))
    if gates:
        blocks.append(gate_lines(result.gates))
    if inner is not None:
        consistency = consistency_report(inner.summary)
        if not summary.metrics:
            warnings = lines(summary.warnings, "warning")
            return replace(consistency, blocks=(*consistency.blocks, warnings))
        about = consistency.about.removeprefix("consistency of repeated runs")
        blocks.append(part(f"Consistency of repeated runs{about}", *consistency.blocks))
    return replace(report, blocks=tuple(blocks), verdict=verdict(result) if diagnosis else "")


def written_report(result: Result, *, linked: bool = False, in_folder: bool = False) -> Report:
    """A run as a page (``linked``: it lists the samples) or a Markdown file has it: why samples
    fail, the metrics of its suites, then what goes into detail. A page ``in_folder`` is kept in the
    run folder, beside that of its consistency."""
    summary, inner = result.summary, consistency_of(result)
    # What an LLM judge would add stands below the metrics.
    needs = [note for note in summary.notes if note.kind in ("metrics_need_llm", "needs_judge_for")]
    others = tuple(note for note in summary.notes if note not in needs)
    blocks: list[Block] = [warning_lines(replace(summary, notes=others))]
    if result.diagnosis is not None:
        blocks.append(part("Why samples fail", *causes(result.diagnosis, linked=linked)))
    if summary.metrics and not summary.is_empty:
        beside = left_out(summary, result.config.get("suite") or ())
        tables = [
            metric_table((m for n, m in summary.metrics.items() if (n in beside) is further))
            for further in (False, True)
        ]
        below = lines([*unrated(result.diagnosis), *map(str, needs)])
        blocks.append(part("Metrics", tables[0], *_notes(summary), below))
    if inner is not None:
        parts = consistency_report(inner.summary).blocks
        if in_folder and inner is not result and inner.folder is not None:
            link = Cell("Every query and pair of runs", link=f"{CONSISTENCY}/report.html")
            parts = (lines([link], "text"), *parts)
        blocks.append(part("Consistency of repeated runs", *parts))
    if not summary.is_empty:
        if summary.metrics and beside:
            blocks.append(part("Further metrics", tables[1], aside=True))
        slices = slice_parts(summary, ("", result.diagnosis, result.columns))
        blocks.append(part("Slices", *slices, aside=True))
    about = ", ".join(filter(None, (_date(result), wording.size(summary))))
    kept = (block for block in blocks if not isinstance(block, Part) or block.blocks)
    return Report(_title(summary), tuple(kept), about, verdict(result))


def _title(summary: Summary) -> str:
    """The system and the data set."""
    is_file = PurePath(summary.title).suffix[1:].isalpha()
    data = PurePath(summary.title).stem if is_file else summary.title
    if summary.system and data not in ("", summary.system):
        return f"{summary.system} on {data}"
    return f"Evaluation of {data}" if is_file else data or "Evaluation"


def _date(result: Result) -> str:
    """The day of the evaluation; empty for runs of older versions."""
    written = result.config.get("date")
    if not written:
        return ""
    day = date.fromisoformat(str(written))
    return f"{day.day} {day:%B %Y}"


def verdict(result: Result) -> str:
    """The sentence to remember of a run: why samples fail, else the mean of its first metric."""
    if result.diagnosis is not None:
        weak = (note.counts for note in weakest_slice(result))
        said = (sentence("weakest_slice", **at, share=round(float(at["new"]), 2)) for at in weak)
        return " ".join([verdict_of(result.diagnosis), *said])
    left = left_out(result.summary, result.config.get("suite") or ())
    metrics = (m for name, m in result.summary.metrics.items() if name not in left)
    first = next((m for m in metrics if m.mean is not None), None)
    if first is None:
        return ""
    interval = "" if first.low is None else f" {wording.bounds(first.low, first.high)}"
    mean = wording.number(first.mean)
    return sentence("first_mean", names=[first.name], mean=mean, interval=interval)


def gate_lines(gates: Iterable[GateResult]) -> Block:
    """What gates found, one a line."""
    styles: dict[bool | None, Style] = {True: "good", False: "bad", None: "doubt"}
    return lines((Cell(gate.sentence, style=styles[gate.passed]) for gate in gates), "text")


def summary_report(summary: Summary) -> Report:
    """The metrics of a run, with what must be known to read them."""
    suite = summary.suite and f"suite {summary.suite}"
    about = ", ".join(filter(None, (suite, summary.system, wording.size(summary))))
    first = tuple(note for note in summary.notes if note.severity == "headline")
    blocks: list[Block] = [lines(map(str, first), "warning")] if first else []
    summary = replace(summary, notes=tuple(note for note in summary.notes if note not in first))
    if summary.metrics and not summary.is_empty:
        blocks += [metric_table(summary.metrics.values(), judge=True), *_notes(summary)]
    blocks.append(warning_lines(summary))
    return Report(summary.title or "Evaluation", tuple(blocks), about)


def warning_lines(summary: Summary) -> Block:
    """The warnings of a run; last, that it is incomplete."""
    warnings = list(summary.warnings)
    if summary.incomplete:
        missing = f"{missing_by_failure(summary)}: this run is incomplete."
        whys = (at for at, note in enumerate(summary.notes) if note.kind in FAILURES)
        if (at := next(whys, None)) is None:
            warnings.append(missing)
        else:
            warnings[at] = f"{missing} {warnings[at]}"
    return lines(warnings, "warning")


def metric_table(metrics: Iterable[MetricSummary], *, judge: bool = False) -> Table:
    """The table of metrics, with the judge of each or what it measures."""
    columns = [
        Column("metric", "name"),
        Column("mean", style="strong"),
        Column("interval", style="dim", under="mean"),
        Column("scored"),
        Column("on its scale", "figure", drop=1),
        Column("judge" if judge else "measures", "words", drop=2, style="dim"),
    ]
    rows = []
    for metric in metrics:
        low, high = metric.bounds
        placed = None not in metric.bounds and metric.mean is not None
        cells = (
            name_of(metric.name, metric.higher_is_better, wording.aggregate_note(metric)),
            Cell(wording.number(metric.mean)),
            Cell(wording.bounds(metric.low, metric.high)),
            Cell(wording.coverage(metric)),
            Cell(
                share=(metric.mean - low) / (high - low) if placed else None,  # type: ignore[operator]
                figure=partial(svg.interval_bar, metric),
            ),
            Cell(metric.title if not judge else metric.judge and wording.judge_of(metric)),
        )
        rows.append(Row(cells, metric.group.partition(" (")[0]))
    return Table(tuple(columns), tuple(rows)).without_empty()


def _notes(summary: Summary) -> Iterator[Block]:
    """What stands below the table of metrics."""
    metrics = summary.metrics.values()
    warned = " ".join(summary.warnings)
    spent = [spending for spending in (summary.judging, summary.embedding) if spending is not None]
    failed = {code for spending in spent for code in spending.failures if Reason(code).incomplete}
    found = grouped(
        ((kind, why, n, metric.n_total), metric.name)
        for metric in metrics
        if any(metric.unscored.values())
        for code, kind, why, n in _missing(metric)
        if n and code not in failed and (code not in _WARNED or metric.name not in warned)
    )
    noun = "query" if summary.n_queries == summary.n_samples else "sample"
    unscored = (
        sentence(kind, names=names, share=share(n, total, noun), n=n, total=total, why=why)
        for (kind, why, n, total), names in found.items()
    )
    yield lines(unscored, "text", "dim")
    yield lines(summary_notes(summary))


def _missing(metric: MetricSummary) -> Iterator[tuple[str, str, str, int]]:
    """The reasons for no score, each with its kind of sentence, its word and how many samples."""
    needs = {need for item in naming.known(metric.metric) for need in item.needs}
    parts = Counter(metric.lacking)
    excused = Counter({part: n for part, n in parts.items() if part in set(Reason)})
    codes = Counter(metric.unscored) + excused - Counter({Reason.UNDEFINED: excused.total()})
    for reason, n in ((Reason(code), n) for code, n in codes.items()):
        lacked = parts - excused if reason is Reason.MISSING_INPUT else Counter[str]()
        for lack, of_lack in {**lacked, "": n - lacked.total()}.items():
            reasons = {lack} if lack else needs & _LACKED.get(reason, set())
            kind = f"lacks_{min(reasons)}" if len(reasons) == 1 else f"unscored_{reason}"
            kind = kind if kind in wording.words() else "unscored"
            yield reason, kind, wording.reason(reason), of_lack


def slice_parts(summary: Summary, *runs: tuple[str, Diagnosis | None, ScoreColumns]) -> list[Block]:
    """A part for each slicing column: the share that is right in each slice, in each of these runs;
    of no more than one run then the mean of each metric."""
    parts: list[Block] = []
    for column, pieces in grouped((piece.column, piece) for piece in summary.slices).items():
        # Numbers (a turn, a year) by value, then the rest as they come.
        pieces.sort(
            key=lambda item: float(item.value) if _NUMERIC.fullmatch(item.value) else math.inf
        )
        heads = [Column("metric", "name")]
        heads += [Column(f"{wording.one_line(piece.value)}\nn={piece.n:,}") for piece in pieces]
        rows = [shares_right(found, scores, pieces, run) for run, found, scores in runs if found]
        for name, first in pieces[0].metrics.items() if len(runs) < 2 else ():
            row = [name_of(name, first.higher_is_better)]
            for metric in (piece.metrics[name] for piece in pieces):
                below = () if metric.low is None else (wording.bounds(metric.low, metric.high),)
                n = f" {wording.coverage(metric)}"
                row.append(Cell(wording.number(metric.mean), n, below=below))
            rows.append(row)
        parts.append(part(f"By {column}", table(heads, rows), aside=True))
    return parts


def name_of(name: str, higher_is_better: bool | None, note: str = "") -> Cell:
    """The name of a metric, with the sign of its direction."""
    noted = f" ({note})" if note else ""
    mark = wording.ARROWS[higher_is_better]
    return Cell(name, f"{noted}{mark and f' {mark}'}")


def summary_notes(summary: Summary) -> Iterator[str]:
    """What a reader must know to read the means of a run; one sentence each."""
    metrics = summary.metrics.values()
    level = next((m.level for m in metrics if m.low is not None), None)
    if summary.averaged_over:
        kind = "means_over" if level is None else "intervals"
        yield sentence(kind, what=summary.averaged_over, level=level)
    warnings = " ".join(summary.warnings)
    not_said = any(why.rstrip(".") not in warnings for why in summary.failures)
    if not_said and not summary.all_failed:
        why = ", ".join(f"{n:,} with {name}" for name, n in summary.failures.items())
        yield sentence("system_failed", why=why.rstrip("."))
    if any(metric.n_given for metric in metrics):
        yield from _given_notes(summary)
    if summary.judging is not None and summary.judging.questions:
        yield from _judge_notes(summary, summary.judging)
    if (spent := summary.embedding) is not None:
        pieces = _calls(spent, "text")
        if spent.calls:
            pieces += [wording.plural(spent.input_tokens, "token"), wording.cost(spent)]
        yield f"Embedded by {spent.judge}: {', '.join(pieces)}."
    # How far the offline judge is known to agree with people.
    found = [judge_agreement(metric) for metric in metrics if metric.judge or metric.judges]
    if offline := [item for item in found if item is not None and item.offline]:
        agreement = (trusted(item) if summary.trust_offline else item.note for item in offline)
        yield from wording.all_said(joined(agreement))
    every = suites.all_suites()
    used = [every[name] for name in summary.suite.split("+") if name in every]
    places = (item for suite in used for item in suite.elsewhere.items())
    yield from (f"{name}: {place}" for name, place in places if name in summary.metrics)
    if summary.totals or any(suite.totals for suite in used):
        yield from _total_notes(summary, used)
    for metric in metrics:
        if metric.n_assumed:
            assumed = share(metric.n_assumed, metric.n_scored, "value")
            without = "there is no mean"
            if metric.mean_measured is not None:
                without = f"the mean without them is {wording.number(metric.mean_measured)}"
            yield sentence("assumed", names=(metric.name,), share=assumed, without=without)
    for metric in metrics:
        counted = metric.metric.partition("(")[0]
        if counted in _COUNTED and metric.labels:
            n = metric.labels.get(_COUNTED[counted], 0)
            yield sentence(f"labels_{counted}", names=(metric.name,), n=n, total=metric.n_scored)
        elif metric.labels:
            counts = [f"{n:,} {label}" for label, n in metric.labels.items()]
            yield f"{metric.name}: {few(counts, MOST_LABELS)}"


def _total_notes(summary: Summary, used: Iterable[suites.Suite]) -> Iterator[str]:
    """The figures of the run as a whole: what each is, of which samples, or why there is none."""
    totals = {name: total for suite in used for name, total in suite.totals.items()}
    for name, value in summary.totals.items():
        if name not in totals:
            yield f"{name}: {wording.number(value)}."
    by_name = (
        {plain(metric.metric): metric for metric in summary.metrics.values()} if totals else {}
    )
    for name, total in totals.items():
        means = [by_name[metric] for metric in total.means.values() if metric in by_name]
        if len(means) < len(total.means):
            continue  # the run was asked for fewer
        if name in summary.totals:
            gaps = [f"{m.name} {wording.coverage(m)}" for m in means if m.n_scored < m.n_total]
            tail = f" Not over all samples: {', '.join(gaps)} scored." if gaps else ""
            yield f"{name}: {wording.number(summary.totals[name])}. {total.title}.{tail}"
        else:
            lacking = [mean for mean in means if not lacks_no_sample(mean)]
            why = "; ".join(f"{m.name}: {wording.reasons(m.unscored)}" for m in lacking)
            yield f"{name}: none ({why}). {total.title}."


def _given_notes(summary: Summary) -> Iterator[str]:
    """Notes on the values that came with the records; metrics with the same note share it."""
    pairs = []
    for metric in summary.metrics.values():
        if metric.n_given:
            every = metric.n_given == metric.n_scored
            by = f", of {metric.judge}" if every and metric.judge else ""
            values = wording.plural(metric.n_scored, "value")
            how = f"{'all' if every else f'{metric.n_given:,}'} of {values}{by}"
            pairs.append((how, metric.name))
    for how, names in grouped(pairs).items():
        yield sentence("given", how=how, metrics=", ".join(names))


def _judge_notes(summary: Summary, spent: Spending) -> Iterator[str]:
    """What the judge was asked, and what came back."""
    judged = [
        metric.name
        for metric in summary.metrics.values()
        if (
            any(spent.judge in label.split(AND) for label in metric.judges)
            if metric.judges  # which runs of older versions do not store
            else metric.judge and metric.n_scored > metric.n_assumed + metric.n_given
        )
    ]
    if judged and not spent.judge.startswith("offline"):
        every = len(judged) == len(summary.metrics)
        named = len(judged) <= MOST_LABELS
        some = ", ".join(judged) if named else share(len(judged), len(summary.metrics), "metric")
        yield sentence("judged", judge=spent.judge, which="all metrics" if every else some)
    if spent.calls or spent.cached:
        pieces = _calls(spent, "question")
        if spent.input_tokens or spent.output_tokens or spent.cost:
            tokens = wording.plural(spent.input_tokens, "token")
            pieces += [f"{tokens} in and {spent.output_tokens:,} out", wording.cost(spent)]
        whom = "" if judged else f" of {spent.judge}"
        yield f"Asked{whom}: {', '.join(pieces)}, {spent.seconds:,.1f} s."
    if spent.disagreed:
        questions = share(spent.disagreed, spent.questions, "question")
        yield sentence("panel_disagreed", questions=questions)


def _calls(spent: Spending, noun: str) -> list[str]:
    pieces = [wording.plural(spent.questions, noun), wording.plural(spent.calls, "call")]
    return [*pieces, f"{spent.cached:,} from the ledger"] if spent.cached else pieces
