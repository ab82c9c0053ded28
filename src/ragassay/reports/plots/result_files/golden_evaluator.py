"""Result files of the golden-answer evaluator: tables with its metrics, one row a query.

Columns go by our names (``factual_correctness.f1``) or by the published ones
(``factual_correctness_f1``), with any prefix (``run_1_...``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay import suites
from ragassay.reports.plots.result_files.evaluator_tables import Tables
from ragassay.reports.plots.result_files.results_cell import Cell


class GoldenTables(Tables):
    """The golden-answer evaluator."""

    evaluator = "golden-answer"
    suite = "golden"
    default = (
        "answer_similarity",
        *("factual_correctness.precision", "factual_correctness.recall", "factual_correctness.f1"),
    )

    def column_name(self, column: str) -> str | None:
        """The metric whose name the column ends in."""
        names = {name: name for name in self.default} | dict(suites.get(self.suite).aliases)
        for title, name in names.items():
            if column in (title, f"{title}_score") or column.endswith(f"_{title}"):
                return name
        return None

    def values(self, name: str, cell: Cell) -> Iterator[tuple[str, float | None]]:
        """One number."""
        yield name, cell.number(cell.content)

    def judged(self, name: str) -> bool:
        """All do: which embedder it was is not known either."""
        return True

    def title(self, metrics: Sequence[str]) -> str:
        """One title for all metrics."""
        return "Golden answers"
