"""Parts of a sample that are read from a record by its keys alone, and contexts that are one text:
cut into chunks at a separator, or checked for signs that they hold several chunks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Turn
from ragassay.formats.format_words import Notes, OptionWords, wrong
from ragassay.formats.records import answers_and_turns, field_names, field_values, passages
from ragassay.formats.records.field_names import ALIASES, FIELD_OF, FieldKeys, Keys, folded
from ragassay.formats.records.field_values import opened, timestamp, unpack
from ragassay.formats.sources.json_files import is_list_of_texts

_WORDS = "sep|separator|chunk|passage|break|split"
_AFTER_SENTENCE = r"(?<=[.!?…\"'”’)\]])"

_MARK = re.compile(
    rf"<<\s*/?\s*(?:{_WORDS})\s*>>|<\|?\s*/?\s*(?:{_WORDS})\s*/?\s*\|?>|\[\[?(?:{_WORDS})\]\]?"
    r"|\|{3,}|(?:(?:\\r)?\\n){2,}"
    rf"|{_AFTER_SENTENCE}[ \t]*([#@~;^$])\1{{2,}}[ \t]*(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]+(?:([|#@~;^$%&+/\\<>:])\2+|([-=*])\3{{3,}})[ \t]+(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]*\r?\n[-=*_~+#]{{3,}}[ \t]*\r?\n(?=\S)",
    re.IGNORECASE,
)
"""Separators of chunks that hardly ever occur inside one: a word such as "chunk" in brackets;
escaped line ends; after a sentence a run of one sign, the commoner the sign, the longer the run."""

_BLANK_LINE = re.compile(r"\n[ \t\r]*(?:[-=*_#~+]{3,}[ \t\r]*)?\n")
"""A separator of chunks that also separates the paragraphs of one."""


class ContextSplitter:
    """Cuts the contexts of one source."""

    def __init__(
        self,
        separator: str | None,
        notes: Notes,
        *,
        single: bool = False,
        refused: bool | Literal["marks"] = False,
        words: OptionWords,
    ) -> None:
        if single and separator:
            raise UsageError(
                f"The separator {separator!r} cuts contexts into chunks, and with single_chunk "
                "each is one. Leave one of them out."
            )
        self.separator = separator or None
        self._single, self._refused, self._notes = single, refused, notes
        self._words = words
        written = separator or ""
        read = written.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t")
        self._pattern = re.compile("|".join(map(re.escape, (written, read))))
        self._uncut = 0
        self._has_cut = False

    def cut(self, text: str, field: str, line: int) -> list[str]:
        """The chunks of a context, including empty ones; an empty text has none. One that seems to
        hold several chunks, which nothing cuts, is an error where that is refused."""
        pieces = self.pieces(text)
        if len(pieces) > 1:
            self._has_cut = True
        elif pieces and not self._single:
            self._uncut += 1
            self._check_uncut(text, field, line)
        return pieces

    def pieces(self, text: str) -> list[str]:
        """The chunks of a text, without any check (gold, whose chunks no metric numbers)."""
        if not text:
            return []
        return self._pattern.split(text) if self.separator else [text]

    def finish(self) -> None:
        """Notes, after the last context, that none of them had the separator."""
        if self.separator and self._uncut and not self._has_cut:
            self._notes.tell("no_separator", count=self._uncut, separator=self.separator)

    def _check_uncut(self, text: str, field: str, line: int) -> None:
        mark = _between(_MARK, text)
        by = f"joined by '{mark}'"
        if mark is None and self._refused is True and not self.separator:
            # A task with a separator may retrieve one chunk, with paragraphs of its own.
            mark = None if _between(_BLANK_LINE, text) is None else r"\n\n"
            by = "joined by blank lines"
        if mark is None:
            return
        other = f", not by the separator {self.separator!r}" if self.separator else ""
        if self._refused:
            raise wrong("joined_chunks", field=field, how=by + other, ways=self._ways_out(mark))
        self._notes.tell("joined_chunks", line, how=by + other, mark=mark)

    def _ways_out(self, mark: str) -> str:
        ways = [self._words.separator(mark), self._words.single_chunk()]
        lists = 'give each as a list of chunks (in a cell as JSON, ["first", "second"])'
        if self._has_cut:
            ways[0] = f"The contexts have several separators, also {self.separator!r}: {lists}"
        elif self.separator:
            ways[0] += f"; where contexts have different separators, {lists}"
        elif not ways[1]:
            ways[1] = lists
        return f"{', or '.join(filter(None, ways))}."


def _between(pattern: re.Pattern[str], text: str) -> str | None:
    """The text that the pattern matches between two pieces of text, line ends as they are written
    in a separator; ``None`` where there is none."""
    match = pattern.search(text)
    pieces = [piece for piece in pattern.sub("\0", text).split("\0") if piece.strip()]
    if match is None or len(pieces) < 2:
        return None
    return match[0].strip(" \t").replace("\r", "\\r").replace("\n", "\\n")


_READ: Mapping[str, Callable[[Any, str], Any]] = {
    "id": field_values.identifier,
    "system": field_values.identifier,
    "repeat": field_values.whole_number,
    "query_run": field_values.whole_number,
    "negative_references": lambda value, key: answers_and_turns.references(value, key)[0],
    "timestamp": timestamp,
    "language": lambda value, key: (value.strip() or None) if isinstance(value, str) else None,
    "failure": field_values.failure,
    "passages_prescribed": field_values.flag,
}
"""How fields are read that need no other."""

WITH_IDS: Mapping[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "passages": ("passage_ids", passages.passages, passages.with_ids),
    "gold": ("gold_ids", passages.gold, passages.gold_with_ids),
}
"""The field of the ids of passages, how passages are read, and how they get those ids."""

_OF_PASSAGES = frozenset({"passages", "passage_ids", "gold", "gold_ids"})
_OF_REFERENCES = frozenset({"references", "reference_groups", "negative_references"})
_OF_CELLS = {*_OF_PASSAGES, *_OF_REFERENCES, "history", "metadata", *field_names.GIVEN}
"""Fields whose lists and objects stand as text in the cells of tables."""

_DOTTED = [(name, *name.split(".", 1)) for name in FIELD_OF if "." in name]
_ROOTS = frozenset(root for _, root, _ in _DOTTED)


def with_dotted(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with those nested values at the top that have a name of their own
    (``inputs.question``)."""
    if _ROOTS.isdisjoint(record):
        return record
    flat = dict(record)
    for name, root, key in _DOTTED:
        inner = flat.get(root)
        if name not in record and isinstance(inner, dict) and key in inner:
            flat[name] = inner[key]
            flat[root] = {other: value for other, value in inner.items() if other != key}
            if not flat[root]:
                del flat[root]
    return flat


def with_lists(
    record: Mapping[str, Any], field_keys: FieldKeys, *, cells: bool
) -> Mapping[str, Any]:
    """The record with lists and objects in place of the texts that hold them: in tables (``cells``)
    those of all fields that hold lists, in JSON those of passages and ids, as pandas'
    ``read_csv().to_json()`` writes them. A list of texts as the text of a reference in JSON is an
    error: it may be the list that a system was asked for."""
    read: dict[str, Any] = {}
    for field, key in field_keys.keys.items():
        value = record[key]
        if type(value) is not str:
            continue
        if field in (_OF_CELLS if cells else _OF_PASSAGES) or (
            cells and field == "query" and value[:2] == "[{"
        ):
            read[key] = unpack(value, key)
        elif field in _OF_REFERENCES and is_list_of_texts(opened(value)):
            raise wrong("list_in_text", field=key, text=value[:60])
        elif cells and field == "answer":
            read[key] = answers_and_turns.with_statements(value)
        elif cells and field == "failure" and not field_values.says_failure(value):
            read[key] = None
    if cells:
        read |= {key: unpack(record[key], key) for key in field_keys.labels}
    return {**record, **read} if read else record


def are_runs(value: Any) -> bool:
    """Whether a value is what our own writer puts under ``runs``: a list of full records that have
    only fields of ours."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(run, dict) and isinstance(run.get("id"), str) for run in value)
        and all(run.keys() <= ALIASES.keys() for run in value)
    )


def own_parts(record: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Those parts of a sample that need nothing but their own values, by their fields. What the
    record does not have is left out."""
    parts = {field: _READ[field](record[key], key) for field, key in keys.items() if field in _READ}
    if "query_run" in keys and (run := parts.pop("query_run")) is not None:
        if run < 1:
            raise wrong("run_below_1", field=keys["query_run"], run=run)
        if parts.get("repeat") not in (None, run - 1):
            facts = {"run": run, "key": keys["repeat"], "repeat": parts["repeat"]}
            raise wrong("run_and_repeat", field=keys["query_run"], **facts)
        parts["repeat"] = run - 1
    if "repeat" in keys:
        parts["repeat"] = parts["repeat"] or 0
    for field in ("references", "reference_groups"):
        if field in keys:
            listed, groups = answers_and_turns.references(record[keys[field]], keys[field])
            parts["references"] = parts.get("references") or listed
            parts["reference_groups"] = groups
    return parts


def add_embeddings(parts: dict[str, Any], record: Mapping[str, Any], keys: Keys) -> None:
    """Puts vectors under ``given`` of the parts of a sample. Where the record has no texts, each
    vector makes a chunk."""
    chunks = (("passages", Passage()), ("gold", GoldPassage(text="")))
    for name, (field, chunk) in zip(field_names.EMBEDDINGS, chunks, strict=True):
        key = keys.get(name)
        if key is None or record[key] is None:
            continue
        rows = field_values.vectors(record[key], key)
        parts["given"] = {name: rows, **parts.get("given", {})}
        if parts.get(field) is None:
            parts[field] = (chunk,) * len(rows)


class QueryParts(NamedTuple):
    """What a record says of its query.

    Attributes:
        query: the query; ``None`` where there is none.
        history: the turns before it.
        answer: what the agent said after it, in the same conversation.
        label: of answerability, inside its turn.
        steps: how many messages of tools, or that call tools, the conversation has.
        results: the results of tools after the last user turn.
        key: of the conversation; empty where there is none.
    """

    query: str | None
    history: tuple[Turn, ...] = ()
    answer: Answer | None = None
    label: Answerability | None = None
    steps: int = 0
    results: Sequence[Any] = ()
    key: str = ""


def asked_in(record: Mapping[str, Any], keys: Keys, metadata: dict[str, Any]) -> QueryParts:
    """The query of a record and what belongs to it. The texts of system messages, and what the turn
    of the query says beside its text, are added to the sample's metadata."""
    key, query_key = keys.get("history", ""), keys.get("query", "query")
    conversation = record[key] if "history" in keys else None
    query = record[query_key] if "query" in keys else None
    if isinstance(query, list):
        if conversation is not None:
            raise wrong("two_conversations", field=key)
        key, conversation, query = query_key, query, None
    else:
        query = field_values.text(query, query_key)
        if key == "turns" and isinstance(conversation, int):
            metadata["turns"], conversation = conversation, None
        if conversation is None:
            return QueryParts(query)
    turns, rules, results, steps = answers_and_turns.conversation(conversation, key)
    if rules:
        metadata.setdefault("system_prompt", "\n".join(rules))
    if folded(key) == "history":  # our own field holds earlier turns only
        return QueryParts(query, tuple(turns), steps=steps, results=results, key=key)
    # Where the record's answer is the last turn, the conversation is not only what came before.
    answer = record[keys["answer"]] if "answer" in keys else None
    ends = bool(turns) and answer == turns[-1].text
    may_hold_query = ends or folded(key) in ("messages", "turns")
    query, history, after = answers_and_turns.split_at_query(
        turns, query, key, may_hold_query=may_hold_query
    )
    label = None
    for name, value in answers_and_turns.enrichments(conversation).items():
        if FIELD_OF.get(folded(name)) == "answerability":
            label = agreed(
                label, answers_and_turns.answerability(value, f"{key}.enrichments"), name
            )
        elif field_values.is_small(value):
            metadata.setdefault(name, value)
    return QueryParts(query, history, after, label, steps, results, key)


def agreed(
    label: Answerability | None, other: Answerability | None, key: str
) -> Answerability | None:
    """The label that two places of a record give; ``None`` where neither gives one. The key is that
    of the other place."""
    if label is not None and other is not None and label is not other:
        raise wrong("two_labels", field=key, first=label.name, second=other.name)
    return other if label is None else label


LINE = "@line"
"""The column, given to every record where it is named, that holds the number of its line."""


def made_id(query: str, history: tuple[Turn, ...]) -> str:
    """An id for a record that has none: a hash of its query and the turns before it."""
    content = orjson.dumps([query, [[turn.speaker, turn.text] for turn in history]])
    return f"q-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def has_made_id(sample: Sample) -> bool:
    """Whether the id of a sample was made of its query, because its record has none."""
    return sample.query is not None and sample.id == made_id(sample.query, sample.history)
