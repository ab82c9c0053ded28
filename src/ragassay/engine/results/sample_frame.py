"""A result as a data frame with a row for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

    from ragassay.engine.results.result import Result

_PLAIN = (str, bool, int, float)
_OWN = ("query", "answer", "answerability", "failure")
"""The columns that every sample has beside its identity."""


def sample_frame(result: Result) -> polars.DataFrame:
    """The samples with their texts, metadata and scores; see `Result.to_polars`."""
    import polars

    columns = result.columns
    frame = polars.DataFrame(
        columns.identities,
        schema={"sample": polars.String, "system": polars.String, "repeat": polars.Int64},
        orient="row",
    )
    reserved = {*frame.columns, *_OWN, *columns.metrics}
    rows: list[dict[str, Any]] = []
    for sample in result.samples:
        answer = None if sample.answer is None else sample.answer.text
        label = None if sample.answerability is None else sample.answerability.value
        row: dict[str, Any] = dict(
            zip(_OWN, (sample.query, answer, label, sample.failure), strict=True)
        )
        for name, value in sample.metadata.items():
            if isinstance(value, _PLAIN):
                row[f"metadata.{name}" if name in reserved else name] = value
        rows.append(row)
    names = dict.fromkeys([*_OWN, *(name for row in rows for name in row)])
    return frame.with_columns(
        *(
            polars.Series(n, _of_one_kind([row.get(n) for row in rows]), strict=False)
            for n in names
        ),
        *(
            polars.when(polars.Series(columns.scored(name)))
            .then(polars.Series(columns.values(name)))
            .alias(name)
            for name in columns.metrics
        ),
    )


def _of_one_kind(values: list[Any]) -> list[Any]:
    """The values as texts where they are of several kinds."""
    kinds = {float if type(value) is int else type(value) for value in values if value is not None}
    return (
        values if len(kinds) == 1 else [None if value is None else str(value) for value in values]
    )
