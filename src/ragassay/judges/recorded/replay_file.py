"""A file of recorded or human answers: read once, checked line by line, looked up by question.

Two kinds of lines, also mixed in one file:

- recorded: a line of a run folder's ``verdicts.jsonl`` or of ``ragassay ledger export``. It names
  its question by ``key`` (and ``repeat``).
- labelled by people: ``{"question": "relevance_grade", "data": {"query": ..., "passage": ...},
  "answer": 3, "judge": "ann"}``. It names its question by its data, compared without regard to
  white space; fields of the question that have a default need not be given, and match whatever the
  question holds there. One with ``"final": true`` settles its question: it alone counts.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import orjson
from pydantic import TypeAdapter, ValidationError

from ragassay.base.errors import InputError, did_you_mean, meant_or_all
from ragassay.base.problem_words import json_problem, mistakes, system_problem
from ragassay.base.score import Reason
from ragassay.judges.question import Question
from ragassay.judges.questions.question_kinds import kinds
from ragassay.judges.reply import Reply

ANY_REPEAT = -1
"""Of a label that holds for every repeat of its question."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where an answer stands.

    Attributes:
        number: 1-based.
        place: of its first byte.
        who: judge and model, or the person, that gave it; empty where the line does not say.
        model: the same of a model's recorded answer; empty for a person's.
        final: it was given by a person who saw the others' answers, and settles the question.
    """

    number: int
    place: int
    who: str
    model: str = ""
    final: bool = False


class ReplayFile:
    """The answers of a file. Only their places stay in memory."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.counts: Counter[str] = Counter()
        self.labels: list[Line] = []
        self.judges: dict[str, None] = {}
        self._by_key: dict[tuple[str, int], list[Line]] = {}
        self._by_data: dict[str, dict[tuple[str, ...], dict[tuple[bytes, int], list[Line]]]] = {}
        self.hash = self._read()

    def find(
        self, question: Question[Any], repeat: int = 0, version: int | None = None
    ) -> list[Line]:
        """The lines that answer a question, in the order of the file; the last of each judge, and
        the last final one alone where there is any."""
        latest: dict[object, Line] = {}
        for line in self.matching(question, repeat, version):
            latest[line.who or line.number] = line
        lines = sorted(latest.values(), key=lambda line: line.number)
        return [line for line in lines if line.final][-1:] or lines

    def matching(
        self, question: Question[Any], repeat: int, version: int | None = None
    ) -> list[Line]:
        """All lines on a question, in the order of the file, with those that a later line corrects.

        Labels by people take precedence over recorded answers to the same question.
        """
        lines: list[Line] = []
        for names, labels in self._by_data.get(question.kind, {}).items():
            name = _digest({name: getattr(question, name) for name in names})
            lines += labels.get((name, ANY_REPEAT), ()) or labels.get((name, repeat), ())
        key = question.key if version is None else question.key_at(version)
        lines = lines or self._by_key.get((key, repeat), [])
        return sorted(lines, key=lambda line: line.number)

    def record(self, line: Line) -> dict[str, Any]:
        """What a line says."""
        with self.path.open("rb") as stream:
            stream.seek(line.place)
            record: dict[str, Any] = orjson.loads(stream.readline())
        return record

    def _read(self) -> str:
        content = hashlib.sha256()
        number = place = 0
        try:
            with self.path.open("rb") as stream:
                if stream.peek(2).startswith(b"\x1f\x8b"):
                    raise InputError("is compressed", hint="Decompress it first.")
                for number, raw in enumerate(stream, start=1):
                    content.update(raw)
                    mark = b"\xef\xbb\xbf" if number == 1 and raw[:3] == b"\xef\xbb\xbf" else b""
                    line = raw[len(mark) :]
                    if line.strip():
                        self._add(_object(line), number, place + len(mark))
                    place += len(raw)
        except OSError as error:
            raise InputError(
                f"cannot be read ({system_problem(error)})",
                path=self.path,
                hint="Name a file of recorded or human answers: replay:FILE.",
            ) from error
        except InputError as error:
            raise error.at(path=self.path, line=number or None) from error
        if not self.counts:
            raise InputError(
                "holds no answers",
                path=self.path,
                hint="Each line is one recorded or human answer; docs/labels.md shows some.",
            )
        return content.hexdigest()[:12]

    def _add(self, record: dict[str, Any], number: int, place: int) -> None:
        cls = _type_of(record)
        repeat = _repeat_of(record)
        answer, reason = record.get("answer"), record.get("reason")
        if answer is not None and "data" not in record:
            reply_of(cls, answer)
        if reason is not None and reason not in set(Reason):
            raise InputError(f"there is no reason {reason!r}", field="reason")
        who = _who_answered(record)
        line = Line(number, place, who, who if record.get("model") else "", _is_final(record))
        if "data" in record:
            question, _ = label_of(record)
            data = {name: getattr(question, name) for name in record["data"]}
            labels = self._by_data.setdefault(cls.kind, {}).setdefault(tuple(sorted(data)), {})
            key = (_digest(data), ANY_REPEAT if repeat is None else repeat)
            labels.setdefault(key, []).append(line)
            self.labels.append(line)
        elif isinstance(record.get("key"), str):
            if answer is None and reason is None:
                raise InputError("neither an answer nor a reason why there is none", field="answer")
            self._by_key.setdefault((record["key"], repeat or 0), []).append(line)
            if isinstance(judge := record.get("judge"), str) and judge:
                self.judges[judge] = None
        else:
            raise InputError(
                "does not say which question it answers",
                field="data",
                hint=f"Give its data, as in {example(cls)}",
            )
        self.counts[cls.kind] += 1


def label_of(record: Mapping[str, Any]) -> tuple[Question[Any], Reply | None]:
    """The question that a person's label names by its data, and the answer; ``None`` for none.

    Raises:
        InputError: it is no label; names the field.
    """
    cls = _type_of(record)
    reply = None if record.get("answer") is None else reply_of(cls, record["answer"])
    question = _question_of(cls, record.get("data"))
    try:
        return question, None if reply is None else question.check(reply)
    except ValueError as error:
        raise InputError(str(error), field="answer") from error


def reply_of(cls: type[Question[Any]], answer: Any) -> Reply:
    """An answer as the typed reply, where a person may leave out what no person is asked for.

    A reply with one field besides explanations may be given bare (``3`` for ``{"grade": 3}``).

    Raises:
        InputError: it is not an answer to such questions; names the field.
    """
    shape = cls.reply
    needed = [name for name in shape.fields() if not _can_be_left_out(shape, name)]
    if not isinstance(answer, dict):
        if len(needed) != 1:
            raise InputError(
                f"{cls.kind} has several values to answer",
                field="answer",
                hint=f"As in {example(cls)}",
            )
        answer = dict.fromkeys(needed, answer)
    fields_of = dict(answer)
    for name, kind in shape.fields().items():
        if name in shape.implied and shape.implied[name] in fields_of:
            fields_of.setdefault(name, fields_of[shape.implied[name]])
        elif kind is str:
            fields_of.setdefault(name, "")
    try:
        return shape.model_validate_json(orjson.dumps(fields_of))
    except ValidationError as error:
        place, problem = min(mistakes(error), key=lambda one: one[0][0] in shape.implied)
        field = ".".join(("answer", *place))
        raise InputError(problem, field=field, hint=f"As in {example(cls)}") from error


def _who_answered(record: Mapping[str, Any]) -> str:
    """Who answered: a judge with the model that it reached, or a person."""
    who = record.get("judge")
    model = record.get("model")
    parts = [part for part in (who, model) if isinstance(part, str) and part]
    return " ".join(dict.fromkeys(parts))


def example(cls: type[Question[Any]]) -> str:
    """A line that labels such a question."""
    data = {
        field.name: ["..."] if "tuple" in str(field.type) else "..."
        for field in fields(cls)
        if field.default is MISSING
    }
    answer: dict[str, Any] = {
        name: _shown(kind)
        for name, kind in cls.reply.fields().items()
        if not _can_be_left_out(cls.reply, name)
    }
    line = {"question": cls.kind, "data": data, "answer": answer}
    return orjson.dumps(line).decode()


def _shown(kind: Any) -> Any:
    """What a value of a type looks like."""
    if get_origin(kind) is Annotated:
        return _shown(get_args(kind)[0])
    if get_origin(kind) is tuple:
        return [_shown(get_args(kind)[0])]
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    return {int: 1, bool: True}.get(kind, "...")


def _object(raw: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(raw)
    except ValueError as error:
        raise InputError(
            f"is not JSON ({json_problem(error)})", hint="Write one JSON object a line, in UTF-8."
        ) from error
    if not isinstance(record, dict):
        raise InputError("is not a JSON object")
    return record


def _type_of(record: Mapping[str, Any]) -> type[Question[Any]]:
    kind, types = record.get("question"), kinds()
    if not isinstance(kind, str) or kind not in types:
        hint = meant_or_all(str(kind), types)
        raise InputError(f"there is no question {kind!r}", field="question", hint=hint)
    return types[kind]


def _repeat_of(record: Mapping[str, Any]) -> int | None:
    repeat = record.get("repeat")
    if repeat is None or (type(repeat) is int and repeat >= 0):
        return repeat
    raise InputError(f"must be a whole number from 0, not {repeat!r}", field="repeat")


def _is_final(record: Mapping[str, Any]) -> bool:
    final = record.get("final", False)
    if type(final) is not bool:
        raise InputError(f"must be true or false, not {final!r}", field="final")
    return final and "data" in record


def _question_of(cls: type[Question[Any]], data: Any) -> Question[Any]:
    if not isinstance(data, dict):
        raise InputError("must be an object", field="data", hint=f"As in {example(cls)}")
    names = {field.name for field in fields(cls)}
    for name in data:
        if name not in names:
            hint = did_you_mean(name, names) or f"It has: {', '.join(sorted(names))}."
            raise InputError(f"{cls.kind} has no field {name!r}", field=f"data.{name}", hint=hint)
    try:
        return _adapter(cls).validate_json(orjson.dumps(data), strict=True)
    except ValidationError as error:
        place, problem = mistakes(error)[0]
        field = ".".join(("data", *place))
        hint = f"As in {example(cls)}" if problem == "is missing" else ""
        raise InputError(problem, field=field, hint=hint) from error


@cache
def _adapter(cls: type[Question[Any]]) -> TypeAdapter[Question[Any]]:
    return TypeAdapter(cls)


def _can_be_left_out(shape: type[Reply], name: str) -> bool:
    return name in shape.implied or shape.fields()[name] is str


def _digest(data: Mapping[str, Any]) -> bytes:
    body = orjson.dumps(_plain(data), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(body).digest()[:16]


def _plain(value: Any) -> Any:
    """Texts with white space collapsed, accents composed and broken characters marked."""
    if isinstance(value, str):
        readable = value.encode("utf-8", "replace").decode()
        return unicodedata.normalize("NFC", " ".join(readable.split()))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
