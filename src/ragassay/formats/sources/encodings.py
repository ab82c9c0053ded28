"""Text in other encodings than UTF-8, recoded while it is read."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path
from typing import IO

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.formats.format_words import wrong

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; that of UTF-32 begins with that of UTF-16."""

_COMMON = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "cp1252",
    "latin-1",
    "cp1251",
    "gbk",
)
_BLOCK = 1 << 16


def by_mark(start: bytes) -> str | None:
    """The encoding that a byte order mark names; ``None`` for UTF-8 and where there is none."""
    return next((name for mark, name in _MARKS if start.startswith(mark)), None)


def checked(encoding: str | None) -> str | None:
    """The usual name of an encoding; ``None`` for UTF-8.

    Raises:
        UsageError: there is no such encoding of text.
    """
    if encoding is None:
        return None
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)  # a codec of bytes (hex, zip) refuses
    except (LookupError, ValueError):
        raise UsageError(
            f"encoding: there is no encoding {encoding!r}. {did_you_mean(encoding, _COMMON)} "
            f"Common ones are {', '.join(_COMMON)}."
        ) from None
    return None if codec.name in ("utf-8", "utf-8-sig") else codec.name


def _words(small: str, capital: str = "") -> str:
    """A pattern for the letters of an alphabet in words as people write them: no Latin letter
    touches them, and capitals stand first."""
    capital = capital or small
    first = f"(?<![A-Za-z{capital}{small}])[{capital}]"
    return f"(?:{first}|(?<![A-Za-z])[{small}])(?![A-Za-z])"


_LIKELY: tuple[tuple[int, tuple[tuple[str, str, float], ...]], ...] = (
    (1, (("euc-kr", r"[\uac00-\ud7a3]", 0.97),)),
    (1, (("shift_jis", r"[\u3040-\u30ff]", 0.3),)),
    (1, (("euc-jp", r"[\u3040-\u30ff]", 0.3),)),
    (1, (("gbk", "", 0.85), ("big5", "", 0.85))),
    (
        4,  # three umlauts may stand side by side
        (
            ("cp1251", _words("а-яёіїєґў", "А-ЯЁІЇЄҐЎ"), 0.8),
            ("koi8-r", _words("а-яё", "А-ЯЁ"), 0.8),
            ("cp1253", _words("α-ωά-ώΐΰϊϋ", "Α-ΩΆ-Ώ"), 0.8),
            ("cp1255", _words(r"\u05d0-\u05ea"), 0.8),
            ("cp1256", _words(r"\u0621-\u064a\u067e\u0686\u0698\u06af"), 0.8),
        ),
    ),
)
"""Groups of encodings, likelier groups first, with the least number of letters. Of each encoding
the letters that its texts have, else those common ones that it puts first; and their least share of
the letters that are not ASCII."""
_FIRST = {"gbk": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
"""First bytes of common characters."""


def likely(text: bytes) -> str:
    """The encoding that bytes which are not UTF-8 are most likely in: one of East Asia, or of
    another alphabet than Latin, where they read well in it, else ``cp1252``. Where several read
    equally well: ``cp1251 or cp1253``."""
    for least, encodings in _LIKELY:
        read = {name: _n_letters(text, name, letters, share) for name, letters, share in encodings}
        if (most := max(read.values())) >= least:
            return " or ".join(name for name, n in read.items() if n == most)
    return "cp1252"


def _n_letters(text: bytes, encoding: str, letters: str, share: float) -> int:
    """How many letters of its texts an encoding reads; 0 where they are less than that share of the
    letters that are not ASCII, or where the text is not in that encoding."""
    try:
        read = codecs.getincrementaldecoder(encoding)().decode(text)
    except UnicodeError:
        return 0
    found = [one for one in read if not one.isascii() and one.isalpha()]
    if letters:
        n = len(re.findall(letters, read))
    else:
        low, high = _FIRST[encoding]
        n = sum(low <= one.encode(encoding)[0] <= high for one in found)
    return n if n >= share * len(found) else 0


def recoded(stream: IO[bytes], encoding: str, path: Path) -> IO[bytes]:
    """A stream in another encoding as one in UTF-8, which cannot be read twice. Text that is not in
    that encoding is an error while it is read."""
    return io.BufferedReader(_Recoded(stream, encoding, path), _BLOCK)


class _Recoded(io.RawIOBase):
    def __init__(self, source: IO[bytes], encoding: str, path: Path) -> None:
        self.source, self._encoding, self._path = source, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._ended = False
        self._mark = "\ufeff"

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fills a buffer; see `io.RawIOBase`."""
        while not self._ready and not self._ended:
            block = self.source.read(_BLOCK)
            self._ended = not block
            try:
                text = self._decoder.decode(block, self._ended)
            except UnicodeError as error:
                facts = {"encoding": self._encoding, "why": error}
                raise wrong("other_encoding", path=self._path, **facts) from None
            self._ready = text.removeprefix(self._mark).encode("utf-8", "surrogatepass")
            self._mark = ""  # elsewhere the character is a part of the text
        piece = self._ready[: len(buffer)]
        buffer[: len(piece)] = piece
        self._ready = self._ready[len(piece) :]
        return len(piece)
