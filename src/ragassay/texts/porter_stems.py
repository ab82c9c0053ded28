"""Porter stems of English words (Porter 1980), with the extensions of NLTK's stemmer, by which
ROUGE is known. Written here because importing NLTK imports scipy, where that is installed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": "sky skies",
        "die": "dying",
        "lie": "lying",
        "tie": "tying",
        "news": "news",
        "inning": "innings inning",
        "outing": "outings outing",
        "canning": "cannings canning",
        "howe": "howe",
        "proceed": "proceed",
        "exceed": "exceed",
        "succeed": "succeed",
    }.items()
    for form in forms.split()
}

Rule = tuple[str, str]  # a suffix, and what replaces it

_PLURALS: tuple[Rule, ...] = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_LONG: tuple[Rule, ...] = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance")),
    *(("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e")),
    *(("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    *(("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_MIDDLE: tuple[Rule, ...] = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_LAST = tuple(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split()  # noqa: SIM905
)


@lru_cache(maxsize=1 << 17)
def porter_stem(word: str) -> str:
    """The stem of a word in letters of any case; words of one or two letters are their own."""
    word = word.lower()
    if word in _IRREGULAR or len(word) <= 2:
        return _IRREGULAR.get(word, word)
    if len(word) == 4 and word.endswith("ies"):
        word = f"{word[:-3]}ie"
    else:
        word = _replaced(word, _PLURALS)
    word = _past(word)
    if len(word) > 2 and word[-1] == "y" and _shape(word[:-1])[-1] == "c":
        word = f"{word[:-1]}i"
    word = _long(word)
    word = _replaced(word, _MIDDLE, least=1)
    return _without_e(_last(word))


def _past(word: str) -> str:
    """Without ``ed`` and ``ing``."""
    if word.endswith("ied"):
        return f"{word[:-3]}{'ie' if len(word) == 4 else 'i'}"
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    stem = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if stem == word or "v" not in _shape(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _is_short(stem) else stem


def _long(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _long(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _LONG, least=1)


def _last(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            fits = _measure(stem) > 1 and (suffix != "ion" or stem[-1] in "st")
            return stem if fits else word
    return word


def _without_e(word: str) -> str:
    """Without a final ``e``, and with one ``l`` of two."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replaced(word: str, rules: Iterable[Rule], least: int = 0) -> str:
    """The word by the first rule whose suffix it has, where its stem's measure is ``least``."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return f"{stem}{replacement}" if _measure(stem) >= least else word
    return word


def _shape(word: str) -> str:
    """A ``v`` for each vowel, a ``c`` for each consonant; ``y`` after a consonant is a vowel."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how often consonants follow vowels."""
    return _shape(stem).count("vc")


def _is_short(stem: str) -> bool:
    """Whether it ends in consonant, vowel, consonant (none of w, x, y), or is vowel, consonant."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")
