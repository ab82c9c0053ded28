"""Numbers in one form, in any script: what words and the offline judge compare. ``1,250.50``,
``1.250,50``, ``1 250,50`` and ``1,25,000.50`` lose the signs between groups; a single sign before
three digits is read by the language, and stays where that is not known. A sign before a number and
a plus after it belong to it; parts of a date, time, ratio or version are one number."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from ragassay.texts.languages import CHARACTERS, decimal_signs

SIGNS = {".": "\ue001", "-": "\ue002", ":": "\ue003", "/": "\ue004", "+": "\ue005"}
"""Characters of no text (private use) that replace the signs within a number."""

_DIGIT = re.compile(r"\d")
_NO_LETTER = rf"(?<![^\W{CHARACTERS}])(?<![.,])"
"""A letter that ends at a space is part of no number; the first digit follows none of these."""
_PART = r"(?:\d+(?:[.,'’]\d+)*+|[.,]\d++(?![.,]\d))"
_DATE = r"(?:\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-\d{4})(?![-\d])"
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.,%)\]])(?<!\d )[-\u2212](?=[.,]?\d))?"
    rf"{_NO_LETTER}(?P<parts>{_DATE}|{_PART}(?:[:/⁄]{_PART})*)"
    r"(?P<more>\+(?![\w+]))?"
)
_BLANKS = {
    blanks: re.compile(rf"{_NO_LETTER}[1-9]\d{{0,2}}(?:[{blanks}]\d{{3}}(?!\d))+")
    for blanks in ("\u00a0\u202f\u2009", " \u00a0\u202f\u2009")
}
"""Digits in groups, between blanks that break no line and between any."""
_ADDRESS = re.compile(r"(?:(?:1?\d?\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}")  # IPv4
_WITHIN = re.compile(r"(?<=\d)\.(?=\d)")
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹₀-₉¼-¾⅐-⅞])")
"""Between a number and a raised digit or a fraction: 10⁶ is not 106."""
_BEFORE_CURRENCY = re.compile(r"(?<![\w.,%)\]])([-\u2212])([$€£¥₹])(?=[.,]?\d)")  # -$5 is $-5
_ONE, _UNIT = "[一二三四五六七八九]", "[十百千万萬億亿]+"
_NUMERAL = "[〇零一二三四五六七八九十百千万萬億亿]"
_NUMERALS = re.compile(
    rf"(?<!{_NUMERAL})(?:(?={_NUMERAL}{{2}})(?:十|{_ONE}{_UNIT})(?:[〇零]?{_ONE}{_UNIT})*"
    rf"(?:[〇零]?{_ONE})?|[〇零一二三四五六七八九]{{3,16}}|{_NUMERAL}+(?=[年月日号號]))(?!{_NUMERAL})"
)
"""With a unit behind its first digit, of three digits, or in a date: others are a part of a word
(三角, 万一) or say about how many (五六个)."""


def folded(text: str, language: str = "") -> str:
    """A text in its compatibility form (NFKC) with each number in one form between blanks, its
    signs as `SIGNS`. The language ``any`` takes a sign before three digits for a group's."""
    if text.isascii() and not _DIGIT.search(text):
        return text
    decimals = decimal_signs(language)
    blanks, *any_blank = _BLANKS.values()
    for grouped in (blanks, *(any_blank if "," in decimals else ())):
        text = grouped.sub(lambda found: re.sub(r"\s", "", found[0]), text)
    text = unicodedata.normalize("NFKC", _RAISED.sub(" ", text))
    text = "".join(map(_digit, text)) if not text.isascii() else text
    text = _BEFORE_CURRENCY.sub(r"\2\1", text)
    text = _NUMERALS.sub(lambda found: str(numerals(found[0])), text)
    text = _NUMBER.sub(lambda found: _one(found, decimals), text)
    return _WITHIN.sub(SIGNS["."], text)


_ARABIC_SIGNS = {"٫": ".", "٬": "", "٪": "%"}


@cache
def _digit(character: str) -> str:
    if character in _ARABIC_SIGNS:
        return _ARABIC_SIGNS[character]
    is_digit = unicodedata.category(character) == "Nd"
    return str(unicodedata.digit(character)) if is_digit else character


def numerals(text: str) -> int:
    """The value of Chinese numerals, by place (二〇二一) or with units (二千零二十一)."""
    value = thousands = digits = 0
    for number in map(int, map(unicodedata.numeric, text)):
        if number < 10:
            digits = 10 * digits + number
        elif number < 10_000:
            thousands, digits = thousands + (digits or 1) * number, 0
        else:
            less, thousands, digits = thousands + digits, 0, 0
            # Behind a larger unit a smaller one counts what is between them (一亿二千万).
            before, less = (value, less) if value > number and less else (0, value + less or 1)
            value = before + less * number
    return value + thousands + digits


def _one(found: re.Match[str], decimals: str) -> str:
    parts = re.split(r"([-:/⁄])", found["parts"].replace("’", "").replace("'", ""))
    number = "".join(_canonical(part, decimals) if part[-1:].isdigit() else part for part in parts)
    number = ("-" if found["sign"] else "") + number.replace("⁄", "/") + (found["more"] or "")
    return f" {''.join(SIGNS.get(text, text) for text in number)} "


def _canonical(digits: str, decimals: str) -> str:
    """The one form of a number; as it is where it is no single one (1.2.3)."""
    signs = {digit for digit in digits if digit in ".,"}
    decimal = max(signs, key=digits.rindex, default="")
    whole, _, rest = digits.rpartition(decimal) if decimal else (digits, "", "")
    if not decimal:
        return digits
    if decimal in whole:  # more than once: it groups digits, or it is no number
        grouped = _is_grouped(digits, decimal) and not _ADDRESS.fullmatch(digits)
        return digits.replace(decimal, "") if grouped else digits
    if len(signs) == 2:
        other = "," if decimal == "." else "."
        return f"{whole.replace(other, '')}.{rest}" if _is_grouped(whole, other) else digits
    if len(rest) == 3 and _is_grouped(digits, decimal) and not whole.startswith("0"):
        if not decimals:
            return digits
        if decimals != decimal:
            return whole + rest
    return f"{whole or '0'}.{rest}"


def _is_grouped(digits: str, sign: str) -> bool:
    """Whether a sign is between groups of three digits, or, a comma, of two as in India."""
    first, *others = map(len, digits.split(sign))
    sizes = {2, 3} if sign == "," else {3}
    return 1 <= first <= 3 and sizes.issuperset(others) and others[-1] == 3
