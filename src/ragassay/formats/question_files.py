"""Questions with what is expected (references, gold), joined to the samples of systems; and which
file has which of the chosen columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ragassay.base.errors import InputError, RagassayError
from ragassay.base.sample import Sample
from ragassay.formats.format import Format
from ragassay.formats.format_words import Notes, wrong
from ragassay.formats.records.chosen_columns import Columns, canonical
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.records.record_values import has_made_id
from ragassay.formats.records.sample_records import Mapper, MapperOptions

_EXPECTED = (
    *("references", "reference_groups", "negative_references"),
    *("gold", "answerability"),
)
"""Fields that say what is expected of the answer to a question."""


class Questions:
    """What is expected, by the ids of questions and by their texts.

    Args:
        path: where they come from, for errors.
        samples: the questions.

    Raises:
        InputError: two of one id expect different things.
    """

    def __init__(self, path: Path, samples: Iterable[Sample]) -> None:
        self.path = path
        self._by_id: dict[str, Sample] = {}
        by_query: dict[str, list[Sample]] = {}
        for one in samples:
            first = self._by_id.setdefault(one.id, one)
            if first is one and one.query is not None:
                by_query.setdefault(folded_text(one.query), []).append(one)
            elif any(getattr(first, name) != getattr(one, name) for name in _EXPECTED):
                raise wrong("question_twice", path=path, field="id", id=one.id)
        self._by_query = {query: one for query, (one, *more) in by_query.items() if not more}
        self.n_by_id = self.n_by_query = self.n_unknown = self.n_reworded = 0

    def joined(self, sample: Sample) -> Sample:
        """A sample with what is expected of its question: that with its id, else the only one with
        its query. A sample without such a question stays unchanged, and is counted.

        Raises:
            InputError: the sample has the id of one question and the query of another one.
        """
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
        by_id = by_name is not None and not has_made_id(sample)
        self.n_by_id += by_id
        self.n_by_query += not by_id
        return _with_expected(sample, question)


def _with_expected(sample: Sample, question: Sample) -> Sample:
    """A sample with those of the expected things that a question has."""
    values = {name: getattr(question, name) for name in _EXPECTED}
    expected = {name: one for name, one in values.items() if one != getattr(_BLANK, name)}
    if question.references:
        expected["reference_groups"] = question.reference_groups
    return replace(sample, query=sample.query or question.query, **expected)


_BLANK = Sample(id="none")


Held = Mapping[str, Sequence[str]]
"""Those of the chosen columns that a source has, by their fields."""

_LOOKED_AT = 100
"""Records that show which columns a file has: those of a system that failed lack some."""


class _LookingMapper(Mapper):
    """Looks at the first records, and ends the reading there."""

    def __init__(self, path: Path, **options: Unpack[MapperOptions]) -> None:
        super().__init__(path, **options)
        self.held: dict[str, Sequence[str]] = {}

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """Looks at the record, with the other fields of its entry."""
        self.held |= self.columns.held({**record, **(beside or {})})
        if line >= _LOOKED_AT:
            raise InputError("these records are enough")
        return _BLANK


def source_columns(file: tuple[Format, Path], options: MapperOptions) -> Held:
    """Which of the chosen columns a file has. Faults in it are no error here.

    Args:
        file: with its format.
        options: with the columns.

    Raises:
        UsageError: an unknown field.
    """
    reader, path = file
    if not options.get("columns") or path.is_dir():
        return {}
    mapper = _LookingMapper(path, **(options | MapperOptions(notes=Notes())))
    with suppress(RagassayError):  # reading all of the file raises it
        deque(reader.read(path, mapper), maxlen=0)
    return mapper.held


def columns_of_data(columns: Columns, data: Sequence[Held], questions: Sequence[Held]) -> Held:
    """The chosen columns without those that only the files of questions have.

    Args:
        columns: the user's choice.
        data: what the data has of them; empty where that is not known, and all columns are its own.
        questions: what the files of questions have of them.
    """
    return {
        one: names
        for one, names in canonical(columns).items()
        if not data
        or any(one in source for source in data)
        or not any(one in source for source in questions)
    }
