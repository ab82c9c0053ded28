"""Qrels among the data files: told for what they are, as they are no answers of a system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ragassay.base.counts import plural
from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.trec.json_and_parquet import chosen

_WHOLE = re.compile(r"[+-]?\d+(\.0*)?|True")
_QRELS_LINE = re.compile(rb"\S+[ \t]+\S+[ \t]+\S.*[ \t]+[+-]?\d{1,3}(\.0*)?\s*")


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """Refuses the file: judgements belong beside a run.

    Args:
        path: the file.
        mapper: not used.

    Raises:
        InputError: always; it says what the file holds.
    """
    from ragassay.formats.trec.qrels_and_runs import read_qrels

    frame = read_qrels(path)
    grades = ", ".join(map(str, sorted(frame["grade"].unique())[:8]))
    twice = int(frame.select("query", "document").is_duplicated().sum())
    held = [
        plural(frame["query"].n_unique(), "query"),
        plural(frame["document"].n_unique(), "document"),
        f"grades {grades}",
        *([f"{plural(twice, 'line')} of documents that are judged twice"] if twice else []),
    ]
    raise InputError(
        f"these are judgements (qrels: {', '.join(held)}), not answers of a system",
        path=path,
        hint=f"Give them beside a run: ragassay run RUN --qrels {path}.",
    )


def _sniff(head: Head) -> int:
    known = chosen(head.columns, "grade")
    if known and len(head.columns) <= 4:
        # A column called score may hold a run's; Parquet shows no value here.
        shown = head.record.get(known["grade"], known["grade"] != "score")
        return SURE if _WHOLE.fullmatch(str(shown)) else NO
    lines = [one for one in head.start.split(b"\n") if one.strip() and not one.startswith(b"#")]
    is_qrels = head.container in ("table", "other") and len(lines) > 0
    return SURE if is_qrels and all(map(_QRELS_LINE.fullmatch, lines[:5])) else NO


FORMAT = Format(
    name="qrels",
    title="Judgements (TREC or BEIR qrels), given by --qrels beside a run",
    suffixes=(".qrels",),
    sniff=_sniff,
    read=read,
)
