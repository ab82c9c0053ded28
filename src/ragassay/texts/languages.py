"""Languages of texts, their word lists (``data/languages``), and their scripts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ragassay.base import packages
from ragassay.base.sample import Sample

FOLDER = "data/languages"
_READ = 20_000  # characters of a text that are read to find its language
_LEAST = 0.06  # share of a text's words that are small words of its language, at least
_WORD = re.compile(r"[^\W_]+")
_CONTRACTED = re.compile(r"\b\w+n['’]t\b")  # ``can't`` permits nothing
_YES_OR_NO = re.compile(
    r"^(?:yes|no|ja|nein|oui|non|sí|si|是的?|不是|对|對|不对|不對)(?!\w)[.,:;!。，：；！]?\s*",
    re.IGNORECASE,
)
_HAN, _KANA = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[\u3040-\u30ff]")

_SCRIPTS = re.compile(
    r"[\u0370-\u03ff\u0530-\u05ea\u0900-\u0939\u0980-\u09b9\u0b80-\u0bb9\u0c00-\u0c39\u0e01-\u0e30"
    r"\u0e81-\u0eb0\u1000-\u102a\u10a0-\u10ff\u1200-\u135a\u1780-\u17b3\uac00-\ud7a3]"
)
_CODES = {
    "GREEK": "el",
    "ARMENIAN": "hy",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "LAO": "lo",
    "MYANMAR": "my",
    "GEORGIAN": "ka",
    "ETHIOPIC": "am",
    "KHMER": "km",
    "HANGUL": "ko",
}
"""The language of a script that one language has, or that most texts in it have."""

Key = tuple[str, str]  # kind (``group`` or ``opinion``) and name of a list


@dataclass(frozen=True)
class WordLists:
    """What is known of a language: its names in small letters, the small words by which a text is
    known, the single words of its lists with the lists that hold each, what is found as a part of a
    text (several words; of Chinese all words), and whether spaces separate words."""

    names: Sequence[str]
    small: frozenset[str]
    words: Mapping[str, frozenset[Key]]
    phrases: Mapping[str, Key]
    has_spaces: bool

    def mentioned(self, sentence: str) -> set[Key]:
        """The lists of which a sentence holds a word."""
        text = _CONTRACTED.sub(" ", sentence.casefold())
        if not self.has_spaces:
            return {key for phrase, key in self.phrases.items() if phrase in text}
        words = _WORD.findall(text)
        joined = f" {' '.join(words)} "
        keys = {key for phrase, key in self.phrases.items() if f" {phrase} " in joined}
        return keys.union(*(self.words[word] for word in self.words.keys() & set(words)))


@cache
def word_lists() -> Mapping[str, WordLists]:
    """The languages that have lists, by their code."""
    return {code: _lists(file) for code, file in _files().items() if "groups" in file}


@cache
def listed(kind: str) -> frozenset[str]:
    """The words that the files of all languages list under a name, in small letters."""
    return frozenset(str(word).casefold() for words in held(kind).values() for word in words)


@cache
def held(kind: str) -> Mapping[str, Any]:
    """What is known of languages under a name, by the language's code."""
    others = packages.table("ragassay.texts", "data/other_languages.yaml")
    own = {code: file[kind] for code, file in _files().items() if kind in file}
    return {**others.get(kind, {}), **own}


@cache
def decimal_signs(language: str) -> str:
    """The signs that a language writes decimals with (``,``, ``.`` or both); or empty."""
    return ",." if language == "any" else str(held("decimal").get(language, ""))


@cache
def _files() -> Mapping[str, Mapping[str, Any]]:
    """What each language's file holds, by the language's code."""
    names = sorted(file.name for file in (resources.files("ragassay.texts") / FOLDER).iterdir())
    tables = (packages.table("ragassay.texts", f"{FOLDER}/{name}") for name in names)
    return {name.removesuffix(".yaml"): table for name, table in zip(names, tables, strict=True)}


def language_of(text: str) -> str:
    """The code of the language that a text is in; empty where its words do not tell."""
    code, *others = likely_languages(text) or ("",)
    return "" if others else code


def likely_languages(text: str, least: int = 1) -> tuple[str, ...]:
    """The codes of the languages in which a text's words are most usual; perhaps none."""
    text = text[:_READ].casefold()
    scripts = Counter(_SCRIPTS.findall(text))
    if scripts and 2 * scripts.total() > sum(map(str.isalpha, text)):
        return (_CODES[unicodedata.name(scripts.most_common(1)[0][0]).partition(" ")[0]],)
    characters = len(_HAN.findall(text))
    if (kana := len(_KANA.findall(text))) and 10 * kana > characters:
        return ("ja",)
    words = _WORD.findall(text)
    if 3 * characters > sum(map(len, words)):
        return ("zh",)
    counts = Counter(code for word in words for code in _codes().get(word, ()))
    most = max(counts.values(), default=0)
    if most < _LEAST * len(words):
        return ()
    long = {word for word in words if len(word) > 1}
    different = Counter(code for word in long for code in _codes().get(word, ()))
    return tuple(code for code, n in counts.items() if n == most and different[code] >= least)


def language_in(sample: Sample) -> str:
    """The code of the language that a sample states, else that of query and answer; or empty."""
    words = f"{sample.query_text} {sample.answer_text}"
    return stated_language(sample) or language_of(words)


def stated_language(sample: Sample) -> str:
    """The code of the language that a sample states; empty where it states none."""
    known = sample.metadata
    stated = sample.language or known.get("language") or known.get("lang")
    code = code_of(str(stated)) if stated else ""
    return code if re.fullmatch("[a-z]{2,3}", code) else ""


def code_of(name: str) -> str:
    """The code of a language (``de-CH``, ``German`` and ``deutsch`` are ``de``); a name without a
    list stays as it is, in small letters."""
    name = name.strip().casefold()
    codes = (code for code, names in held("names").items() if name in names)
    return next(codes, re.split(r"[-_]", name, maxsplit=1)[0])


def without_yes_or_no(text: str) -> str:
    """A text without the yes or no that it begins with; empty where it says nothing else."""
    return _YES_OR_NO.sub("", text)


def _lists(data: Mapping[str, Any]) -> WordLists:
    has_spaces = "small" in data
    words: dict[str, set[Key]] = {}
    phrases: dict[str, Key] = {}
    for kind in ("groups", "opinions"):
        for name, listed in data[kind].items():
            key = (kind.removesuffix("s"), name)
            for word in map(str.casefold, listed):
                parts = _WORD.findall(word)
                if has_spaces and len(parts) == 1:
                    words.setdefault(word, set()).add(key)
                else:
                    phrases[" ".join(parts)] = key
    return WordLists(
        data["names"],
        frozenset(data.get("small", ())),
        {word: frozenset(keys) for word, keys in words.items()},
        phrases,
        has_spaces,
    )


@cache
def _codes() -> Mapping[str, Sequence[str]]:
    """The languages of each small word."""
    codes: dict[str, list[str]] = {}
    for code, words in held("small").items():
        for word in words:
            codes.setdefault(str(word).casefold(), []).append(code)
    return codes


UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts that put no spaces between words, as what is between ``[`` and ``]`` of a pattern:
Thai, Lao, Burmese, Khmer, Chinese, Japanese and Yi."""

CHARACTERS = UNSPACED + "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
"""Also Korean, whose words carry particles: each character is compared as a word."""
