"""Text in other encodings than UTF-8, recoded while it is read."""

from __future__ import annotations

import codecs
import io
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

_COMMON = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp1251", "gbk", "shift_jis")
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
