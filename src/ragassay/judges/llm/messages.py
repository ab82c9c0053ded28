"""What a model is sent about a question (`build`), and the answer that its reply holds (`read`).

A request has a key under which its answer is kept. A reply is as a whole the JSON object, or it
holds exactly one of the agreed form. A number somewhere in prose is never an answer, nor is what is
only quoted from the material under judgment."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import orjson
from pydantic import ValidationError

from ragassay.base import json_data
from ragassay.base.score import Reason
from ragassay.judges.question import Lost, Question, R_co, ReplyInParts, example_of, harmless
from ragassay.texts.languages import code_of, held, language_of
from ragassay.transport.endpoints import Prompt
from ragassay.transport.endpoints.endpoint import SYSTEM, Message, Mode

if TYPE_CHECKING:
    from ragassay.judges.llm.llm_judge import LLMJudge

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
    judge: LLMJudge, question: Question[Any], repeat: int, dropped: frozenset[str]
) -> Request:
    """The request that puts a question to a judge's model. Each ``repeat`` has a seed of its own.
    The user's parameters come before the question's, these before `DEFAULTS`; ``None`` leaves one
    out, as being ``dropped`` does. A prompt of the user's own takes the place of the question's."""
    endpoint, model, own = judge.endpoint, judge.model, judge.prompts.get(question.kind, "")
    accepted = {}
    for name, value in sorted({**DEFAULTS, **question.sampling(), **judge.parameters}.items()):
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
    explained = ""
    if judge.language or not own:
        explained = _explained_in(question, schema, judge.language)
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


def _explained_in(question: Question[Any], schema: Mapping[str, Any], language: str) -> str:
    """The line that names the language of explanations; none where the question wants none, and for
    an English query unless a language is asked for, because prompts are English."""
    if not any(name.endswith(("explanation", "reasoning")) for name in schema["properties"]):
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
    return sum(tokens_of(message["content"]) + PER_MESSAGE for message in messages)


def tokens_of_question(question: Question[Any], model: str = "", own: str = "") -> float:
    """The tokens of a question's prompt, the answer's schema included. The text around the data is
    the same for all questions of one shape, so it is rendered once: plans ask this a million
    times."""
    values = question.data.values()
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


_LONGEST = 200_000  # characters of a reply that are searched for an object in prose

_MOST_IN_VAIN = 2_000_000
"""Characters that are read at most from opening braces which begin no object."""

_BRACE = 1_000  # characters that each such brace counts for at least: reading it takes time, too

_THOUGHTS = "think|thinking|thought|thoughts|reasoning|reflection"
_THOUGHT_ENDS = re.compile(rf"</(?:{_THOUGHTS})>|\[/THINK\]|<\|channel\|>final<\|message\|>", re.I)
_THOUGHT_BEGINS = re.compile(rf"\s*(?:<(?:{_THOUGHTS})>|\[THINK\]|<\|channel\|>analysis)", re.I)

_DECLINES = re.compile(
    r"\W*(?:(?:i['\u2019]?m|i am) (?:very |so |really )?(?:sorry|afraid|unable|not able)|sorry\b"
    r"|unfortunately,? i|i (?:can['\u2019]?t|cannot|won['\u2019]?t|will not|must decline)"
    r"|i have to decline|as an ai\b|i apologi[sz]e)",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 1_000

_SHOWN = 80  # characters of a reply that a failure shows


class Unreadable(ValueError):  # noqa: N818 - said to the judge, not to the user
    """A reply without a valid answer; the message says what is wrong with it."""

    def __init__(self, problem: str, rest: ReplyInParts | None = None) -> None:
        super().__init__(problem)
        self.rest = rest


def read(question: Question[R_co], text: str | None, *, cut: bool = False) -> R_co:
    """The answer that a reply holds, valid for this very question; `Unreadable` where there is not
    exactly one. ``cut``: the endpoint says that the reply was cut off."""
    if text is None or not text.strip():
        raise Unreadable(CUT if cut else "the reply is empty")
    bare = text.strip().strip("\ufeff\u200b")
    answer = _single_object(question, bare)
    if answer is not None:
        return answer
    answer_text = _without_thoughts(question, bare)
    if cut and not answer_text.strip().endswith(("}", "```")):
        raise Unreadable(CUT)
    return _single_object(question, answer_text) or _object_in_prose(question, answer_text)


def described(text: str, question: Question[Any]) -> str:
    """The end of a sentence about a reply without an answer: how it begins, and what is wanted."""
    words = " ".join(text.split())
    start = words[:_SHOWN] + ("…" if len(words) > _SHOWN else "")
    # What a model fills in, which may not be the reply that is made of it.
    schema = question.schema()
    wanted = ", ".join(schema["properties"])
    reply = f" The reply: {start!r}." if start else ""
    example = orjson.dumps(example_of(schema)).decode()
    return f"{reply} Wanted: a JSON object with {wanted}, such as {example}"


def declines(text: str | None) -> bool:
    """Whether a reply without an answer is a refusal in words."""
    answer_text = _THOUGHT_ENDS.split((text or "").strip())[-1].strip()
    return len(answer_text) <= _LONGEST_REFUSAL and bool(_DECLINES.match(answer_text))


CUT = "the reply was cut off before its end"


def _single_object(question: Question[R_co], text: str) -> R_co | None:
    """The answer, where the whole text is one JSON object; else ``None``."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        json.loads(text, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        return None
    return _checked(question, text)


def _checked(question: Question[R_co], source: str) -> R_co:
    if issubclass(question.reply, ReplyInParts):
        return cast(R_co, _in_parts(question, question.reply, source))
    form = question.form or question.reply
    try:
        parsed = form.model_validate_json(source.encode("utf-8", "replace"))
    except ValidationError as error:
        raise Unreadable(_problems(error)) from None
    try:
        return question.check(parsed if question.form is None else question.read(parsed))
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _in_parts(question: Question[Any], shape: type[ReplyInParts], source: str) -> ReplyInParts:
    """A reply all of whose fields are valid."""
    body = json.loads(source)
    values = {name: body[name] for name in shape.fields() if name in body}
    faults: dict[str, str] = {}
    try:
        reply = _read(shape, values)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_context=False, include_input=False):
            name, *place = item["loc"]
            faults.setdefault(str(name), _problem(place, item["msg"]))
        reply = _read(shape, {name: value for name, value in values.items() if name not in faults})
    for name, fault in question.faults(reply).items():
        faults.setdefault(name, fault)
    if not faults:
        return reply
    problem = "; ".join(f"{name}: {fault}" for name, fault in faults.items())
    answering = {name for name, kind in shape.fields().items() if kind is not str}
    if answering <= faults.keys():
        raise Unreadable(problem)
    lost = {name: Lost(reason=Reason.UNPARSABLE, detail=fault) for name, fault in faults.items()}
    rest = reply.model_copy(update={**dict.fromkeys(faults), "lost": lost})
    raise Unreadable(problem, rest)


def _read(shape: type[ReplyInParts], values: Mapping[str, Any]) -> ReplyInParts:
    return shape.model_validate_json(json.dumps(values).encode("utf-8", "replace"))


def _object_in_prose(question: Question[R_co], text: str) -> R_co:
    """The answer, where the text holds exactly one object of the agreed form."""
    fields = set(question.schema()["properties"])
    objects = [pair for pair in _objects(text[:_LONGEST]) if fields & pair[0].keys()]
    if not objects:
        raise Unreadable("the reply holds no JSON object of the agreed form")
    if len(objects) > 1:
        raise Unreadable(f"the reply holds {len(objects)} JSON objects instead of one")
    source = objects[0][1]
    if _quoted(source, question.data):
        raise Unreadable("the JSON object in the reply is a quotation from the material")
    return _checked(question, source)


def _objects(text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The outermost JSON objects in a text, each with its source."""
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    at = in_vain = 0
    while (at := text.find("{", at)) >= 0 and in_vain < _MOST_IN_VAIN:
        try:
            body, end = decoder.raw_decode(text, at)
        except RecursionError:
            raise Unreadable("the reply is nested too deeply") from None
        except json.JSONDecodeError as error:
            in_vain += _BRACE + error.pos - at
            at += 1
            continue
        yield body, text[at:end]
        at = end


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's pairs, each key once: with two values nobody knows which is meant."""
    body = dict(pairs)
    if len(body) < len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise Unreadable(f"the key {twice!r} occurs twice")
    return body


def _without_thoughts(question: Question[Any], text: str) -> str:
    """The text without the thoughts before it."""
    ends = list(_THOUGHT_ENDS.finditer(text))
    if ends:
        if _quoted(text[ends[-1].start() :], question.data):
            raise Unreadable("the end of the reply is a quotation from the material")
        return text[ends[-1].end() :].strip()
    if _THOUGHT_BEGINS.match(text):
        raise Unreadable("the reply holds thoughts and no answer")
    return text


def _quoted(source: str, data: Any) -> bool:
    """Whether an object in prose is quoted from the data under judgment: then it is no answer."""
    wanted = "".join(source.split())
    return any(wanted in "".join(harmless(text).split()) for text in _texts(data))


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    values = data.values() if isinstance(data, dict) else data
    for value in values if isinstance(data, dict | list | tuple) else ():
        yield from _texts(value)


def _problems(error: ValidationError) -> str:
    """The first problems, in words that can be sent back."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    problems = [_problem(item["loc"] or ("the reply",), item["msg"]) for item in errors[:3]]
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    return "; ".join(problems) + more


def _problem(place: Sequence[object], message: str) -> str:
    where = f"{'.'.join(map(str, place))}: " if place else ""
    return f"{where}{message[:1].lower()}{message[1:]}"
