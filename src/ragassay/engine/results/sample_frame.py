"""A result as a data frame with a row for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

    from ragassay.engine.results.result import Result

_PLAIN = (str, bool, int, float)
_OWN = ("query", "answer", "answerability", "failure")
"""What is told of every sample, beside its identity."""


def sample_frame(result: Result) -> polars.DataFrame:
    """The samples with their texts, metadata and scores; see `Result.to_polars`."""
    import polars

    columns = result.columns
    frame = polars.DataFrame(
        columns.identities,
        schema={"sample": polars.String, "system": polars.String, "repeat": polars.Int64},
        orient="row",
    )
    taken = {*frame.columns, *_OWN, *columns.metrics}
    texts = {
        (f"metadata.{name}" if field and name in taken else name): values
        for (field, name), values in _texts(result).items()
    }
    return frame.with_columns(
        *(polars.Series(name, values, strict=False) for name, values in texts.items()),
        *(
            polars.when(polars.Series(columns.scored(name)))
            .then(polars.Series(columns.values(name)))
            .alias(name)
            for name in columns.metrics
        ),
    )


def _texts(result: Result) -> dict[tuple[bool, str], list[Any]]:
    """What `_OWN` names and the plain metadata of the samples: whether it is metadata, and its
    name."""
    rows: list[dict[tuple[bool, str], Any]] = []
    for sample in result.samples:
        answer = None if sample.answer is None else sample.answer.text
        label = None if sample.answerability is None else sample.answerability.value
        own = zip(_OWN, (sample.query, answer, label, sample.failure), strict=True)
        fields = {(True, n): v for n, v in sample.metadata.items() if isinstance(v, _PLAIN)}
        rows.append({**{(False, name): value for name, value in own}, **fields})
    names = dict.fromkeys(
        [*((False, name) for name in _OWN), *(name for row in rows for name in row)]
    )
    return {name: _of_one_kind([row.get(name) for row in rows]) for name in names}


def _of_one_kind(values: list[Any]) -> list[Any]:
    """The values as texts where they are of several kinds."""
    kinds = {float if type(one) is int else type(one) for one in values if one is not None}
    return values if len(kinds) == 1 else [one if one is None else str(one) for one in values]
