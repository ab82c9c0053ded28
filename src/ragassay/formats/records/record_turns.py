"""What a record says of the query, the turns before it and the answer after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.base.sample import Answer, Answerability, Turn
from ragassay.formats.format_words import wrong
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.column_plans import Keys
from ragassay.formats.records.values import answer_values, field_values, messages


class Asked(NamedTuple):
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


def asked_in(record: Mapping[str, Any], keys: Keys, metadata: dict[str, Any]) -> Asked:
    """The query of a record and what belongs to it. The texts of system messages, and what the turn
    of the query says beside its text, are added to the sample's metadata."""
    query = record[keys["query"]] if "query" in keys else None
    if type(query) is str and "history" not in keys:
        return Asked(field_values.text(query, keys["query"]))
    conversation = record[keys["history"]] if "history" in keys else None
    if isinstance(query, list):
        if conversation is not None:
            raise wrong("two_conversations", field=keys["history"])
        key, conversation, query = keys["query"], query, None
    else:
        query = field_values.text(query, keys.get("query", "query"))
        key = keys.get("history", "")
        if key == "turns" and isinstance(conversation, int):
            metadata["turns"], conversation = conversation, None
        if conversation is None:
            return Asked(query)
    turns, rules, results, steps = messages.conversation(conversation, key)
    if rules:
        metadata.setdefault("system_prompt", "\n".join(rules))
    if folded(key) == "history":  # our own field holds earlier turns only
        return Asked(query, tuple(turns), steps=steps, results=results, key=key)
    # Where the record's answer is the last turn, the conversation is not only what came before.
    answer = record[keys["answer"]] if "answer" in keys else None
    ends = bool(turns) and answer == turns[-1].text
    may_hold_query = ends or folded(key) in ("messages", "turns")
    query, history, after = messages.split_at_query(
        turns, query, key, may_hold_query=may_hold_query
    )
    label = None
    for name, value in messages.enrichments(conversation).items():
        if FIELD_OF.get(folded(name)) == "answerability":
            label = agreed(label, answer_values.answerability(value, f"{key}.enrichments"), name)
        elif field_values.is_small(value):
            metadata.setdefault(name, value)
    return Asked(query, history, after, label, steps, results, key)


def agreed(
    label: Answerability | None, other: Answerability | None, key: str
) -> Answerability | None:
    """The label that two places of a record give; ``None`` where neither gives one. The key is that
    of the other place."""
    if label is not None and other is not None and label is not other:
        raise wrong("two_labels", field=key, first=label.name, second=other.name)
    return other if label is None else label
