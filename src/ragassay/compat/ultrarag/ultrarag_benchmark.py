"""The tool of UltraRAG's server ``benchmark``: columns of a file of questions. A record that lacks
a field has ``None`` there, so that a row is the same record in every column."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragassay.base.counts import few
from ragassay.base.errors import ArgumentError, CountedFact, InputError, meant_or_all, warn_user
from ragassay.base.problem_words import mistake
from ragassay.formats.sources import json_files, opening


class Benchmark(BaseModel):
    """What `get_data` takes, with the defaults of UltraRAG's server."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: Any = None
    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]
    key_map: Annotated[dict[str, str], Field(min_length=1)]
    limit: Literal[-1] | Annotated[int, Field(ge=1)] = -1
    seed: int = 42
    shuffle: bool = False


def get_data(benchmark: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Reads columns of a file.

    Args:
        benchmark: ``path`` of a JSONL, JSON or Parquet file; ``key_map``, the field for each
            column; ``limit``, records to take (-1: all); ``shuffle``, whether in random order, by
            ``seed``; ``name``, which means nothing here.

    Returns:
        For each column of ``key_map`` its items, in the order of the records.

    Raises:
        ArgumentError: an unknown or impossible value in ``benchmark``.
        InputError: a file that cannot be read, or a field that no record has.

    Source: UltraRAG, servers/benchmark.
    """
    asked = checked(benchmark)
    path, key_map = Path(asked.path), asked.key_map
    records = _records(path)
    if not records:
        raise InputError("holds no record", path=path)
    if asked.shuffle:
        random.Random(asked.seed).shuffle(records)
    if asked.limit > 0:
        records = records[: asked.limit]
    for column, field in key_map.items():
        _check_field(records, column, field, path)
    return {column: [record.get(field) for record in records] for column, field in key_map.items()}


def checked(benchmark: Any) -> Benchmark:
    """What `get_data` is given, checked; an `ArgumentError` names what is unknown or impossible."""
    body = dict(benchmark) if isinstance(benchmark, Mapping) else benchmark
    try:
        return Benchmark.model_validate(body)
    except ValidationError as error:
        field, problem = mistake(error)
        if field is None:
            problem, known = "is not a mapping of keys: it takes 'path' and 'key_map'", True
        else:
            known = field.partition(".")[0] in Benchmark.model_fields
        hint = "" if known else f" {meant_or_all(str(field), Benchmark.model_fields)}"
        place = "benchmark" if field is None else f"benchmark.{field}"
        raise ArgumentError(f"{place} {problem}.{hint}") from error


def _records(path: Path) -> list[dict[str, Any]]:
    """All records of a file."""
    suffix = path.suffix.casefold()
    if suffix in (".jsonl", ".json"):
        return [one for _, one in json_files.json_records(path, is_record=lambda record: True)]
    if suffix != ".parquet":
        hint = "Name a .jsonl, .json or .parquet file."
        raise InputError(f"ends in {suffix or 'nothing'!r}", path=path, hint=hint)
    import polars

    with opening.by_polars(path, "Parquet"):
        return polars.read_parquet(path).to_dicts()


def _check_field(records: list[dict[str, Any]], column: str, field: str, path: Path) -> None:
    """Refuses a field that no record has, and warns of records without it."""
    without = [at for at, record in enumerate(records) if record.get(field) is None]
    if len(without) == len(records):
        present = dict.fromkeys(name for record in records for name in record)
        problem = f"no record has the field that key_map.{column} names"
        raise InputError(problem, path=path, field=field, hint=meant_or_all(field, present))
    fact = f"{{n}} {{record lacks|records lack}} the field {field!r}"
    warn_of_rows(without, fact, f": {column} has null there")


def warn_of_rows(rows: Sequence[int], fact: str, then: str = "") -> None:
    """Warns of rows, where there are any."""
    if rows:
        numbers = few([str(row) for row in rows])
        warn_user(CountedFact(f"{fact} (counted from 0: {numbers}){then}.", len(rows)))
