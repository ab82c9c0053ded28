"""Answers, references and labels from their shapes in files, and conversations: the turns of users
and agents among messages of systems and tools. ``field`` is their name in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragassay.base.errors import CountedFact, warn_user
from ragassay.base.sample import Answer, Answerability, Sample, Statement, Turn
from ragassay.formats.format_words import kind, unexpected, wrong
from ragassay.formats.records.field_names import FIELD_OF, NAMES, Values, folded, pick
from ragassay.formats.records.field_values import (
    is_number,
    is_small,
    needed_identifier,
    not_a_list,
    opened,
    text,
)

_ANSWER_PARTS = (("text", "response", "answer", "content", "output"), ("statements", "parts"))


def answer(value: Any, field: str) -> Answer | None:
    """An answer from a text, from statements with citations, or from an object with either."""
    if value is None:
        return None
    if type(value) is str or is_number(value):
        return Answer(text(value, field) or "")
    if isinstance(value, dict):
        text_key, parts_key = pick(tuple(value), _ANSWER_PARTS)
        if text_key is None and parts_key is None:
            raise wrong("answer_without_text", field=field, names=", ".join(map(repr, value)))
        words = text(value[text_key], field) if text_key else None
        parts = value[parts_key] if parts_key else None
        if parts is None and words is not None and value.get("citations"):
            parts = [{"text": words, "citations": value["citations"]}]
        if parts is None:
            return None if words is None else Answer(words)
        return _of_statements(parts, field, words)
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return _of_statements(value, field)
    raise unexpected(value, "an answer", field)


def with_statements(cell: str) -> Any:
    """The answer with statements and citations, as our own records have it, that the text of a cell
    holds; any other text, also JSON, unchanged: a system may have answered so."""
    parsed = opened(cell) if _STATED.match(cell) else None
    if isinstance(parsed, dict) and parsed.keys() == {"text", "statements"}:
        return parsed
    items = parsed if isinstance(parsed, list) else [None]
    ours = all(isinstance(item, dict) and item.keys() == {"text", "citations"} for item in items)
    return parsed if ours else cell


_STATED = re.compile(r"\s*(?:\{|\[\s*\{)\s*[\"'](?:text|statements|citations)[\"']\s*:")


def references(value: Any, field: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Reference answers and, of a list of lists, their groups. A single text is one reference; a
    blank one is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return (), ()
    if not isinstance(value, list):
        if not isinstance(value, str | dict) and not is_number(value):
            raise not_a_list(value, field)
        value = [value]
    if {*map(type, value)} == {str}:
        return tuple([text(item, field) or "" for item in value]), ()
    if list not in map(type, value):
        return tuple([_reference(item, field) for item in value]), ()
    if {*map(type, value)} != {list}:
        raise wrong("mixed_references", field=field)
    groups = tuple(tuple(_reference(value, field) for value in group) for group in value)
    return tuple(name for group in groups for name in group), groups


def answerability(value: Any, field: str) -> Answerability | None:
    """A label from its name in any case, in a list of one, or from a flag; ``None`` without."""
    if isinstance(value, list):
        labels = {answerability(item, field) for item in value} - {None}
        if len(labels) > 1:
            raise wrong("several_labels", field=field, labels=", ".join(map(str, value)))
        return next(iter(labels), None)
    if value is None or value == "" or value != value:
        return None
    said = str(value).strip().casefold().replace(" ", "_")
    if folded(field.rpartition(".")[2]) in NAMES["unanswerable"]:  # whose yes is our no
        said = {"true": "false", "false": "true"}.get(said, said)
    label = _LABELS.get(said)
    if label is None:
        labels_known = ", ".join(item.name for item in Answerability)
        raise wrong("no_label", field=field, value=kind(value), labels=labels_known)
    return label


_LABELS = {str(label): label for label in Answerability}
_LABELS |= {"partially_answerable": Answerability.PARTIAL}
_LABELS |= {"true": Answerability.ANSWERABLE, "false": Answerability.UNANSWERABLE}


def _of_statements(value: Any, field: str, words: str | None = None) -> Answer:
    """An answer from its statements, with their text where it has none of its own."""
    if not isinstance(value, list):
        raise not_a_list(value, field, "statements")
    statements = []
    for item in value:
        said = text(item.get("text"), f"{field}.text") if isinstance(item, dict) else None
        if said is None:
            raise wrong("statement_without_text", field=field)
        cited = item.get("citations") or []
        if not isinstance(cited, list):
            raise not_a_list(cited, f"{field}.citations", "passage ids")
        ids = tuple(needed_identifier(name, field) for name in cited)
        statements.append(Statement(said, ids))
    joined = " ".join(statement.text for statement in statements)
    return Answer(joined if words is None else words, tuple(statements))


def _reference(item: Any, field: str) -> str:
    if isinstance(item, dict):
        (key,) = pick(tuple(item), (("text", "content", "answer"),))
        item = item[key] if key else item
    words = text(item, field)
    if words is None:
        raise wrong("null_reference", field=field)
    return words


_SPEAKER, _CALLS = ("speaker", "role", "from", "type"), ("tool_calls", "function_call")
_TURN_PARTS = (("text", "content", "parts", "output"), _SPEAKER, _CALLS)
_KINDS = ("user", "agent", "system", "tool", "step")
_SPEAKERS = {name: kind for kind in _KINDS for name in NAMES[kind]}


class Conversation(NamedTuple):
    """What a list of messages holds: the turns of users and agents, oldest first; the texts of
    system messages; the results of tools after the last user turn; and how many messages are of
    tools, or call some."""

    turns: list[Turn]
    rules: list[str]
    results: list[Any]
    steps: int


def conversation(value: Any, field: str) -> Conversation:
    """The turns of a conversation, and what is between them. Images and files are errors."""
    if not isinstance(value, list):
        raise unexpected(value, "a list of turns", field)
    turns: list[Turn] = []
    rules: list[str] = []
    results: list[Any] = []
    steps = 0
    for item in _turns_of(value) if are_pairs(value) else value:
        if not isinstance(item, dict):
            raise unexpected(item, "a turn", field)
        message = _unwrapped(item)
        text_key, speaker_key, calls_key = pick(tuple(message), _TURN_PARTS)
        name = message[speaker_key] if speaker_key else None
        speaker = _SPEAKERS.get(str(name).casefold())
        if speaker is None:
            raise wrong("speaker", field=field, name=name)
        content = message[text_key] if text_key else None
        if speaker == "tool":
            results.append(content)
            steps += 1
            continue
        words, tool_results, calls = _parts(content, f"{field}.{text_key or 'content'}")
        calls = calls or bool(message[calls_key] if calls_key else None)
        results += tool_results
        if speaker == "step" or (speaker == "agent" and calls) or (words is None and tool_results):
            steps += 1
        elif words is None:
            raise wrong("turn_without_text", field=field)
        elif speaker == "system":
            rules.append(words)
        else:
            if speaker == "user":
                results = []
            turns.append(Turn(speaker, words))
    if steps and not (turns or rules):
        raise wrong("no_turn", field=field)
    return Conversation(turns, rules, results, steps)


def are_pairs(value: list[Any]) -> bool:
    """Whether a list holds pairs of texts, as LangChain writes a history: a question and its
    answer, or a speaker and what it said."""
    return bool(value) and all(
        isinstance(item, list | tuple) and [*map(type, item)] == [str, str] for item in value
    )


def _turns_of(pairs: list[Any]) -> list[dict[str, str]]:
    """The turns in pairs of texts."""
    named = all(str(first).casefold() in _SPEAKERS for first, _ in pairs)
    if not named:
        pairs = [turn for asked, said in pairs for turn in (("user", asked), ("agent", said))]
    return [{"speaker": speaker, "text": words} for speaker, words in pairs]


def _unwrapped(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message that LangChain wrote, as one with a role."""
    inner = item.get("kwargs") if "lc" in item else item.get("data")
    if not isinstance(inner, dict) or "content" not in inner:
        return item
    name = item["id"][-1] if isinstance(item.get("id"), list) and item["id"] else item.get("type")
    return {**inner, "role": name}


def _parts(content: Any, field: str) -> tuple[str | None, list[Any], bool]:
    """The text of a message, the results of tools in it, and whether it calls one."""
    if not isinstance(content, list):
        return text(content, field), [], False
    words: list[str] = []
    results: list[Any] = []
    calls = False
    for part in content:
        if not isinstance(part, dict):
            words += filter(None, [text(part, field)])
            continue
        kind = str(part.get("type") or "text")
        if kind in NAMES["pictures"] or kind in NAMES["files"] or part.get("image_url") is not None:
            called = "an image" if kind not in NAMES["files"] else f"a part of the type {kind!r}"
            raise wrong("no_text_message", field=field, called=called)
        if kind in NAMES["results"]:
            results.append(part.get("content", part.get("response")))
        elif kind in NAMES["calls"]:
            calls = calls or kind in ("tool_use", "tool_call")
        else:
            content = next((part[k] for k in ("text", "content", "refusal") if part.get(k)), "")
            words += filter(None, [text(content, field)])
    return "\n".join(words) if words or not (results or calls) else None, results, calls


class Asked(NamedTuple):
    """What a record says of its query: the turns before it; what the agent said after it, in the
    same conversation; the label of answerability inside its turn; how many messages are of tools,
    or call some; and the results of tools after the last user turn."""

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
    key, messages = values.get("history", ("", None))
    if isinstance(query, list):
        if messages is not None:
            raise wrong("two_conversations", field=key)
        key, messages, query = query_key, query, None
    else:
        query = text(query, query_key)
        if key == "turns" and isinstance(messages, int):
            metadata["turns"], messages = messages, None
        if messages is None:
            return Asked(query)
    turns, rules, results, steps = conversation(messages, key)
    if rules:
        metadata.setdefault("system_prompt", "\n".join(rules))
    if folded(key) == "history":  # our own field holds earlier turns only
        return Asked(query, tuple(turns), steps=steps, results=results)
    # Where the record's answer is the last turn, the conversation is not only what came before.
    ends = bool(turns) and values.get("answer", ("", None))[1] == turns[-1].text
    may_hold_query = ends or folded(key) in ("messages", "turns")
    query, history, after = _split_at_query(turns, query, key, may_hold_query)
    label = None
    # MT-RAG's labels of the query are in its turn.
    of_user = (message for message in reversed(messages) if isinstance(message, dict))
    asking = next((record for record in of_user if record.get("speaker") == "user"), {})
    labels = asking.get("enrichments")
    for name, value in labels.items() if isinstance(labels, dict) else ():
        if FIELD_OF.get(folded(name)) == "answerability":
            label = agreed(label, answerability(value, f"{key}.enrichments"), name)
        elif is_small(value):
            metadata.setdefault(name, value)
    return Asked(query, history, after, label, steps, results)


def agreed(
    label: Answerability | None, other: Answerability | None, key: str
) -> Answerability | None:
    """The label that two places of a record give; the key is that of the other one."""
    if label is not None and other is not None and label is not other:
        raise wrong("two_labels", field=key, first=label.name, second=other.name)
    return other if label is None else label


def _split_at_query(
    turns: Sequence[Turn], query: str | None, field: str, may_hold_query: bool
) -> tuple[str | None, tuple[Turn, ...], Answer | None]:
    """The query, the turns before it and the answer after it. Without ``query``, the last user turn
    is it. Else the conversation is what came before; where it ends with the query itself, or goes
    on after it and ``may_hold_query``, it is split there, too."""
    last = max((i for i, turn in enumerate(turns) if turn.speaker == "user"), default=None)
    if last is None:
        return query, tuple(turns), None
    is_asked_there = turns[last].text == query and (may_hold_query or last == len(turns) - 1)
    if query is not None and not is_asked_there:
        return query, tuple(turns), None
    after = turns[last + 1 :]
    if len(after) > 1:
        raise wrong("turns_after_query", field=field, n=len(after))
    return turns[last].text, tuple(turns[:last]), Answer(after[0].text) if after else None


def with_earlier_turns(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Samples with what was said before in their session as history, where they have none, and
    their session as conversation. Those whose metadata has no ``session_id`` stay unchanged.

    A turn earlier than one before it in its session has no history; a `CountedFact` counts them."""
    n_late = 0
    said: dict[tuple[str, str], tuple[Turn, ...]] = {}
    times: dict[tuple[str, str], float] = {}
    for sample in samples:
        (key,) = pick(tuple(sample.metadata), (("session_id",),))
        session = sample.metadata.get(key or "")
        if session in (None, ""):
            yield sample
            continue
        of = (sample.system, str(session))
        last = times.get(of, -math.inf)
        time = last if sample.timestamp is None else sample.timestamp
        times[of] = max(time, last)
        n_late += time < last
        before = said.get(of, ()) if time >= last else ()
        turns = (("user", sample.query), ("agent", sample.answer and sample.answer.text))
        said[of] = (*said.get(of, ()), *(Turn(who, text) for who, text in turns if text))
        metadata = {**sample.metadata, "conversation_id": str(session)}
        yield replace(sample, history=sample.history or before, metadata=metadata)
    if n_late:
        late = "{n} {turn comes|turns come} after a later one of the same session_id"
        fact = f"Histories are incomplete: {late}. Sort the records by time."
        warn_user(CountedFact(fact, n_late))
