"""A result as a data frame with a row for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

    from ragassay.engine.results.result import Result

_PLAIN = (str, bool, int, float)


def sample_frame(result: Result) -> polars.DataFrame:
    """The samples with their texts, metadata and scores; see `Result.to_polars`."""
    import polars

    columns = result.columns
    frame = polars.DataFrame(
        columns.identities,
        schema={"sample": polars.String, "system": polars.String, "repeat": polars.Int64},
        orient="row",
    )
    taken = {*frame.columns, "query", "answer", *columns.metrics}
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
    """Query, answer and the plain values of the metadata, each with whether it is of the metadata.
    A field that holds values of several kinds is a text."""
    queries: list[str | None] = []
    answers: list[str | None] = []
    fields: dict[str, list[Any]] = {}
    for at, sample in enumerate(result.samples):
        queries.append(sample.query)
        answers.append(None if sample.answer is None else sample.answer.text)
        for name, value in sample.metadata.items():
            if isinstance(value, _PLAIN):
                values = fields.setdefault(name, [])
                values += [None] * (at - len(values))
                values.append(value)
    found: dict[tuple[bool, str], list[Any]] = {
        (False, "query"): queries,
        (False, "answer"): answers,
    }
    for name, values in fields.items():
        values += [None] * (len(queries) - len(values))
        kinds = {float if type(one) is int else type(one) for one in values if one is not None}
        of_one_kind = len(kinds) == 1
        found[True, name] = (
            values if of_one_kind else [one if one is None else str(one) for one in values]
        )
    return found
