"""Scores as tables: CSV (long and wide), JSON lines and Parquet. All are written as they stream."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragassay.base import files, printable
from ragassay.base.json_data import dumps
from ragassay.base.printable import grouped
from ragassay.base.sample import Identity, Sample
from ragassay.base.score import AND, label_of
from ragassay.engine.results import Result
from ragassay.engine.results.result import rights_of, texts_of
from ragassay.engine.results.score_columns import names_in
from ragassay.engine.results.score_rows import ROW_FIELDS, Rows, ScoreRow, with_samples

if TYPE_CHECKING:
    import polars as pl

Made = TypeVar("Made")

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?\Z")
_BATCH = 65_536


def write_csv(result: Result, path: str | Path) -> None:
    """Writes a line for each score: the columns of `ROW_FIELDS`, ``parts`` as JSON."""
    write_lines(path, ROW_FIELDS, (_record(row).values() for row in result.scores))


def write_wide_csv(result: Result, path: str | Path) -> None:
    """Writes a line a sample with its texts, a column a metric; last, whether the answer is right
    and why not, what is unscored and why, and the judges."""
    names, rights = result.columns.metrics, rights_of(result)
    judged = any(metric.judge for metric in result.summary.metrics.values())
    lines = (
        [
            *identity, *texts_of(sample), *(rows[name].value for name in names),
            *(values[at] for values in rights.values()), gaps(rows),
            *([AND.join(names_in(row.judge for row in rows.values()))] if judged else []),
        ]
        for at, (identity, sample, rows) in enumerate(with_samples(result))
    )  # fmt: skip
    first = ["sample", "system", "repeat", "query", "answer", "reference"]
    last = [*rights, "unscored", *(["judge"] if judged else [])]
    write_lines(path, [*first, *names, *last], lines)


def write_jsonl(result: Result, path: str | Path) -> None:
    """Writes one line of strict JSON for each score, as in a run folder's ``scores.jsonl``."""
    with files.atomic(path) as stream:
        for row in result.scores:
            stream.write(dumps(_record(row)) + b"\n")


def write_parquet(result: Result, path: str | Path) -> None:
    """Writes a row for each score: the columns of `ROW_FIELDS`, ``parts`` as JSON, and ``label``,
    which holds the value of a label or flag (a flag's ``value`` is 1 or 0)."""
    import polars as pl
    from polars.io.plugins import register_io_source

    types: dict[str, Any] = {name: pl.String() for name in ROW_FIELDS}
    schema = pl.Schema(types | {"repeat": pl.Int64(), "value": pl.Float64(), "label": pl.String()})

    def batches(*_: Any) -> Iterator[pl.DataFrame]:
        rows = map(_parquet_row, result.scores)
        while batch := list(islice(rows, _BATCH)):
            yield pl.DataFrame(batch, schema=schema, orient="row")

    with files.atomic(path) as stream:
        register_io_source(batches, schema=schema).sink_parquet(stream)


def _record(row: ScoreRow) -> dict[str, Any]:
    """The row by the names of `ROW_FIELDS`; refuses a value that is no finite number."""
    if isinstance(row.value, float) and not math.isfinite(row.value):
        raise ValueError(f"{row.metric} of {row.sample} is {row.value}; scores must be finite")
    return row.to_record()


def _parquet_row(row: ScoreRow) -> tuple[Any, ...]:
    record = _record(row)
    value, label = row.value, None
    if isinstance(value, bool):
        label = str(_cell(value))
    elif isinstance(value, str | list):
        label, value = label_of(value), None
    record["value"] = None if value is None else float(value)
    record["parts"] = _parts(row.parts)
    record["evidence"] = " ".join(row.evidence)
    return (*record.values(), label)


def write_lines(
    path: str | Path,
    heads: Sequence[str],
    lines: Iterable[Iterable[Any]],
    spell: Callable[[Any], str | float] | None = None,
) -> None:
    """Writes a CSV file whose cells no spreadsheet runs as formulas."""
    line = io.StringIO(newline="")
    # With this end both kinds of line ends in a cell are quoted; the file has line feeds.
    writer = csv.writer(line, lineterminator="\r\n")
    with files.atomic(path) as stream:
        for cells in chain([heads], lines):
            writer.writerow(map(spell or _cell, cells))
            text = printable.escaped(line.getvalue().removesuffix("\r\n"))
            stream.write(f"{text}\n".encode("utf-8", "replace"))
            line.seek(0)
            line.truncate()


def _cell(value: Any) -> str | float:
    """A cell that no spreadsheet takes for a formula; a flag is true or false."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = label_of(value) if isinstance(value, str | list) else _parts(value)
    if text.startswith(_FORMULA) and not _NUMBER.match(text):
        return f"'{text}"
    return text


def _parts(parts: Mapping[str, Any]) -> str:
    return dumps(parts).decode() if parts else ""


def consistency_of(result: Result) -> Result | None:
    """The consistency of a run, or the result itself where it is one; ``None`` without one."""
    families = {metric.family for metric in result.summary.metrics.values()}
    return result if families == {"consistency"} else result.consistency


def gaps(rows: Rows) -> str:
    """Which metrics have no value and why, as a cell of a table: ``hhem: needs_extra; ...``."""
    return "; ".join(f"{name}: {row.reason}" for name, row in rows.items() if row.value is None)


def by_query(
    result: Result, make: Callable[[Identity, Sample, Rows], Made]
) -> Iterator[tuple[str, str, list[Made]]]:
    """Groups what is made of the samples by query and system; a group ends with its last sample."""
    sizes = Counter((name, system) for name, system, _ in result.columns.identities)
    groups: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for identity, sample, rows in with_samples(result):
        key = identity[:2]
        groups[key].append(make(identity, sample, rows))
        if len(groups[key]) == sizes[key]:
            yield *key, groups.pop(key)


def run_numbers(identities: Iterable[Identity]) -> dict[Identity, int]:
    """The number of each sample among the runs of its query by one system, from 1."""
    runs = grouped((identity[:2], identity) for identity in identities)
    return {
        identity: number
        for identities_of in runs.values()
        for number, identity in enumerate(sorted(identities_of), start=1)
    }
