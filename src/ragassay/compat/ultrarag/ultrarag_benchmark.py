"""The tool of UltraRAG's server ``benchmark``: columns of a file of questions.

Each column has one item a record. A record that lacks a field has ``None`` there, so that a row is
the same record in every column.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import ArgumentError, InputError, meant_or_all
from ragassay.base.problem_words import json_problem, system_problem
from ragassay.compat.ultrarag.row_warnings import warn_of_rows
from ragassay.compat.ultrarag.ultrarag_servers import PARAMETERS

KEYS = tuple(PARAMETERS["benchmark"]["benchmark"])


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
    key_map = key_map_of(benchmark)
    path, limit = checked(benchmark)
    records = _records(path)
    if not records:
        raise InputError("holds no record", path=path)
    if benchmark.get("shuffle", False):
        random.Random(benchmark.get("seed", 42)).shuffle(records)
    if limit > 0:
        records = records[:limit]
    for column, field in key_map.items():
        _check_field(records, column, field, path)
    return {column: [record.get(field) for record in records] for column, field in key_map.items()}


def key_map_of(benchmark: Any) -> Mapping[str, str]:
    """The columns that are asked for, each with its field.

    Args:
        benchmark: as of `get_data`.

    Raises:
        ArgumentError: there are none, or they are no mapping of names.
    """
    if not isinstance(benchmark, Mapping):
        raise ArgumentError("benchmark is not a mapping of keys: it takes 'path' and 'key_map'.")
    key_map = benchmark.get("key_map")
    if not isinstance(key_map, Mapping) or not key_map:
        raise ArgumentError(
            "benchmark.key_map is missing: write a field a column, as in q_ls: question."
        )
    for column, field in key_map.items():
        if not isinstance(column, str):
            raise ArgumentError(f"benchmark.key_map.{column}: write the name of a column.")
        if not isinstance(field, str):
            raise ArgumentError(
                f"benchmark.key_map.{column} is {field!r}: write the name of a field."
            )
    return key_map


def checked(benchmark: Mapping[str, Any]) -> tuple[Path, int]:
    """The path and the number of records that are asked for.

    Args:
        benchmark: as of `get_data`.

    Raises:
        ArgumentError: an unknown key or an impossible value.
    """
    for key in benchmark:
        if key not in KEYS:
            hint = meant_or_all(str(key), KEYS)
            raise ArgumentError(f"benchmark.{key} is not a key that is known. {hint}")
    path, limit, seed = benchmark.get("path"), benchmark.get("limit", -1), benchmark.get("seed", 42)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ArgumentError("benchmark.path is missing: name a JSONL, JSON or Parquet file.")
    if not isinstance(limit, int) or isinstance(limit, bool) or (limit < 1 and limit != -1):
        raise ArgumentError(
            f"benchmark.limit is {limit!r}: write a number of records, or -1 for all."
        )
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ArgumentError(f"benchmark.seed is {seed!r}: write a whole number.")
    if not isinstance(benchmark.get("shuffle", False), bool):
        raise ArgumentError(f"benchmark.shuffle is {benchmark['shuffle']!r}: write true or false.")
    return Path(path), limit


def _records(path: Path) -> list[dict[str, Any]]:
    """All records of a file."""
    suffix = path.suffix.casefold()
    try:
        if suffix == ".parquet":
            import polars

            return polars.read_parquet(path).to_dicts()
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = "Correct 'path' in the parameter file." if is_missing else None
        problem = f"cannot be read ({system_problem(error)})"
        raise InputError(problem, path=path, hint=hint) from error
    except Exception as error:  # polars has many
        raise InputError(f"is not Parquet ({error})", path=path) from error
    if suffix == ".jsonl":
        lines = enumerate(content.splitlines(), start=1)
        records = [(number, _parsed(line, path, number)) for number, line in lines if line.strip()]
    elif suffix == ".json":
        body = _parsed(content, path, None)
        records = list(enumerate(body if isinstance(body, list) else [body], start=1))
    else:
        raise InputError(
            f"ends in {suffix or 'nothing'!r}",
            path=path,
            hint="Name a .jsonl, .json or .parquet file.",
        )
    for number, record in records:
        if not isinstance(record, dict):
            raise InputError("is not an object with fields", path=path, line=number)
    return [record for _, record in records]


def _parsed(content: bytes, path: Path, line: int | None) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise InputError(f"is not JSON ({json_problem(error)})", path=path, line=line) from error


def _check_field(records: list[dict[str, Any]], column: str, field: str, path: Path) -> None:
    """Refuses a field that no record has, and warns of records without it."""
    without = [at for at, record in enumerate(records) if record.get(field) is None]
    if len(without) == len(records):
        present = list(dict.fromkeys(name for record in records for name in record))
        raise InputError(
            f"no record has the field that key_map.{column} names",
            path=path,
            field=field,
            hint=meant_or_all(field, present),
        )
    fact = f"{{n}} {{record lacks|records lack}} the field {field!r}"
    warn_of_rows(without, fact, f": {column} has null there")
