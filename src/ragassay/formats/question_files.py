"""Files of questions with what is expected (references, gold), joined to the samples of systems."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, RagassayError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.format import Format
from ragassay.formats.format_words import Notes, OptionWords, wrong
from ragassay.formats.records.chosen_columns import ChosenColumns, Columns, canonical
from ragassay.formats.records.identities import has_made_id
from ragassay.formats.records.sample_records import Mapper, MapperOptions
from ragassay.formats.records.values.field_values import folded_text

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
        """Notes which samples have no question, and which questions no sample.

        Args:
            mapper: takes the notes.
        """
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


@dataclass(frozen=True)
class SourceColumns:
    """Which of the chosen columns a source has, by its first record.

    Attributes:
        name: of the source, for errors.
        columns: all columns of the record; empty where there is no record to look at.
        held: the chosen columns that it has, by their fields.
        missing: the errors for those that it lacks.
    """

    name: object
    columns: tuple[str, ...] = ()
    held: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: Mapping[str, InputError] = field(default_factory=dict)

    @classmethod
    def at_record(
        cls,
        name: object,
        record: Mapping[str, Any],
        columns: Columns,
        excused: Collection[str] = (),
    ) -> SourceColumns:
        """What a record shows.

        Args:
            name: of its source.
            record: the first one, with all that columns may reach into.
            columns: the user's choice.
            excused: fields that the record may lack.
        """
        held: dict[str, Any] = {}
        missing: dict[str, InputError] = {}
        for wanted, names in canonical(columns).items():
            # Each by itself: two fields may use one column, and one of them a path into it.
            chosen = ChosenColumns({wanted: names})
            if chosen.fields_in(record):
                held[wanted] = names
            missing |= dict(chosen.missing(record, excused))
        return cls(name, tuple(record), held, missing)


class _LookingMapper(Mapper):
    """Keeps the first record that shows which columns there are, and ends the reading there."""

    first: Mapping[str, Any] | None = None
    excused: frozenset[str] = frozenset()

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """Keeps the record, with the other fields of its entry."""
        everything = {**record, **(beside or {})}
        excused = self.columns.excused(everything, made=beside is not None)
        if self.first is None or not excused:
            self.first, self.excused = everything, excused
        if excused:
            return Sample(id="a record of a system that failed")
        raise InputError("one record is enough")


def source_columns(file: tuple[Format, Path], options: MapperOptions) -> SourceColumns:
    """Which of the chosen columns a file has. Faults in it are no error here.

    Args:
        file: with its format.
        options: with the columns.

    Raises:
        UsageError: an unknown field.
    """
    reader, path = file
    columns = options.get("columns")
    if not columns or path.is_dir():
        return SourceColumns(path)
    quiet: MapperOptions = {**options, "notes": Notes()}
    mapper = _LookingMapper(path, **quiet)
    with suppress(RagassayError):  # reading all of the file raises it
        deque(islice(reader.read(path, mapper), _MOST_FAILED), maxlen=0)
    if mapper.first is None:
        return SourceColumns(path)
    return SourceColumns.at_record(path, mapper.first, columns, mapper.excused)


_MOST_FAILED = 10_000
"""Records of a system that failed after which the reading ends."""


def columns_of_data(
    columns: Columns, data: Sequence[SourceColumns], questions: Sequence[SourceColumns]
) -> dict[str, Sequence[str]]:
    """The chosen columns without those that only the files of questions have.

    Args:
        columns: the user's choice.
        data: what the data has of them; empty where that is not known, and all columns are its own.
        questions: what the files of questions have of them.

    Raises:
        InputError: none of them has a column.
    """
    own: dict[str, Sequence[str]] = {}
    for one, names in canonical(columns).items():
        if data and not any(one in source.held for source in data):
            if any(one in source.held for source in questions):
                continue
            if all(one in source.missing for source in data):
                others = [source for source in questions if source.columns]
                wrong = data[0].missing[one]
                also = "".join(f", and none in {source.name}" for source in others)
                in_questions = "".join(
                    f" In {source.name}: {', '.join(source.columns)}. "
                    f"{did_you_mean(names[0], source.columns)}"
                    for source in others
                )
                raise wrong.but(
                    problem=wrong.problem + also,
                    path=data[0].name,
                    hint=f"{wrong.hint or ''}{in_questions}",
                )
        own[one] = names
    return own


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
    # A system that is named for all is none of a file of questions.
    quiet: MapperOptions = {**options, "notes": Notes(), "system": None}
    own: list[MapperOptions] = [{**quiet, "columns": dict(one.held)} for one in sources]
    asked = [at for at, file in enumerate(files) if _begins_with_question(file, own[at])]
    rest = [at for at in range(len(files)) if at not in asked]
    questions = [_questions(files[at], own[at]) for at in asked] if rest else []
    expected = [one for one in questions if one is not None]
    if not expected or len(expected) < len(asked):
        try:
            yield from mapper.of_files(files)
        except InputError as error:
            raise _with_other_files(error, sources) from None
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


def _with_other_files(error: InputError, sources: Sequence[SourceColumns]) -> InputError:
    """An error about a column of one of several files, with what to do where the others are files
    of questions."""
    words = OptionWords().columns("references", "<your column>")
    if error.problem.startswith("no column is known"):
        more = f"Of a file of questions, name the column of what is expected, too: {words}."
        return error.but(hint=f"{error.hint or ''} {more}".strip())
    missing = {one for source in sources for one in source.missing}
    for one in sorted(missing):
        having = [source.name for source in sources if one in source.held]
        names = {wrong.field for source in sources if (wrong := source.missing.get(one))}
        if having and error.field in names:
            more = (
                f"{having[0]} has it. If that is a file of questions, name the column of what is "
                f"expected there, too: {words}."
            )
            return error.but(hint=f"{error.hint or ''} {more}".strip())
    return error


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
