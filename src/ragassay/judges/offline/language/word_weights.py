"""Words of any script, and their weights.

A word is compared by its stem: NFKC, case folded, light English endings off, and no more than the
first `STEM` letters, which also joins the forms of most European languages ("regulierung",
"regulieren"). Scripts that put no spaces between words give overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.numbers import HALVES_OF_DAY, LONG_UNITS
from ragassay.judges.offline.language.written_values import DIGITS, in_one_form

STEM = 8
"""Letters of a word that are compared: long words that differ only at their end are forms of one
word far more often than not."""

WHOLE, LITTLE = 10, 3
"""Weight of a word, and of a common English one; a small word weighs nothing. Whole numbers, so
that sums are exact and a share on a threshold falls on the same side everywhere."""

LONGEST = 200_000
"""Characters of a text that are read, from the first on."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|{DIGITS}|°[cf]?\b|°"
    rf"|(?:[^\W\d_{_UNSPACED}]\.){{2,}}"
    rf"|[^\W\d_{_UNSPACED}](?:[^\W_{_UNSPACED}]|['’](?=[^\W\d_]))*"
)
_ASCII_WORD = re.compile(rf"{DIGITS}|(?:[a-z]\.){{2,}}|[a-z](?:[a-z0-9]+|'(?=[a-z]))*", re.ASCII)
"""The same for lower-case ASCII, in which most texts are, and faster."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_BLANK_LINES = re.compile(r"\n(?: ?\n)+")
_ENDINGS = (
    ("ational", "at", 3), ("ization", "iz", 3), ("isation", "iz", 3), ("iveness", "iv", 3),
    ("fulness", "ful", 3), ("ation", "at", 3), ("ator", "at", 3), ("ate", "at", 3),
    ("ical", "ic", 3), ("ness", "", 3), ("ment", "", 4), ("ion", "", 4), ("ity", "", 4),
    ("est", "", 4), ("ise", "iz", 4), ("er", "", 3), ("or", "", 5), ("ly", "", 4), ("al", "", 5),
)  # fmt: skip
"""Ending, its replacement, and the smallest number of letters before it."""
_FORMS = (("ised", "ise", 4), ("ising", "ise", 4), ("ied", "y", 2), ("ing", "", 3), ("ed", "", 3))
"""The same for the forms of a verb. They go first, so that "discovered" and "discover" lose the
same other ending."""
_VOWEL = re.compile("[aeiouy]")
_SMALL = lists.words("small")
_SMALL_ENDINGS = ("n't", "'re", "'ve", "'ll", "'m")


def visible(text: str) -> str:
    """The text in its compatibility form (NFKC), with single spaces and single line ends of one
    kind, and without invisible characters."""
    text = _LINE_END.sub("\n", text[:LONGEST])
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return single_spaced(text)


def single_spaced(text: str) -> str:
    """The text with one space for each run of spaces and one line end for blank lines. Patterns
    start anew at each place of a run, so their time would grow with the square of its length."""
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text))


def tokens(text: str) -> list[str]:
    """Case-folded words in their order, small ones too; values in one form (`in_one_form`)."""
    text = visible(text).casefold()
    if text.isascii():
        words = _ASCII_WORD.findall(text)
        return in_one_form([word if word.isalpha() else _plain(word) for word in words])
    text = text.replace(_MINUS, "-")
    raw_tokens: list[str] = []
    for word in _WORD.findall(text):
        if _IS_UNSPACED.match(word):
            raw_tokens.extend(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            raw_tokens.append(word if word.isalpha() else _plain(word))
    return in_one_form(raw_tokens)


def spaced(text: str) -> str:
    """The text with spaces between the characters of scripts that put none between words."""
    return text if text.isascii() else _IS_UNSPACED.sub(r" \g<0> ", text)


def n_words(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one."""
    unspaced = len(_IS_UNSPACED.findall(text))
    return len(_IS_UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


_MINUS = "\u2212"


def _plain(word: str) -> str:
    if not word[0].isalpha():
        return word
    if "." in word:
        return word.replace(".", "")
    word = word.replace("’", "'")
    return word.removesuffix("'s") or word


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """The part of a token that is compared with others; empty for a small word."""
    if token in _SMALL or token.endswith(_SMALL_ENDINGS):
        return ""
    if not token[0].isalpha() or _IS_UNSPACED.match(token):
        return token
    return _stem(LONG_UNITS.get(token, token))


def _stem(token: str) -> str:
    if len(token) > 3 and token.isascii():
        token = _without(_without(_singular(token), _FORMS), _ENDINGS)
        if len(token) > 3:
            if token[-1] == token[-2] and token[-1] not in "aeiouls":
                token = token[:-1]
            token = token.removesuffix("e")
            if token[-1] == "y":
                token = token[:-1] + "i"
    return token[:STEM]


def _without(token: str, endings: Iterable[tuple[str, str, int]]) -> str:
    """A word without the first of some endings that it has."""
    for ending, instead, least in endings:
        rest = token[: -len(ending)]
        if token.endswith(ending) and len(rest) >= least and _VOWEL.search(rest):
            return rest + instead
    return token


def _singular(token: str) -> str:
    if token.endswith("ies") and len(token) > 4:
        return token[:-3] + "y"
    if token.endswith(("sses", "shes", "ches", "xes")):
        return token[:-2]
    if token[-1] == "s" and token[-2] not in "sui":
        return token[:-1]
    return token


def content(text: str) -> list[str]:
    """Stems of the words that are not small, in their order."""
    return [stemmed for stemmed in map(stem, tokens(text)) if stemmed]


@lru_cache(maxsize=1 << 16)
def weight(stemmed: str) -> int:
    """The weight of a stem: `WHOLE`, or `LITTLE` where it is a common English word.

    0 for a half of the day ("p.m."): many texts leave it out after an hour.
    """
    if stemmed in _WEIGHTLESS:
        return 0
    return LITTLE if stemmed in _COMMON_STEMS else WHOLE


def weigh(stems: Iterable[str]) -> int:
    """Sum of the weights."""
    return sum(map(weight, stems))


_WEIGHTLESS = frozenset(HALVES_OF_DAY.values())
_COMMON_STEMS = frozenset(map(_stem, lists.words("common")))
