"""Charts as Vega-Lite, PNG and SVG, drawn offline.

Quartiles, means and intervals are computed here or taken from the summary; the chart library only
draws them. Names from the data stand in values, never in field names, so dots and brackets in a
metric's name mean nothing to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import files
from ragassay.engine.comparison import query_matrix, rows_by_query
from ragassay.engine.results import Result
from ragassay.engine.summary import Comparison, MetricSummary
from ragassay.errors import UsageError
from ragassay.reports import distributions, wording

if TYPE_CHECKING:
    import altair as alt

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
"""Okabe and Ito's colours, which people with any kind of colour vision can tell apart."""

MAX_POINTS = 1_000
"""Points drawn for one metric of one run; boxes are computed from all values."""

MAX_BARS = 2_000
"""Bars drawn in a chart of differences."""

_WIDTH, _ROW = 520, 46
_FONT = "DejaVu Sans, Liberation Sans, Arial, Helvetica, sans-serif"
_INK, _MUTED, _GRID = "#1c2330", "#5b6472", "#e3e6ea"

_VERDICT_COLORS = {"better": PALETTE[0], "worse": PALETTE[1], "different": PALETTE[3]}

Spec = dict[str, Any]
Results = Result | Sequence[Result]


def write_boxplots(results: Results, path: str | Path) -> None:
    """Writes `boxplots`; the suffix decides (``.png``, ``.svg`` or ``.json`` for Vega-Lite).

    Raises:
        UsageError: another suffix, nothing to draw, or the file cannot be written.
    """
    save(boxplots(results), path)


def write_distributions(results: Results, path: str | Path) -> None:
    """Writes `histograms`; see `write_boxplots`."""
    save(histograms(results), path)


def write_differences(
    comparison: Comparison, a: Result, b: Result, metric: str, path: str | Path
) -> None:
    """Writes `differences`; see `write_boxplots`."""
    save(differences(comparison, a, b, metric), path)


def write_forest(comparison: Comparison, a: Result, path: str | Path) -> None:
    """Writes `forest`; see `write_boxplots`."""
    save(forest(comparison, a), path)


def boxplots(results: Results) -> Spec:
    """A box and the points behind it for each metric of each run, and the mean with its interval.

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
    return _spec(alt.vconcat(*panels), _title(runs, "scores of all samples"), notes, runs)


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
    return _spec(chart, _title(runs, "distributions"), notes, runs)


def differences(comparison: Comparison, a: Result, b: Result, metric: str) -> Spec:
    """The difference A - B of each query, sorted, with the mean difference and its interval.

    Raises:
        UsageError: the comparison does not have the metric, or no query has both scores.
    """
    import altair as alt

    found = next((d for d in comparison.differences if d.name == metric), None)
    if found is None or found.diff is None:
        names = ", ".join(d.name for d in comparison.differences)
        raise UsageError(f"{metric!r} is not in the comparison. There are: {names}.")
    rows_a, rows_b = rows_by_query(a), rows_by_query(b)
    common = [query for query in rows_a if query in rows_b]
    values_a, mask_a = query_matrix(a, [metric], rows_a, common)
    values_b, mask_b = query_matrix(b, [metric], rows_b, common)
    both = mask_a[0] & mask_b[0]
    diffs = distributions.thinned((values_a[0] - values_b[0])[both], MAX_BARS)
    step = int(both.sum()) / max(diffs.size, 1)
    bars = [
        {"from": at * step, "to": (at + 1) * step, "value": float(diff), "zero": 0}
        | {"sign": "B higher" if diff < 0 else "A higher"}
        for at, diff in enumerate(diffs)
    ]
    ends = {"value": found.diff, "low": found.low, "high": found.high}
    layers = [
        alt.Chart(_data(bars))
        .mark_rect()
        .encode(
            x=alt.X("from:Q", title="queries, sorted by difference", scale={"nice": False}),
            x2="to:Q",
            y=alt.Y("value:Q", title=f"A - B ({wording.one_line(metric)})"),
            y2="zero:Q",
            color=alt.Color(
                "sign:N",
                title=None,
                scale={"domain": ["A higher", "B higher"], "range": list(PALETTE[:2])},
                legend={"orient": "top-left"},
            ),
        )
    ]
    if found.low is not None:
        band = alt.Chart(_data([ends])).mark_rect(color=_INK, opacity=0.12)
        layers.append(band.encode(y="low:Q", y2="high:Q"))
    layers.append(alt.Chart(_data([ends])).mark_rule(color=_INK, size=1.5).encode(y="value:Q"))
    notes = [
        f"A = {comparison.a}, B = {comparison.b}. A is higher on {found.wins:,}, "
        f"lower on {found.losses:,}, equal on {found.ties:,} of {found.n:,} queries.",
        f"Dark line and band: mean difference {wording.number(found.diff, sign=True)}, "
        f"{wording.percent(comparison.level)} interval "
        f"{wording.bounds(found.low, found.high, sign=True)}.",
    ]
    if step > 1:
        notes.append(f"{diffs.size:,} of {int(both.sum()):,} bars drawn, evenly spaced by rank.")
    chart = alt.layer(*layers).properties(width=_WIDTH + 160, height=300)
    return _spec(chart, f"{metric}: query by query", notes)


def forest(comparison: Comparison, a: Result) -> Spec:
    """The difference of each metric with its interval; metrics with the same bounds share a scale.

    Raises:
        UsageError: no metric has a difference.
    """
    import altair as alt

    tested = {d.name: d for d in comparison.differences if d.diff is not None}
    known = [m for name, m in a.summary.metrics.items() if name in tested]
    if not known:
        raise UsageError("The comparison has no difference to draw.")
    verdicts = sorted({tested[m.name].verdict for m in known})
    panels = []
    for group in _by_bounds(known):
        rows = [
            {
                "row": _label(m.name, m.higher_is_better, f"n={tested[m.name].n:,}"),
                "value": tested[m.name].diff,
                "low": tested[m.name].low,
                "high": tested[m.name].high,
                "verdict": tested[m.name].verdict,
            }
            for m in group
        ]
        panels.append(_forest_panel(rows, verdicts))
    notes = [
        f"A = {comparison.a}, B = {comparison.b}. Lines: {wording.percent(comparison.level)} "
        f"interval of the difference, {wording.interval_name(comparison.interval)}.",
        f"Colour: the paired permutation test, {wording.correction_name(comparison.correction)}"
        " across the metrics, at the 5 % level.",
    ]
    return _spec(alt.vconcat(*panels), "Difference A - B", notes)


def save(spec: Spec, path: str | Path) -> None:
    """Draws a Vega-Lite chart into a file, without any network or file access.

    Raises:
        UsageError: the suffix is not ``.png``, ``.svg`` or ``.json``, or the file cannot be
            written.
    """
    import altair as alt
    import orjson
    import vl_convert

    target = Path(path)
    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    options: dict[str, Any] = {"vl_version": version, "allowed_base_urls": []}
    match target.suffix.casefold():
        case ".png":
            content = vl_convert.vegalite_to_png(spec, scale=2.0, **options)
        case ".svg":
            content = vl_convert.vegalite_to_svg(spec, **options).encode()
        case ".json":
            content = orjson.dumps(spec)
        case other:
            raise UsageError(
                f"{target}: a chart cannot be written as {other or 'a file without a suffix'!r}. "
                "Use .png, .svg or .json."
            )
    files.write_bytes(target, content)


def _box_panel(runs: Sequence[Result], names: Sequence[str]) -> alt.LayerChart:
    import altair as alt

    boxes: list[Spec] = []
    points: list[Spec] = []
    for name in names:
        for run in _scored(runs, name):
            metric = run.summary.metrics[name]
            values = run.columns.values(name)[run.columns.scored(name)]
            found = distributions.box(values)
            if found is None:
                continue
            row = _row_label(run, metric, several=len(runs) > 1)
            run_name = wording.one_line(run.name)
            shown = distributions.thinned(values, MAX_POINTS)
            offsets = distributions.spread(shown.size)
            boxes.append(
                {"row": row, "run": run_name, "whisker_low": found.low, "q1": found.q1}
                | {"median": found.median, "q3": found.q3, "whisker_high": found.high}
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
        axis=alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=340, ticks=False),
    )
    color = _run_color(runs)
    all_boxes, all_points = _data(boxes), _data(points)
    layers = [
        alt.Chart(all_points)
        .mark_circle(size=14, opacity=0.35, clip=True)
        .encode(
            x=alt.X("value:Q", **x),
            y=y,
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-0.75, 0.75])),
            color=color,
        ),
        alt.Chart(all_boxes)
        .mark_rule(color=_MUTED)
        .encode(x=alt.X("whisker_low:Q", **x), x2="whisker_high:Q", y=y),
        alt.Chart(all_boxes)
        .mark_bar(size=20, fillOpacity=0.25, strokeWidth=1.2)
        .encode(
            x=alt.X("q1:Q", **x), x2="q3:Q", y=y, color=color, stroke=_run_color(runs, "stroke")
        ),
        alt.Chart(all_boxes)
        .mark_tick(thickness=2.5, size=20, color=_INK)
        .encode(x=alt.X("median:Q", **x), y=y),
        alt.Chart(_data([box for box in boxes if box["low"] is not None]))
        .mark_rule(size=3, color=_INK)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", y=y),
        alt.Chart(_data([box for box in boxes if box["mean"] is not None]))
        .mark_point(shape="diamond", size=60, filled=True, fill="#ffffff", stroke=_INK, opacity=1)
        .encode(x=alt.X("mean:Q", **x), y=y),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=_ROW * len(rows))


def _histogram_panel(run: Result, name: str) -> alt.LayerChart:
    import altair as alt

    metric = run.summary.metrics[name]
    values = run.columns.values(name)[run.columns.scored(name)]
    low, high = distributions.scale(metric)
    found = distributions.histogram(values, low, high)
    width = (found.high - found.low) / len(found.counts)
    bars = [
        {
            "from": found.low + at * width,
            "to": found.low + (at + 1) * width,
            "share": count / max(values.size, 1),
            "zero": 0,
        }
        for at, count in enumerate(found.counts)
    ]
    x = alt.X("from:Q", title=None, scale=alt.Scale(domain=[found.low, found.high], nice=False))
    y = alt.Y("share:Q", title=None, axis=alt.Axis(format=".0%", tickCount=3))
    layers = [
        alt.Chart(_data(bars))
        .mark_rect(color=PALETTE[0], opacity=0.75, stroke="#ffffff", strokeWidth=1)
        .encode(x=x, x2="to:Q", y=y, y2="zero:Q")
    ]
    entry = _mean_entry(metric)
    if entry["low"] is not None:
        band = alt.Chart(_data([entry])).mark_rect(color=_INK, opacity=0.15)
        layers.append(band.encode(x="low:Q", x2="high:Q"))
    if entry["mean"] is not None:
        layers.append(alt.Chart(_data([entry])).mark_rule(color=_INK, size=2).encode(x="mean:Q"))
    heading = alt.TitleParams(
        _label(name, metric.higher_is_better, ""),
        subtitle=f"{wording.one_line(run.name)}, {wording.coverage(metric)} scored",
        fontSize=12,
        anchor="start",
        offset=4,
    )
    return alt.layer(*layers).properties(width=300, height=110, title=heading)


def _forest_panel(rows: list[Spec], verdicts: Sequence[str]) -> alt.LayerChart:
    import altair as alt

    y = alt.Y(
        "row:N",
        title=None,
        sort=[row["row"] for row in rows],
        axis=alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=340, ticks=False),
    )
    color = alt.Color(
        "verdict:N",
        title=None,
        scale=alt.Scale(
            domain=list(verdicts), range=[_VERDICT_COLORS.get(v, _MUTED) for v in verdicts]
        ),
        legend=alt.Legend(orient="bottom"),
    )
    zero = alt.Chart(_data([{"zero": 0}])).mark_rule(color=_INK, strokeDash=[4, 3])
    base = alt.Chart(_data(rows))
    bounded = alt.Chart(_data([row for row in rows if row["low"] is not None]))
    layers = [
        zero.encode(x=alt.X("zero:Q", title=None)),
        bounded.mark_rule(size=2.5).encode(x="low:Q", x2="high:Q", y=y, color=color),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=alt.X("value:Q", title=None), y=y, color=color
        ),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=36 * len(rows))


def _spec(chart: Any, title: str, notes: Sequence[str], runs: Sequence[Result] = ()) -> Spec:
    """The chart as a dictionary, in the house style, without the menu that sends data away."""
    import altair as alt

    styled = (
        chart.properties(
            title=alt.TitleParams(
                wording.one_line(title),
                subtitle=[wording.one_line(note) for note in notes],
                anchor="start",
                fontSize=16,
                subtitleFontSize=11,
                subtitleColor=_MUTED,
                offset=16,
            ),
            background="#ffffff",
            padding=20,
        )
        .configure(font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            domainColor=_GRID,
            gridColor=_GRID,
            tickColor=_GRID,
            labelColor=_INK,
            labelFontSize=11,
            titleColor=_MUTED,
            titleFontWeight="normal",
            labelFlush=False,
            tickCount=6,
        )
        .configure_axisX(tickCount=10)
        .configure_legend(labelFontSize=11)
    )
    spec: Spec = styled.to_dict(validate=False)
    spec["usermeta"] = {"embedOptions": {"actions": False}}
    return spec


def _data(values: Sequence[Spec]) -> Spec:
    return {"values": list(values)}


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
    found = {
        m.name: m
        for run in runs
        for m in run.summary.metrics.values()
        if any(_scored([run], m.name))
    }
    return [[metric.name for metric in group] for group in _by_bounds(found.values())]


def _by_bounds(metrics: Iterable[MetricSummary]) -> list[list[MetricSummary]]:
    """Metrics with the same closed range share a scale; each other one has its own."""
    groups: dict[object, list[MetricSummary]] = {}
    for metric in metrics:
        closed = None not in metric.bounds
        groups.setdefault(metric.bounds if closed else metric.name, []).append(metric)
    return list(groups.values())


def _domain(metrics: Sequence[MetricSummary]) -> list[float]:
    scales = [distributions.scale(metric) for metric in metrics]
    low, high = min(low for low, _ in scales), max(high for _, high in scales)
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


def _label(name: str, higher: bool | None, tail: str) -> str:
    head = " ".join(filter(None, (wording.one_line(name), wording.arrow(higher))))
    return f"{head}\n{tail}" if tail else head


def _row_label(run: Result, metric: MetricSummary, *, several: bool) -> str:
    tail = f"{wording.coverage(metric)} scored"
    if several:
        tail = f"{wording.one_line(run.name)}, {tail}"
    return _label(metric.name, metric.higher_is_better, tail)


def _run_color(runs: Sequence[Result], channel: str = "color") -> Any:
    import altair as alt

    names = list(dict.fromkeys(wording.one_line(run.name) for run in runs))
    scale = alt.Scale(domain=names, range=[PALETTE[at % len(PALETTE)] for at in range(len(names))])
    legend = alt.Legend(orient="bottom", title=None) if len(names) > 1 else None
    kind = alt.Color if channel == "color" else alt.Stroke
    return kind("run:N", scale=scale, legend=legend if channel == "color" else None)


def _title(runs: Sequence[Result], what: str) -> str:
    return f"{', '.join(dict.fromkeys(run.name for run in runs))}: {what}"
