"""Contexts that are one text: cut into chunks at a separator, or checked for signs that they hold
several chunks."""

from __future__ import annotations

import re
from typing import Literal

from ragassay.base.errors import UsageError
from ragassay.formats.format_words import Notes, OptionWords, wrong

_WORDS = "sep|separator|chunk|passage|break|split"
_AFTER_SENTENCE = r"(?<=[.!?…\"'”’)\]])"

_MARK = re.compile(
    rf"<<\s*/?\s*(?:{_WORDS})\s*>>|<\|?\s*/?\s*(?:{_WORDS})\s*/?\s*\|?>|\[\[?(?:{_WORDS})\]\]?"
    r"|\|{3,}|(?:(?:\\r)?\\n){2,}"
    rf"|{_AFTER_SENTENCE}[ \t]*([#@~;^$])\1{{2,}}[ \t]*(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]+(?:([|#@~;^$%&+/\\<>:])\2+|([-=*])\3{{3,}})[ \t]+(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]*\r?\n[-=*_~+#]{{3,}}[ \t]*\r?\n(?=\S)",
    re.IGNORECASE,
)
"""Separators of chunks that hardly ever occur inside one: a word such as "chunk" in brackets;
escaped line ends; after a sentence a run of one sign, the commoner the sign, the longer the run."""

_BLANK_LINE = re.compile(r"\n[ \t\r]*(?:[-=*_#~+]{3,}[ \t\r]*)?\n")
"""A separator of chunks that also separates the paragraphs of one."""


class ContextSplitter:
    """Cuts the contexts of one source."""

    def __init__(
        self,
        separator: str | None,
        notes: Notes,
        *,
        single: bool = False,
        refused: bool | Literal["marks"] = False,
        words: OptionWords,
    ) -> None:
        if single and separator:
            raise UsageError(
                f"The separator {separator!r} cuts contexts into chunks, and with single_chunk "
                "each is one. Leave one of them out."
            )
        self.separator = separator or None
        self._single, self._refused, self._notes = single, refused, notes
        self._words = words
        written = separator or ""
        read = written.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t")
        self._pattern = re.compile("|".join(map(re.escape, (written, read))))
        self._uncut = 0
        self._has_cut = False

    def cut(self, text: str, field: str, line: int) -> list[str]:
        """The chunks of a context, including empty ones; an empty text has none. One that seems to
        hold several chunks, which nothing cuts, is an error where that is refused."""
        pieces = self.pieces(text)
        self._has_cut = self._has_cut or len(pieces) > 1
        if len(pieces) != 1 or self._single:
            return pieces
        self._uncut += 1
        mark = _between(_MARK, text)
        how = f"joined by '{mark}'"
        if mark is None and self._refused is True and not self.separator:
            # A task with a separator may retrieve one chunk, with paragraphs of its own.
            mark = None if _between(_BLANK_LINE, text) is None else r"\n\n"
            how = "joined by blank lines"
        if mark is None:
            return pieces
        how += f", not by the separator {self.separator!r}" if self.separator else ""
        if not self._refused:
            self._notes.tell("joined_chunks", line, how=how, mark=mark)
            return pieces
        ways = (self._words.separator(mark), self._words.single_chunk(), _AS_LIST)
        raise wrong("joined_chunks", field=field, how=how, ways=", or ".join(filter(None, ways)))

    def pieces(self, text: str) -> list[str]:
        """The chunks of a text, without any check (gold, whose chunks no metric numbers)."""
        if not text:
            return []
        return self._pattern.split(text) if self.separator else [text]

    def finish(self) -> None:
        """Notes, after the last context, that none of them had the separator."""
        if self.separator and self._uncut and not self._has_cut:
            self._notes.tell("no_separator", count=self._uncut, separator=self.separator)


_AS_LIST = 'give each as a list of chunks (in a cell as JSON, ["first", "second"]).'


def _between(pattern: re.Pattern[str], text: str) -> str | None:
    """The text that the pattern matches between two pieces of text, line ends as they are written
    in a separator; ``None`` where there is none."""
    match = pattern.search(text)
    pieces = [piece for piece in pattern.sub("\0", text).split("\0") if piece.strip()]
    if match is None or len(pieces) < 2:
        return None
    return match[0].strip(" \t").replace("\r", "\\r").replace("\n", "\\n")
