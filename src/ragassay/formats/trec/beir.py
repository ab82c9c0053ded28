"""BEIR folders with the runs of systems in them: ``corpus.jsonl``, ``queries.jsonl``,
``qrels/*.tsv`` and TREC runs, in the folder itself or in ``runs/``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.format_words import wrong
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import json_files
from ragassay.formats.sources.opening import placed
from ragassay.formats.trec import qrels_and_runs, trec_run

P = TypeVar("P", Passage, GoldPassage)
_OTHERS = frozenset({".jsonl", ".json", ".md", ".tsv", ".gz", ".yaml"})


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """A sample for each judged query and run, with the texts of queries and passages. The texts of
    all passages that a run retrieved are held in memory. Where there is no run and queries alone
    are wanted, a sample for each judged query."""
    mapper.refuse_columns("beir")
    runs = _runs(path)
    if not runs and not mapper.queries_alone:
        raise wrong("beir_without_run", path=path, folder=path)
    samples = [one for run in runs for one in trec_run.judged_samples(run, path, mapper)]
    if not runs:
        judged = qrels_and_runs.read_qrels_by_query(path)
        samples = [
            Sample(id=name, gold=trec_run.judged_documents(each)) for name, each in judged.items()
        ]
    queries = _texts(path, "queries", {sample.id for sample in samples})
    wanted = {one.id for sample in samples for one in sample.passages or ()}
    wanted |= {one.id for sample in samples for one in sample.gold or ()}
    corpus = _texts(path, "corpus", wanted)
    for number, sample in enumerate(samples, 1):
        if sample.id not in queries:
            mapper.tell("query_without_text")
        filled = replace(
            sample,
            query=queries.get(sample.id),
            passages=None
            if sample.passages is None
            else tuple(_filled(one, corpus, mapper) for one in sample.passages),
            gold=tuple(_filled(one, corpus, mapper) for one in sample.gold or ()),
        )
        with placed(path):
            mapper.claim(filled, number)
        yield filled


def _filled(one: P, corpus: dict[str, str], mapper: Mapper) -> P:
    text = corpus.get(one.id or "")
    if text is None:
        mapper.tell("not_in_corpus")
        return one
    return replace(one, text=text)


def _texts(folder: Path, name: str, wanted: set[str | None]) -> dict[str, str]:
    """The texts of a file of the folder by their ids; title and text where both are given."""
    path = next((one for one in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
                 if one.is_file()), None)  # fmt: skip
    if path is None:
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
    files = (one for one in sorted(paths) if one.is_file() and one.suffix not in _OTHERS)
    return [one for one in files if trec_run.is_run(one)]


def _sniff(head: Head) -> int:
    names = {name.removesuffix(".gz") for name in head.columns}
    return SURE if head.container == "folder" and {"queries.jsonl", "qrels"} <= names else NO


FORMAT = Format(
    name="beir",
    title="BEIR folder (corpus, queries, qrels) with TREC runs in it",
    suffixes=(),
    sniff=_sniff,
    read=read,
)
