"""Files of questions with what is expected (references, gold), joined to the samples of systems."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

from ragassay.base.errors import InputError, RagassayError
from ragassay.base.sample import Sample
from ragassay.formats.format import Format
from ragassay.formats.format_words import Notes, wrong
from ragassay.formats.records.chosen_columns import ChosenColumns, Columns, canonical
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.records.record_parts import has_made_id
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
        self._met: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def unmet(self) -> list[Sample]:
        """The questions that no sample had."""
        return [one for name, one in self._by_id.items() if name not in self._met]

    def joined(self, sample: Sample, mapper: Mapper | None = None) -> Sample:
        """A sample with what is expected of its question: that with its id, else the only one with
        its query. A sample without such a question stays unchanged, and is counted.

        Args:
            sample: of a system.
            mapper: takes a note that it was joined, and how; none where left out.

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
        self._met.add(question.id)
        by_id = by_name is not None and not has_made_id(sample)
        self.n_by_id += by_id
        self.n_by_query += not by_id
        if mapper is not None:
            mapper.tell("joined", by="id" if by_id else "query", path=self.path)
        return _with_expected(sample, question)

    def tell_rest(self, mapper: Mapper) -> None:
        """Notes which samples have no question, and which questions no sample."""
        counts = {"reworded": self.n_reworded, "unknown": self.n_unknown, "unmet": len(self.unmet)}
        for kind, n in counts.items():
            if n:
                mapper.tell(kind, count=n, path=self.path)


def _with_expected(sample: Sample, question: Sample) -> Sample:
    """A sample with those of the expected things that a question has."""
    values = {name: getattr(question, name) for name in _EXPECTED}
    expected = {name: one for name, one in values.items() if one != getattr(_BLANK, name)}
    if question.references:
        expected["reference_groups"] = question.reference_groups
    return replace(sample, query=sample.query or question.query, **expected)


_BLANK = Sample(id="none")


def is_question(sample: Sample) -> bool:
    """Whether a sample has no system and no outputs of one, but references, gold or a label."""
    outputs = (sample.answer, sample.passages, sample.failure)
    if sample.system or sample.runs or any(one is not None for one in outputs):
        return False
    return bool(sample.references or sample.gold or sample.answerability is not None)


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
    mapper = _LookingMapper(path, **_quiet(options))
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


Files = Sequence[tuple[Format, Path]]


def joined_files(files: Files, mapper: Mapper, options: MapperOptions) -> Iterator[Sample]:
    """The samples of several files. Where some hold only questions with what is expected, and
    others the outputs of systems, the questions are joined to the samples of the others. Questions
    of a file that match no sample at all follow as samples of their own. Chosen columns count in
    the files that have them. The options are those with which the mapper was made."""
    if len(files) < 2:
        yield from mapper.of_files(files)
        return
    sources = [source_columns(file, options) for file in files]
    own = [_quiet(options, columns=dict(one)) for one in sources]
    asked = [at for at, file in enumerate(files) if _begins_with_question(file, own[at])]
    rest = [at for at in range(len(files)) if at not in asked]
    questions = [_questions(files[at], own[at]) for at in asked] if rest else []
    expected = [one for one in questions if one is not None]
    if not expected or len(expected) < len(asked):
        yield from mapper.of_files(files)
        return
    if columns := options.get("columns"):
        data, others = [sources[at] for at in rest], [sources[at] for at in asked]
        mapper.columns = ChosenColumns(columns_of_data(columns, data, others))
    for sample in mapper.of_files([files[at] for at in rest], several=True):
        for one in expected:
            sample = one.joined(sample, mapper)
        yield sample
    for at, one in zip(asked, expected, strict=True):
        if len(one.unmet) < len(one):
            one.tell_rest(mapper)
        else:
            mapper.columns = ChosenColumns(own[at]["columns"])
            yield from mapper.of_files([files[at]], several=True)


def _quiet(options: MapperOptions, **more: Any) -> MapperOptions:
    """The options for a first look at a file: no notes, and not the system of the run."""
    return cast("MapperOptions", {**options, "notes": Notes(), "system": None, **more})


def _begins_with_question(file: tuple[Format, Path], options: MapperOptions) -> bool:
    reader, path = file
    if path.is_dir():
        return False
    with suppress(InputError):  # reading all of the file raises it
        first = next(iter(reader.read(path, Mapper(path, **options))), None)
        return first is not None and is_question(first)
    return False


def _questions(file: tuple[Format, Path], options: MapperOptions) -> Questions | None:
    """The questions of a file; ``None`` where a record has something of a system."""
    reader, path = file
    samples = list(reader.read(path, Mapper(path, **options)))
    return Questions(path, samples) if all(map(is_question, samples)) else None
