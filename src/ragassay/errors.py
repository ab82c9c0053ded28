"""Errors that a user can mend.

Everything here is shown as one sentence and never as a traceback (unless ``--debug`` asks for it).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class RagassayError(Exception):
    """Base of every error that ragassay raises on purpose. Exit code 2."""


class InputError(RagassayError):
    """Data that cannot be read as it stands.

    The message says which file, line and field, what is wrong and what to do.

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
            where.append(str(path))
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(f"field '{field}'")
        text = (": ".join([", ".join(where), problem]) if where else problem).rstrip(".")
        said = _without_gaps(hint or "")
        super().__init__(f"{text}." + (f" {said}" if said else ""))

    def at(self, *, path: object | None = None, line: int | None = None) -> InputError:
        """The same error with a place filled in where it had none."""
        return InputError(
            self.problem,
            path=self.path if self.path is not None else path,
            line=self.line if self.line is not None else line,
            field=self.field,
            hint=self.hint,
        )


class RagassayWarning(UserWarning):
    """A fact about the data that does not stop a run: shown once and kept in the summary."""


_BY_NUMBER = re.compile(r"\{([^{|}]*)\|([^{|}]*)\}")


class CountedFact(RagassayWarning):
    """A fact that is counted: told once, with the sum of all its counts.

    Args:
        sentence: with ``{n}`` where the count stands, and ``{one|several}`` where words depend on
            it.
        n: the count.
    """

    def __init__(self, sentence: str, n: int) -> None:
        worded = _BY_NUMBER.sub(r"\1" if n == 1 else r"\2", sentence)
        super().__init__(worded.replace("{n}", str(n)))
        self.sentence, self.n = sentence, n


class UsageError(RagassayError):
    """A request that makes no sense: an unknown name, a value out of range, options that clash."""

    def __init__(self, sentence: str) -> None:
        super().__init__(_without_gaps(sentence))


class ArgumentError(UsageError, ValueError):
    """An argument that a plain function cannot take: a `ValueError`, too, as Python raises."""


class OptionError(UsageError):
    """An option with a value that it cannot have.

    Args:
        key: the option's key, as in a configuration.
        problem: what is wrong with its value.
    """

    def __init__(self, key: str, problem: str) -> None:
        self.key, self.problem = key, problem.rstrip(".")
        super().__init__(f"{key}: {self.problem}.")


def _without_gaps(sentence: str) -> str:
    """The sentence without the two blanks that an empty hint leaves in its middle or at its end."""
    return " ".join(piece for piece in sentence.split(" ") if piece)


def did_you_mean(wrong: str, known: Iterable[str], *, at_least: float = 0.6) -> str:
    """A hint that names the nearest known spelling, or an empty string when nothing is near.

    ``at_least`` is how alike they must be, from 0 to 1.
    """
    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(wrong.casefold(), by_folded, n=3, cutoff=at_least)
    return f"Did you mean {' or '.join(repr(by_folded[name]) for name in near)}?" if near else ""
