"""Contexts that are one text: cut into chunks at a separator, or checked for signs that they hold
several chunks."""

from __future__ import annotations

import re
from typing import Literal

from ragassay.base.errors import UsageError
from ragassay.formats.format_words import Notes, OptionWords, wrong


def _runs(signs: str, least: int) -> str:
    """A pattern for one of these signs repeated ``least`` times or more."""
    return "|".join(f"{re.escape(sign)}{{{least},}}" for sign in signs)


_WORDS = "sep|separator|chunk|passage|break|split"
_SIGNS = "|#@~;^$%&+/\\<>:"
"""Signs of which two in a row between sentences separate chunks. Not among them: signs that end or
quote a sentence, and those of Markdown and typesetting (``**``, ``__``, ``==``, ``--``)."""

_MARK = re.compile(
    rf"<<\s*/?\s*(?:{_WORDS})\s*>>|<\|?\s*/?\s*(?:{_WORDS})\s*/?\s*\|?>|\[\[?(?:{_WORDS})\]\]?"
    r"|\|{3,}"
    # Headings, fences, rules and code begin a line with such signs, so they count inside one only.
    r"|(?<=\S)[ \t]*(?:#{3,}|@{3,}|~{3,}|;{3,}|\^{3,}|\${3,})"
    # Fewer or commoner signs count between blanks, where they are neither code nor a table.
    rf"|(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))[ \t]+(?:{_runs(_SIGNS, 2)})[ \t]+(?=\S)"
    rf"|(?<=[\w.!?…\"'”’)\]])[ \t]+(?:{_runs('-=*', 4)})[ \t]+(?=\S)"
    # A line of signs after a sentence; under a heading it would belong to that.
    r"|(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))[ \t]*\r?\n(?:[-=*_~+#]{3,})[ \t]*\r?\n(?=\S)"
    r"|(?:(?:\\r)?\\n){2,}",
    re.IGNORECASE,
)
"""Separators of chunks that hardly ever occur inside one: a word such as "chunk" in brackets; a run
of one sign inside a line (the commoner the sign, the longer the run); escaped line ends."""

_HEADING = re.compile(r"^[ \t]*#+[ \t].*$", re.MULTILINE)
"""A line that begins as a Markdown heading: every ``#`` in it belongs to the heading."""

_BLANK_LINE = re.compile(r"\n[ \t\r]*(?:[-=*_#~+]{3,}[ \t\r]*)?\n")
"""A separator of chunks that also separates the paragraphs of one."""

_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}


class ContextSplitter:
    """Cuts the contexts of one source.

    Args:
        separator: what stands between the chunks. A written ``\\n`` or ``\\t`` in it, as a shell
            hands it on, matches a line end or tab, and also the two characters themselves.
        single: each text is one chunk, whatever it holds.
        refused: whether a text that seems to hold several chunks and is not cut is an error,
            because metrics that count chunks would count wrongly; ``marks``: one with blank lines
            alone is accepted. Otherwise it is a note; a text with blank lines alone causes none.
        notes: collects remarks about the contexts.
        words: how errors name the options that say how such a text is read.
    """

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
        self._pattern = re.compile("|".join(map(re.escape, _forms(separator or ""))))
        self._uncut = 0
        self._has_cut = False

    def cut(self, text: str, field: str, line: int) -> list[str]:
        """The chunks of a context, including empty ones; an empty text has none. One that seems to
        hold several chunks, which nothing cuts, is an error where that is refused."""
        pieces = self.pieces(text)
        if len(pieces) > 1:
            self._has_cut = True
        elif pieces and not self._single:
            self._uncut += 1
            self._check_uncut(text, field, line)
        return pieces

    def pieces(self, text: str) -> list[str]:
        """The chunks of a text, without any check (gold, whose chunks no metric numbers)."""
        if not text:
            return []
        return self._pattern.split(text) if self.separator else [text]

    def finish(self) -> None:
        """Notes, after the last context, that none of them had the separator."""
        if self.separator and self._uncut and not self._has_cut:
            self._notes.tell("no_separator", count=self._uncut, separator=self.separator)

    def _check_uncut(self, text: str, field: str, line: int) -> None:
        mark = _between(_MARK, _HEADING.sub(lambda line: line[0].replace("#", " "), text))
        by = f"joined by '{mark}'"
        if mark is None and self._refused is True and not self.separator:
            # A task with a separator may retrieve one chunk, with paragraphs of its own.
            mark = None if _between(_BLANK_LINE, text) is None else r"\n\n"
            by = "joined by blank lines"
        if mark is None:
            return
        other = f", not by the separator {self.separator!r}" if self.separator else ""
        if self._refused:
            raise wrong("joined_chunks", field=field, how=by + other, ways=self._ways_out(mark))
        self._notes.tell("joined_chunks", line, how=by + other, mark=mark)

    def _ways_out(self, mark: str) -> str:
        ways = [self._words.separator(mark), self._words.single_chunk()]
        lists = 'give each as a list of chunks (in a cell as JSON, ["first", "second"])'
        if self._has_cut:
            ways[0] = f"The contexts have several separators, also {self.separator!r}: {lists}"
        elif self.separator:
            ways[0] += f"; where contexts have different separators, {lists}"
        elif not ways[1]:
            ways[1] = lists
        return f"{', or '.join(filter(None, ways))}."


def _between(pattern: re.Pattern[str], text: str) -> str | None:
    """The text that the pattern matches between two pieces of text, line ends as they are written
    in a separator; ``None`` where there is none."""
    pieces = [piece for piece in pattern.split(text) if piece.strip()]
    match = pattern.search(text)
    if match is None or len(pieces) < 2:
        return None
    return match[0].strip(" \t").replace("\r", "\\r").replace("\n", "\\n")


def _forms(separator: str) -> list[str]:
    """A separator as it is written, and with its escapes replaced."""
    read = separator
    for written, escaped in _ESCAPES.items():
        read = read.replace(written, escaped)
    return list(dict.fromkeys((separator, read)))
