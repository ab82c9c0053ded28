"""The words of a text in any script: what all corrected metrics compare. Letters with their marks
and digits form words, compatibility-normalised (NFKC) and case-folded, without vowel points.
Scripts without spaces (and Korean) give one word a character. A number is one word in one form.
Currencies, ``%``, ``°`` and signs of relations are words; ``C++`` is not ``C``.

Stems of English words are Porter's (1980) with the extensions of NLTK's stemmer, by which ROUGE is
known: to import NLTK imports scipy, where that is installed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ragassay.texts.languages import CHARACTERS, listed
from ragassay.texts.numbers import SIGNS, folded

# Characters of no text (private use) replace signs that are no punctuation here; the last one
# follows a character that is a word.
_SIGN_OF = {**SIGNS, "#": "\ue006", "A": "\ue007"}
_ENDED = "\ue008"
_BACK = str.maketrans({sign: shown.lower() for shown, sign in _SIGN_OF.items()})

_PLAIN = re.compile(r"[a-zA-Z\s.,;:!?'\"()-]*")
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?'\"()-", " "))
_ATTACHED = re.compile(
    r"(?<=[^\W\d_])(?:\+{1,2}|#)(?![\w+#])|(?<=(?<![^\W_])[^\W\d_])-(?![\w-])"
    r"|(?<=(?<![^\W_])[^\W\d_]{2})-(?![\w-])|(?<![^\s(\[{\"'])\.(?=[^\W\d_])"
)
_TWO_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "=>": "⇒"}
_IN_TWO_SIGNS = re.compile("|".join(_TWO_SIGNS))
_MARKUP = re.compile(
    r"</?(?:[abipu]|br|code|div|em|h[1-6]|li|ol|pre|span|strong|su[bp]|t[dhr]|table|ul)"
    r"(?:\s+[\w-]+=[^<>]*)?\s*/?>|^[ \t]*(?:>[> \t]*|\+)[ \t](?=[^\d\s])",
    re.MULTILINE,
)
"""Tags of HTML, and the signs of a quotation or an item (``+``) in Markdown."""
_LETTER_A = re.compile(r"(?<=[\w,] )A\b(?!['’.+#-])")


def words(text: str, language: str = "", *, articles: bool = True, stem: bool = False) -> list[str]:
    """The words of a text, in their order. Without ``articles`` the English ones are left out, but
    no A at the end and no capital A within a sentence (``Vitamin A``), and none where the language
    is known and is not English. ``stem`` applies the Porter stemmer to ASCII words of more than
    three letters."""
    if " A" in text and not text.isupper():
        text = _LETTER_A.sub(_SIGN_OF["A"], text)
    if _PLAIN.fullmatch(text) and not _ATTACHED.search(text):  # most English texts without numbers
        found = text.lower().translate(_PUNCTUATION).split()
    else:
        found = _cut(text, language)
    if not articles and language in ("", "en"):
        n = len(found) - (found[-1:] == ["a"])
        found = [*(word for word in found[:n] if word not in listed("articles")), *found[n:]]
    found = [word if word.isascii() else word.translate(_BACK) for word in found]
    return stemmed(found) if stem else found


def _cut(text: str, language: str) -> list[str]:
    """The words of any text, with stand-ins for their signs."""
    text = _MARKUP.sub(" ", _IN_TWO_SIGNS.sub(lambda found: _TWO_SIGNS[found[0]], text))
    text = _ATTACHED.sub(lambda found: "".join(map(_SIGN_OF.__getitem__, found[0])), text)
    text = folded(text, language)
    text = unicodedata.normalize("NFKC", text.casefold())
    found = []
    for word in text.translate(_CHARACTERS).split():
        if _ENDED in word:
            character, rest = word.split(_ENDED, 1)
            n = next((at for at, name in enumerate(rest) if not _is_mark(name)), len(rest))
            found += [character + rest[:n], *([rest[n:]] if rest[n:] else [])]
        else:
            found.append(word)
    return found


def stemmed(found: list[str]) -> list[str]:
    """Words with Porter stems in place of ASCII words of more than three characters."""
    return [word if len(word) < 4 or not word.isascii() else porter_stem(word) for word in found]


_IS_ALONE = re.compile(f"[{CHARACTERS}]")
_ZERO_WIDTH_SPACE, _TATWEEL = "\u200b", "\u0640"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Sc" or (category == "Sm" and character not in "|~") or character in "%‰°":
        return f" {character} "
    if category == "Cf":
        return " " if character == _ZERO_WIDTH_SPACE else ""
    if category == "Cc" or category[0] in "ZPS":
        return " "
    script = unicodedata.name(character, "").partition(" ")[0]
    if character == _TATWEEL or (category == "Mn" and script in ("ARABIC", "HEBREW")):
        return ""
    # A mark of such a script belongs to the character before it.
    alone = category[0] != "M" and _IS_ALONE.match(character)
    return f" {character}{_ENDED}" if alone else character


class _Replaced(dict[int, str]):
    """The replacement of each character, computed when it is first seen."""

    def __missing__(self, code: int) -> str:
        self[code] = _replacement(chr(code))
        return self[code]


_CHARACTERS = _Replaced()


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
