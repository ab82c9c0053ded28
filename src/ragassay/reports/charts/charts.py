"""Charts of one run or several: boxes with their points, and histograms.

Quartiles, means and intervals are computed here or taken from the summary; the chart library only
draws them. Names from the data stand in values, never in field names, so dots and brackets in a
metric's name mean nothing to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.engine.results import MetricSummary, Result
from ragassay.errors import UsageError
from ragassay.reports.charts import distribution_chart
from ragassay.reports.charts.drawing import (
    INK,
    LABEL_LINES,
    MUTED,
    PALETTE,
    WIDTH,
    Spec,
    by_bounds,
    data,
    label,
    save,
    spec,
)
from ragassay.reports.text import wording

if TYPE_CHECKING:
    import altair as alt

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

_ROW = 46

Results = Result | Sequence[Result]


def write_boxplots(results: Results, path: str | Path) -> None:
    """Writes `boxplots` as a file.

    Args:
        results: of one run or several.
        path: of the file; the suffix decides the form (``.png``, ``.svg`` or ``.json`` for
            Vega-Lite).

    Raises:
        UsageError: another suffix, nothing to draw, or the file cannot be written.
    """
    save(boxplots(results), path)


def write_distributions(results: Results, path: str | Path) -> None:
    """Writes `histograms` as a file.

    Args:
        results: of one run or several.
        path: of the file; as for `write_boxplots`.

    Raises:
        UsageError: another suffix, nothing to draw, or the file cannot be written.
    """
    save(histograms(results), path)


def boxplots(results: Results) -> Spec:
    """A box with its points for each metric of each run, and the mean with its interval.

    Metrics with the same bounds share one scale.

    Raises:
        UsageError: no run has a number.
    """
    import altair as alt

    runs = _runs(results)
    panels = [_box_panel(runs, names) for names in _groups(runs)]
    thinned = max(int(run.columns.scored(n).sum()) for run in runs for n in run.columns.metrics)
    notes = [
        "Box: quartiles and median of all values; whiskers reach to 1.5 interquartile ranges.",
        f"Diamond and dark line: {_mean_note(runs)}.",
    ]
    if thinned > MAX_POINTS:
        notes.append(
            f"Points: at most {MAX_POINTS:,} a row, evenly spaced by rank "
            f"(of up to {thinned:,} values)."
        )
    return spec(alt.vconcat(*panels), _title(runs, "scores of all samples"), notes)


def histograms(results: Results) -> Spec:
    """A histogram of each metric's values, the runs above each other on one scale.

    Raises:
        UsageError: no run has a number.
    """
    import altair as alt

    runs = _runs(results)
    names = [name for group in _groups(runs) for name in group]
    panels = [_histogram_panel(run, name) for name in names for run in _scored(runs, name)]
    notes = ["Share of scored samples in each of 24 bins; dark line: " + _mean_note(runs) + "."]
    chart = alt.concat(*panels, columns=2 if len(runs) == 1 else len(runs), spacing=24)
    return spec(chart, _title(runs, "distributions"), notes)


def _box_panel(runs: Sequence[Result], names: Sequence[str]) -> alt.LayerChart:
    import altair as alt

    names_of_runs = _names(runs)
    boxes: list[Spec] = []
    points: list[Spec] = []
    for name in names:
        for run in _scored(runs, name):
            metric = run.summary.metrics[name]
            values = run.columns.values(name)[run.columns.scored(name)]
            quartiles = distribution_chart.box(values)
            if quartiles is None:
                continue
            run_name = names_of_runs[id(run)]
            row = _row_label(metric, run_name if len(runs) > 1 else "")
            shown = distribution_chart.thinned(values, MAX_POINTS)
            offsets = distribution_chart.spread(shown.size)
            boxes.append(
                {"row": row, "run": run_name, "whisker_low": quartiles.low, "q1": quartiles.q1}
                | {"median": quartiles.median, "q3": quartiles.q3, "whisker_high": quartiles.high}
                | _mean_entry(metric)
            )
            points += [
                {"row": row, "run": run_name, "value": float(value), "offset": float(offset)}
                for value, offset in zip(shown, offsets, strict=True)
            ]
    rows = [box["row"] for box in boxes]
    domain = _domain([run.summary.metrics[name] for name in names for run in _scored(runs, name)])
    x = {"title": None, "scale": alt.Scale(domain=domain, nice=False, zero=False)}
    y = alt.Y(
        "row:N",
        title=None,
        sort=rows,
        axis=alt.Axis(labelExpr=LABEL_LINES, labelLimit=340, ticks=False),
    )
    color = _run_color(runs)
    all_boxes, all_points = data(boxes), data(points)
    layers = [
        alt.Chart(all_boxes)
        .mark_rule(color=MUTED)
        .encode(x=alt.X("whisker_low:Q", **x), x2="q1:Q", y=y),
        alt.Chart(all_boxes)
        .mark_rule(color=MUTED)
        .encode(x=alt.X("q3:Q", **x), x2="whisker_high:Q", y=y),
        alt.Chart(all_boxes)
        .mark_bar(size=20, fillOpacity=0.2, strokeWidth=1.2)
        .encode(
            x=alt.X("q1:Q", **x), x2="q3:Q", y=y, color=color, stroke=_run_color(runs, "stroke")
        ),
        alt.Chart(all_points)
        .mark_circle(size=14, opacity=0.45, clip=True)
        .encode(
            x=alt.X("value:Q", **x),
            y=y,
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-0.75, 0.75])),
            color=color,
        ),
        alt.Chart(all_boxes)
        .mark_tick(thickness=2.5, size=20, color=INK, opacity=1)
        .encode(x=alt.X("median:Q", **x), y=y),
        alt.Chart(data([box for box in boxes if box["low"] is not None]))
        .mark_rule(size=3, color=INK)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", y=y),
        alt.Chart(data([box for box in boxes if box["mean"] is not None]))
        .mark_point(shape="diamond", size=60, filled=True, fill="#ffffff", stroke=INK, opacity=1)
        .encode(x=alt.X("mean:Q", **x), y=y),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=_ROW * len(rows))


def _histogram_panel(run: Result, name: str) -> alt.LayerChart:
    import altair as alt

    metric = run.summary.metrics[name]
    values = run.columns.values(name)[run.columns.scored(name)]
    low, high = distribution_chart.scale(metric)
    histogram = distribution_chart.histogram(values, low, high)
    width = (histogram.high - histogram.low) / len(histogram.counts)
    bars = [
        {
            "from": histogram.low + at * width,
            "to": histogram.low + (at + 1) * width,
            "share": count / max(values.size, 1),
            "zero": 0,
        }
        for at, count in enumerate(histogram.counts)
    ]
    x = alt.X(
        "from:Q", title=None, scale=alt.Scale(domain=[histogram.low, histogram.high], nice=False)
    )
    y = alt.Y("share:Q", title=None, axis=alt.Axis(format=".0%", tickCount=3))
    layers = [
        alt.Chart(data(bars))
        .mark_rect(color=PALETTE[0], opacity=0.75, stroke="#ffffff", strokeWidth=1)
        .encode(x=x, x2="to:Q", y=y, y2="zero:Q")
    ]
    entry = _mean_entry(metric)
    if entry["low"] is not None:
        band = alt.Chart(data([entry])).mark_rect(color=INK, opacity=0.15)
        layers.append(band.encode(x="low:Q", x2="high:Q"))
    if entry["mean"] is not None:
        layers.append(alt.Chart(data([entry])).mark_rule(color=INK, size=2).encode(x="mean:Q"))
    heading = alt.TitleParams(
        label(name, metric.higher_is_better, ""),
        subtitle=f"{wording.one_line(run.name)}, {wording.coverage(metric)} scored",
        fontSize=12,
        anchor="start",
        offset=4,
    )
    return alt.layer(*layers).properties(width=300, height=110, title=heading)


def _runs(results: Results) -> list[Result]:
    runs = [results] if isinstance(results, Result) else list(results)
    if not any(list(_scored([run], name)) for run in runs for name in run.columns.metrics):
        raise UsageError("There is nothing to draw: no metric has a number.")
    return runs


def _scored(runs: Iterable[Result], name: str) -> Iterator[Result]:
    """The runs in which the metric has numbers."""
    for run in runs:
        if name in run.summary.metrics and run.columns.scored(name).any():
            yield run


def _groups(runs: Sequence[Result]) -> list[list[str]]:
    """Names of the metrics with numbers, those with the same bounds together."""
    metrics = {
        m.name: m
        for run in runs
        for m in run.summary.metrics.values()
        if any(_scored([run], m.name))
    }
    return [[metric.name for metric in group] for group in by_bounds(metrics.values())]


def _domain(metrics: Sequence[MetricSummary]) -> list[float]:
    """An axis that holds the scales and the intervals, with a margin for the points."""
    ends = [end for metric in metrics for end in distribution_chart.scale(metric)]
    ends += [end for metric in metrics for end in (metric.low, metric.high) if end is not None]
    low, high = min(ends), max(ends)
    margin = 0.015 * (high - low)
    return [low - margin, high + margin]


def _mean_entry(metric: MetricSummary) -> Spec:
    if metric.aggregate == "sum":
        return {"mean": None, "low": None, "high": None}
    return {"mean": metric.mean, "low": metric.low, "high": metric.high}


def _mean_note(runs: Sequence[Result]) -> str:
    metrics = [m for run in runs for m in run.summary.metrics.values() if m.low is not None]
    if not metrics:
        return "mean"
    level, kind = wording.percent(metrics[0].level), wording.interval_name(metrics[0].interval)
    return f"mean with its {level} interval ({kind})"


def _row_label(metric: MetricSummary, run: str) -> str:
    tail = ", ".join(filter(None, (run, f"{wording.coverage(metric)} scored")))
    return label(metric.name, metric.higher_is_better, tail)


def _names(runs: Sequence[Result]) -> dict[int, str]:
    """What each run is called, by its ``id``; runs of one name are numbered."""
    names: dict[int, str] = {}
    for run in runs:
        name, n = wording.one_line(run.name), 1
        while name in names.values():
            n += 1
            name = f"{wording.one_line(run.name)} ({n})"
        names[id(run)] = name
    return names


def _run_color(runs: Sequence[Result], channel: str = "color") -> Any:
    import altair as alt

    names = list(_names(runs).values())
    scale = alt.Scale(domain=names, range=[PALETTE[at % len(PALETTE)] for at in range(len(names))])
    legend = alt.Legend(orient="bottom", title=None) if len(names) > 1 else None
    kind = alt.Color if channel == "color" else alt.Stroke
    return kind("run:N", scale=scale, legend=legend if channel == "color" else None)


def _title(runs: Sequence[Result], what: str) -> str:
    judges = {m.judge for run in runs for m in run.summary.metrics.values() if m.judge}
    judged = f" (judged by {', '.join(sorted(judges))})" if judges else ""
    return f"{', '.join(dict.fromkeys(run.name for run in runs))}: {what}{judged}"
