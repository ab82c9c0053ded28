"""From a reply's text to a valid answer, or to a sentence that says why there is none.

The whole reply is the JSON object, or it holds exactly one of the agreed form. A number somewhere
in prose is never an answer, nor is what is only quoted from the material under judgment."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson
from pydantic import ValidationError

from ragassay.base.score import Reason
from ragassay.judges.question import Question, example_of, harmless
from ragassay.judges.reply import Lost, R_co, ReplyInParts

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
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            name, *place = one["loc"]
            faults.setdefault(str(name), _problem(place, one["msg"]))
        reply = _read(shape, {name: one for name, one in values.items() if name not in faults})
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
    objects = [one for one in _objects(text[:_LONGEST]) if fields & one[0].keys()]
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
    """An object's pairs, each key once: of two values nobody knows which is meant."""
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
    problems = [_problem(one["loc"] or ("the reply",), one["msg"]) for one in errors[:3]]
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
    return "; ".join(problems) + more


def _problem(place: Sequence[object], message: str) -> str:
    where = f"{'.'.join(map(str, place))}: " if place else ""
    return f"{where}{message[:1].lower()}{message[1:]}"
