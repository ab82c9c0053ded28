"""Errors and warnings for a user, each one sentence; hints at the names that may be meant; and what
is wrong with data in words: of pydantic, of JSON parsers, of the operating system."""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi.exceptions import RequestValidationError
    from pydantic import ValidationError


class RagassayError(Exception):
    """Base of every error that ragassay raises on purpose. Exit code 2."""


class InputError(RagassayError):
    """Data that cannot be read: the message says which file, line and field, what is wrong and
    what to do.

    Args:
        problem: what is wrong, without a final full stop.
        path: the file or folder concerned.
        line: 1-based line (or record) number.
        field: name of the column or key.
        hint: what to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: object | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem, self.path, self.line, self.field, self.hint = problem, path, line, field, hint
        where = []
        if path is not None:
            where.append(called(path))
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(f"field '{field}'")
        text = (": ".join([", ".join(where), problem]) if where else problem).rstrip(".")
        advice = _without_gaps(hint or "")
        super().__init__(f"{text}." + (f" {advice}" if advice else ""))

    def but(self, **changed: Any) -> InputError:
        """The same error with other words or another place: arguments of the class by name."""
        names = ("problem", "path", "line", "field", "hint")
        return InputError(**{name: getattr(self, name) for name in names} | changed)

    def at(self, *, path: object | None = None, line: int | None = None) -> InputError:
        """The same error with a place filled in where it had none."""
        return self.but(
            path=self.path if self.path is not None else path,
            line=self.line if self.line is not None else line,
        )


def called(path: object) -> str:
    """A path in words: itself, but for standard input."""
    return "standard input" if str(path) == "/dev/stdin" else str(path)


class RagassayWarning(UserWarning):
    """A fact about the data that does not stop a run: shown once and kept in the summary."""


_BETWEEN = {"ragassay", "asyncio", "concurrent", "contextlib", "threading"}


def warn_user(fact: str | RagassayWarning) -> None:
    """Warns of a fact about the data, at the line of the user's code that called this package."""
    if isinstance(fact, CountedFact) and not fact.n:
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and (
        str(frame.f_globals.get("__name__", "")).partition(".")[0] in _BETWEEN
    ):
        level, frame = level + 1, frame.f_back
    kind = None if isinstance(fact, Warning) else RagassayWarning
    warnings.warn(fact, kind, stacklevel=level)


_BY_NUMBER = re.compile(r"\{([^{|}]*)\|([^{|}]*)\}")


class CountedFact(RagassayWarning):
    """A fact that is said once, with the sum of all its counts. The sentence has ``{n}``,
    ``{one|several}`` where words depend on it, and ``{example}`` for the first one counted."""

    def __init__(self, sentence: str, n: int, example: str = "") -> None:
        worded = _BY_NUMBER.sub(r"\1" if n == 1 else r"\2", sentence)
        super().__init__(worded.replace("{n}", str(n)).replace("{example}", example))
        self.sentence, self.n, self.example = sentence, n, example


class UsageError(RagassayError):
    """A request that makes no sense: an unknown name, a value out of range, options that clash."""

    def __init__(self, sentence: str) -> None:
        super().__init__(_without_gaps(sentence))


class ArgumentError(UsageError, ValueError):
    """An argument that a plain function cannot take: a `ValueError`, too, as Python raises."""


@contextmanager
def extra_needed(by: str, extra: str) -> Iterator[None]:
    """Makes an import that fails a `UsageError` that says what to install."""
    try:
        yield
    except ImportError as error:
        raise UsageError(f"{by}: pip install 'ragassay[{extra}]'.") from error


class LedgerError(UsageError):
    """No answer can be kept, or read, in the ledger, which ends a run; ``passing`` where that is
    likely to end by itself, as where a database is restarted."""

    def __init__(self, problem: str, *, passing: bool = False) -> None:
        super().__init__(problem)
        self.passing = passing


class OptionError(UsageError):
    """An option with a value that it cannot have."""

    def __init__(self, key: str, problem: str) -> None:
        self.key, self.problem = key, problem.rstrip(".")
        super().__init__(f"{key}: {self.problem}.")


def _without_gaps(sentence: str) -> str:
    """The sentence without the two blanks that an empty hint leaves in its middle or at its end;
    lines of code in it stay indented."""
    return re.sub(r"(?<=\S) +(?= )", "", sentence.strip(" "))


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its kind where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def meant_or_all(wrong: str, known: Iterable[str]) -> str:
    """`did_you_mean`; where nothing is near, a sentence with all names that there are."""
    names = list(known)
    return did_you_mean(wrong, names) or f"There are: {', '.join(names) or 'none'}."


_LONGEST_NAME, _MOST_NAMES = 200, 2_000
"""Names that are compared: the time grows with the product of their lengths, and their number."""


def did_you_mean(wrong: str, known: Iterable[str], *, at_least: float = 0.6) -> str:
    """A hint at the known spellings that are so much alike (0 to 1); empty where none is."""
    if len(wrong) > _LONGEST_NAME:
        return ""
    by_folded: dict[str, str] = {}
    for name in islice(known, _MOST_NAMES):
        if len(name) <= _LONGEST_NAME:
            by_folded.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(wrong.casefold(), by_folded, n=3, cutoff=at_least)
    return f"Did you mean {' or '.join(repr(by_folded[name]) for name in near)}?" if near else ""


_SHOWN = 60  # longest piece of a wrong value in a message
_KEY_LIKE = re.compile(r"(?<![\w./-])[A-Za-z0-9_-]{24,}(?![\w./-])")  # perhaps a secret

_OUR_WORDS = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "extra_forbidden": "is not a known key",
    "unexpected_keyword_argument": "is not a known key",
}
"""Mistakes whose words would speak of arguments and inputs."""

_WITHOUT_VALUE = {*_OUR_WORDS, "value_error", "assertion_error", "json_invalid", "too_short",
                  "too_long", "string_too_short", "string_too_long"}  # fmt: skip
"""Mistakes of which the wrong value says nothing, or whose sentence shows it."""

_OF_A_UNION = re.compile(r"(str|int|float|bool|list|dict|tuple|set|none|[a-z-]+\[.*\])")
"""How pydantic names a choice of a union in a place."""


def shown_value(value: object) -> str:
    """A wrong value as messages show it: not all of a long one, and nothing like a key."""
    text = _KEY_LIKE.sub("...", repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def mistakes(error: ValidationError | RequestValidationError) -> list[tuple[tuple[str, ...], str]]:
    """The mistakes that a validation found, each with its place (keys and item numbers; empty for
    the whole value) and what is wrong there (``must be a whole number, not 'x'``)."""
    by_place: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for value in error.errors():
        place = tuple(str(piece) for piece in value["loc"] if piece != "[key]")
        if place and _OF_A_UNION.fullmatch(place[-1]):
            place = place[:-1]
        by_place.setdefault(place, []).append(value)
    return [(place, _mistake(several)) for place, several in by_place.items()]


def mistake(error: ValidationError) -> tuple[str | None, str]:
    """The first mistake that a validation found."""
    place, problem = mistakes(error)[0]
    return ".".join(place) or None, problem


def validation_problem(error: ValidationError) -> str:
    """The first mistake that a validation found as ``field: what is wrong``."""
    field, problem = mistake(error)
    return problem if field is None else f"{field}: {problem}"


def _mistake(several: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong, in the library's words; for a choice of types, each of them."""
    first = several[0]
    problem = " or ".join(dict.fromkeys(map(_own_words, several)))
    problem = problem.replace(" or must be ", " or ")
    if first["type"] in _WITHOUT_VALUE:
        return problem
    return f"{problem}, not {shown_value(first['input'])}"


def _own_words(record: Mapping[str, Any]) -> str:
    words = re.sub(
        r"^(Value|Assertion) error, | after validation| or instance of \w+", "", str(record["msg"])
    )
    words = re.sub(r"^Input should be ", "must be ", words).rstrip(".")
    words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
    return _OUR_WORDS.get(str(record["type"]), words)


def json_problem(error: ValueError) -> str:
    """What is wrong with a text that is no JSON, after the place: ``line 3, column 7: a comma is
    missing``. A text of one line has the column alone."""
    if not isinstance(error, JSONDecodeError):
        return encoding_problem(error) if isinstance(error, UnicodeDecodeError) else str(error)
    text = error.doc.rstrip()
    if not text:
        return "it is empty"
    line, column = error.lineno, error.colno
    problem = error.msg[:1].lower() + error.msg[1:]
    if error.pos >= len(text):
        problem = "it ends in the middle of a value"
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n") - 1
    where = f"line {line}, column {column}" if "\n" in text else f"column {column}"
    return f"{where}: {problem}"


def encoding_problem(error: UnicodeDecodeError) -> str:
    """What is wrong with bytes that are no text: the first one that is not."""
    byte = error.object[error.start]
    name = error.encoding.upper().replace("_", "-")
    return f"it is not text in {name}: byte {error.start + 1:,} is 0x{byte:02x}"


_NUMBER = re.compile(r"\[Errno (-?\d+)\] ")


def system_problem(error: OSError | UnicodeDecodeError) -> str:
    """Why a file or a connection cannot be used, without numbers of the operating system."""
    if isinstance(error, UnicodeDecodeError):
        return encoding_problem(error)
    return _NUMBER.sub("", error.strerror or str(error) or type(error).__name__)
