"""A report: a line for each metric, for a log."""

from __future__ import annotations

from pathlib import Path

from ragassay.engine.results import ReportFormat, Result


def _write(result: Result, path: Path) -> None:
    lines = [
        f"{name} {'-' if one.mean is None else f'{one.mean:.4f}'} {one.n_scored}/{one.n_total}\n"
        for name, one in result.summary.metrics.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")


MEANS = ReportFormat("means.txt", _write)
