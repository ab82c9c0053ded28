"""Files that trec_eval reads beside qrels: judgements of several groups, preferences, z-scores.

Preferences have five columns (query, group, sub-group, document, level) or are qrels, whose
iteration column then names the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragassay.formats.format_words import wrong
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
    """Qrels of several groups: a frame of ``query``, ``group``, ``document`` and ``grade``. A
    document that a group judged twice for one query is an error."""
    return _distinct(path, _GROUPED)


def read_preferences(path: Path, *, qrels: bool = False) -> pl.DataFrame:
    """Preferences: a frame of ``query``, ``group``, ``subgroup``, ``document`` and ``level``. Of a
    qrels file each group has one sub-group. A document to which a sub-group gives two levels is an
    error."""
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
        once = f"{', '.join(key[:-1])} and {key[-1]}"
        line = second_line(path, layout, row)
        raise wrong("document_twice_in_group", path=path, line=line, once=once, **row)
    return frame


class Moments(NamedTuple):
    """Mean and standard deviation of a measure's values for a query."""

    mean: float
    deviation: float


def read_scales(path: Path) -> Mapping[tuple[str, str], Moments]:
    """A z-score file, as `Moments` by query and measure. A line has a query, a measure, a mean and
    a standard deviation."""
    scales: dict[tuple[str, str], Moments] = {}
    for number, raw in lines(path):
        fields = raw.decode(errors="replace").split()
        if not fields or fields[0].startswith("#"):
            continue
        with placed(path, number):
            if len(fields) != 4:
                raise wrong("z_score_columns", n=len(fields))
            query, measure, *numbers = fields
            try:
                scale = Moments(*map(float, numbers))
            except ValueError:
                scale = Moments(np.nan, np.nan)
            if not np.isfinite(scale).all() or scale.deviation < 0:
                raise wrong("no_moments", shown=" ".join(numbers))
            if (query, measure) in scales:
                raise wrong("measure_twice", measure=measure, query=query)
            scales[query, measure] = scale
    return scales
