"""What a terminal shows."""

import io
from functools import partial

from rich.console import Console

from ragassay.engine.results.comparison_result import Comparison
from ragassay.reports.drawn.terminal import Printed
from ragassay.reports.model import Report
from ragassay.reports.views.comparison_view import below, comparison_report


def shown(report: Report, width: int = 100, encoding: str = "utf-8", **options: object) -> str:
    """The text of a report in a terminal of this width."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    console.print(Printed(report))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def said(comparison: Comparison, *, full: bool = False) -> list[str]:
    """The sentences below a comparison."""
    options = {"most": None} if full else {}
    return [line.text for block in below(comparison, **options) for line in block.lines]


full_report = partial(comparison_report, full=True)
