"""How the fields of a record are read that need nothing but their own values, or one other; what a
record says of its query; and the ids of records that have none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Turn
from ragassay.formats.format_words import wrong
from ragassay.formats.records import answers_and_turns, field_names, field_values
from ragassay.formats.records.answers_and_turns import answerability, references
from ragassay.formats.records.field_names import ALIASES, FIELD_OF, Values, folded
from ragassay.formats.records.field_values import opened, unpack
from ragassay.formats.sources.json_files import is_list_of_texts

READ: Mapping[str, Callable[[Any, str], Any]] = {
    "id": field_values.identifier,
    "system": field_values.identifier,
    "repeat": field_values.whole_number,
    "query_run": field_values.whole_number,
    "negative_references": lambda value, key: references(value, key)[0],
    "timestamp": field_values.timestamp,
    "language": lambda value, key: (value or "").strip() or None,
    "failure": field_values.failure,
    "answerability": answerability,
    "passages_prescribed": field_values.flag,
    "given": lambda value, key: dict(value or {}),
    "given_by": lambda value, key: field_values.texts_of(value or {}),
    "given_unscored": lambda value, key: field_values.texts_of(value or {}),
}
"""How fields are read that need no other."""

_OF_PASSAGES = frozenset({"passages", "passage_ids", "gold", "gold_ids"})
_OF_REFERENCES = frozenset({"references", "reference_groups", "negative_references"})
_OF_CELLS = {
    *_OF_PASSAGES,
    *_OF_REFERENCES,
    "history",
    "metadata",
    "answerability",
    *field_names.GIVEN,
}
"""Fields whose lists and objects stand as text in the cells of tables."""


def plain_value(field: str, key: str, value: Any, *, cells: bool) -> Any:
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
DOTTED_ROOTS = frozenset(root for _, root, _ in _DOTTED)


def with_dotted(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with those nested values at the top that have a name of their own
    (``inputs.question``)."""
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
    """Whether a value is what our own writer puts under ``runs``: a list of full records that have
    only fields of ours."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(run, dict) and isinstance(run.get("id"), str) for run in value)
        and all(run.keys() <= ALIASES.keys() for run in value)
    )


OURS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(field_names.GIVEN, lambda value: isinstance(value, dict | None)),
    "language": lambda value: isinstance(value, str | None),
    "runs": _are_runs,
}
"""Whether a value is what a field of these names holds in our own records."""


def set_repeat(parts: dict[str, Any], values: Values) -> None:
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


def add_embeddings(parts: dict[str, Any], values: Values) -> None:
    """Puts vectors under ``given`` of the parts of a sample. Where the record has no texts, each
    vector makes a chunk."""
    chunks = (("passages", Passage()), ("gold", GoldPassage(text="")))
    for name, (field, chunk) in zip(field_names.EMBEDDINGS, chunks, strict=True):
        key, value = values.get(name, ("", None))
        if value is not None:
            rows = field_values.vectors(value, key)
            parts["given"] = {name: rows, **parts.get("given", {})}
            if parts.get(field) is None:
                parts[field] = (chunk,) * len(rows)


class Asked(NamedTuple):
    """What a record says of its query.

    Attributes:
        query: the query; ``None`` where there is none.
        history: the turns before it.
        answer: what the agent said after it, in the same conversation.
        label: of answerability, inside its turn.
        steps: how many messages of tools, or that call tools, the conversation has.
        results: the results of tools after the last user turn.
    """

    query: str | None
    history: tuple[Turn, ...] = ()
    answer: Answer | None = None
    label: Answerability | None = None
    steps: int = 0
    results: Sequence[Any] = ()


def asked_in(values: Values, metadata: dict[str, Any]) -> Asked:
    """The query of a record and what belongs to it. The texts of system messages, and what the turn
    of the query says beside its text, are added to the sample's metadata."""
    query_key, query = values.get("query", ("query", None))
    key, conversation = values.get("history", ("", None))
    if isinstance(query, list):
        if conversation is not None:
            raise wrong("two_conversations", field=key)
        key, conversation, query = query_key, query, None
    else:
        query = field_values.text(query, query_key)
        if key == "turns" and isinstance(conversation, int):
            metadata["turns"], conversation = conversation, None
        if conversation is None:
            return Asked(query)
    turns, rules, results, steps = answers_and_turns.conversation(conversation, key)
    if rules:
        metadata.setdefault("system_prompt", "\n".join(rules))
    if folded(key) == "history":  # our own field holds earlier turns only
        return Asked(query, tuple(turns), steps=steps, results=results)
    # Where the record's answer is the last turn, the conversation is not only what came before.
    ends = bool(turns) and values.get("answer", ("", None))[1] == turns[-1].text
    may_hold_query = ends or folded(key) in ("messages", "turns")
    query, history, after = answers_and_turns.split_at_query(
        turns, query, key, may_hold_query=may_hold_query
    )
    label = None
    for name, value in answers_and_turns.enrichments(conversation).items():
        if FIELD_OF.get(folded(name)) == "answerability":
            label = agreed(label, answerability(value, f"{key}.enrichments"), name)
        elif field_values.is_small(value):
            metadata.setdefault(name, value)
    return Asked(query, history, after, label, steps, results)


def agreed(
    label: Answerability | None, other: Answerability | None, key: str
) -> Answerability | None:
    """The label that two places of a record give; the key is that of the other one."""
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
