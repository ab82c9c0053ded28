"""TREC runs among the data files, relevance judgements joined to samples by query id, and BEIR
folders with the runs of systems in them: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/*.tsv`` and
TREC runs, in the folder itself or in ``runs/``."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.base.errors import warn_user
from ragassay.base.printable import either, plural
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.format_words import OptionWords, wrong
from ragassay.formats.records.passages import P
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import json_files
from ragassay.formats.sources.opening import opened, placed
from ragassay.formats.trec import trec_files
from ragassay.formats.trec.trec_files import chosen, is_mapping
from ragassay.formats.trec.trec_tables import NUMBER

Qrels = Mapping[str, Mapping[str, int]]
"""Query id -> document id -> grade."""


def with_gold(
    files: Sequence[tuple[Format, Path]],
    samples: Iterator[Sample],
    mapper: Mapper,
    gold: str | os.PathLike[str] | Qrels,
) -> Iterator[Sample]:
    """Samples (of TREC runs among the files, else those given) with the judgements of their query
    as gold; queries without any stay unchanged. A judged query that the data lacks becomes a sample
    that retrieved nothing, for each system: a mean over judged queries counts it."""
    if files and all(item is RUN for item, _ in files) and not isinstance(gold, Mapping):
        for _, run in files:
            yield from judged_samples(run, Path(gold), mapper)
        return
    path = None if isinstance(gold, Mapping) else Path(gold)
    qrels = gold if isinstance(gold, Mapping) else trec_files.read_qrels_by_query(Path(gold))
    asked: dict[str, set[str]] = {}
    for sample in samples:
        asked.setdefault(sample.system, set()).add(sample.id)
        grades = qrels.get(sample.id)
        yield sample if grades is None else replace(sample, gold=judged_documents(grades))
    for system, queries in asked.items():
        # A mean of zeros, all of them of queries that the data lacks, would measure nothing.
        if qrels and queries.isdisjoint(qrels):
            of = f"samples of system {system!r}" if system else "samples that name no system"
            choice = OptionWords().columns("id", "<your column>")
            facts = {"of": of if len(asked) > 1 else "samples", "choice": choice}
            names = {"in_data": min(queries), "in_qrels": next(iter(qrels))}
            raise wrong("no_sample_judged", path=path, **facts, **names)
    for system, queries in asked.items():
        for query, grades in qrels.items():
            if query not in queries:
                mapper.tell("absent_query")
                yield Sample(id=query, system=system, passages=(), gold=judged_documents(grades))


def judged_documents(grades: Mapping[str, int]) -> tuple[GoldPassage, ...]:
    """The judged documents of a query, by their ids."""
    return tuple(GoldPassage(id=key, grade=grade) for key, grade in grades.items())


def judged_samples(run_path: Path, qrels_path: Path, mapper: Mapper) -> Iterator[Sample]:
    """One sample for each judged query, in the order of the qrels; a query that the run lacks has
    ``passages=()``. Queries that were never judged are left out, with a warning. Passages are in
    trec_eval's order: score, then document id, both descending."""
    judged = trec_files.read_qrels_by_query(qrels_path)
    run = trec_files.read_run(run_path)
    in_run = run.frame["query"].unique()
    common = in_run.is_in(list(judged))
    if not common.any():
        raise wrong("none_judged", path=run_path, in_run=in_run[0], in_qrels=next(iter(judged)))
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
    ends = blocks["len"].cum_sum()
    places = zip(blocks["value"], ends - blocks["len"], ends, strict=True)
    where = {query: slice(begin, end) for query, begin, end in places}
    documents, scores = ordered["document"], ordered["score"]
    for query, grades in judged.items():
        rows = where.get(query, slice(0, 0))
        names = documents[rows].to_list()
        if len(set(names)) < len(names):
            twice = next(name for name, n in Counter(names).items() if n > 1)
            raise trec_files.repeated(run_path, query, twice, run=True)
        if not names:
            mapper.tell("absent_query")
        passages = zip(names, scores[rows].to_list(), strict=True)
        retrieved = tuple(Passage(id=name, score=score) for name, score in passages)
        gold = judged_documents(grades)
        yield Sample(id=query, system=run.tag, passages=retrieved, gold=gold)


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """Refuses the file: a run can only be evaluated with its judgements, by `with_gold`."""
    raise wrong("run_alone", path=path)


def _is_run(head: Head) -> int:
    if head.container in ("json", "parquet"):
        table = len(head.columns) < 6 and chosen(head.columns, "score")
        return SURE if table or is_mapping(head.record) else NO
    return SURE if _begins_like_run(head.start) else NO


def _begins_like_run(start: bytes) -> bool:
    lines = (line.split() for line in start.splitlines())
    fields = next((line for line in lines if line and not line[0].startswith(b"#")), [])
    if len(fields) < 6 or len(fields[1]) > _LONGEST_Q0:
        return False
    return bool(_INTEGER.fullmatch(fields[3]) and NUMBER.fullmatch(fields[4]))


_LONGEST_Q0 = 8
_INTEGER = re.compile(rb"-?\d+")

_WHOLE = re.compile(r"[+-]?\d+(\.0*)?|True")
_QRELS_LINE = re.compile(rb"\S+[ \t]+\S+[ \t]+\S.*[ \t]+[+-]?\d{1,3}(\.0*)?\s*")


def _read_qrels(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """Refuses the file, saying what it holds: judgements belong beside a run."""
    frame = trec_files.read_qrels(path)
    grades = ", ".join(map(str, sorted(frame["grade"].unique())[:8]))
    twice = int(frame.select("query", "document").is_duplicated().sum())
    held = [plural(frame[name].n_unique(), name) for name in ("query", "document")]
    held += [f"grades {grades}"]
    held += [f"{plural(twice, 'line')} of documents that are judged twice"] * bool(twice)
    raise wrong("qrels", path=path, held=", ".join(held), file=path)


def _is_qrels(head: Head) -> int:
    known = chosen(head.columns, "grade")
    if known and len(head.columns) <= 4:
        # A column called score may hold a run's; Parquet shows no value here.
        shown = head.record.get(known["grade"], known["grade"] != "score")
        return SURE if _WHOLE.fullmatch(str(shown)) else NO
    lines = [part for part in head.start.split(b"\n") if part.strip() and not part.startswith(b"#")]
    return SURE if lines and all(map(_QRELS_LINE.fullmatch, lines[:5])) else NO


_OTHERS = frozenset({".jsonl", ".json", ".md", ".tsv", ".gz", ".yaml"})


def _read_beir(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """A sample for each judged query and run, with the texts of queries and passages. The texts of
    all passages that are retrieved or judged are held in memory. Where there is no run and queries
    alone are wanted, a sample for each judged query."""
    mapper.refuse_columns("beir")
    runs = _runs(path)
    if not runs and not mapper.queries_alone:
        raise wrong("beir_without_run", path=path, folder=path)
    samples = [judged_sample for run in runs for judged_sample in judged_samples(run, path, mapper)]
    if not runs:
        judged = trec_files.read_qrels_by_query(path)
        samples = [Sample(id=name, gold=judged_documents(each)) for name, each in judged.items()]
    queries = _beir_texts(path, "queries", {sample.id for sample in samples})
    wanted = {passage.id for sample in samples for passage in sample.passages or ()}
    wanted |= {passage.id for sample in samples for passage in sample.gold or ()}
    corpus = _beir_texts(path, "corpus", wanted)

    def filled(passage: P) -> P:
        if (text := corpus.get(passage.id or "")) is None:
            mapper.tell("not_in_corpus")
        return passage if text is None else replace(passage, text=text)

    for number, sample in enumerate(samples, 1):
        if sample.id not in queries:
            mapper.tell("query_without_text")
        retrieved, gold = sample.passages, tuple(map(filled, sample.gold or ()))
        retrieved = None if retrieved is None else tuple(map(filled, retrieved))
        made = replace(sample, query=queries.get(sample.id), passages=retrieved, gold=gold)
        with placed(path):
            mapper.claim(made, number)
        yield made


def _beir_texts(folder: Path, name: str, wanted: set[str | None]) -> dict[str, str]:
    """The texts of a file of the folder by their ids; title and text where both are given."""
    paths = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    if (path := next(filter(Path.is_file, paths), None)) is None:
        return {}
    texts: dict[str, str] = {}
    for line, record in json_files.json_records(path):
        key = record.get("_id", record.get("id"))
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise wrong("id_missing", path=path, line=line, field="_id")
        if str(key) in wanted:
            parts = [record.get("title"), record.get("text")]
            texts[str(key)] = "\n".join(part for part in parts if isinstance(part, str) and part)
    return texts


def _runs(folder: Path) -> list[Path]:
    paths = [*folder.glob("*"), *folder.glob("runs/*")]
    files = (path for path in sorted(paths) if path.is_file() and path.suffix not in _OTHERS)
    runs: list[Path] = []
    for file in files:
        with opened(file) as stream:
            runs += [file] if _begins_like_run(stream.read(1 << 12)) else []
    return runs


def _is_beir(head: Head) -> int:
    names = {name.removesuffix(".gz") for name in head.columns}
    return SURE if {"queries.jsonl", "qrels"} <= names else NO


_RUN = "TREC run (six columns; JSON {query: {document: score}}; Parquet), with its qrels"
_JUDGEMENTS = "Judgements (TREC or BEIR qrels), given by --qrels beside a run"
_FOLDER = "BEIR folder (corpus, queries, qrels) with TREC runs in it"
_OF_TEXT = ("json", "parquet", "table", "other")
RUN = Format("trec_run", _RUN, (".run", ".txt", ".trec"), _is_run, read, _OF_TEXT)
FORMATS = [
    Format("qrels", _JUDGEMENTS, (".qrels",), _is_qrels, _read_qrels, _OF_TEXT),
    RUN,
    Format("beir", _FOLDER, (), _is_beir, _read_beir, ("folder",)),
]
