"""The words of a text in any script: what all corrected metrics compare.

- Letters with their marks and digits form words; punctuation and white space separate them. Text is
  compatibility-normalised (NFKC) and case-folded; invisible characters, Arabic short vowels and
  stretching, and Hebrew points are left out.
- Scripts without spaces between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give
  one word a character with its marks.
- A number is one word in one form: ``1,250.50``, ``1.250,50`` and ``١٢٥٠٫٥٠`` are ``1250.50``. Its
  sign belongs to it. A single comma or point before three digits is read by the language (1,250 is
  1250 in English and 1.250 in German); where that is not known it stays as written.
- Of the symbols, currencies, ``%`` and ``°`` are words, and ``+`` and ``#`` behind a letter belong
  to it (``C++`` and ``C#`` are not ``C``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from ragassay.texts.porter_stems import porter_stem
from ragassay.texts.scripts import CHARACTERS

ARTICLES = frozenset({"a", "an", "the"})
"""The English articles."""

_COMMA = frozenset(
    "af ca cs da de eo es et eu fi fr gd hr hu id is it la lt lv nb nl pl pt ro ru sk sl sq sv tr "  # noqa: SIM905
    "vi".split()
)
_POINT = frozenset(("cy", "en", "ga", "he", "hi", "ja", "ko", "sw", "th", "tl", "zh"))
"""Languages that write decimals with a comma, and with a point."""

# Characters of no text (private use) stand for signs that are no punctuation here; the last one
# stands behind a character that is a word.
_SIGN_OF = {
    ".": "\ue001",
    "-": "\ue002",
    "+": "\ue003",
    "#": "\ue004",
    ",": "\ue005",
    "A": "\ue006",
}
_ENDED = "\ue007"
_BACK = str.maketrans({sign: shown.lower() for shown, sign in _SIGN_OF.items()})

_PLAIN = re.compile(r"[a-zA-Z\s.,;:!?'\"()-]*")
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?'\"()-", " "))
_BLANKS = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.,%)\]])(?<!\d )[-\u2212](?=[.,]?\d))?"
    rf"(?<![^\W{CHARACTERS}])(?<![.,])"  # a letter that ends at a space is part of no number
    r"(?P<digits>\d+(?:[.,'’]\d+)*+|[.,]\d++(?![.,]\d))"
)
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹₀-₉¼-¾⅐-⅞])")
"""Between a number and a raised digit or a fraction: 10⁶ is not 106."""
_BEHIND_LETTER = re.compile(r"(?<=[^\W\d_])(?:\+{1,2}|#)(?![\w+#])")
_LETTER_A = re.compile(r"(?<=[\w,] )A\b(?!['’.])")


def words(text: str, language: str = "", *, articles: bool = True, stem: bool = False) -> list[str]:
    """The words of a text, in their order.

    Args:
        text: any text.
        language: code of its language, for numbers and articles; empty where it is not known.
        articles: whether the English articles count. Else they are left out, but no A at the end
            and no capital A within a sentence (``Vitamin A``); where the language is known and is
            not English nothing is left out.
        stem: apply the Porter stemmer to ASCII words of more than three characters.
    """
    found = _cut(text, language)
    if not articles and language in ("", "en"):
        n = len(found) - (found[-1:] == ["a"])
        found = [*(word for word in found[:n] if word not in ARTICLES), *found[n:]]
    found = [word if word.isascii() else word.translate(_BACK) for word in found]
    return stemmed(found) if stem else found


def _cut(text: str, language: str) -> list[str]:
    """The words, with stand-ins for their signs."""
    if not text.isupper():
        text = _LETTER_A.sub(_SIGN_OF["A"], text) if " A" in text else text
    if _PLAIN.fullmatch(text):  # most English texts without numbers
        return text.lower().translate(_PUNCTUATION).split()
    text = _RAISED.sub(" ", _BLANKS.sub("'", text))
    text = unicodedata.normalize("NFKC", text).translate(_DIGITS)
    text = _NUMBER.sub(lambda found: _number(found, language), text)
    text = _BEHIND_LETTER.sub(lambda found: "".join(map(_SIGN_OF.__getitem__, found[0])), text)
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


def _number(found: re.Match[str], language: str) -> str:
    digits = found["digits"].replace("’", "").replace("'", "")
    value = _canonical(digits, language)
    if value is None:  # a date, a version, an address: its parts are words
        return f"{digits} "
    sign = "-" if found["sign"] else ""
    return f" {''.join(_SIGN_OF.get(one, one) for one in sign + value)} "


def _canonical(digits: str, language: str) -> str | None:
    """The one form of a number; ``None`` for what is no single number (1.2.3)."""
    signs = {one for one in digits if one in ".,"}
    decimal = max(signs, key=digits.rindex, default="")
    whole, _, rest = digits.rpartition(decimal) if decimal else (digits, "", "")
    if not decimal:
        return digits
    if decimal in whole:  # more than once: it groups digits, or it is no number
        return digits.replace(decimal, "") if _is_grouped(digits, decimal) else None
    if len(signs) == 2:
        other = "," if decimal == "." else "."
        return f"{whole.replace(other, '')}.{rest}" if _is_grouped(whole, other) else None
    if len(rest) == 3 and _is_grouped(digits, decimal) and not whole.startswith("0"):
        if language not in _COMMA | _POINT:
            return digits
        if (decimal == ".") == (language in _COMMA):
            return whole + rest
    return f"{whole or '0'}.{rest}"


def _is_grouped(digits: str, sign: str) -> bool:
    first, *others = digits.split(sign)
    return 1 <= len(first) <= 3 and all(len(one) == 3 for one in others)


def stemmed(found: list[str]) -> list[str]:
    """Words with Porter stems in place of ASCII words of more than three characters.

    Args:
        found: the words.
    """
    return [word if len(word) < 4 or not word.isascii() else porter_stem(word) for word in found]


class _Replaced(dict[int, str]):
    """What stands for a character, computed when it is first seen."""

    def __init__(self, replacement: Callable[[str], str]) -> None:
        super().__init__()
        self._replacement = replacement

    def __missing__(self, code: int) -> str:
        replacement = self[code] = self._replacement(chr(code))
        return replacement


_IS_ALONE = re.compile(f"[{CHARACTERS}]")
_ZERO_WIDTH_SPACE, _TATWEEL = "\u200b", "\u0640"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Sc" or character in "%‰°":
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


def _digit(character: str) -> str:
    if character in "٫٬":
        return "." if character == "٫" else ""
    is_digit = unicodedata.category(character) == "Nd"
    return str(unicodedata.digit(character)) if is_digit else character


_CHARACTERS, _DIGITS = _Replaced(_replacement), _Replaced(_digit)
