"""From one record (a JSON object, a CSV row, a row of a frame) to one `Sample`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Answer, Sample, Turn
from ragassay.formats.format_words import Notes, OptionWords, wrong
from ragassay.formats.records import (
    answers_and_turns,
    field_names,
    field_values,
    passages,
    record_parts,
    step_contents,
)
from ragassay.formats.records.chosen_columns import ChosenColumns, Columns
from ragassay.formats.records.field_names import FieldAssignments, FieldKeys, Keys, folded
from ragassay.formats.records.field_values import in_zone, lacks_zone, refuse_printed
from ragassay.formats.records.record_parts import ContextSplitter
from ragassay.formats.sources.json_files import text_paths

if TYPE_CHECKING:
    from ragassay.formats.format import Format

Record = Mapping[str, Any]

_MOST_PATHS = 20
"""Paths that are listed where no column is known."""

_MISSING = frozenset({"nan", "n/a", "#n/a", "none", "null", "<na>", "nat"})
"""What programs write for a missing value, where the text holds nothing else."""

_LONGEST_MISSING = 8
"""Characters from which a text is none of these, with the blanks around it."""


class MapperOptions(TypedDict, total=False):
    """What a caller may choose for a source: see `Mapper`."""

    columns: Columns | None
    separator: str | None
    single_chunk: bool
    refuse_joined: bool | Literal["marks"]
    system: str | None
    encoding: str | None
    delimiter: str | None
    zone: str | None
    sheet: str | None
    passages_from: str | None
    notes: Notes | None
    words: OptionWords
    queries_alone: bool


class Mapper:
    """Makes the samples of one source, by the user's columns and by what was read so far.

    Args:
        path: where the records come from, for errors; ``None`` for records in memory.
        cells: whether lists may be text in a cell (CSV, frames), where broken ones are errors.
            JSON has lists of its own.
        options: as of `ragassay.formats.read`; also ``sheet`` (of workbooks, in place of the first
            one with records), ``passages_from`` (``tools``: passages are made of the results of
            tools, too; ``span:NAME``: of the outputs of those steps of traces whose name is NAME),
            ``words`` (how errors name these options) and ``queries_alone`` (whether judged queries
            without a run are wanted, of BEIR folders).

    Attributes:
        from_tools: whether the results of tools become passages.
        span: the name of the steps of traces whose outputs become passages.
        nothing_known: the error for a source whose every request was left out (`left_out`).

    Raises:
        UsageError: an unknown field or source of passages, or ``single_chunk`` beside a separator.
    """

    def __init__(
        self, path: Path | None = None, *, cells: bool = False, **options: Unpack[MapperOptions]
    ) -> None:
        notes = options.get("notes")
        self._warns, self._notes = notes is None, Notes() if notes is None else notes
        self._words = options.get("words") or OptionWords()
        self.path, self.cells = path, cells
        self.encoding, self.sheet = options.get("encoding"), options.get("sheet")
        self.delimiter, self.zone = options.get("delimiter"), options.get("zone")
        self.queries_alone = options.get("queries_alone", False)
        source = options.get("passages_from") or "retrieval"
        self.from_tools = source == "tools"
        self.span = source.removeprefix("span:") if source[:5] == "span:" else None
        if source not in ("retrieval", "tools") and not self.span:
            raise UsageError(
                f"passages_from: {source!r} is none of retrieval, tools and span:NAME (the steps "
                "of traces that are called NAME)."
            )
        self.columns = ChosenColumns(options.get("columns"))
        self.system = options.get("system") or ""
        self.splitter = ContextSplitter(
            options.get("separator"),
            self._notes,
            single=options.get("single_chunk", False),
            refused=options.get("refuse_joined", False),
            words=self._words,
        )
        self.nothing_known: InputError | None = None
        self._assignments = FieldAssignments(self._words, self._notes)
        self._several = self._has_begun = False
        self._places: dict[int, tuple[Path | None, int]] = {}

    def sample(self, record: Record, line: int, beside: Record | None = None) -> Sample:
        """The sample that a record holds.

        Args:
            record: plain values; a missing value is ``None``.
            line: 1-based line or record number.
            beside: values that only chosen columns may read, such as the inputs and outputs of a
                trace as its tool wrote them.

        Raises:
            InputError: the record cannot be read as a sample, or repeats an earlier one.
        """
        try:
            sample = self._map(record, line, beside or {})
        except InputError as error:
            if self.columns:
                error = self.columns.with_texts_below(error, {**record, **(beside or {})})
            raise error.at(path=self.path, line=line) from None
        self.claim(sample, line)
        return sample

    def of_files(self, files: Sequence[tuple[Format, Path]]) -> Iterator[Sample]:
        """The samples of several files, one file after the other. Two samples of one identity are
        an error, and so are a file that holds questions alone and another one with answers."""
        self._several = len(files) > 1
        of_questions: Path | None = None
        has_outputs = False
        for reader, path in files:
            self.path, self.cells, self._has_begun = path, False, False
            self._assignments.begin_file()
            asks_alone = True
            for sample in reader.read(path, self):
                asks_alone = asks_alone and _is_question(sample)
                yield sample
            of_questions = path if asks_alone else of_questions
            has_outputs = has_outputs or not asks_alone
            if of_questions and has_outputs and not self.queries_alone:
                raise wrong("questions_beside_answers", path=of_questions, file=of_questions)

    def claim(self, sample: Sample, line: int) -> None:
        """Registers a sample and its line, so that a later sample with the same identity is
        refused.

        Args:
            sample: the sample.
            line: 1-based line or record number.
        """
        key = hash((sample.id, sample.system, sample.repeat))
        if key not in self._places:
            self._places[key] = (self.path, line)
            return
        first = self._places[key]
        facts: dict[str, Any] = {"path": self.path, "line": line}
        facts["of"] = f" of system {sample.system!r}" if sample.system else ""
        facts["where"] = f"{first[1]} of {first[0]}" if self._several else first[1]
        facts["more"] = _ELSEWHERE if self._several else ""
        if record_parts.has_made_id(sample):
            choice = OptionWords().columns("id", record_parts.LINE)
            query = (sample.query or "")[:80]
            raise wrong("same_made_id", query=query, choice=choice, **facts)
        raise wrong("same_identity", field="id", id=sample.id, repeat=sample.repeat, **facts)

    def note(self, fact: str, consequence: str, line: int | None = None, *, count: int = 1) -> None:
        """Adds a remark (see `Notes.add`), without its line where the source is several files.

        Args:
            fact: what occurs, in the plural.
            consequence: what follows, as a sentence.
            line: where it occurs.
            count: how often it occurs.
        """
        self._notes.add(fact, consequence, line=None if self._several else line, count=count)

    def tell(self, kind: str, line: int | None = None, /, *, count: int = 1, **facts: Any) -> None:
        """As `note`, of a kind that ``format_words.yaml`` has, with what its sentences show."""
        self._notes.tell(kind, None if self._several else line, count=count, **facts)

    def left_out(self, beside: Record, line: int) -> None:
        """Notes that a request was left out, because no column of its inputs and outputs is
        known."""
        if self.nothing_known is None:
            paths = [path for key in beside for path in text_paths([beside[key]], key)]
            listed = ", ".join(paths[:_MOST_PATHS]) or "no texts"
            query = next((path for path in paths if path.startswith("inputs")), "inputs.<your key>")
            choice = self._words.columns("query", query)
            self.nothing_known = wrong("no_text_known", line=line, paths=listed, choice=choice)
        self.tell("left_out", line, why=self.nothing_known.problem, how=self.nothing_known.hint)

    def fits_metadata(self, key: str, value: Any, line: int) -> bool:
        """Whether the value of an unknown field stays in the metadata; notes where it does not.

        Args:
            key: of the field.
            value: what it holds.
            line: 1-based line or record number.
        """
        fits = field_values.is_small(value)
        if not fits:
            self.tell("large_value", line, key=key)
        return fits

    def without_zone(self, key: str, line: int) -> None:
        """Notes that a record's time, under that key, names no zone."""
        self.tell("no_zone", line, key=key)

    def refuse_columns(self, name: str) -> None:
        """Refuses chosen columns, for formats whose names are fixed."""
        if self.columns:
            raise UsageError(
                f"The format {name} has names of its own, so columns cannot be chosen. "
                "Another format can be forced, for example csv or jsonl."
            )

    def unchosen(self, record: Record) -> dict[str, Any]:
        """The fields of a record (by our names) that hold something, without those for which the
        user chose a column."""
        return {
            key: value
            for key, value in record.items()
            if value is not None and field_names.FIELD_OF.get(key, key) not in self.columns
        }

    def reaches_into(self, record: Record) -> bool:
        """Whether a record has a column that the user chose for a query, an answer, passages or the
        like."""
        return any(field in field_names.SUBSTANCE for field in self.columns.held(record))

    def finish(self, about: object) -> None:
        """Adds what is known after the last record, and issues all remarks as warnings where the
        caller gave no notes of their own."""
        self.splitter.finish()
        if self._warns:
            self._notes.warn(about)

    def field_keys(self, record: Record, chosen: Keys) -> FieldKeys:
        """The key of the record that holds each field. Decided once for each set of keys."""
        field_keys = self._assignments.of(record, chosen)
        empty = [key for key in field_keys.contested if record[key] is None]
        if not empty:
            return field_keys
        return self.field_keys({key: record[key] for key in record if key not in empty}, chosen)

    def made_id(self, query: str | None, history: tuple[Turn, ...], line: int) -> str:
        """An id for a record that has none: a hash of the query and the turns before it, so that
        the same query asked of two systems has the same id. Without a query it is the record's
        number.

        Args:
            query: the record's query.
            history: the turns before it.
            line: 1-based line or record number.
        """
        self.tell("no_id" if query is not None else "no_id_or_query", line)
        return f"row-{line}" if query is None else record_parts.made_id(query, history)

    def _map(self, record: Record, line: int, beside: Record) -> Sample:
        record = record_parts.with_dotted(record)
        chosen: Keys = {}
        if self.columns:
            if record_parts.LINE in self.columns.names():
                record = {**record, record_parts.LINE: line}
            record, chosen = self._with_chosen(record, beside)
        field_keys = self.field_keys(record, chosen)
        record = record_parts.with_lists(record, field_keys, cells=self.cells)
        for column in field_keys.missing:
            self.tell("no_column", line, column=column)
        keys = field_keys.keys
        # Only what the record holds; the rest are Sample's defaults.
        parts = record_parts.own_parts(record, keys)
        own_id = parts.pop("id", None)
        if "timestamp" in keys and lacks_zone(record[keys["timestamp"]]):
            if self.zone is None:
                self.without_zone(keys["timestamp"], line)
            else:
                parts["timestamp"] = in_zone(parts["timestamp"], self.zone)
        if "system" in keys or self.system:
            parts["system"] = parts.get("system") or self.system
        for field, (ids, *_) in record_parts.WITH_IDS.items():
            if field in keys or ids in keys:
                parts[field] = self._chunks(field, record, keys, line)
        metadata = self._metadata(record, field_keys, line)
        asked = record_parts.asked_in(record, keys, metadata)
        if asked.steps and not self.from_tools:
            self.tell("tools", line)
        if asked.results and self.from_tools and parts.get("passages") is None:
            documents = [one for result in asked.results for one in step_contents.documents(result)]
            parts["passages"] = passages.passages(documents, asked.key)
        if asked.history:
            parts["history"] = asked.history
        if metadata:
            parts["metadata"] = field_values.checked_depth(metadata, keys.get("metadata"))
        for name in field_keys.given:
            value = record[keys[name]]
            if isinstance(value, dict):
                parts[name] = dict(value) if name == "given" else field_values.texts_of(value)
        if not keys.keys().isdisjoint(field_names.EMBEDDINGS):
            record_parts.add_embeddings(parts, record, keys)
        if "runs" in keys and record_parts.are_runs(record[keys["runs"]]):
            parts["runs"] = tuple(self._map(run, line, beside) for run in record[keys["runs"]])
        label = asked.label
        for key in field_keys.labels:
            label = record_parts.agreed(
                label, answers_and_turns.answerability(record[key], key), key
            )
        if label is not None:
            parts["answerability"] = label
        answer = self._answer(record, keys, asked.answer, line)
        if answer is not None and not answer.text and keys.get("failure", "failure") != "failure":
            # An empty answer beside an error message is none.
            answer = None if parts["failure"] else answer
        parts |= {"query": asked.query, "answer": answer}
        self._tell_missing_words(parts, line)
        return Sample(id=own_id or self.made_id(asked.query, asked.history, line), **parts)

    def _with_chosen(self, record: Record, beside: Record) -> tuple[Record, Keys]:
        """The record with the values of chosen columns, and the key of each chosen field. A column
        that the file lacks, as far as its first record shows that, is an error."""
        record = {**record, **beside}
        if not self._has_begun:
            excused = self.columns.excused(record)
            self.columns.refuse_missing(record, excused)
            self._has_begun = not excused  # else the next record shows its columns
        record, chosen = self.columns.resolve(record)
        read = set(chosen.values())
        return {key: one for key, one in record.items() if key not in beside or key in read}, chosen

    def _metadata(self, record: Record, field_keys: FieldKeys, line: int) -> dict[str, Any]:
        key = field_keys.keys.get("metadata", "")
        own = record[key] if key else None
        metadata = dict(own) if isinstance(own, dict) else {} if own is None else {key: own}
        # Another tool may hold something else under the names of our own fields.
        others = [field_keys.keys[name] for name in field_keys.given]
        rest = [
            *field_keys.rest,
            *(key for key in others if not isinstance(record[key], dict | None)),
        ]
        language, runs = field_keys.keys.get("language"), field_keys.keys.get("runs")
        if language is not None and not isinstance(record[language], str | None):
            rest.append(language)
        if runs is not None and not record_parts.are_runs(record[runs]):
            rest.append(runs)
        for key in rest:
            if metadata.get(key, record[key]) != record[key]:
                self.tell("two_values", line, key=key, metadata=field_keys.keys["metadata"])
            if self.fits_metadata(key, record[key], line):
                metadata[key] = record[key]
        return metadata

    def _answer(
        self, record: Record, keys: Keys, answer_after: Answer | None, line: int
    ) -> Answer | None:
        key = keys.get("answer")
        if key is None:
            return answer_after
        value = record[key]
        if isinstance(value, list) and folded(key) == "predictions":
            if len(value) > 1:
                self.tell("several_predictions", line)
            value = value[0] if value else None
        own = answers_and_turns.answer(value, key)
        if own is None or answer_after is None or own.text == answer_after.text:
            return answer_after if own is None else own
        raise wrong("two_answers", field=key)

    def _chunks(self, field: str, record: Record, keys: Keys, line: int) -> Any:
        """The retrieved or gold passages, with the ids of another column."""
        ids, read, join = record_parts.WITH_IDS[field]
        listed = None
        if (key := keys.get(field)) is not None:
            value = record[key]
            if isinstance(value, str):
                refuse_printed(value, key)
                cut = field == "passages"
                value = self.splitter.cut(value, key, line) if cut else self.splitter.pieces(value)
            listed = read(value, key)
        if (key := keys.get(ids)) is not None:
            refuse_printed(record[key], key)
            listed = join(listed, record[key], key)
        if field == "passages" and (key := keys.get("passage_scores")) is not None:
            return passages.with_scores(listed, record[key], key)
        return listed

    def _tell_missing_words(self, parts: Record, line: int) -> None:
        """Notes texts that hold only what programs write for a missing value. They stay texts: an
        answer may be ``None``."""
        texts_of = {
            "queries": [parts["query"]],
            "answers": [parts["answer"] and parts["answer"].text],
            "references": parts.get("references", ()),
            "passages": [one.text for one in parts.get("passages") or ()],
            "gold passages": [one.text for one in parts.get("gold") or ()],
        }
        for subject, texts in texts_of.items():
            for text in texts:
                if text and len(text) < _LONGEST_MISSING and text.strip().casefold() in _MISSING:
                    self.tell("missing_words", line, subject=subject)


_ELSEWHERE = "Of questions with what is expected, give the file with --references."


def _is_question(sample: Sample) -> bool:
    """Whether a sample has no system and no outputs of one, but references, gold or a label."""
    outputs = (sample.answer, sample.passages, sample.failure)
    if sample.system or sample.runs or any(one is not None for one in outputs):
        return False
    return bool(sample.references or sample.gold or sample.answerability is not None)
