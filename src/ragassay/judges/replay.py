"""A judge that repeats recorded answers: of other runs, or labels of people. Its file has two kinds
of lines, also mixed:

- recorded: a line of a run folder's ``judge_answers.jsonl`` or of ``ragassay ledger export``. It
  names its question by ``key`` (and ``repeat``).
- labelled by people: ``{"question": "relevance_grade", "data": {"query": ..., "passage": ...},
  "answer": 3, "judge": "ann"}``. It names its question by its data, compared without regard to
  white space; fields of the question that have a default need not be given, and match whatever the
  question holds there. One with ``"final": true`` settles its question: it alone counts.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import override

from ragassay.base.errors import (
    InputError,
    UsageError,
    did_you_mean,
    json_problem,
    meant_or_all,
    mistake,
    mistakes,
    system_problem,
)
from ragassay.base.printable import share
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance, provenance_of
from ragassay.judges.panel import Vote, decided
from ragassay.judges.question import Question, R_co, Reply, example_of, kinds, schema_of

ANY_REPEAT = -1  # of a label that holds for every repeat of its question


class _Record(BaseModel):
    """What a line says besides the question's data and the answer."""

    model_config = ConfigDict(strict=True)
    key: Any = None
    repeat: int | None = Field(None, ge=0)
    reason: Annotated[Reason | None, Field(strict=False)] = None
    judge: Any = None
    model: Any = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Where an answer is: ``number`` is 1-based, ``place`` that of its first byte. ``who`` gave
    it: judge and model, or a person. A ``final`` one was given by a person who saw the others'
    answers, and settles the question."""

    number: int
    place: int
    who: str
    final: bool = False


def latest(lines: Sequence[Line]) -> list[Line]:
    """The lines on one question that count: the last of each judge, and the last final one alone
    where there is any."""
    by_judge: dict[object, Line] = {line.who or line.number: line for line in lines}
    counting = sorted(by_judge.values(), key=lambda line: line.number)
    return [line for line in counting if line.final][-1:] or counting


def label_of(record: Mapping[str, Any]) -> tuple[Question[Any], Reply | None]:
    """The question that a person's label names by its data, and the answer (``None`` for none); an
    `InputError` that names the field where it is no label."""
    cls = _type_of(record)
    reply = None if record.get("answer") is None else reply_of(cls, record["answer"])
    data, names = record.get("data"), {field.name for field in fields(cls)}
    if not isinstance(data, dict):
        raise InputError("must be an object", field="data", hint=f"As in {example(cls)}")
    for name in data.keys() - names:
        hint = did_you_mean(name, names) or f"It has: {', '.join(sorted(names))}."
        raise InputError(f"{cls.kind} has no field {name!r}", field=f"data.{name}", hint=hint)
    try:
        question = _adapter(cls).validate_json(orjson.dumps(data), strict=True)
    except ValidationError as error:
        field, problem = mistake(error)
        hint = f"As in {example(cls)}" if problem == "is missing" else ""
        raise InputError(problem, field=f"data.{field}", hint=hint) from error
    try:
        return question, None if reply is None else question.check(reply)
    except ValueError as error:
        raise InputError(str(error), field="answer") from error


def reply_of(cls: type[Question[Any]], answer: Any) -> Reply:
    """An answer as the typed reply, where a person may leave out what no person is asked for. One
    with one field besides explanations may be bare (``3`` for ``{"grade": 3}``). An `InputError`
    names the field."""
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
        place, problem = min(mistakes(error), key=lambda value: value[0][0] in shape.implied)
        field = ".".join(("answer", *place))
        raise InputError(problem, field=field, hint=f"As in {example(cls)}") from error


def example(cls: type[Question[Any]]) -> str:
    """A line that labels such a question."""
    data = {
        field.name: ["..."] if "tuple" in str(field.type) else "..."
        for field in fields(cls)
        if field.default is MISSING
    }
    answer = {
        name: value
        for name, value in example_of(schema_of(cls.reply)).items()
        if not _can_be_left_out(cls.reply, name)
    }
    line = {"question": cls.kind, "data": data, "answer": answer}
    return orjson.dumps(line).decode()


def _type_of(record: Mapping[str, Any]) -> type[Question[Any]]:
    kind, types = record.get("question"), kinds()
    if not isinstance(kind, str) or kind not in types:
        hint = meant_or_all(str(kind), types)
        raise InputError(f"there is no question {kind!r}", field="question", hint=hint)
    return types[kind]


@cache
def _adapter(cls: type[Question[Any]]) -> TypeAdapter[Question[Any]]:
    return TypeAdapter(cls)


def _can_be_left_out(shape: type[Reply], name: str) -> bool:
    return name in shape.implied or shape.fields()[name] is str


def _digest(question: Question[Any], names: tuple[str, ...]) -> bytes:
    """The digest of some fields of a question."""
    body = [question.kind, {name: _plain(getattr(question, name)) for name in names}]
    return hashlib.sha256(orjson.dumps(body)).digest()[:16]


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


_NAMED = 3  # judges of recorded answers that a label names


class Replay(Judge):
    """Answers from a file. It asks nobody and costs nothing. Several lines on one question are
    votes, and become one answer as those of a panel do; a recorded failure comes back as it was.

    An `InputError` where the file cannot be read or a line is no answer; a `UsageError` for no
    file."""

    def __init__(self, path: str | Path) -> None:
        if not str(path).strip():
            raise UsageError(
                "replay: names no file. Write replay:FILE, a file of recorded or human answers."
            )
        self._path = Path(path)
        self._counts: Counter[str] = Counter()
        self._labels: list[Line] = []
        self._judges: dict[str, None] = {}
        # By a recorded question's key or the digest of a label's data, and the repeat. Only the
        # places of the answers stay in memory.
        self._lines: defaultdict[tuple[str | bytes, int], list[Line]] = defaultdict(list)
        self._named: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._used: set[int] = set()
        self._hash = self._read()

    @property
    @override
    def label(self) -> str:
        judges = list(self._judges)
        more = f" and {len(judges) - _NAMED} more" if len(judges) > _NAMED else ""
        of = f" of {', '.join(judges[:_NAMED])}{more}" if judges else ""
        return f"replay:{self._path.name}{of}"

    @property
    @override
    def signature(self) -> str:
        return f"{self.label}#{self._hash}(median)"

    @override
    def leaves(self) -> tuple[Judge, ...]:
        return ()

    @override
    def known(self, question: Question[Any], repeat: int = 0) -> Vote:
        version, lines = self._matching(question, repeat)
        if not lines or version != question.version:
            return self._missing(question, repeat, version, lines)
        votes = [self._vote(line, question, repeat) for line in latest(lines)]
        if len(votes) == 1:
            return votes[0]
        return decided(question, votes, 1, len(votes), self.label, repeat)

    @override
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        self._used.update(line.number for line in self._matching(question, repeat)[1])
        return self.known(question, repeat)

    @override
    def remarks(self) -> tuple[str, ...]:
        # Recorded answers are not counted: an export holds what other runs asked, too.
        unused = [line.number for line in self._labels if line.number not in self._used]
        if not unused:
            return ()
        labels = share(len(unused), len(self._labels), "label")
        return (
            f"{self._path.name}: {labels} matched no question of the run; the first is in line "
            f"{unused[0]:,}",
        )

    def _vote(self, line: Line, question: Question[Any], repeat: int) -> Vote:
        where = f"replay:{self._path.name}, line {line.number}"
        try:
            with self._path.open("rb") as stream:
                stream.seek(line.place)
                record = orjson.loads(stream.readline())
            return vote_of(record, question, repeat, where)
        except (OSError, ValueError, InputError) as error:
            detail = f"{where}: the file has changed since it was read ({error})"
            return Failure(question, Reason.FAILED, detail, Provenance(where, attempts=0), repeat)

    def _missing(
        self, question: Question[Any], repeat: int, version: int, lines: Sequence[Line]
    ) -> Failure:
        n, name = self._counts[question.kind], self._path.name
        asked = f"{question.kind} question" + (f", repeat {repeat}" if repeat else "")
        detail = (
            f"{name} has no answer to this {asked} ({n:,} to others of its kind); "
            "'ragassay explain' prints the line to add, which has the form "
            f"{example(type(question))}"
        )
        if version != question.version:
            detail = (
                f"{name}, line {lines[-1].number:,}, answers version {version} of {question.kind}; "
                f"this is version {question.version}. Judge again, or give its data in the line"
            )
        provenance = Provenance(self.label, attempts=0)
        return Failure(question, Reason.MISSING_INPUT, detail, provenance, repeat)

    def _matching(self, question: Question[Any], repeat: int) -> tuple[int, list[Line]]:
        """The newest version of a question that has lines (its own where none has), and all lines
        on that, in the file's order. Labels by people, which have no version, precede recorded
        answers."""
        labels: list[Line] = []
        for names in self._named.get(question.kind, ()):
            name = _digest(question, names)
            labels += self._lines.get((name, ANY_REPEAT)) or self._lines.get((name, repeat), [])
        for version in range(question.version, 0, -1):
            lines = labels or self._lines.get((question.key_at(version), repeat))
            if lines:
                return version, sorted(lines, key=lambda line: line.number)
        return question.version, []

    def _read(self) -> str:
        content = hashlib.sha256()
        number = place = 0
        try:
            with self._path.open("rb") as stream:
                if stream.peek(2).startswith(b"\x1f\x8b"):
                    raise InputError("is compressed", hint="Decompress it first.")
                for number, raw in enumerate(stream, start=1):
                    content.update(raw)
                    mark = b"\xef\xbb\xbf" if number == 1 and raw[:3] == b"\xef\xbb\xbf" else b""
                    line = raw[len(mark) :]
                    if line.strip():
                        self._add(line, number, place + len(mark))
                    place += len(raw)
        except OSError as error:
            raise InputError(
                f"cannot be read ({system_problem(error)})",
                path=self._path,
                hint="Name a file of recorded or human answers: replay:FILE.",
            ) from error
        except InputError as error:
            raise error.at(path=self._path, line=number or None) from error
        if not self._counts:
            raise InputError(
                "holds no answers",
                path=self._path,
                hint="Each line is one recorded or human answer; docs/labels.md shows some.",
            )
        return content.hexdigest()[:12]

    def _add(self, raw: bytes, number: int, place: int) -> None:
        try:
            record = orjson.loads(raw)
        except ValueError as error:
            raise InputError(
                f"is not JSON ({json_problem(error)})",
                hint="Write one JSON object per line, in UTF-8.",
            ) from error
        if not isinstance(record, dict):
            raise InputError("is not a JSON object")
        cls = _type_of(record)
        try:
            said = _Record.model_validate(record)
        except ValidationError as error:
            field, problem = mistake(error)
            raise InputError(problem, field=field) from error
        is_label, answer = "data" in record, record.get("answer")
        # Judge and model, or a person.
        parts = [part for part in (said.judge, said.model) if isinstance(part, str) and part]
        who = " ".join(dict.fromkeys(parts))
        line = Line(number, place, who, said.final and is_label)
        if is_label:
            question, _ = label_of(record)
            names = tuple(sorted(record["data"]))
            self._named[cls.kind].add(names)
            repeat = ANY_REPEAT if said.repeat is None else said.repeat
            self._lines[_digest(question, names), repeat].append(line)
            self._labels.append(line)
        elif isinstance(said.key, str):
            if answer is not None:
                reply_of(cls, answer)
            elif said.reason is None:
                raise InputError("neither an answer nor a reason why there is none", field="answer")
            self._lines[said.key, said.repeat or 0].append(line)
            if isinstance(said.judge, str) and said.judge:
                self._judges[said.judge] = None
        else:
            raise InputError(
                "does not say which question it answers",
                field="data",
                hint=f"Give its data, as in {example(cls)}",
            )
        self._counts[cls.kind] += 1


def vote_of(record: Mapping[str, Any], question: Question[Any], repeat: int, where: str) -> Vote:
    """A record (of `to_record`, or a person's label) as the answer or failure that was recorded;
    ``where`` names the line. An `InputError` says that it has no valid answer."""
    # Nothing is sent now, and no ledger is used.
    now = {"judge": record.get("judge") or where, "request": "", "attempts": 0, "cached": False}
    provenance = provenance_of({**record, **(record.get("sent") or {}), **now})
    votes = tuple(
        vote_of(vote, question, int(vote.get("repeat", repeat)), where)
        for vote in record.get("votes", ())
    )
    if record.get("answer") is None:
        reason = Reason(record.get("reason") or Reason.MISSING_INPUT)
        detail = str(record.get("detail") or f"{where}: the question is left unanswered there")
        return Failure(question, reason, detail, provenance, repeat, votes)
    try:
        answer = question.check(reply_of(type(question), record["answer"]))
    except ValueError as error:
        detail = f"{where}: {error}"
        return Failure(question, Reason.UNPARSABLE, detail, provenance, repeat, votes)
    return JudgeAnswer(question, answer, provenance, repeat, votes)
