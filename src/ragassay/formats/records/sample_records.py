"""From one record (a JSON object, a CSV row, a row of a frame) to one `Sample`: each field is found
(`Mapper.fields`), its value is read as the field's type, errors get the file and the line, and
notes what is worth knowing; the ids of records that have none."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import orjson

from ragassay.base.errors import InputError, UsageError, called, warn_user
from ragassay.base.sample import Answer, GoldPassage, Passage, Sample, Turn
from ragassay.formats.format_words import OptionWords, words_of, wrong
from ragassay.formats.records import (
    answers_and_turns,
    field_names,
    field_values,
    passages,
    step_contents,
)
from ragassay.formats.records.answers_and_turns import agreed, answerability, asked_in, references
from ragassay.formats.records.chosen_columns import ChosenColumns, Columns
from ragassay.formats.records.field_names import (
    ALIASES,
    EMBEDDINGS,
    FIELD_OF,
    GIVEN,
    NAMES,
    PAIRS,
    SAYS_SOMETHING,
    Fields,
    Values,
    folded,
)
from ragassay.formats.records.field_values import opened, unpack
from ragassay.formats.sources.json_files import MOST_PATHS, is_list_of_texts, text_paths

if TYPE_CHECKING:
    from ragassay.formats.format import Format

Record = Mapping[str, Any]

_MISSING = frozenset({"n/a", "#n/a", "null", "<na>", "nan", "none", "nat"})
"""What programs write for a missing value, where the text holds nothing else."""


@dataclasses.dataclass
class Notes:
    """Remarks made while reading.

    Each kind of remark is one line, with its number and its first place. Iterating gives the lines;
    they stay few however large the file is.
    """

    _seen: dict[tuple[str, str], tuple[int, int | None]] = dataclasses.field(default_factory=dict)

    def tell(self, kind: str, line: int | None = None, /, *, count: int = 1, **facts: Any) -> None:
        """Counts a remark of a kind that ``notes`` in ``format_words.yaml`` has.

        Args:
            kind: of the remark.
            line: 1-based line (or record) number.
            count: how often it occurs.
            facts: what its sentences show.
        """
        fact, consequence = (text.format_map(facts) for text in words_of("notes")[kind])
        before, first = self._seen.get((fact, consequence), (0, line))
        self._seen[fact, consequence] = (before + count, first)

    def __iter__(self) -> Iterator[str]:
        for (fact, consequence), (count, first) in self._seen.items():
            where = f" (first: line {first})" if first is not None else ""
            yield f"{fact}: {count}{where}. {consequence}"


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
        places: file, and line or number, of each sample, by the hash of its identity.

    Raises:
        UsageError: an unknown field or source of passages, or ``single_chunk`` beside a separator.
    """

    columns = ChosenColumns(None)

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
        self.columns = ChosenColumns(chosen) if (chosen := options.get("columns")) else self.columns
        self.system = options.get("system") or ""
        separator, single = options.get("separator") or None, options.get("single_chunk", False)
        if single and separator:
            raise UsageError(
                f"The separator {separator!r} cuts contexts into chunks, and single_chunk keeps "
                "each whole. Leave out either."
            )
        refused = options.get("refuse_joined", False)
        self.splitter = passages.ContextSplitter(
            separator, single, refused, self._words, self._notes.tell
        )
        self.nothing_known: InputError | None = None
        self._several = self._has_begun = False
        self._pages = defaultdict[int, set[object]](set)  # that were read, by how many there are
        self._meanings: dict[str, str] = {}
        self.places: dict[int, tuple[Path | None, int]] = {}

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
            raise error.at(path=self.path, line=line) from None
        self.claim(sample, line)
        return sample

    def of_files(self, files: Sequence[tuple[Format, Path]]) -> Iterator[Sample]:
        """The samples of one file after the other. Two samples of one identity are an error."""
        self._several = len(files) > 1
        for reader, group in groupby(files, key=itemgetter(0)):
            paths = [path for _, path in group]
            together = reader.read_together
            for part in [paths] if together else [[path] for path in paths]:
                self.path, self.cells, self._has_begun = part[0], False, False
                self._meanings = {}
                yield from together(part, self) if together else reader.read(part[0], self)

    def claim(self, sample: Sample, line: int) -> None:
        """Registers a sample and its line or number; one of an earlier identity is refused."""
        key = hash(sample.identity)
        if key not in self.places:
            self.places[key] = (self.path, line)
            return
        path, first = self.places[key]
        facts: dict[str, Any] = {"path": self.path, "line": line}
        facts["of"] = f" of system {sample.system!r}" if sample.system else ""
        facts["where"] = f"{first} of {path}" if self._several else first
        facts["more"] = _ELSEWHERE if self._several else ""
        if has_made_id(sample):
            choice = OptionWords().columns("id", LINE)
            query = (sample.query or "")[:80]
            raise wrong("same_made_id", query=query, choice=choice, **facts)
        raise wrong("same_identity", field="id", id=sample.id, repeat=sample.repeat, **facts)

    def tell(self, kind: str, line: int | None = None, /, *, count: int = 1, **facts: Any) -> None:
        """As `Notes.tell`, without the line where the source is several files."""
        self._notes.tell(kind, None if self._several else line, count=count, **facts)

    def around(self, beside: Record) -> None:
        """Notes what stood around a list of records: it may say that they are one page of several,
        with the number of pages, or with where the next one is."""
        inner = [v if isinstance(v, dict) else {key: v} for key, v in beside.items()]
        about = {folded(name): value for part in inner for name, value in part.items()}
        number, total, more = (
            next((about[name] for name in NAMES[f"pages.{part}"] if about.get(name)), None)
            for part in ("number", "total", "next")
        )
        if isinstance(number, int) and isinstance(total, int):
            self._pages[total].add(number)  # also of another list, as of steps beside traces
        else:  # where one page has no next one, all were read
            self._pages[0 if more else 1].add(object())
        if beside and total is None and more is None:
            self.tell("around_records", around=", ".join(map(repr, beside)))

    def left_out(self, beside: Record, line: int) -> None:
        """Notes that a request was left out: no column of its inputs and outputs is known."""
        if self.nothing_known is None:
            paths = [path for key in beside for path in text_paths([beside[key]], key)]
            listed = ", ".join(paths[:MOST_PATHS]) or "(none)"
            query = next((path for path in paths if path.startswith("inputs")), "inputs.<your key>")
            choice = self._words.columns("query", query)
            self.nothing_known = wrong("no_text_known", line=line, paths=listed, choice=choice)
        self.tell("left_out", line, why=self.nothing_known.problem, how=self.nothing_known.hint)

    def fits_metadata(self, key: str, value: Any, line: int) -> bool:
        """Whether the value of an unknown field stays in the metadata; notes where it does not."""
        fits = field_values.is_small(value)
        if not fits:
            self.tell("large_value", line, key=key)
        return fits

    def refuse_columns(self, name: str) -> None:
        """Refuses chosen columns, for formats whose names are fixed."""
        if self.columns:
            raise UsageError(
                f"The format {name} fixes its names, so columns cannot be chosen. Force "
                "another format, for example csv or jsonl."
            )

    def unchosen(self, record: Record) -> dict[str, Any]:
        """What a record's fields (by our names) hold, without those with a column of the user."""
        held = {key: value for key, value in record.items() if value is not None}
        return {key: held[key] for key in held if FIELD_OF.get(key, key) not in self.columns}

    def reaches_into(self, record: Record) -> bool:
        """Whether a record has a column that the user chose for a query, answer, passages ..."""
        return any(field in field_names.SUBSTANCE for field in self.columns.held(record))

    def finish(self, about: object) -> None:
        """Adds what is known after the last record; warns of all unless the caller keeps notes."""
        cut = self.splitter
        if cut.separator and cut.uncut and not cut.has_cut:
            self._notes.tell("no_separator", count=cut.uncut, separator=cut.separator)
        for total, read in self._pages.items():
            if len(read) < total or (not total and 1 not in self._pages):
                self._notes.tell("pages", count=len(read), of=total or "several")
        for note in self._notes if self._warns else ():
            warn_user(f"{called(about)}: {note}")

    def made_id(self, query: str | None, history: tuple[Turn, ...], line: int) -> str:
        """An id for a record that has none: a hash of the query and the turns before it, the same
        whichever system is asked. Without a query it is the record's number."""
        self.tell("no_id" if query is not None else "no_id_or_query", line)
        return f"row-{line}" if query is None else made_id(query, history)

    def fields(self, record: Record, line: int, beside: Record) -> Fields:
        """Which value of a record holds which field: where the user chose columns, what they lead
        to, else what is called as the field. The first record of a file must have the columns. A
        name that means one field here and another one in an earlier record is an error: a system's
        answer would be read as the reference. Arguments: as of `sample`."""
        rest = record if _DOTTED_ROOTS.isdisjoint(record) else _with_dotted(record)
        chosen: Values = {}
        if self.columns:
            every = {**rest, **beside}
            if self.columns.field_of(LINE):
                every[LINE] = line
            self._has_begun = self._has_begun or self.columns.check(every)
            chosen, rest, missing = self.columns.find(every)
            rest = {key: value for key, value in rest.items() if key not in beside}
            for column in missing.values():
                self.tell("no_column", line, column=column)
        known = field_names.known_fields(rest, self._words, self.columns)
        fields = Fields({**chosen, **known.values}, known.rest)
        if SAYS_SOMETHING.isdisjoint(fields.values) and (fields.rest or "id" not in fields.values):
            paths = [p for k, v in fields.rest.items() for p in text_paths([opened(v)], k) or [k]]
            raise field_names.nothing_known(fields, paths, self._words)
        for field, (key, _) in fields.values.items():
            of, other = PAIRS.get(word := folded(key), ("", ""))
            if field in (of, other) and self._meanings.setdefault(word, field) != field:
                ways = ", or ".join(self._words.columns(name, word) for name in (other, of))
                facts = {"word": word, "meaning": field, "earlier": self._meanings[word]}
                raise wrong("two_meanings", field=key, of=of, other=other, ways=ways, **facts)
        return fields

    def _map(self, record: Record, line: int, beside: Record) -> Sample:
        found, rest = self.fields(record, line, beside)
        values: Values = {}
        parts: dict[str, Any] = {}  # only what the record holds; the rest are Sample's defaults
        for field, (key, written) in found.items():
            value = _plain_value(field, key, written, cells=self.cells)
            # Another tool may hold something else under the names of our own fields.
            if field in _OURS and not _OURS[field](value):
                rest[key] = value
                continue
            values[field] = key, value
            if field in _READ:
                parts[field] = _READ[field](value, key)
        own_id = parts.pop("id", None)
        if "repeat" in values or "query_run" in values:
            _set_repeat(parts, values)
        for field in ("references", "reference_groups"):
            if field in values:
                listed, parts["reference_groups"] = references(values[field][1], values[field][0])
                parts["references"] = parts.get("references") or listed
        if "timestamp" in values and field_values.lacks_zone(values["timestamp"][1]):
            if self.zone is None:
                self.tell("no_zone", line, key=values["timestamp"][0])
            else:
                parts["timestamp"] = field_values.in_zone(parts["timestamp"], self.zone)
        if "system" in values or self.system:
            parts["system"] = parts.get("system") or self.system
        for field, ids in (("passages", "passage_ids"), ("gold", "gold_ids")):
            if field in values or ids in values:
                parts[field] = self._chunks(field, values, line, parts.get("passages"))
        name, own = values.get("metadata", ("", None))
        metadata = dict(own) if isinstance(own, dict) else {} if own is None else {name: own}
        metadata |= {key: item for key, item in rest.items() if self.fits_metadata(key, item, line)}
        asked = asked_in(values, metadata)
        if asked.steps and not self.from_tools:
            self.tell("tools", line)
        if asked.results and self.from_tools and parts.get("passages") is None:
            documents = [*chain.from_iterable(map(step_contents.documents, asked.results))]
            parts["passages"] = passages.passages(documents, values.get("history", ("",))[0])
        if metadata:
            parts["metadata"] = field_values.checked_depth(metadata, name or None)
        if not values.keys().isdisjoint(EMBEDDINGS):
            _add_embeddings(parts, values)
        if "runs" in values:
            parts["runs"] = tuple(self._map(run, line, beside) for run in values["runs"][1])
        if asked.label is not None:
            given = parts.get("answerability")
            parts["answerability"] = agreed(asked.label, given, "answerability")
        answer = self._answer(values, asked.answer, line)
        if answer is not None and not answer.text and "failure" in values:
            # An empty answer beside an error message is none.
            is_own = values["failure"][0] == "failure"
            answer = None if parts["failure"] and not is_own else answer
        parts |= {"query": asked.query, "history": asked.history, "answer": answer}
        self._tell_missing_words(parts, line)
        return Sample(id=own_id or self.made_id(asked.query, asked.history, line), **parts)

    def _answer(self, values: Values, after: Answer | None, line: int) -> Answer | None:
        """The answer of a record, or the turn after the query in its conversation."""
        key, value = values.get("answer", ("", None))
        if isinstance(value, list) and folded(key) == "predictions":
            if len(value) > 1:
                self.tell("several_predictions", line)
            value = value[0] if value else None
        own = answers_and_turns.answer(value, key)
        if own is None or after is None or own.text == after.text:
            return after if own is None else own
        raise wrong("two_answers", field=key)

    def _chunks(self, field: str, values: Values, line: int, retrieved: Any) -> Any:
        """The retrieved or gold passages, with the ids and scores of other columns. Ids of passages
        in place of the gold texts are refused."""
        listed: Any = None
        is_gold = field == "gold"
        if field in values:
            key, value = values[field]
            if isinstance(value, str):
                field_values.refuse_printed(value, key)
                pieces = self.splitter.pieces(value)
                value = pieces if is_gold else self.splitter.cut(value, key, line)
            listed = passages.gold(value, key) if is_gold else passages.passages(value, key)
            if is_gold and isinstance(value, list):
                are_objects = any(isinstance(item, dict) for item in value)
                do = "give each as 'id'" if are_objects else self._words.columns("gold_ids", key)
                passages.refuse_ids(listed, retrieved, key, do)
        for column in ("gold_ids",) if is_gold else ("passage_ids", "passage_scores"):
            if column in values:
                listed = passages.with_column(listed, column, *values[column])
        return listed

    def _tell_missing_words(self, parts: Record, line: int) -> None:
        """Notes texts (they stay texts) that hold only what programs write for a missing value."""
        texts_of = {
            "queries": [parts["query"]],
            "answers": [parts["answer"] and parts["answer"].text],
            "references": parts.get("references", ()),
            "passages": [passage.text for passage in parts.get("passages") or ()],
        }
        for subject, texts in texts_of.items():
            words = (text.strip().casefold() for text in texts if text and len(text) < 8)
            for _ in filter(_MISSING.__contains__, words):
                self.tell("missing_words", line, subject=subject)


_ELSEWHERE = "Of questions with what is expected, give the file with --references."

_READ: Mapping[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("id", "system"), field_values.identifier),
    **dict.fromkeys(("repeat", "query_run"), field_values.whole_number),
    "negative_references": lambda value, key: references(value, key)[0],
    "timestamp": field_values.timestamp,
    "language": lambda value, key: (value or "").strip() or None,
    "failure": field_values.failure,
    "answerability": answerability,
    "passages_prescribed": field_values.flag,
    "given": lambda value, key: dict(value or {}),
    **dict.fromkeys(
        ("given_by", "given_unscored"),
        lambda value, key: {k: text for k, text in (value or {}).items() if isinstance(text, str)},
    ),
}
"""How fields are read that need nothing but their own values."""


_OF_PASSAGES = frozenset({"passages", "passage_ids", "gold", "gold_ids"})
_OF_REFERENCES = frozenset({"references", "reference_groups", "negative_references"})
_OF_CELLS = _OF_PASSAGES | _OF_REFERENCES | {"history", "metadata", "answerability", *GIVEN}
"""Fields whose lists and objects stand as text in the cells of tables."""


def _plain_value(field: str, key: str, value: Any, *, cells: bool) -> Any:
    """The value of a field, or the list or object that a text in its place holds: in cells of
    tables of all fields with lists, in JSON those of passages and ids, as pandas'
    ``read_csv().to_json()`` writes them. A list of texts as the text of a reference in JSON is an
    error: it may be the list that a system was asked for."""
    if type(value) is not str:
        return value
    if field in (_OF_CELLS if cells else _OF_PASSAGES):
        return unpack(value, key)
    if field in _OF_REFERENCES and is_list_of_texts(opened(value)):
        raise wrong("list_in_text", field=key, text=value[:60])
    if not cells:
        return value
    if field == "query":
        return unpack(value, key) if value[:2] == "[{" else value
    if field == "answer":
        return answers_and_turns.with_statements(value)
    silent = field == "failure" and not field_values.says_failure(value)
    return None if silent else value


_DOTTED = [(name, *name.split(".", 1)) for name in FIELD_OF if "." in name]
_DOTTED_ROOTS = frozenset(root for _, root, _ in _DOTTED)


def _with_dotted(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with nested values that have a name of their own (``inputs.question``) on top."""
    flat = dict(record)
    for name, root, key in _DOTTED:
        inner = flat.get(root)
        if name not in record and isinstance(inner, dict) and key in inner:
            flat[name] = inner[key]
            flat[root] = {other: value for other, value in inner.items() if other != key}
            if not flat[root]:
                del flat[root]
    return flat


def _are_runs(value: Any) -> bool:
    """Whether a value is what our writer puts under ``runs``: full records of our fields alone."""
    return all(
        isinstance(run, dict) and isinstance(run.get("id"), str) and run.keys() <= ALIASES.keys()
        for run in (isinstance(value, list) and value) or [None]
    )


_OURS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(GIVEN, lambda value: isinstance(value, dict | None)),
    "language": lambda value: isinstance(value, str | None),
    "runs": _are_runs,
}
"""Whether a value is what a field of these names holds in our own records."""


def _set_repeat(parts: dict[str, Any], values: Values) -> None:
    """Makes the repeat of a run's number, which counts from 1."""
    if (run := parts.pop("query_run", None)) is not None:
        key = values["query_run"][0]
        if run < 1:
            raise wrong("run_below_1", field=key, run=run)
        if parts.get("repeat") not in (None, run - 1):
            facts = {"run": run, "key": values["repeat"][0], "repeat": parts["repeat"]}
            raise wrong("run_and_repeat", field=key, **facts)
        parts["repeat"] = run - 1
    if "repeat" in values:
        parts["repeat"] = parts["repeat"] or 0


def _add_embeddings(parts: dict[str, Any], values: Values) -> None:
    """Puts vectors under ``given``. Where the record has no texts, each vector makes a chunk."""
    chunks = (("passages", Passage()), ("gold", GoldPassage(text="")))
    for name, (field, chunk) in zip(EMBEDDINGS, chunks, strict=True):
        key, value = values.get(name, ("", None))
        if value is not None:
            rows = field_values.vectors(value, key)
            parts["given"] = {name: rows, **parts.get("given", {})}
            if parts.get(field) is None:
                parts[field] = (chunk,) * len(rows)


LINE = "@line"
"""The column, given to every record where it is named, that holds the number of its line."""


def made_id(query: str, history: tuple[Turn, ...]) -> str:
    """An id for a record that has none: a hash of its query and the turns before it."""
    content = orjson.dumps([query, [[turn.speaker, turn.text] for turn in history]])
    return f"q-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def has_made_id(sample: Sample) -> bool:
    """Whether the id of a sample was made of its query, because its record has none."""
    return sample.query is not None and sample.id == made_id(sample.query, sample.history)
