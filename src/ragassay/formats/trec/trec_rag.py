"""Answers of the TREC RAG tracks of 2024 and 2025: JSON Lines.

An answer is a list of sentences with citations; a citation is an index, from 0, into the list of
``references``, which are ids of passages. The topic is in the record (2024) or in its ``metadata``
(2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Passage, Sample, Statement
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import field_values
from ragassay.formats.sources import json_files, opening

_TOPIC_ID = ("topic_id", "narrative_id")
_TOPIC = ("topic", "narrative", "title")


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of an answer file, one a topic.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a record cannot be read.
        UsageError: columns were chosen.
    """
    mapper.refuse_columns("trec_rag")
    for line, record in json_files.json_records(path, mapper.note, mapper.encoding, nested=True):
        with opening.placed(path, line):
            sample = _sample(record, mapper, line)
        mapper.claim(sample, line)
        yield sample


def _sample(record: dict[str, Any], mapper: Mapper, line: int) -> Sample:
    inner = record.get("metadata")
    about = dict(record)
    if isinstance(inner, dict):
        del about["metadata"]
        about = {**inner, **about}
    listed = about.pop("references", None)
    if not isinstance(listed, list):
        raise field_values.not_a_list(listed, "references", "passage ids")
    cited = [_reference(item) for item in listed]
    query = field_values.text(_first(about, _TOPIC), "topic")
    return Sample(
        id=field_values.identifier(_first(about, _TOPIC_ID), "topic_id")
        or mapper.made_id(query, (), line),
        query=query,
        system=field_values.identifier(about.pop("run_id", None), "run_id") or mapper.system,
        passages=tuple(cited),
        answer=_answer(about.pop("answer", None), [passage.id or "" for passage in cited]),
        metadata={key: one for key, one in about.items() if mapper.fits_metadata(key, one, line)},
    )


def _first(about: dict[str, Any], names: Sequence[str]) -> Any:
    """Removes the first of these names from the record and gives its value."""
    return next((about.pop(name) for name in names if name in about), None)


def _reference(item: Any) -> Passage:
    if isinstance(item, dict):
        return Passage(
            field_values.text(item.get("text"), "references.text"),
            field_values.needed_identifier(item.get("id", item.get("docid")), "references.id"),
        )
    return Passage(id=field_values.needed_identifier(item, "references"))


def _answer(value: Any, references: Sequence[str]) -> Answer | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise field_values.not_a_list(value, "answer", "{'text': ..., 'citations': [...]}")
    sentences = []
    for item in value:
        if not isinstance(item, dict):
            raise field_values.not_a_list(item, "answer", "{'text': ..., 'citations': [...]}")
        if "text" not in item:
            raise InputError(
                f"a sentence has no 'text' among {', '.join(map(repr, item)) or 'no keys'}",
                field="answer",
                hint="Sentences are {'text': ..., 'citations': [...]}.",
            )
        words = field_values.text(item.get("text"), "answer.text") or ""
        cited = item.get("citations") or []
        if not isinstance(cited, list):
            raise field_values.not_a_list(cited, "answer.citations", "indices")
        ids = (_citation(one, references) for one in cited)
        sentences.append(Statement(words, tuple(dict.fromkeys(ids))))
    return Answer(" ".join(sentence.text for sentence in sentences), tuple(sentences))


def _citation(value: Any, references: Sequence[str]) -> str:
    """A citation's passage id. A text is an id already, even of a passage that was never
    retrieved."""
    if isinstance(value, str):
        return value
    index = field_values.whole_number(value, "answer.citations")
    if index is None or not 0 <= index < len(references):
        raise InputError(
            f"the citation {value} points outside the {len(references)} references",
            field="answer.citations",
            hint="Citations are indices into references, from 0.",
        )
    return references[index]


def _sniff(head: Head) -> int:
    if head.holds("query", "history", "passages"):
        return NO  # its references are answers, as in records of ours with statements
    answer = head.record.get("answer")
    fits = (
        isinstance(head.record.get("references"), list)
        and isinstance(answer, list)
        and all(isinstance(item, dict) and "text" in item for item in answer)
    )
    return SURE if fits else NO


FORMAT = Format(
    name="trec_rag",
    title="TREC RAG 2024 and 2025 answers (JSON Lines)",
    suffixes=(".jsonl", ".json"),
    sniff=_sniff,
    read=read,
)
