"""Text in other encodings than UTF-8, recoded while it is read."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path
from typing import IO

from ragassay.errors import InputError, UsageError, did_you_mean

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


_LIKELY = (
    ("euc-kr", r"[\uac00-\ud7a3]", 0.97),
    ("shift_jis", r"[\u3040-\u30ff]", 0.3),
    ("euc-jp", r"[\u3040-\u30ff]", 0.3),
    ("gbk", "", 0.85),
    ("big5", "", 0.85),
)
"""Encodings of languages without spaces; the letters that their texts have, else those common ones
that the encoding puts first; and their least share of the letters that are not ASCII."""
_FIRST = {"gbk": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
"""First bytes of common characters."""


def likely(text: bytes) -> str:
    """The encoding that bytes which are not UTF-8 are most likely in: one of East Asia where they
    read well in it, else ``cp1252``.

    Args:
        text: a line of a file, or its beginning.
    """
    shares = {}
    for name, letters, least in _LIKELY:
        try:
            read = codecs.getincrementaldecoder(name)().decode(text)
        except UnicodeError:
            continue
        found = [one for one in read if not one.isascii() and one.isalpha()]
        if letters:
            n = len(re.findall(letters, read))
        else:
            low, high = _FIRST[name]
            n = sum(low <= one.encode(name)[0] <= high for one in found)
        if n >= max(1, least * len(found)):
            shares[name] = n / len(found)
            if letters:
                return name
    return max(shares, key=shares.__getitem__, default="cp1252")


def recoded(stream: IO[bytes], encoding: str, path: Path) -> IO[bytes]:
    """The stream in UTF-8. It cannot be read twice.

    Args:
        stream: text in another encoding.
        encoding: its encoding.
        path: the file, for errors.

    Raises:
        InputError: while it is read, where the text is not in that encoding.
    """
    return io.BufferedReader(Recoded(stream, encoding, path), _BLOCK)


class Recoded(io.RawIOBase):
    """Bytes of UTF-8, made of a stream in another encoding.

    Args:
        source: the stream.
        encoding: its encoding.
        path: the file, for errors.
    """

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
                raise InputError(
                    f"the file is not in the encoding {self._encoding} ({error})",
                    path=self._path,
                    hint="Name the right one (encoding, --encoding), or save the file as UTF-8.",
                ) from None
            self._ready = text.removeprefix(self._mark).encode("utf-8", "surrogatepass")
            self._mark = ""  # elsewhere the character is a part of the text
        piece = self._ready[: len(buffer)]
        buffer[: len(piece)] = piece
        self._ready = self._ready[len(piece) :]
        return len(piece)
