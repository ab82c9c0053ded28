"""Files that trec_eval reads beside qrels: judgements of several groups, preferences, z-scores.

Preferences have five columns (query, group, sub-group, document, level) or are qrels, whose
iteration column then names the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragassay.base.errors import InputError
from ragassay.formats.sources.opening import lines, placed
from ragassay.formats.trec.trec_tables import Layout, read_table, second_line

if TYPE_CHECKING:
    import polars as pl

_GROUPED = Layout("qrels file", ("query", "group", "document", "grade"), "grade", True)
_LEVELS = Layout("qrels file", ("query", "group", "document", "level"), "level", False)
_PREFERENCES = Layout(
    "preferences file", ("query", "group", "subgroup", "document", "level"), "level", False
)


def read_grouped_qrels(path: Path) -> pl.DataFrame:
    """Qrels of several groups: a frame of ``query``, ``group``, ``document`` and ``grade``.

    Raises:
        InputError: see `read_table`; or a document that a group judged
            twice for one query.
    """
    return _distinct(path, _GROUPED)


def read_preferences(path: Path, *, qrels: bool = False) -> pl.DataFrame:
    """Preferences: a frame of ``query``, ``group``, ``subgroup``, ``document`` and ``level``.

    Args:
        path: the file.
        qrels: it is a qrels file; each group then has one sub-group.

    Raises:
        InputError: see `read_table`; or a document to which a sub-group
            gives two levels.
    """
    import polars as pl

    if not qrels:
        return _distinct(path, _PREFERENCES)
    return _distinct(path, _LEVELS).with_columns(subgroup=pl.lit("0"))


def _distinct(path: Path, layout: Layout) -> pl.DataFrame:
    """The file's columns, after a check that no key has two rows."""
    frame = read_table(path, layout)
    key = [name for name in layout.columns if name != layout.number]
    keys = frame.select(key)
    repeated = keys.filter(keys.is_duplicated())
    if len(repeated):
        row = repeated.row(0, named=True)
        raise InputError(
            f"document {row['document']!r} occurs a second time in group "
            f"{row['group']!r} of query {row['query']!r}",
            path=path,
            line=second_line(path, layout, row),
            hint=f"Keep one line for each {', '.join(key[:-1])} and {key[-1]}.",
        )
    return frame


class Moments(NamedTuple):
    """Mean and standard deviation of a measure's values for a query."""

    mean: float
    deviation: float


def read_scales(path: Path) -> Mapping[tuple[str, str], Moments]:
    """A z-score file, as `Moments` by query and measure.

    A line has a query, a measure, a mean and a standard deviation.

    Raises:
        InputError: the file cannot be read, or a line has other than four columns, a number that
            is none, a negative deviation or a pair that stood before.
    """
    scales: dict[tuple[str, str], Moments] = {}
    for number, raw in lines(path):
        fields = raw.decode(errors="replace").split()
        if not fields or fields[0].startswith("#"):
            continue
        with placed(path, number):
            if len(fields) != 4:
                raise InputError(
                    f"{len(fields)} columns stand where a z-score file has 4",
                    hint="The columns are query, measure, mean, standard deviation.",
                )
            query, measure, *numbers = fields
            try:
                scale = Moments(*map(float, numbers))
            except ValueError:
                scale = Moments(np.nan, np.nan)
            if not np.isfinite(scale).all() or scale.deviation < 0:
                raise InputError(f"{' '.join(numbers)!r} are not a mean and a standard deviation")
            if (query, measure) in scales:
                raise InputError(f"measure {measure!r} occurs a second time for query {query!r}")
            scales[query, measure] = scale
    return scales
