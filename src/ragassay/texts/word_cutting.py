"""The words of a text in any script: what all corrected metrics compare. Letters with their marks
and digits form words, compatibility-normalised (NFKC) and case-folded, without vowel points.
Scripts without spaces (and Korean) give one word a character. A number is one word in one form.
Currencies, ``%``, ``°`` and signs of relations are words; ``C++`` is not ``C``."""

from __future__ import annotations

import re
import unicodedata

from ragassay.texts.languages import CHARACTERS, listed
from ragassay.texts.numbers import SIGNS, folded
from ragassay.texts.porter_stems import porter_stem

# Characters of no text (private use) stand for signs that are no punctuation here; the last one
# stands behind a character that is a word.
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
            n = next((at for at, one in enumerate(rest) if not _is_mark(one)), len(rest))
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
