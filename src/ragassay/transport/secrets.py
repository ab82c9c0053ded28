"""API keys: they are read from the environment or a file, and used only in a request's header."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from ragassay.base.errors import InputError, UsageError, system_problem

HIDDEN = "[key]"  # what texts have where a key was

_SHORTEST = 6  # to blank out keys of local servers (``none``) would garble every text
_SENDABLE = re.compile(r"[\x21-\x7e]*")  # clients whose header cannot be sent quote it, key and all


class Secret:
    """A key that shows in no ``repr``, pickle or JSON; empty where none is sent. ``source`` says in
    messages where it came from (``OPENAI_API_KEY``), or where none was found. A `UsageError`, which
    names only the source, where no header can hold it."""

    __slots__ = ("_hidden", "_hidden_bytes", "_value", "source")

    def __init__(self, value: str, source: str) -> None:
        value = value.strip()
        if not _SENDABLE.fullmatch(value):
            raise UsageError(
                f"The key in {source} cannot be sent: a key is one line of plain letters, digits "
                "and signs, without blanks. Copy it again."
            )
        self._value = value
        forms = "|".join(map(re.escape, _forms(value))) if len(value) >= _SHORTEST else "(?!)"
        self._hidden, self._hidden_bytes = re.compile(forms), re.compile(forms.encode())
        self.source = source

    def reveal(self) -> str:
        """The key itself; only for the header of a request."""
        return self._value

    def __bool__(self) -> bool:
        """Whether there is a key."""
        return bool(self._value)

    @property
    def advice(self) -> str:
        """What to do where an endpoint rejects the key."""
        if self:
            return f"Check {self.source}."
        return f"No key was sent{f'; set {self.source}' if self.source else ''}."

    def of(self, name: str) -> Secret:
        """The same key; messages do not say where it came from, but whose it is."""
        return Secret(self._value, f"the key of {name}" if self else "")

    def hidden_in(self, text: str) -> str:
        """The text with the key blanked out, also in the escaped forms of JSON, HTML and URLs."""
        return self._hidden.sub(HIDDEN, text)

    def hidden_in_bytes(self, body: bytes) -> bytes:
        """As `hidden_in`, for what came over the wire."""
        return self._hidden_bytes.sub(HIDDEN.encode(), body)

    def __repr__(self) -> str:
        return f"Secret(from {self.source})" if self else "Secret(no key)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")


NO_KEY = Secret("", "")  # for servers of one's own that ask for none


def from_file(path: str | Path) -> Secret:
    """The key that a file holds alone; an `InputError` where it holds something else."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = system_problem(error) if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"the key cannot be read: {problem}", path=path) from None
    if not text or not _SENDABLE.fullmatch(text):
        problem = "the file must hold the key alone, one line of letters, digits and signs"
        raise InputError(problem, path=path)
    return Secret(text, f"the key file {path}")


def from_environment(names: Iterable[str], environment: Mapping[str, str]) -> Secret | None:
    """The key in the first variable that is set, or ``None``."""
    found = ((name, environment.get(name, "").strip()) for name in names)
    return next((Secret(value, name) for name, value in found if value), None)


def _forms(value: str) -> tuple[str, ...]:
    """The ways in which a server's reply may write a key down, the longest first."""
    quoted = json.dumps(value)[1:-1]
    forms = {value, quoted, quoted.replace("/", "\\/"), repr(value)[1:-1], html.escape(value)}
    forms |= {quote(value), quote(value, safe="")}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))
