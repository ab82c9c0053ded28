"""A badge: a metric's mean, or its difference of two runs, with its interval as a small SVG,
coloured by gates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ragassay.base import files, printable
from ragassay.base.errors import UsageError
from ragassay.engine.comparison import gates
from ragassay.engine.comparison.comparison_gates import NOT_WORSE, metrics_of
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.shown_names import shown
from ragassay.reports.text import wording

PASSED, FAILED, UNDECIDED, UNGATED = "#2e7d32", "#c62828", "#8a6100", "#555555"
"""Fills with white text on them: contrast at least 5 to 1."""

_VERDICTS = {True: (PASSED, "passed"), False: (FAILED, "failed"), None: (UNDECIDED, "undecided")}

_LETTER, _MARGIN, _HEIGHT = 6.6, 6.0, 20
"""Width of a letter of 11 pixels, free space beside a text, height: in pixels. The text is made as
wide as its room by ``textLength``, whatever the font."""


def write_badge(result: Result, path: Path, metric: str | None = None) -> None:
    """Writes a badge.

    It is green where every gate on the metric passed, red where one failed, amber where one is
    undecided, and grey where there is none."""
    metrics = gates.summaries_of(result)
    gated = [(one.metrics[0], one.passed) for one in gates.results_of(result)]
    if metric is not None:
        canonical = {name: one.metric for name, one in metrics.items()}
        names = shown([metric], canonical, result.config.get("suite") or (), "this run")
        if len(names) > 1:
            raise UsageError(f"--metric {metric}: a badge shows one of {', '.join(names)}.")
        name = names[0]
    elif gated or metrics:
        name = gated[0][0] if gated else next(iter(metrics))
    else:
        raise UsageError("The run has no metric that a badge could show.")
    one = metrics[name]
    value = " ".join(filter(None, (_short(one.mean), _interval(one.low, one.high)))) or "not scored"
    _write(path, name, value, [passed for of, passed in gated if of == name])


def write_badge_of_comparison(compared: Comparison, path: Path) -> None:
    """Writes a badge with the difference of a metric: that of the first gate on a drop, else the
    first one that is tested. Its colour is that of all gates together."""
    differences = compared.differences
    if not differences:
        raise UsageError("The runs have no metric in common that a badge could show.")
    gated = [
        d for gate in compared.gates if gate.gate != NOT_WORSE for d in metrics_of(compared, gate)
    ]
    tested = [d for d in differences if d.standing == "tested"]
    one = next(iter([*gated, *tested, *differences]))
    value = "not scored"
    if one.diff is not None:
        value = " ".join(filter(None, (_short(one.diff, "+"), _interval(one.low, one.high, "+"))))
    _write(path, f"{one.name}, change", value, [gate.passed for gate in compared.gates])


def _write(path: Path, label: str, value: str, verdicts: Sequence[bool | None]) -> None:
    fill, verdict = UNGATED, ""
    if verdicts:
        passed = False if False in verdicts else None if None in verdicts else True
        fill, verdict = _VERDICTS[passed]
    files.write_text(path, _drawn(printable.one_line(label), value, verdict, fill))


def _short(value: float | None, sign: str = "") -> str:
    if value is None:
        return ""
    return f"{value:{sign}.2f}" if abs(value) < 100 else wording.number(value, sign=bool(sign))


def _interval(low: float | None, high: float | None, sign: str = "") -> str:
    return "" if low is None or high is None else f"[{_short(low, sign)}, {_short(high, sign)}]"


def _drawn(label: str, value: str, verdict: str, fill: str) -> str:
    widths = [len(text) * _LETTER for text in (label, value)]
    left, right = (round(width + 2 * _MARGIN, 1) for width in widths)
    title = ", ".join(filter(None, (f"{label}: {value}", verdict and f"gate {verdict}")))
    texts = [
        f'<text x="{x:.1f}" y="14" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(text)}</text>"
        for x, width, text in zip((_MARGIN, left + _MARGIN), widths, (label, value), strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.1f}" height="{_HEIGHT}" '
        f'role="img" aria-label={quoteattr(title)}>\n'
        f"<title>{escape(title)}</title>\n"
        f'<clipPath id="edge"><rect width="{left + right:.1f}" height="{_HEIGHT}" rx="3"/>'
        "</clipPath>\n"
        f'<g clip-path="url(#edge)"><rect width="{left}" height="{_HEIGHT}" fill="#333333"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{fill}"/></g>\n'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{texts[0]}\n{texts[1]}\n</g>\n</svg>\n"
    )
