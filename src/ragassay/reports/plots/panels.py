"""How a picture of panels is laid out: sizes in pixels, axes, and the numbers beside the boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.engine.results import MetricSummary
from ragassay.reports.charts import distribution_chart
from ragassay.reports.plots import key, sheet
from ragassay.reports.plots.series import Series
from ragassay.reports.plots.sheet import CHAR, MARGIN, NORMAL, SMALL
from ragassay.reports.text import wording

AXIS, GAP, KEY_GAP = 24.0, 20.0, 20
"""Room for the numbers below a panel, between two lines of panels, and above the key."""

LINE = 17.0
"""A line of a panel's heading."""

_HEAD = 42.0
"""Room above a panel for its title and one more line."""

RAIN = 58.0
"""A row of that height has room for its points below the box."""

_LEAST_ROW, _MOST_ROW = 25.0, 190.0
_LEAST_WIDTH = 150.0


@dataclass(frozen=True, slots=True)
class Panel:
    """A metric, what stands above its panel, and whether it is a share of answers."""

    metric: str
    title: str
    below: str
    share: bool = False


@dataclass(frozen=True, slots=True)
class Geometry:
    """Sizes in pixels."""

    columns: int
    width: float
    row: float
    n_rows: int
    names: float
    stats: tuple[float, float, float]
    head: float
    stacked: bool
    """Whether the metric's name has a line of its own, because some do not fit beside the title."""

    @property
    def height(self) -> float:
        """Of a panel."""
        return self.row * self.n_rows


def geometry(series: Sequence[Series], panels: Sequence[Panel], notes: Sequence[str]) -> Geometry:
    """Sizes that fill a sheet; a larger sheet where the rows need it.

    Args:
        series: the files.
        panels: one for each metric.
        notes: sentences below the title.
    """
    sizes = _sizes(series, panels, notes)
    if len(series) > 1 or all(_fits(panel, sizes.width) for panel in panels):
        return sizes
    return _sizes(series, panels, notes, stacked=True)


def _fits(panel: Panel, width: float) -> bool:
    """Whether the metric's name has room beside the title."""
    title = sheet.text_width(panel.title, sheet.HEADING * 1.1)
    return title + sheet.text_width(panel.below, SMALL) <= width


def _sizes(
    series: Sequence[Series],
    panels: Sequence[Panel],
    notes: Sequence[str],
    *,
    stacked: bool = False,
) -> Geometry:
    n = len(panels)
    head = _HEAD + LINE if stacked else _HEAD
    columns = n if n <= 3 else 2 if n == 4 else 3 if n <= 9 else 4
    lines = math.ceil(n / columns)
    names = 0.0
    if len(series) > 1:
        names = max(sheet.text_width(one.name) for one in series) + 14
    stats = _stat_widths(series, panels)
    outside = 2 * MARGIN + sheet.head_height(notes) + KEY_GAP + key.HEIGHT - GAP
    room = (sheet.HEIGHT - outside) / lines - head - AXIS - GAP
    row = min(max(room / len(series), _LEAST_ROW), _MOST_ROW)
    height = outside + lines * (row * len(series) + head + AXIS + GAP)
    total = max(sheet.WIDTH, height * sheet.WIDTH / sheet.HEIGHT)
    across = (
        total - 2 * MARGIN - 30 - names - columns * sum(stats) - (columns - 1) * between(columns)
    )
    width = max(
        across / columns, _LEAST_WIDTH, *(_needed(panel, series, stats) for panel in panels)
    )
    # A sheet that its panels make wider is taller too.
    taller = (columns * width - across) * sheet.HEIGHT / sheet.WIDTH
    row = min(row + taller / lines / len(series), _MOST_ROW)
    return Geometry(columns, width, row, len(series), names, stats, head, stacked)


def _needed(panel: Panel, series: Sequence[Series], stats: tuple[float, float, float]) -> float:
    """How wide a panel must be for its heading to end before what stands beside it."""
    title = sheet.text_width(panel.title, sheet.HEADING * 1.1)
    if len(series) == 1:
        numbers = in_words(panel, series[0])
        return max(title - 20, len(numbers) * SMALL * key.CHAR)
    # The first number's heading ends with its column.
    beside = sheet.text_width("share" if panel.share else "mean", SMALL)
    return max(title - sum(stats), sheet.text_width(panel.below, SMALL) + beside - stats[0])


def between(columns: int) -> float:
    """Room between two panels of a line."""
    return 36.0 if columns < 4 else 26.0


def _stat_widths(series: Sequence[Series], panels: Sequence[Panel]) -> tuple[float, float, float]:
    """Widths of the columns with mean, median and n, beside each panel; none for a single file,
    whose numbers stand in the headings."""
    if len(series) == 1:
        return 0.0, 0.0, 0.0
    shown = _shown(series, panels)
    means = max((len(spelled(p, m.mean)) for p, m in shown), default=5)
    medians = max((len(sheet.number(m.median)) for _, m in shown), default=5)
    counts = max((len(wording.coverage(m)) for _, m in shown), default=1)
    return (
        10 + max(means * NORMAL * 1.12, 5 * SMALL) * CHAR,
        10 + max(medians * NORMAL, 6.5 * SMALL) * CHAR,
        10 + max(counts, 2) * SMALL * CHAR,
    )


def _shown(series: Sequence[Series], panels: Sequence[Panel]) -> list[tuple[Panel, MetricSummary]]:
    return [(p, m) for one in series for p in panels if (m := one.metric(p.metric)) is not None]


def axis(series: Sequence[Series], name: str) -> tuple[list[float], list[float]]:
    """Domain and ticks of a metric, the same for all files.

    Args:
        series: the files.
        name: of the metric.
    """
    metrics = [m for one in series if (m := one.metric(name)) is not None]
    ends = [end for metric in metrics for end in distribution_chart.scale(metric)]
    ends += [end for metric in metrics for end in (metric.low, metric.high) if end is not None]
    low, high = min(ends), max(ends)
    if (low, high) == (0.0, 3.0):
        return [low, high], [0, 1, 2, 3]
    step = sheet.step(high - low)
    if any(None in metric.bounds for metric in metrics):
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    ticks = [
        round(at * step, 10)
        for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]
    return [low, high], ticks


def spelled(panel: Panel, value: float | None) -> str:
    """A value as it is written beside its box.

    Args:
        panel: that shows it.
        value: ``None`` where there is none.
    """
    return sheet.share(value) if panel.share else sheet.number(value)


def in_words(panel: Panel, one: Series) -> str:
    """The numbers of a single file, for the heading of its panel.

    Args:
        panel: of a metric.
        one: the only file.
    """
    metric = one.metric(panel.metric)
    if metric is None or metric.mean is None:
        return f"no value: {one.why(panel.metric)}"
    pieces = [f"{'' if panel.share else 'mean '}{spelled(panel, metric.mean)}"]
    if metric.low is not None and metric.high is not None:
        pieces[0] += f" [{spelled(panel, metric.low)}, {spelled(panel, metric.high)}]"
    if not panel.share:
        pieces.append(f"median {sheet.number(metric.median)}")
    return " · ".join([*pieces, f"n = {wording.coverage(metric)}"])
