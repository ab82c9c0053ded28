"""From a question to the request that is sent, and to the key under which its answer is kept."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson

from ragassay.base import json_data
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
    body = json_data.dumps(endpoint.body(prompt))
    # Template and schema are in the body, word for word.
    asked = [question.kind, question.version, repeat]
    identity = orjson.dumps([_IDENTITY, endpoint.protocol, endpoint.url, *asked])
    return Request(
        prompt,
        body,
        hashlib.sha256(identity + b"\n" + body).hexdigest(),
        tokens_of_messages(messages) + tokens_of_schema(type(question)),
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


ASCII, ALPHABETIC, WIDE = 4.0, 2.0, 1.0  # characters a token
PER_MESSAGE = 4  # tokens around each message: its role and its bounds

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    "\U00010000-\U0010ffff]"
)
_PLAIN = re.compile(r"[\x00-\x7f]")


def tokens_of(text: str) -> float:
    """About how many tokens ``text`` has; not rounded, so that estimates add up."""
    if text.isascii():  # a flag of the string: long English texts cost nothing
        return len(text) / ASCII
    plain, wide = len(_PLAIN.findall(text)), len(_WIDE.findall(text))
    return plain / ASCII + wide / WIDE + (len(text) - plain - wide) / ALPHABETIC


def tokens_of_messages(messages: Iterable[Message]) -> float:
    """The approximate number of tokens of a chat, with the tokens around its messages."""
    return sum(tokens_of(one["content"]) + PER_MESSAGE for one in messages)


def tokens_of_question(question: Question[Any], model: str = "", own: str = "") -> float:
    """The tokens of a question's prompt, the answer's schema included. The text around the data is
    the same for all questions of one shape, so it is rendered once: plans ask this a million
    times."""
    values = [one for name, one in question.data.items() if name not in question.unsent]
    shape = (type(question), own or question.template(model), tuple(map(_shape, values)))
    material = sum(map(_material, values))
    around = _around.get(shape)
    if around is None:
        put = tokens_of_messages(question.messages(model, own)) + tokens_of_schema(type(question))
        if len(_around) >= _SHAPES:
            _around.clear()
        around = _around[shape] = put - material
    return material + around


_SHAPES = 10_000
_around: dict[Hashable, float] = {}


def _shape(value: Any) -> Hashable:
    """What determines a prompt's own words: which texts there are, and how many."""
    if isinstance(value, str):
        return value != ""
    if isinstance(value, tuple | list):
        return tuple(map(_shape, value))
    return repr(value)


def _material(value: Any) -> float:
    if isinstance(value, str):
        return tokens_of(value)
    if isinstance(value, tuple | list):
        return sum(map(_material, value))
    return 0.0


@cache
def tokens_of_schema(cls: type[Question[Any]]) -> float:
    """About how many tokens it takes to say what the answer must look like."""
    return tokens_of(json.dumps(cls.schema(), separators=(",", ":")))
