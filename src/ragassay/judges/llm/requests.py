"""From a question to the request that is sent, and to the key under which its answer is kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson

from ragassay.base import strict_json
from ragassay.judges.llm import token_estimate
from ragassay.judges.question import Question
from ragassay.texts.languages import code_of, held, language_of
from ragassay.transport.endpoints import Endpoint, Prompt
from ragassay.transport.endpoints.endpoint import SYSTEM, Message, Mode

MODES: tuple[Mode, ...] = ("json_schema", "json_object", "text")

FORMS = (*MODES, SYSTEM)  # how a question is put: what an endpoint may reject besides parameters
_IDENTITY = 1  # raised when something is sent that the key does not hold
_ECHOED = 4_000  # characters of a bad reply that its repair turn repeats

DEFAULTS: Mapping[str, Any] = {"temperature": 0.0, "seed": 42}
"""Sampling unless a question or the user says otherwise."""

_INSTEAD = {"max_tokens": "max_completion_tokens"}
"""Parameters that some models take under another name only."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request as it is sent. ``key`` is the hash of all that can change the answer; the numbers
    of tokens are estimates; ``dropped`` was left out because the endpoint rejects it."""

    prompt: Prompt
    body: bytes
    key: str
    input_tokens: float
    output_tokens: int
    dropped: frozenset[str]


def build(
    endpoint: Endpoint,
    model: str,
    question: Question[Any],
    repeat: int,
    chosen: Mapping[str, Any],
    dropped: frozenset[str],
    language: str = "",
    own: str = "",
) -> Request:
    """The request that puts a question to a model. Each ``repeat`` has a seed of its own. The
    user's ``chosen`` parameters come before the question's, these before `DEFAULTS`; ``None``
    leaves one out, as being ``dropped`` does. ``language`` is that of explanations (empty: the
    query's), ``own`` the user's prompt in place of the question's."""
    accepted = {}
    for name, value in sorted({**DEFAULTS, **question.sampling(), **chosen}.items()):
        sent = _INSTEAD.get(name, name) if name in dropped else name
        if value is not None and sent not in dropped:
            seeded = name == "seed" and isinstance(value, int)
            accepted[sent] = value + repeat if seeded else value
    mode: Mode = next((mode for mode in MODES[:-1] if mode not in dropped), "text")
    messages = question.messages(model, own)
    if SYSTEM in dropped and messages[0]["role"] == SYSTEM:
        rules, first, *others = messages
        text = f"{rules['content']}\n\n{first['content']}"
        messages = [{"role": first["role"], "content": text}, *others]
    last = messages[-1]
    schema, data = question.bounded_schema(), question.data
    form = keys_wanted(type(question)) if mode == "json_schema" else _in_words(schema)
    explained = _explained_in(question, language) if language or not own else ""
    text = f"{last['content']}\n\n{explained}{form}"
    messages = [*messages[:-1], {"role": last["role"], "content": text}]
    most = accepted.get("max_tokens") or accepted.get("max_completion_tokens")
    name = re.sub(r"[^A-Za-z0-9_-]", "_", question.kind)[:64]
    prompt = Prompt(model, messages, accepted, mode, name, schema, data)
    body = strict_json.dumps(endpoint.body(prompt))
    # Template and schema are in the body, word for word.
    asked = [question.kind, question.version, repeat]
    identity = orjson.dumps([_IDENTITY, endpoint.protocol, endpoint.url, *asked])
    return Request(
        prompt,
        body,
        hashlib.sha256(identity + b"\n" + body).hexdigest(),
        token_estimate.of_messages(messages) + token_estimate.of_schema(type(question)),
        min(most or question.output_tokens, question.output_tokens),
        dropped,
    )


def _explained_in(question: Question[Any], language: str) -> str:
    """The line that names the language of explanations; none where the question wants none, and for
    an English query unless a language is asked for, because prompts are English."""
    if not any(
        name.endswith(("explanation", "reasoning")) for name in question.schema()["properties"]
    ):
        return ""
    stated = code_of(language or question.language)
    code = stated or language_of(str(question.data.get("query") or ""))
    if not code or (code == "en" and not language):
        return ""
    name, *_ = held("names").get(code, [language or code])
    return f"Language of explanations: {name.title()}.\n"


def repair(prompt: Prompt, reply: str | None, problem: str) -> Prompt:
    """The prompt of the repair turn: the request again, with the bad reply and what is wrong with
    it."""
    shown = (reply or "").strip()[:_ECHOED] or "(no reply)"
    again = (
        f"That reply cannot be used: {problem}. Answer the same question again, now in the agreed "
        f"form.\n\n{_in_words(prompt.schema)}"
    )
    messages = [
        *prompt.messages,
        {"role": "assistant", "content": shown},
        {"role": "user", "content": again},
    ]
    return replace(prompt, messages=messages)


def lost(dropped: Iterable[str]) -> tuple[str, ...]:
    """The names among ``dropped`` that have no substitute, sorted."""
    names = set(dropped)
    if "json_schema" not in names:
        names.discard("json_object")  # it was never needed
    replaced = {name for name, other in _INSTEAD.items() if other not in names}
    return tuple(sorted(names - replaced - set(_INSTEAD.values())))


@cache
def keys_wanted(cls: type[Question[Any]]) -> str:
    """The instruction for an endpoint that is also sent the schema."""
    names = ", ".join(cls.schema()["properties"])
    return f"Answer with one JSON object and nothing else. Its keys: {names}."


def _in_words(schema: Mapping[str, Any]) -> str:
    """The instruction for an endpoint that is not sent the schema."""
    shown = orjson.dumps(schema).decode()
    return (
        "Answer with one JSON object and nothing else: no code block, no words around it. It must "
        f"be valid against this JSON schema:\n{shown}"
    )
