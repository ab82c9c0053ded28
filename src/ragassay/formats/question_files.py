"""Files of questions with what is expected (references, gold), joined to the samples of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.errors import InputError
from ragassay.formats.format import Format
from ragassay.formats.records import Mapper, MapperOptions, Notes
from ragassay.samples import Sample


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
                by_query.setdefault(_folded(one.query), []).append(one)
            elif _expected(first) != _expected(one):
                raise InputError(
                    f"the question {one.id!r} stands in it twice, with different references, gold "
                    "or labels",
                    path=path,
                    field="id",
                    hint="Keep one of them.",
                )
        self._by_query = {query: one for query, (one, *more) in by_query.items() if not more}
        self.n_unknown = 0
        self.n_reworded = 0
        self._met: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def unmet(self) -> list[Sample]:
        """The questions that no sample had."""
        return [one for name, one in self._by_id.items() if name not in self._met]

    def joined(self, sample: Sample) -> Sample:
        """A sample with what is expected of its question: that with its id, else the only one with
        its query. A sample without such a question stays unchanged, and is counted.

        Args:
            sample: of a system.

        Raises:
            InputError: the sample has the id of one question and the query of another one.
        """
        question = self._by_id.get(sample.id)
        asked = None if sample.query is None else _folded(sample.query)
        same = None if asked is None else self._by_query.get(asked)
        if question is None:
            question = same
        elif question.query is not None and asked not in (None, _folded(question.query)):
            if same is not None:
                raise InputError(
                    f"the sample {sample.id!r} has the query of the question {same.id!r} there, "
                    f"and the id of another one ({question.query[:80]!r})",
                    path=self.path,
                    field="id",
                    hint="Give both files the same ids, or leave them out of one: then the queries "
                    "join them.",
                )
            self.n_reworded += 1
        if question is None:
            self.n_unknown += 1
            return sample
        self._met.add(question.id)
        return _with_expected(sample, question)

    def tell_joined(self, sample: Sample, mapper: Mapper) -> None:
        """Notes that a sample was joined, and how, where it was.

        Args:
            sample: as it was given to `joined`.
            mapper: takes the note.
        """
        by_id = sample.id in self._by_id
        if by_id or (sample.query is not None and _folded(sample.query) in self._by_query):
            mapper.note(
                f"samples joined by {'id' if by_id else 'query'} with their questions in "
                f"{self.path}",
                "The references, gold and labels of those count.",
            )

    def tell_rest(self, mapper: Mapper) -> None:
        """Notes which samples have no question, and which questions no sample.

        Args:
            mapper: takes the notes.
        """
        if n := self.n_reworded:
            mapper.note(
                f"samples whose query differs from that of their question in {self.path}",
                "Their ids join them; if these are of different questions, give them other ids.",
                count=n,
            )
        if n := self.n_unknown:
            mapper.note(
                f"samples without a question in {self.path}", "They stay as they are.", count=n
            )
        if n := len(self.unmet):
            mapper.note(f"questions in {self.path} without a sample", "They are left out.", count=n)


def _folded(query: str) -> str:
    return " ".join(query.split()).casefold()


def _expected(question: Sample) -> tuple[object, ...]:
    """All that is expected of the answer to a question."""
    return (
        question.references,
        question.reference_groups,
        question.negative_references,
        question.gold,
        question.answerability,
    )


def _with_expected(sample: Sample, question: Sample) -> Sample:
    """A sample with those of the expected things that a question has."""
    changed = replace(sample, query=sample.query or question.query)
    if question.references:
        groups = question.reference_groups
        changed = replace(changed, references=question.references, reference_groups=groups)
    if question.negative_references:
        changed = replace(changed, negative_references=question.negative_references)
    if question.gold is not None:
        changed = replace(changed, gold=question.gold)
    if question.answerability is not None:
        changed = replace(changed, answerability=question.answerability)
    return changed


def is_question(sample: Sample) -> bool:
    """Whether a sample is of no system and has nothing that one gave, and something is expected.

    Args:
        sample: any.
    """
    given = (sample.answer, sample.passages, sample.failure)
    if sample.system or sample.runs or any(one is not None for one in given):
        return False
    return bool(sample.references or sample.gold or sample.answerability is not None)


Files = Sequence[tuple[Format, Path]]


def joined_files(files: Files, mapper: Mapper, options: MapperOptions) -> Iterator[Sample]:
    """The samples of several files. Where some hold only questions with what is expected, and
    others what systems gave, the questions are joined to the samples of the others. Where none of
    them belongs to a sample, they follow as samples of their own.

    Args:
        files: each with its format.
        mapper: makes the samples.
        options: with which the mapper was made.

    Raises:
        InputError: a file cannot be read, or two samples have one identity.
    """
    asked = [file for file in files if _begins_with_question(file, options)]
    rest = [file for file in files if file not in asked]
    if not asked or not rest:
        yield from mapper.of_files(files)
        return
    questions = [_questions(file, options) for file in asked]
    if any(one is None for one in questions):
        yield from mapper.of_files(files)
        return
    known = [one for one in questions if one is not None]
    for sample in mapper.of_files(rest, several=True):
        for one in known:
            one.tell_joined(sample, mapper)
            sample = one.joined(sample)
        yield sample
    for file, one in zip(asked, known, strict=True):
        if len(one.unmet) < len(one):
            one.tell_rest(mapper)
        else:
            yield from mapper.of_files([file], several=True)


def _begins_with_question(file: tuple[Format, Path], options: MapperOptions) -> bool:
    reader, path = file
    if path.is_dir():
        return False
    for chosen in _ways(options):
        try:
            first = next(iter(reader.read(path, Mapper(path, **chosen))), None)
        except InputError:
            continue  # whoever reads all of the file tells it
        return first is not None and is_question(first)
    return False


def _ways(options: MapperOptions) -> list[MapperOptions]:
    """The options with which a file of questions is tried: chosen columns may be those of the other
    file only, and so is a system that is named for all."""
    quiet: MapperOptions = {**options, "notes": Notes(), "system": None}
    return [quiet, {**quiet, "columns": None}] if options.get("columns") else [quiet]


def _questions(file: tuple[Format, Path], options: MapperOptions) -> Questions | None:
    """The questions of a file; ``None`` where a record has something of a system."""
    reader, path = file
    *others, last = _ways(options)
    for chosen in (*others, last):
        try:
            found = list(reader.read(path, Mapper(path, **chosen)))
        except InputError:
            if chosen is last:
                raise
            continue
        return Questions(path, found) if all(map(is_question, found)) else None
    return None
