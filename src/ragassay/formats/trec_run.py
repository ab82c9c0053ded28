"""TREC runs among the data files, and relevance judgements joined to samples by query id."""

from __future__ import annotations

import dataclasses
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragassay.counts import either, plural
from ragassay.errors import InputError, RagassayWarning
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records import Mapper
from ragassay.samples import GoldPassage, Passage, Sample

Qrels = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> grade."""


def with_gold(
    one: Format, path: Path, mapper: Mapper, gold: str | os.PathLike[str] | Qrels
) -> Iterator[Sample]:
    """Samples with the judgements of their query as gold; queries without any stay unchanged.

    A judged query that the data lacks becomes a sample that retrieved nothing (for each system),
    since a mean over judged queries counts it; the notes give their number.

    Args:
        one: the format of the file.
        path: the file.
        mapper: makes its samples.
        gold: a qrels file, a BEIR folder, or query id -> document id -> grade.
    """
    from ragassay.formats import trec_files

    if one is FORMAT and not isinstance(gold, Mapping):
        return _run(path, Path(gold), mapper)
    qrels = gold if isinstance(gold, Mapping) else trec_files.read_qrels_by_query(Path(gold))
    return _judged(one.read(path, mapper), qrels, mapper)


_ABSENT = ("judged queries that the data lacks", "They count as retrieving nothing.")


def _judged(samples: Iterator[Sample], qrels: Qrels, mapper: Mapper) -> Iterator[Sample]:
    asked: dict[str, set[str]] = {}
    for sample in samples:
        asked.setdefault(sample.system, set()).add(sample.id)
        grades = qrels.get(sample.id)
        yield sample if grades is None else dataclasses.replace(sample, gold=_gold(grades))
    for system, queries in asked.items():
        for query, grades in qrels.items():
            if query not in queries:
                mapper.note(*_ABSENT)
                yield Sample(id=query, system=system, passages=(), gold=_gold(grades))


def _run(path: Path, gold: Path, mapper: Mapper) -> Iterator[Sample]:
    for sample in read_run_samples(path, gold):
        if not sample.passages:
            mapper.note(*_ABSENT)
        yield sample


def _gold(grades: Mapping[str, int]) -> tuple[GoldPassage, ...]:
    return tuple(GoldPassage(id=key, grade=grade) for key, grade in grades.items())


def read_run_samples(run_path: Path, qrels_path: Path) -> Iterator[Sample]:
    """One sample for each judged query, in the order of the qrels.

    A query that the run lacks has ``passages=()``. Queries of the run that were never judged are
    left out, with a `RagassayWarning`. Passages are in trec_eval's order: score, then document id,
    both descending.

    Args:
        run_path: the TREC run.
        qrels_path: its qrels.

    Raises:
        InputError: see `ragassay.formats.trec_files`; also a document that occurs twice for one
            query, or no query in common.
    """
    from ragassay.formats import trec_files

    judged = trec_files.read_qrels_by_query(qrels_path)
    run = trec_files.read_run(run_path)
    in_run = run.frame["query"].unique()
    common = in_run.is_in(list(judged))
    if not common.any():
        raise trec_files.no_overlap(str(in_run[0]), next(iter(judged)), run_path)
    if unjudged := in_run.len() - int(common.sum()):
        warnings.warn(
            f"{run_path}: {plural(unjudged, 'query')} of the run "
            f"{either(unjudged, 'has no judgements and was', 'have no judgements and were')} "
            "left out.",
            RagassayWarning,
            stacklevel=2,
        )
    ordered = run.frame.filter(run.frame["query"].is_in(list(judged))).sort(
        "query", "score", "document", descending=[False, True, True]
    )
    blocks = ordered["query"].rle().struct.unnest()
    ends = blocks["len"].cum_sum().to_list()
    where = {
        query: slice(end - length, end)
        for query, length, end in zip(blocks["value"], blocks["len"], ends, strict=True)
    }
    documents, scores = ordered["document"], ordered["score"]
    for query, grades in judged.items():
        rows = where.get(query, slice(0, 0))
        names = documents[rows].to_list()
        if len(set(names)) < len(names):
            twice = next(name for name, n in Counter(names).items() if n > 1)
            raise trec_files.repeated(run_path, query, twice, run=True)
        passages = zip(names, scores[rows].to_list(), strict=True)
        yield Sample(
            id=query,
            system=run.tag,
            passages=tuple(Passage(id=name, score=score) for name, score in passages),
            gold=_gold(grades),
        )


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """Refuses the file: a run can only be evaluated with its judgements, by `with_gold`.

    Args:
        path: the file.
        mapper: not used.

    Raises:
        InputError: always.
    """
    raise InputError(
        "this is a TREC run, which holds no judgements",
        path=path,
        hint="Give its qrels as well.",
    )


def _sniff(head: Head) -> int:
    lines = (line.split() for line in head.start.splitlines())
    fields = next((line for line in lines if line and not line[0].startswith(b"#")), [])
    is_run = (
        len(fields) >= 6
        and len(fields[1]) <= _LONGEST_Q0
        and _INTEGER.fullmatch(fields[3])
        and _NUMBER.fullmatch(fields[4])
    )
    return SURE if head.container in ("table", "other") and is_run else NO


_LONGEST_Q0 = 8
_INTEGER = re.compile(rb"-?\d+")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


FORMAT = Format(
    name="trec_run",
    title="TREC run (six columns), evaluated with its qrels",
    suffixes=(".run", ".txt", ".trec"),
    sniff=_sniff,
    read=read,
)
