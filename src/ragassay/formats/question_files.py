"""Questions with what is expected (references, gold), joined to the samples of systems; and which
file has which of the chosen columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.formats.column_placement import look
from ragassay.formats.format import Format
from ragassay.formats.format_words import wrong
from ragassay.formats.records.chosen_columns import Columns, canonical
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.records.record_values import has_made_id
from ragassay.formats.records.sample_records import MapperOptions

_EXPECTED = (
    *("references", "reference_groups", "negative_references"),
    *("gold", "answerability"),
)
"""Fields that say what is expected of the answer to a question."""


class Questions:
    """What is expected, by the ids of questions and by their texts. Two questions of one id that
    expect different things are an error, with the path of their file."""

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
        by_id = by_name is not None and not has_made_id(sample)
        self.n_by_id += by_id
        self.n_by_query += not by_id
        values = {name: getattr(question, name) for name in _EXPECTED}
        expected = {name: one for name, one in values.items() if one != getattr(_BLANK, name)}
        if question.references:
            expected["reference_groups"] = question.reference_groups
        return replace(sample, query=sample.query or question.query, **expected)


_BLANK = Sample(id="none")


Held = Mapping[str, Sequence[str]]
"""Those of the chosen columns that a source has, by their fields."""


def source_columns(file: tuple[Format, Path], options: MapperOptions) -> Held:
    """Which of the chosen columns (of the options) a file has, of which the format is given. Faults
    in it are no error here, but an unknown field is one."""
    reader, path = file
    has_columns = options.get("columns") and not path.is_dir()
    return look(reader, path, options).held if has_columns else {}


def columns_of_data(columns: Columns, data: Sequence[Held], questions: Sequence[Held]) -> Held:
    """The chosen columns without those that only the files of questions have. Where it is not known
    what the data has of them, ``data`` is empty, and all columns are its own."""
    return {
        one: names
        for one, names in canonical(columns).items()
        if not data
        or any(one in source for source in data)
        or not any(one in source for source in questions)
    }
