"""Two runs compared in one picture: a line a metric, with its difference, interval and verdict.
Metrics of one scale stand together, above an axis of theirs."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.reports.charts import figures, svg
from ragassay.reports.charts.svg import COLORS, INK, MUTED, SMALL, Chart, words
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import below, reach_of, scale_of

_WIDTH, _ROW, _ABOVE, _AXIS, _BESIDE = 520.0, 56.0, 26.0, 38.0, 330.0
"""The width of the scale, the heights of a line, of what stands above it and of its axis, and the
width beside it."""

_NOTHING = 1e-9
"""Differences below this are no reason for an axis of their own size: it would show rounding."""

_COLORS = {"better": COLORS[0], "worse": COLORS[1], "different": COLORS[3]}
"""What a verdict looks like; the others are muted."""

_UNSETTLED = ("indicative", "not comparable")
"""Standings whose intervals are dashed: nothing may be concluded from them."""


@dataclass(frozen=True)
class DifferencePanel:
    """The metrics of one scale, a line each; ``reach`` is the largest difference or end of an
    interval, ``names`` the width of the metrics' names."""

    differences: tuple[Difference, ...]
    reach: float
    names: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with all that stands around the scale."""
        height = _ABOVE + _ROW * len(self.differences) + _AXIS
        return self.names + _WIDTH + _BESIDE, height

    def shapes(self) -> str:
        """SVG, from the upper left corner."""
        half = 1.1 * self.reach if self.reach > _NOTHING else 1.0
        x = svg.axis(-half, half, 0, _WIDTH)
        height = _ROW * len(self.differences)
        places = svg.ticks(-half, half) if self.reach > _NOTHING else []
        heads = (("start", 0.0, "← old higher"), ("middle", _WIDTH / 2, "mean difference A - B"),
                 ("end", _WIDTH, "new higher →"))  # fmt: skip
        drawn = [svg.grid(x, places, height, "+,.6g"), svg.line(x(0), 0, x(0), height, "zero")]
        drawn += [words(said, at, -14, end, size=SMALL, color=MUTED) for end, at, said in heads]
        for at, one in enumerate(self.differences):
            drawn.append(self._line(one, x, (at + 0.5) * _ROW))
        return f'<g transform="translate({self.names:.1f},{_ABOVE})">{"".join(drawn)}</g>'

    def _line(self, d: Difference, x: figures.Axis, y: float) -> str:
        color, right = _COLORS.get(d.verdict, MUTED), _WIDTH + 16
        dashed = ' class="dashed"' if d.standing in _UNSETTLED else ""
        bounds = ""
        if d.low is not None and d.high is not None:
            bounds = f"[{_signed(d.low)}, {_signed(d.high)}]"
        p = "" if d.p_adjusted is None else f"p {wording.p_value(d.p_adjusted)}"
        equal = f", {d.ties:,} equal" if d.ties else ""
        wins = f"new higher on {d.wins:,}, lower on {d.losses:,}{equal}"
        direction = wording.direction(d.higher_is_better)
        return "".join(
            [
                f'<g color="{color}"{dashed}>{"".join(figures.difference_shapes(d, x, y))}</g>',
                words(d.name, -14, y - 8, "end", bold=True),
                words(direction, -14, y + 9, "end", size=SMALL, color=MUTED),
                words(f"{_signed(d.diff)} · {wording.verdict(d)}", right, y - 16, color=color,
                      bold=True),
                words(" · ".join(filter(None, (bounds, p))), right, y + 1, size=SMALL, color=INK),
                words(wins, right, y + 17, size=SMALL, color=MUTED),
            ]
        )  # fmt: skip


def overview(comparison: Comparison, new: Result) -> Chart:
    """The comparison of a new run (A) with an old one (B).

    Raises:
        UsageError: no metric has a difference.
    """
    tested = [d for d in comparison.differences if d.diff is not None]
    if not tested:
        raise UsageError("The comparison has no difference to draw.")
    scales = {d.name: scale_of(new.summary.metrics[d.name]) for d in tested}
    reach = reach_of(tested, scales)
    names = max(len(wording.one_line(d.name)) for d in tested) * svg.NORMAL * 0.68 + 14
    panels = (
        DifferencePanel(tuple(members), reach[scale], max(names, 200.0))
        for scale, members in grouped((scales[d.name], d) for d in tested).items()
    )
    title = f"A = {comparison.a} against B = {comparison.b}"
    return Chart(title, tuple(_notes(comparison)), tuple(panels))


def _notes(comparison: Comparison) -> list[str]:
    test = "No metric is tested."
    if comparison.n_tested:
        kind = "Welch's test" if comparison.unpaired else "paired sign-flip test"
        test = f"Verdicts: {kind}, {wording.percent(1 - comparison.level)} level."
    notes = [
        f"Compared on {wording.compared_on(comparison)}. {test}",
        *(str(note) for note in comparison.notes if note.kind == "clustered"),
        *(line.text for block in below(comparison) for line in block.lines),
    ]
    dashed = any(d.standing in _UNSETTLED for d in comparison.differences)
    return [*notes, svg.DASHED] if dashed else notes


def _signed(value: float | None) -> str:
    size = value or 0.0
    said = svg.short_number(abs(size))
    return f"{'+' if size > 0 else '-'}{said}" if float(said.replace(",", "")) else "0"
