"""Finding citations in an answer's text, and the passages that they mean.

``[1]``, ``[1, 2; 3]``, ``[1-3]``, ``[1][2]``, ``[^1]``, ``[doc1]``, ``[cite: 1, 2]``,
``[[1]](link)``, ``【1†source】``, ``①``, the same with the words and digits of other languages
(``[источник 1]``, ``[资料一]``), an id of a passage in brackets, the name or address of its
document (``[guide.pdf#page=4]``, ``[Guide](https://...)``, the bare address), and ``(3)``,
``(source 3)``, ``(guide.pdf)``, ``¹`` or ``<sup>1</sup>`` where that is plausible. A year is no
citation, nor is anything in code.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from ragassay.base.packages import word_lists
from ragassay.base.sample import Passage
from ragassay.texts.document_names import DocumentNames
from ragassay.texts.languages import held
from ragassay.texts.numbers import numerals

_NUMBER = r"(?:n[°ºr.]|no\.|№)"
PREFIX = rf"(?:{'|'.join(held('sources').values())})"
"""Words before the number of a citation in any language: ``[doc 1]``, ``[источник: 2]``."""
BEFORE = rf"(?:{PREFIX}[\s:：#_.\-]*(?:{_NUMBER}\s*)?|{_NUMBER}\s*|[dps](?=\d)|[#^])"
"""What precedes the number of a citation."""

_NUMBERED = rf"(?i){BEFORE}?(\d+)"
"""Patterns with the words of all languages are text: ``re`` compiles and keeps those in use."""
_LONGEST = 3
"""Digits of a number that people cite by. Longer ones are keys of a database, or years."""


def bare(name: str) -> str:
    """A citation or id without brackets, case and white space: ``[Doc 1]`` becomes ``doc1``."""
    return "".join(name.split()).strip("[](){}【】［］<>^\\").casefold()


def _spaced(name: str) -> str:
    """A citation or name without brackets and case, its words between single blanks."""
    return " ".join(name.split()).strip("[](){}【】［］<>^\\ ").casefold()


def number(name: str) -> int | None:
    """The number of a citation or id that is nothing else (``[3]``, ``doc 3``); ``None``
    otherwise."""
    match = re.fullmatch(_NUMBERED, bare(name))
    return int(match[1]) if match and match[1].isascii() else None


_ENDING = (
    r"\.(?:pdf|docx?|pptx?|xlsx?|html?|md|markdown|txt|csv|json|xml|rst|epub|odt|rtf)(?![^\W_])"
)
_SOURCE = re.compile(rf"https?://\S+|[^\[\]|]{{1,150}}{_ENDING}.*", re.IGNORECASE)
_PLACED = re.compile(rf"(?P<name>.*?(?:{_ENDING}|(?=#)))(?P<place>.*)", re.IGNORECASE)
"""A file, and the place in it: ``guide.pdf#page=4``, ``guide.pdf, p. 4``, ``guide.pdf:4``."""
_SHORTEST = 4
"""Characters of a name that is found among other words."""


def _placed(name: str) -> tuple[str, tuple[str, ...]]:
    """A name without the place in the document that it may end with, and the numbers of that."""
    found = _PLACED.fullmatch(name)
    return (found["name"], tuple(re.findall(r"\d+", found["place"]))) if found else (name, ())


_LABEL = re.compile(r"\s*([^\s:][^:\n]{0,150}?\.[a-z]{2,5}(?:#[\w=.,-]+)?)\s*:\s", re.IGNORECASE)
"""The name of a file that a passage's text begins with."""


def is_source(content: str) -> bool:
    """Whether what is in brackets looks like the name of a file or an address."""
    return _SOURCE.fullmatch(content.strip()) is not None


class Citable:
    """The passages of a sample, to which an answer's citations refer.

    A citation refers to the passage with that id; brackets and case do not matter. Where no passage
    has the id, these rules hold in turn:

    - The name of its document (see `DocumentNames`), with or without the page, its title or its
      address, or the file name that its text begins with, refers to all passages that have it;
      with a page, not to those of other pages.
    - Where ids are numbers of up to three digits (``[2]``, ``7``), a number is an id and no rank;
      one that is in no id, alone or with a word, refers to nothing that was retrieved.
    - A number with a word (``[doc 2]``) is that of an id with a word and a number (``doc-2``).
    - A number is the rank, from 1: prompts count passages, whatever these are called (``p0``).
    - A number that is no rank is that of an id with a word and a number: ``[12]`` means ``doc-12``.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._by_name: dict[str, int] = {}
        self._by_source: dict[str, list[int]] = {}
        self._places: list[set[tuple[str, ...]]] = []
        self._words: set[str] = set()
        for index, passage in enumerate(passages):
            if passage.id is not None:
                self._by_name.setdefault(bare(passage.id), index)
            label = _LABEL.match(passage.text or "")
            sources = (passage.document, *passage.names, label and label[1], passage.id)
            whole = [bare(source) for source in sources if source]
            self._places.append({place for text in whole if (place := _placed(text)[1])})
            for name in {*whole, *(_placed(text)[0] for text in whole)} - {""}:
                self._by_source.setdefault(name, []).append(index)
            self._words |= {_spaced(_placed(source)[0]) for source in sources if source}
        self.names_sources = any(item.document or item.names for item in passages) or any(
            _LABEL.match(item.text or "") for item in passages
        )

    def __contains__(self, name: object) -> bool:
        """Whether a name is that of a passage or of its document."""
        return isinstance(name, str) and bool(bare(name) in self._by_name or self._of_source(name))

    @cached_property
    def _sources(self) -> DocumentNames:
        return DocumentNames({name: name for name in self._by_source})

    @cached_property
    def _among_words(self) -> re.Pattern[str] | None:
        """Finds the longest name of a document among other words, which no letter or digit
        touches."""
        words = {word.rpartition("/")[2] for word in self._words} | self._words
        names = sorted((word for word in words if len(word) >= _SHORTEST), key=len, reverse=True)
        if not names:
            return None
        return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, names))})(?![a-z0-9])")

    def _of_source(self, citation: str) -> list[int]:
        name = bare(citation)
        if not name or name.isdecimal():
            return []
        found, place = self._sources.find(name), tuple[str, ...]()
        if not found:
            name, place = _placed(name)
            found = self._sources.find(name)
        text = _spaced(citation)
        if not found and self._among_words and (named := self._among_words.search(text)):
            found = self._sources.find(bare(named[0]))
            place = tuple(re.findall(r"\d+", text[named.end() :]))
        indices = {index for word in found for index in self._by_source[word]}
        return sorted(at for at in indices if not place or place in (self._places[at] or [place]))

    def find(self, citation: str) -> int | None:
        """The index of the first passage that a citation refers to; ``None`` where none was
        retrieved."""
        return next(iter(self.find_all(citation)), None)

    def find_all(self, citation: str) -> tuple[int, ...]:
        """The indices of the passages that a citation refers to: several where it names their
        document, none where none was retrieved."""
        name = bare(citation)
        index = self._by_name.get(name)
        if index is not None:
            return (index,)
        rank = number(citation)
        if rank is None:
            return tuple(self._of_source(citation))
        with_word = self._by_word_and_number.get(rank)
        if self._by_number:
            found = self._by_number.get(rank, with_word)
        elif 1 <= rank <= len(self.passages) and (name.isdecimal() or with_word is None):
            found = rank - 1
        else:
            found = with_word
        return () if found is None else (found,)

    @cached_property
    def _by_number(self) -> dict[int, int]:
        """The indices of the ids that are a number."""
        return self._numbered(with_word=False)

    @cached_property
    def _by_word_and_number(self) -> dict[int, int]:
        """The indices of the ids that are a word and a number."""
        return self._numbered(with_word=True)

    def _numbered(self, with_word: bool) -> dict[int, int]:
        numbered = {name: number(name) for name in self._by_name if name.isdecimal() != with_word}
        return {
            at: self._by_name[name]
            for name, at in reversed(numbered.items())
            if at is not None and at < 10**_LONGEST
        }


_BRACKETED = re.compile(
    r"(?:<sup>\s*)?\^?\\?(?:\[\[|[\[【［〔])(?P<inside>[^\[\]【】［］〔〕\n]{1,200}?)\\?(?:\]\]|[\]】］〕])\^?"
    r"(?:\((?P<link>(?:https?://|#|www\.|\.?/)[^()\s]*)\))?(?:\s*</sup>)?"
)
_PARENTHESISED = re.compile(r"[(（](?P<inside>[^()（）\n]{1,200})[)）]")
_LEAD = r"(?:(?:[^\W\d_]{1,12}\.?\s+){1,2}|[\u3400-\u9fff]{1,3}[:：]?)"
"""See, cf. or 见, before the word for a source."""
_SAYS_SO = rf"(?i)\b{PREFIX}\b|(?<!\d)\d{{1,3}}(?!\d)"
"""A word for a source, or a page: what shows that parentheses cite, and do not just mention, a
title."""
_ITEM = rf"(?:{_LEAD}?(?={PREFIX}))?(?P<prefix>{BEFORE})?(?P<number>\d{{1,3}})\.?"
_IN_NUMERALS = rf"({PREFIX}\s?)([一二三四五六七八九十]+)"
_LOW, _HIGH = (_ITEM.replace("?P<", f"?P<{end}_") for end in ("low", "high"))
_RANGE = rf"{_LOW}\s*[-–—‐‑]\s*{_HIGH}"
_CIRCLED = re.compile("(?P<inside>[①-⑳❶-❿])")
_RAISED = re.compile(
    r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?。，\"”’)]))(?P<tag><sup>)?"
    r"(?P<inside>(?(tag)\d{1,3}(?:,\s?\d{1,3})*(?=</sup>)|[⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*))(?(tag)</sup>)"
)
"""Behind a word of three letters, which no unit has (km²), or a sign."""
_ADDRESS = re.compile(r"<?(?P<link>https?://[^\s<>]*[^\s<>.,;:!?()\[\]])>?(?P<inside>)")
_AND = "|".join(held("and").values())
_BETWEEN = re.compile(rf"\s*(?:[,;&，、；،؛]|(?<![^\s\d])(?:{_AND})(?![^\s\d]))\s*", re.IGNORECASE)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_JOINT = re.compile(rf"[\s,;&，、；]*(?:\b(?:{_AND})\b\s*)?", re.IGNORECASE)
_LONGEST_RANGE = 50
_NUMBER_WORDS = frozenset(word_lists("ragassay.metrics.citation", "words.txt")["numbers"])
_CLAUSE_ENDS = re.compile(r"\s*(?:[.,;:!?。]|$)", re.MULTILINE)
_WORD_BEFORE = re.compile(r"([\w%]+)[\"'”’)]*\s*$")
_NEAR = 80
"""Characters before a mark that are searched for the word before it."""


class Mark(NamedTuple):
    """Adjacent citations: characters ``[start, end)`` and the keys, each once."""

    start: int
    end: int
    keys: tuple[str, ...]


def marks(text: str, ids: Container[str] = (), n_passages: int = 0) -> list[Mark]:
    """The citations of a text; those separated only by commas and spaces are one mark."""
    code = [span.span() for span in _CODE.finditer(text)]
    single = [*_single(_BRACKETED, text, ids, code), *_single(_CIRCLED, text, ids, code)]
    most = 0 if single else n_passages
    single += _single(_ADDRESS, text, ids, code)
    unsure = chain.from_iterable(
        _single(pattern, text, ids, code) for pattern in (_PARENTHESISED, _RAISED)
    )
    single += [mark for mark in unsure if _plausible(text, mark, most)]
    groups: list[list[Mark]] = []
    for mark in sorted(single):
        if groups and mark.start < groups[-1][-1].end:
            continue  # the address within a link
        if groups and _JOINT.fullmatch(text, groups[-1][-1].end, mark.start):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [
        Mark(
            group[0].start,
            group[-1].end,
            tuple(dict.fromkeys(chain(*(pair.keys for pair in group)))),
        )
        for group in groups
    ]


def _single(
    pattern: re.Pattern[str], text: str, ids: Container[str], code: list[tuple[int, int]]
) -> Iterator[Mark]:
    """Each place outside code where the pattern holds citations and nothing else."""
    for match in pattern.finditer(text):
        link = match.groupdict().get("link") or ""
        keys = _keys(match["inside"], ids, bracketed=pattern is not _PARENTHESISED)
        if link and link in ids:
            keys = (link,)
        if keys and not _inside(match.start(), match.end(), code):
            yield Mark(match.start(), match.end(), keys)


def _plausible(text: str, mark: Mark, most: int) -> bool:
    """Whether parentheses or raised digits cite: they name a kind of source or hold ranks up to
    ``most``, parentheses at the end of a clause whose last word is no number."""
    if not mark.keys[0].isdigit():
        return True
    if not all(key.isdigit() and 1 <= int(key) <= most for key in mark.keys):
        return False
    if text[mark.start] not in "(（":
        return True
    before = _WORD_BEFORE.search(text, max(0, mark.start - _NEAR), mark.start)
    return (
        before is not None
        and not before[1].isdigit()
        and before[1].casefold() not in _NUMBER_WORDS
        and _CLAUSE_ENDS.match(text, mark.end) is not None
    )


def _keys(inside: str, ids: Container[str], *, bracketed: bool) -> tuple[str, ...]:
    """The citations inside a pair of brackets; none where anything else is there."""
    content = inside.strip()

    def names(text: str) -> bool:
        known, looks = text in ids, is_source(text)
        return known or looks if bracketed else known and (looks or bool(re.search(_SAYS_SO, text)))

    if re.fullmatch("[①-⑳❶-❿]|[⁰¹²³⁴-⁹,]+", content):
        digits = {text: str(int(unicodedata.numeric(text))) for text in content if text != ","}
        return tuple("".join(map(digits.__getitem__, part)) for part in content.split(",") if part)
    if "†" in content:
        before, name = (piece.strip() for piece in content.split("†")[:2])
        if names(name):
            return (name,)
        return (before,) if names(before) or re.fullmatch(r"[\d:]+", before) else ()
    distinct: dict[str, None] = {}
    pieces = _BETWEEN.split(content)
    for piece in pieces:
        keys = _numbered(piece) or ([piece] if names(piece) else [])
        # A lone [0] cites a passage that is not there; [0, 1] is an interval.
        if not keys or (keys == ["0"] and "0" not in ids and len(pieces) > 1):
            return (content,) if content in ids and names(content) else ()
        distinct.update(dict.fromkeys(keys))
    return tuple(distinct)


def _numbered(piece: str) -> list[str]:
    """The keys that a number, or a range of numbers, means; a prefix stays with its number."""
    if named := re.fullmatch(_IN_NUMERALS, piece):
        piece = f"{named[1]}{numerals(named[2])}"
    item = re.fullmatch(_ITEM, piece, re.IGNORECASE)
    if item is not None:
        return [_key(item["prefix"], int(item["number"]))]
    span = re.fullmatch(_RANGE, piece, re.IGNORECASE)
    if span is None:
        return []
    low, high = int(span["low_number"]), int(span["high_number"])
    if not low < high <= low + _LONGEST_RANGE:
        return []
    return [_key(span["low_prefix"], at) for at in range(low, high + 1)]


def _key(prefix: str | None, at: int) -> str:
    """The key of a number: ``doc1`` for ``[doc 1]``; a sign or ``cite:`` before a number is left
    out."""
    word = re.match(rf"{PREFIX}|[dps]", prefix or "", re.IGNORECASE)
    name = bare(word[0]) if word else ""
    return str(at) if name.startswith("cit") else f"{name}{at}"


def _inside(start: int, end: int, stretches: list[tuple[int, int]]) -> bool:
    """Whether the characters lie in code that holds more than them."""
    a, b = stretches[bisect_right(stretches, start, key=itemgetter(0)) - 1] if stretches else (0, 0)
    return a <= start and end <= b and (start - a, b - end) != (1, 1)
