"""Questions with what is expected of their answers (references, gold), joined to samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.records.passages import IN_QUERIES, refuse_ids
from ragassay.formats.records.sample_records import has_made_id

_EXPECTED = (*("references", "reference_groups", "negative_references"), *("gold", "answerability"))
"""Fields that say what is expected of the answer to a question."""


_BLANK = Sample(id="none")


class Questions:
    """What is expected, by the ids of questions and by their texts; ``unused`` are the ids of those
    without a sample so far. Two questions of one id that expect different things are an error, with
    the path of their file."""

    def __init__(self, path: Path, samples: Iterable[Sample]) -> None:
        self.path = path
        self._by_id: dict[str, Sample] = {}
        by_query: dict[str, list[Sample]] = {}
        for sample in samples:
            first = self._by_id.setdefault(sample.id, sample)
            if first is sample and sample.query is not None:
                by_query.setdefault(folded_text(sample.query), []).append(sample)
            elif any(getattr(first, name) != getattr(sample, name) for name in _EXPECTED):
                raise wrong("question_twice", path=path, field="id", id=sample.id)
        self.unused = {*self._by_id}
        self._by_query = {query: item for query, (item, *more) in by_query.items() if not more}
        self.n_by_id = self.n_by_query = self.n_unknown = self.n_reworded = 0

    def joined(self, sample: Sample) -> Sample:
        """A sample with what is expected of its question: that with its id, else the only one with
        its query. A sample without such a question stays unchanged, and is counted; one with the id
        of one question and the query of another is an error."""
        question = by_name = self._by_id.get(sample.id)
        asked = None if sample.query is None else folded_text(sample.query)
        same = None if asked is None else self._by_query.get(asked)
        if question is None:
            question = same
        elif question.query is not None and asked not in (None, folded_text(question.query)):
            if same is not None:
                facts = {"id": sample.id, "other": same.id, "query": question.query[:80]}
                raise wrong("two_questions", path=self.path, field="id", **facts)
            self.n_reworded += 1
        if question is None:
            self.n_unknown += 1
            return sample
        self.unused.discard(question.id)
        by_id = by_name is not None and not has_made_id(sample)
        self.n_by_id += by_id
        self.n_by_query += not by_id
        values = {name: getattr(question, name) for name in _EXPECTED}
        expected = {name: value for name, value in values.items() if value != getattr(_BLANK, name)}
        if question.references:
            expected["reference_groups"] = question.reference_groups
        refuse_ids(question.gold, sample.passages, "gold", IN_QUERIES)
        return replace(sample, query=sample.query or question.query, **expected)
