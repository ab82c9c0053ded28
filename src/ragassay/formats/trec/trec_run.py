"""TREC runs among the data files, and relevance judgements joined to samples by query id."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ragassay.base.counts import either, plural
from ragassay.base.errors import InputError, warn_user
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.option_words import OptionWords
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources.opening import opened
from ragassay.formats.trec.json_and_parquet import chosen, is_mapping

Qrels = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> grade."""


def with_gold(
    files: Sequence[tuple[Format, Path]],
    samples: Iterator[Sample],
    mapper: Mapper,
    gold: str | os.PathLike[str] | Qrels,
) -> Iterator[Sample]:
    """Samples with the judgements of their query as gold; queries without any stay unchanged.

    A judged query that the data lacks becomes a sample that retrieved nothing (for each system),
    since a mean over judged queries counts it; the notes give their number.

    Args:
        files: the files, each with its format; none for samples in memory. TREC runs are read here.
        samples: of other files; not read where all files are TREC runs and ``gold`` is a path.
        mapper: takes the notes.
        gold: a qrels file, a BEIR folder, or query id -> document id -> grade.

    Raises:
        InputError: a file cannot be read, or no sample of a system is of a judged query.
    """
    from ragassay.formats.trec import qrels_and_runs

    if files and all(one is FORMAT for one, _ in files) and not isinstance(gold, Mapping):
        for _, path in files:
            yield from judged_samples(path, Path(gold), mapper)
        return
    if isinstance(gold, Mapping):
        yield from _judged(samples, gold, None, mapper)
    else:
        path = Path(gold)
        yield from _judged(samples, qrels_and_runs.read_qrels_by_query(path), path, mapper)


_ABSENT = ("judged queries that the data lacks", "They count as retrieving nothing.")


def _judged(
    samples: Iterator[Sample], qrels: Qrels, path: Path | None, mapper: Mapper
) -> Iterator[Sample]:
    asked: dict[str, set[str]] = {}
    for sample in samples:
        asked.setdefault(sample.system, set()).add(sample.id)
        grades = qrels.get(sample.id)
        yield (
            sample if grades is None else dataclasses.replace(sample, gold=judged_documents(grades))
        )
    for system, queries in asked.items():
        # A mean of zeros, all of them of queries that the data lacks, would measure nothing.
        if qrels and queries.isdisjoint(qrels):
            raise _none_judged(queries, system if len(asked) > 1 else None, qrels, path)
    for system, queries in asked.items():
        for query, grades in qrels.items():
            if query not in queries:
                mapper.note(*_ABSENT)
                yield Sample(id=query, system=system, passages=(), gold=judged_documents(grades))


def _none_judged(
    queries: set[str], system: str | None, qrels: Qrels, path: Path | None
) -> InputError:
    """The error for samples none of which is of a judged query."""
    of = f"samples of system {system!r}" if system else "samples that name no system"
    return InputError(
        f"no judged query is among the {'samples' if system is None else of}, by id (the samples "
        f"have {min(queries)!r}, the qrels have {next(iter(qrels))!r})",
        path=path,
        hint="Check that qrels and data belong together and spell query ids alike. Where another "
        "column of the data holds the ids of the qrels, name it: "
        f"{OptionWords().columns('id', '<your column>')}.",
    )


def judged_samples(path: Path, gold: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of `read_run_samples`; the mapper's notes count the queries that the run lacks.

    Args:
        path: the TREC run.
        gold: its qrels, or a BEIR folder.
        mapper: takes the notes.
    """
    for sample in read_run_samples(path, gold):
        if not sample.passages:
            mapper.note(*_ABSENT)
        yield sample


def judged_documents(grades: Mapping[str, int]) -> tuple[GoldPassage, ...]:
    """The judged documents of a query, by their ids.

    Args:
        grades: by document.
    """
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
        InputError: see `qrels_and_runs`; also a document that occurs twice for one
            query, or no query in common.
    """
    from ragassay.formats.trec import qrels_and_runs

    judged = qrels_and_runs.read_qrels_by_query(qrels_path)
    run = qrels_and_runs.read_run(run_path)
    in_run = run.frame["query"].unique()
    common = in_run.is_in(list(judged))
    if not common.any():
        raise qrels_and_runs.no_overlap(str(in_run[0]), next(iter(judged)), run_path)
    if unjudged := in_run.len() - int(common.sum()):
        warn_user(
            f"{run_path}: {plural(unjudged, 'query')} of the run "
            f"{either(unjudged, 'has no judgements and was', 'have no judgements and were')} "
            "left out."
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
            raise qrels_and_runs.repeated(run_path, query, twice, run=True)
        passages = zip(names, scores[rows].to_list(), strict=True)
        yield Sample(
            id=query,
            system=run.tag,
            passages=tuple(Passage(id=name, score=score) for name, score in passages),
            gold=judged_documents(grades),
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
        "this is a TREC run or its judgements, and needs the other",
        path=path,
        hint="Give the run, with its qrels.",
    )


def is_run(path: Path) -> bool:
    """Whether a file begins like a TREC run."""
    with opened(path) as stream:
        return _begins_like_run(stream.read(1 << 12))


def _sniff(head: Head) -> int:
    if head.container in ("json", "parquet"):
        table = len(head.columns) < 6 and chosen(head.columns, "score")
        return SURE if table or is_mapping(head.record) else NO
    return SURE if head.container in ("table", "other") and _begins_like_run(head.start) else NO


def _begins_like_run(start: bytes) -> bool:
    lines = (line.split() for line in start.splitlines())
    fields = next((line for line in lines if line and not line[0].startswith(b"#")), [])
    return bool(
        len(fields) >= 6
        and len(fields[1]) <= _LONGEST_Q0
        and _INTEGER.fullmatch(fields[3])
        and _NUMBER.fullmatch(fields[4])
    )


_LONGEST_Q0 = 8
_INTEGER = re.compile(rb"-?\d+")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


FORMAT = Format(
    name="trec_run",
    title="TREC run (six columns; JSON {query: {document: score}}; Parquet), with its qrels",
    suffixes=(".run", ".txt", ".trec"),
    sniff=_sniff,
    read=read,
)
