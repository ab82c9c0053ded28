"""Which entries of a ledger are counted, exported or deleted: a selection, and its SQL."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.judges.ledger import vectors
from ragassay.judges.ledger.store import Ledger


@dataclass(frozen=True, slots=True)
class Selection:
    """Which entries are selected; all where no field is set.

    Attributes:
        model: the model that was asked for.
        kind: of question.
        before: kept before this moment (seconds since 1970).
        failed: only those that hold a failure.
        system: only answers of this system under test.
    """

    model: str | None = None
    kind: str | None = None
    before: float | None = None
    failed: bool = False
    system: str | None = None

    @property
    def of_judges(self) -> bool:
        """Whether it may select verdicts and vectors."""
        return self.system is None

    @property
    def of_systems(self) -> bool:
        """Whether it may select answers of systems, which have no model, no kind and no failure."""
        return self.model is None and self.kind is None and not self.failed

    @property
    def all(self) -> bool:
        """Whether nothing is left out."""
        return self == EVERYTHING

    def check(self, ledger: Ledger) -> None:
        """Refuses names that occur nowhere in the ledger.

        Raises:
            UsageError: a model, kind or system that no entry has, or a system together with what
                only entries of judges have.
        """
        if self.system is not None and not self.of_systems:
            raise UsageError(
                "An answer of a system has no model, no kind of question and no failure that is "
                "kept: --system goes with --older-than only."
            )
        for column, value, table, entry, none in (
            ("model", self.model, ALL, "entry", "The ledger is empty."),
            ("kind", self.kind, ALL, "entry", "The ledger is empty."),
            ("system", self.system, "answers", "answer", "It holds answers of none."),
        ):
            rows = ledger.select(f"SELECT DISTINCT {column} FROM {table} ORDER BY 1")
            names = [row[0] for row in rows]
            if value is not None and value not in names:
                every = f"There are: {', '.join(names)}." if names else none
                hint = did_you_mean(value, names) or every
                raise UsageError(f"No {entry} is of the {column} {value!r}. {hint}")


EVERYTHING = Selection()

CHOSEN = (
    "(CAST(:model AS TEXT) IS NULL OR model = :model) "
    "AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind) "
    "AND (CAST(:before AS DOUBLE PRECISION) IS NULL OR created < :before) "
    "AND (NOT :failed OR reason IS NOT NULL)"
)
"""A `Selection` of verdicts and vectors as a condition of a query, with its fields as values."""

VERDICTS = (
    "SELECT rowid AS id, endpoint, model, kind, reason, input_tokens, output_tokens, cost, created "
    "FROM verdicts"
)
VECTORS = (  # what was sent for them has no reply in tokens
    f"SELECT rowid AS id, endpoint, model, '{vectors.KIND}' AS kind, NULL AS reason, input_tokens, "
    f"0 AS output_tokens, cost, created FROM {vectors.TABLE}"
)


ALL = f"({VERDICTS} UNION ALL {VECTORS}) AS entries"
"""All entries, as a table of a query."""

OF_SYSTEMS = (
    "(CAST(:system AS TEXT) IS NULL OR system = :system) "
    "AND (CAST(:before AS DOUBLE PRECISION) IS NULL OR created < :before)"
)
"""The same of answers and failures of systems."""
