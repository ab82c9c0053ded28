"""Result files of the golden-answer evaluator: tables with its metrics, one row a query.

Columns go by our names (``factual_correctness.f1``) or by the published ones
(``factual_correctness_f1``), whatever stands before these (``run_1_...``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay import suites
from ragassay.reports.plots.tabled import Cell, Tables


class GoldenTables(Tables):
    """The golden-answer evaluator."""

    evaluator = "golden-answer"
    suite = "golden"
    default = (
        "answer_similarity",
        *("factual_correctness.precision", "factual_correctness.recall", "factual_correctness.f1"),
    )

    def named(self, column: str) -> str | None:
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
        """All are: of an embedder is not known either which one it was."""
        return True

    def what(self, metrics: Sequence[str]) -> str:
        """The same for all metrics."""
        return "Golden answers"
