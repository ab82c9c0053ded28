"""Finding citations in an answer's text, in every form that systems and vendors write.

``[1]``, ``[1, 2; 3]``, ``[1-3]``, ``[1][2]``, ``[1], [2]``, ``[^1]``, ``[ 1 ]``, ``[doc1]``,
``[cite: 1, 2]``, ``[[1]](link)``, ``【1†source】``, ``①``, the same with the words and digits of
other languages (``[источник 1]``, ``[资料一]``, ``[١، ٢]``), an id of a retrieved passage in
brackets, the name or address of its document (``[guide.pdf#page=4]``, ``[Guide](https://...)``, the
bare address), and ``(3)``, ``(source 3)``, ``(guide.pdf)``, ``¹`` or ``<sup>1</sup>`` where that is
plausible. A year is no citation, nor is anything in code.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Container, Iterator
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from ragassay.base.package_files import word_lists
from ragassay.metrics.citation.citable import BEFORE, PREFIX, bare, is_source
from ragassay.texts.languages import held
from ragassay.texts.numbers import numerals

_BRACKETED = re.compile(
    r"(?:<sup>\s*)?\^?\\?(?:\[\[|[\[【［〔])(?P<inside>[^\[\]【】［］〔〕\n]{1,200}?)\\?(?:\]\]|[\]】］〕])\^?"
    r"(?:\((?P<link>(?:https?://|#|www\.|\.?/)[^()\s]*)\))?(?:\s*</sup>)?"
)
_PARENTHESISED = re.compile(r"[(（](?P<inside>[^()（）\n]{1,200})[)）]")
_LEAD = r"(?:(?:[^\W\d_]{1,12}\.?\s+){1,2}|[\u3400-\u9fff]{1,3}[:：]?)"
"""See, cf. or 见, before the word for a source."""
_SAYS_SO = re.compile(rf"\b{PREFIX}\b|(?<!\d)\d{{1,3}}(?!\d)", re.IGNORECASE)
"""A word for a source, or a page: what shows that parentheses cite, and do not just mention, a
title."""
_ITEM = re.compile(
    rf"(?:{_LEAD}?(?={PREFIX}))?(?P<prefix>{BEFORE})?(?P<number>\d{{1,3}})\.?", re.IGNORECASE
)
_IN_NUMERALS = re.compile(rf"({PREFIX}\s?)([一二三四五六七八九十]+)")
_LOW, _HIGH = (_ITEM.pattern.replace("?P<", f"?P<{end}_") for end in ("low", "high"))
_RANGE = re.compile(rf"{_LOW}\s*[-–—‐‑]\s*{_HIGH}", re.IGNORECASE)
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
    code = [(span.start(), span.end()) for span in _CODE.finditer(text)]
    single = [*_single(_BRACKETED, text, ids, code), *_single(_CIRCLED, text, ids, code)]
    most = 0 if single else n_passages
    single += _single(_ADDRESS, text, ids, code)
    unsure = chain.from_iterable(_single(one, text, ids, code) for one in (_PARENTHESISED, _RAISED))
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
            group[0].start, group[-1].end, tuple(dict.fromkeys(chain(*(one.keys for one in group))))
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
        return known or looks if bracketed else known and (looks or bool(_SAYS_SO.search(text)))

    if re.fullmatch("[①-⑳❶-❿]|[⁰¹²³⁴-⁹,]+", content):
        digits = {one: str(int(unicodedata.numeric(one))) for one in content if one != ","}
        return tuple("".join(map(digits.__getitem__, one)) for one in content.split(",") if one)
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
    """The keys that a number, or a range of numbers, stands for; a prefix stays with its number."""
    if named := _IN_NUMERALS.fullmatch(piece):
        piece = f"{named[1]}{numerals(named[2])}"
    item = _ITEM.fullmatch(piece)
    if item is not None:
        return [_key(item["prefix"], int(item["number"]))]
    span = _RANGE.fullmatch(piece)
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
    at = bisect_right(stretches, start, key=itemgetter(0)) - 1
    if at < 0:
        return False
    a, b = stretches[at]
    return end <= b and (start - a, b - end) != (1, 1)
