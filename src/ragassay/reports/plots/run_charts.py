"""Pictures of a run's scores, for its folder: boxes with their points, and histograms."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.errors import UsageError
from ragassay.engine.results import Result
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import distribution_chart, drawing
from ragassay.reports.charts.drawing import INK, PALETTE, Spec
from ragassay.reports.plots import sheet
from ragassay.reports.plots.boxes import boxes, interval_words
from ragassay.reports.plots.series import Series, bare, numbered
from ragassay.reports.text import wording

Results = Result | Sequence[Result]


def boxplots(results: Results) -> Spec:
    """A box with its points for each metric of each run, and the mean with its interval."""
    series, metrics = _shown(results)
    return boxes(
        series, [*map(bare, metrics)], _title(series, "scores of all samples"), [], "sample"
    )


def histograms(results: Results) -> Spec:
    """A histogram of each metric's values, the runs beside each other on one scale."""
    series, metrics = _shown(results)
    panels = [_histogram(s, m.name) for m in metrics for s in series if s.size(m.name)]
    every = [metric for one in series for metric in one.result.summary.metrics.values()]
    note = f"Share of scored samples in each of 24 bins; dark line: {interval_words(every)}."
    columns = 2 if len(series) == 1 else len(series)
    house = drawing.house(_title(series, "distributions"), [note])
    return house | {"concat": panels, "columns": columns, "spacing": 24, "padding": 20}


def _shown(results: Results) -> tuple[list[Series], list[MetricSummary]]:
    """The runs, and the metrics with numbers."""
    runs = [results] if isinstance(results, Result) else list(results)
    names = numbered([wording.one_line(run.name) for run in runs])
    series = [Series(name, name, run) for name, run in zip(names, runs, strict=True)]
    metrics: dict[str, MetricSummary] = {}
    for one in series:
        for metric in one.result.summary.metrics.values():
            if one.size(metric.name):
                metrics.setdefault(metric.name, metric)
    if not metrics:
        raise UsageError("There is nothing to draw: no metric has a number.")
    return series, list(metrics.values())


def _histogram(one: Series, name: str) -> Spec:
    metric, values = one.result.summary.metrics[name], one.values(name)
    low, high = distribution_chart.scale(metric)
    counts = distribution_chart.histogram(values, low, high)
    width = (high - low) / len(counts)
    bars = [
        {"from": low + at * width, "to": low + (at + 1) * width}
        | {"share": count / max(values.size, 1), "zero": 0}
        for at, count in enumerate(counts)
    ]

    def x(field: str) -> sheet.Channel:
        return sheet.along(field, low, high, axis={"tickCount": 5})

    share = {"field": "share", "type": "quantitative", "title": None}
    y = share | {"axis": {"format": ".0%", "tickCount": 3}}
    places = {"x": x("from"), "x2": sheet.to("to"), "y": y, "y2": sheet.to("zero")}
    style = {"color": PALETTE[0], "opacity": 0.75, "stroke": "#ffffff", "strokeWidth": 1}
    layers = [sheet.mark("rect", bars, places, **style)]
    ends = {"mean": metric.mean, "low": metric.low, "high": metric.high}
    if metric.aggregate != "sum" and metric.low is not None:
        band = {"x": x("low"), "x2": sheet.to("high")}
        layers.append(sheet.mark("rect", [ends], band, color=INK, opacity=0.15))
    if metric.aggregate != "sum" and metric.mean is not None:
        layers.append(sheet.mark("rule", [ends], {"x": x("mean")}, color=INK, size=2))
    title = {
        "text": f"{wording.one_line(name)} {wording.arrow(metric.higher_is_better)}".strip(),
        "subtitle": f"{one.name}, {wording.coverage(metric)} scored",
        "fontSize": 12,
        "anchor": "start",
        "offset": 4,
    }
    return {"layer": layers, "width": 300, "height": 110, "title": title}


def _title(series: Sequence[Series], subject: str) -> str:
    judges = sorted({judge for one in series for judge in one.judges})
    judged = f" (judged by {', '.join(judges)})" if judges else ""
    return f"{', '.join(dict.fromkeys(one.result.name for one in series))}: {subject}{judged}"
