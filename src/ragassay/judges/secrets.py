"""Keys: where they come from, and that they go nowhere but into a request's header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ragassay.errors import InputError

HIDDEN = "[key]"
"""What stands in texts where a key was."""

_SHORTEST = 6
"""Keys of local servers are words such as ``none``: to blank those out would garble every text."""


class Secret:
    """A key that no ``repr``, ``str``, pickle or JSON gives away.

    Attributes:
        source: where it came from (``OPENAI_API_KEY``, ``the key file judge.key``), for messages.
    """

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The key itself; only for the header of a request."""
        return self._value

    def hidden_in(self, text: str) -> str:
        """The text with the key blanked out, wherever a server may have echoed it."""
        if len(self._value) >= _SHORTEST and self._value in text:
            return text.replace(self._value, HIDDEN)
        return text

    def hidden_in_bytes(self, body: bytes) -> bytes:
        """As `hidden_in`, for what came over the wire."""
        value = self._value.encode()
        if len(value) >= _SHORTEST and value in body:
            return body.replace(value, HIDDEN.encode())
        return body

    def __repr__(self) -> str:
        return f"Secret(from {self.source})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")


NO_KEY = Secret("", "no key")
"""For servers of one's own that ask for none."""


def from_file(path: str | Path) -> Secret:
    """The key that a file holds: its only line.

    Raises:
        InputError: the file cannot be read, or does not hold one line without blanks.
    """
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"the key cannot be read: {said}", path=path) from None
    if not text or any(mark.isspace() or not mark.isprintable() for mark in text):
        raise InputError("the file must hold the key on one line and nothing else", path=path)
    return Secret(text, f"the key file {path}")


def from_environment(names: Iterable[str], environment: Mapping[str, str]) -> Secret | None:
    """The key in the first variable that is set, or ``None``."""
    for name in names:
        value = environment.get(name, "").strip()
        if value:
            return Secret(value, name)
    return None
