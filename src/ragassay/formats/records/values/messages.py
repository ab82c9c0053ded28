"""Conversations: the turns of users and agents among messages of systems and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.base.sample import Answer, Turn
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.aliases import pick
from ragassay.formats.records.values.field_values import text

_TURN_PARTS = (
    ("text", "content", "parts", "output"),
    ("speaker", "role", "from", "type"),
    ("tool_calls", "function_call"),
)
_SPEAKERS: Mapping[str, str] = {
    "user": "user", "human": "user", "humanmessage": "user",
    "agent": "agent", "assistant": "agent", "ai": "agent", "bot": "agent", "model": "agent",
    "aimessage": "agent", "aimessagechunk": "agent",
    "system": "system", "developer": "system", "systemmessage": "system",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "function_call_output": "tool",
    "function_call": "step", "reasoning": "step", "tool_call": "step",
}  # fmt: skip
_PICTURES = frozenset({"image", "image_url", "input_image", "image_file"})
_FILES = frozenset({"input_audio", "audio", "video", "file", "input_file", "blob", "uri"})
_RESULTS = frozenset({"tool_result", "tool_call_response"})
_STEPS = frozenset({"tool_use", "tool_call", "thinking", "redacted_thinking", "reasoning"})


class Conversation(NamedTuple):
    """What a list of messages holds.

    Attributes:
        turns: of users and agents, oldest first; messages that only call tools are none.
        rules: texts of system messages.
        results: the results of tools after the last user turn.
        steps: how many messages of tools, or that call tools, there are.
    """

    turns: list[Turn]
    rules: list[str]
    results: list[Any]
    steps: int


def conversation(value: Any, field: str) -> Conversation:
    """The turns of a conversation, and what stands between them. An image or another file in it is
    an error."""
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
        isinstance(one, list | tuple)
        and len(one) == 2
        and all(isinstance(text, str) for text in one)
        for one in value
    )


def _turns_of(pairs: list[Any]) -> list[dict[str, str]]:
    """The turns in pairs of texts."""
    if all(str(first).casefold() in _SPEAKERS for first, _ in pairs):
        return [{"speaker": speaker, "text": words} for speaker, words in pairs]
    turns = [zip(("user", "agent"), pair, strict=True) for pair in pairs]
    return [{"speaker": speaker, "text": words} for turn in turns for speaker, words in turn]


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
        if kind in _PICTURES or kind in _FILES or part.get("image_url") is not None:
            called = "an image" if kind not in _FILES else f"a part of the type {kind!r}"
            raise wrong("no_text_message", field=field, called=called)
        if kind in _RESULTS:
            results.append(part.get("content", part.get("response")))
        elif kind in _STEPS:
            calls = calls or kind in ("tool_use", "tool_call")
        else:
            content = next((part[k] for k in ("text", "content", "refusal") if part.get(k)), "")
            words += filter(None, [text(content, field)])
    return "\n".join(words) if words or not (results or calls) else None, results, calls


def split_at_query(
    turns: Sequence[Turn], query: str | None, field: str, *, may_hold_query: bool
) -> tuple[str | None, tuple[Turn, ...], Answer | None]:
    """The query, the turns before it and the answer after it.

    Without ``query``, the last user turn of the conversation is the query. With ``query``, the
    conversation is what came before it; where it ends with the query itself, that turn is left out.
    Where it goes on after the query and may hold that, it is split there, too.

    Args:
        turns: oldest first.
        query: the record's own query.
        field: the name of the conversation, for errors.
        may_hold_query: whether it may hold the query and its answer, also where ``query`` is given.
    """
    last = max((i for i, turn in enumerate(turns) if turn.speaker == "user"), default=None)
    if last is None:
        return query, tuple(turns), None
    if query is not None and (
        turns[last].text != query or not (may_hold_query or last == len(turns) - 1)
    ):
        return query, tuple(turns), None
    after = turns[last + 1 :]
    if len(after) > 1:
        raise wrong("turns_after_query", field=field, n=len(after))
    return turns[last].text, tuple(turns[:last]), Answer(after[0].text) if after else None


def enrichments(value: Any) -> Mapping[str, Any]:
    """MT-RAG's labels of the query, which are in its turn; empty where there are none."""
    for item in reversed(value):
        if isinstance(item, dict) and item.get("speaker") == "user":
            enrichments = item.get("enrichments")
            return enrichments if isinstance(enrichments, dict) else {}
    return {}
