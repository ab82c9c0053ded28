"""Values in one form: numbers, amounts of money, percentages, dates and units, however written.

`in_one_form` works on the words of a text. "eleven" becomes ``11``, "1.2 million" ``1200000``,
"fifty per cent" and "half" ``50%``, "$5" ``5 dollar``, "1776-07-04" and "July 4th, 1776" ``4 july
1776``, "330 ft" ``330 foot``, "21:00" and "9 pm" ``9 p.m.``; a minus stays with its number
(``-5``).

The word "one" alone stays a word: more often than not it is a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.numbers import (
    HALVES_OF_DAY,
    LONG_UNITS,
    MONTHS,
    NUMERALS,
    UNITS,
    in_digits,
    is_number,
    number,
)

DIGITS = (
    r"(?:(?<![\w.,%)\]])(?<!\d )-)?[$€£¥]?"
    r"(?:(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])"
    r"|(?<![\d:.,])(?:[01]?\d|2[0-3]):\d\d(?![\d:])"
    r"|\d+(?:[.,]\d+)*(?: ?%|(?:st|nd|rd|th)\b)?)"
)
"""A time of day, or a number in digits with what belongs to it, as a pattern: sign, currency,
percent, "th"."""

_NUMBER = re.compile(r"(-?)([$€£¥]?)(\d[\d.,]*)(%|st|nd|rd|th)?")
_TIME = re.compile(r"(\d{1,2}):(\d\d)")
_HOUR = re.compile(r"(1[0-2]|[0-9])(?:\.(\d{1,2}))?")
"""An hour before "am" or "pm", with its minutes after a point."""
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_LONGEST = 30
"""Most digits of a number that is scaled ("million"); longer ones are compared as written."""

_KEPT = {"first", "second", "third"}
"""Ordinal words that stay words: "second" is also a time, and all three mean more than a number."""
_NTH = {digits: word for digits, *words in lists.groups("ordinals") for word in words}
_ORDINAL_WORDS = {word: digits for digits, word in _NTH.items()}

_PERCENT = (("percent",), ("per", "cent"), ("pct",), ("prozent",), ("pour", "cent"))
_CURRENCIES = {"$", "€", "£", "¥", "usd", "eur", "gbp", "jpy", "chf", "inr"}
_MONEY = {UNITS[form] for form in _CURRENCIES}
_SHORT_SCALES = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
"""Scales in money only: elsewhere they are units."""

_FRACTIONS = {"third": 3, "quarter": 4, "fifth": 5, "eighth": 8, "tenth": 10}
_FRACTIONS |= {f"{part}s": whole for part, whole in _FRACTIONS.items()}
"""Parts of a whole by their names; they are read as percentages."""
_THIRDS = ((re.compile(r"33\.3+"), "33"), (re.compile(r"66\.(?:6+|6*7)"), "67"))
"""Percentages that write a third or two thirds out; thirds are compared in whole percent."""

_PARTS = {"first", "second", "latter", "last", "other", "final", "top", "bottom", "upper", "lower"}
"""After these words "half" is one of two parts, not a share of 50 %."""

_HEAT = {form: unit for form, unit in UNITS.items() if unit in ("celsius", "fahrenheit")}
_HEAT |= {"c": "celsius", "f": "fahrenheit"}
_DEGREES = {"degree", "degrees", "°"}

_MINUS = {"minus", "negative"}

_DATING = {"in", "since", "until", "during", "early", "late", "mid"}
_AFTER_MAY = {"be", "have", "not", "also", "well", "still", "only", "never"}
"""Between these words "may" is no month: "the house that they live in may be sold"."""

_VERBS = {"march", "may"}
"""Months that are also verbs: before a number with a unit they are verbs ("march 4 kilometres")."""

_WORDS = {*NUMERALS, *_ORDINAL_WORDS, *MONTHS, "half", "dozen", *_FRACTIONS}


def in_one_form(words: Sequence[str]) -> list[str]:
    """The words of a text with its values in one form.

    Args:
        words: case-folded, in their order; numbers as `DIGITS` finds them.
    """
    if _WORDS.isdisjoint(words) and all(word.isalpha() for word in words):
        return list(words)
    return _Reading(words).read()


class _Reading:
    """One pass over the words of a text."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._at = 0
        self._tokens: list[str] = []

    def read(self) -> list[str]:
        words, tokens = self._words, self._tokens
        while self._at < len(words):
            word = words[self._at]
            if word[0].isdigit() or word[0] in "-$€£¥°":
                self._digits(word)
            elif self._next() in _FRACTIONS and self._fraction():
                pass
            elif word in NUMERALS or word == "dozen":
                self._numeral()
            elif word == "half":
                self._half()
            elif word in MONTHS and self._dated():
                self._month(MONTHS[word])
            elif word in _MINUS and self._next()[:1].isdigit() and not self._after_number():
                self._at += 1
                self._digits("-" + self._word())
            elif word in _MINUS and self._next() in NUMERALS and not self._after_number():
                self._at += 1
                self._numeral("-")
            elif word in _CURRENCIES and self._next()[:1].isdigit():
                self._at += 1
                self._digits(self._word(), UNITS.get(word, ""))
            else:
                tokens.append(_ORDINAL_WORDS.get(word, word) if word not in _KEPT else word)
                self._at += 1
        return tokens

    def _word(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ""

    def _next(self) -> str:
        return self._word(1)

    def _last(self) -> str:
        """The token that was read last; empty at the beginning."""
        return self._tokens[-1] if self._tokens else ""

    def _after_number(self) -> bool:
        return is_number(self._last())

    def _dated(self) -> bool:
        """Whether a month's name is part of a date. "May" is one before a number, and after a
        number at the end of the text."""
        before = "".join(self._tokens[-2:-1]) if self._last() == "of" else self._last()
        after_number = is_number(before)
        if self._word() in _VERBS and self._next()[:1].isdigit() and self._word(2) in UNITS:
            return False
        if self._word() == "may":
            after_number = after_number and not self._next()
            if before in _DATING and self._next() not in _AFTER_MAY:
                return True
        return after_number or self._next()[:1].isdigit()

    def _fraction(self) -> bool:
        """Reads a part of something ("a quarter of", "two thirds") as a percentage, if one is here.

        In "a third bridge" and "three quarters later" the word is no part of something.
        """
        denominator = _FRACTIONS[self._next()]
        several = self._next().endswith("s")
        parts = 1 if self._word() == "a" else NUMERALS.get(self._word(), 0)
        of = self._word(2) in ("of", "") or (several and denominator != _FRACTIONS["quarter"])
        if not of or not (2 <= parts < denominator if several else parts == 1):
            return False
        self._at += 2
        percent = 100 * parts / denominator
        self._put_percent(f"{round(percent) if denominator == _FRACTIONS['third'] else percent:g}")
        return True

    def _digits(self, word: str, currency: str = "") -> None:
        self._at += 1
        date = _DATE.fullmatch(word)
        if date and 1 <= int(date[2]) <= 12:
            month = MONTHS[lists.groups("months")[int(date[2]) - 1][0]]
            self._tokens += [number(date[3]), month, number(date[1])]
            return
        time = _TIME.fullmatch(word)
        if time:
            self._time(time[1], time[2])
            return
        match = _NUMBER.fullmatch(word.replace(" ", ""))
        if match is None:
            self._tokens.append(UNITS.get(word, word))
            return
        sign, symbol, digits, ending = match.groups()
        value = number(digits)
        if ending and ending != "%":
            self._nth(value, ending)
            return
        self._value(
            ("-" if sign and value != "0" else "") + value,
            UNITS.get(symbol, currency),
            ending == "%",
        )

    def _time(self, hour: str, minutes: str) -> None:
        """A time of day as on a clock of twelve hours, with its half of the day where that is
        known: by "am" or "pm", or because the hour is written with 24 hours ("21:00", "09:00")."""
        if int(minutes) > 59:
            self._tokens.append(f"{hour}:{minutes}")
            return
        hours = int(hour)
        half = HALVES_OF_DAY.get(self._word(), "")
        self._at += bool(half)
        if hours > 12:
            half = "p.m."
        elif not half and hour[0] == "0":
            half = "a.m."
        self._tokens.append(f"{hours % 12 or 12}" + (f":{minutes}" if minutes.strip("0") else ""))
        if half:
            self._tokens.append(half)

    def _nth(self, value: str, ending: str) -> None:
        """ "4th" in a date is a number, elsewhere "fourth"."""
        of = self._word() == "of"
        if self._last() in MONTHS.values() or self._word(of) in MONTHS:
            self._at += of
            self._day(value)
        else:
            word = value + ending
            self._tokens.append(_NTH[word] if word in ("1st", "2nd", "3rd") else word)

    def _day(self, value: str) -> None:
        """Puts a day before its month, whichever comes first in the text."""
        tokens = self._tokens
        verb = self._last() in _VERBS and self._word() in UNITS
        month = self._last() in MONTHS.values() and not verb
        if month and value.isdigit() and len(value) < 3 and not any(map(is_number, tokens[-2:-1])):
            tokens.insert(-1, value)
        else:
            tokens.append(value)

    def _month(self, month: str) -> None:
        if self._last() == "of":
            self._tokens.pop()
        self._tokens.append(month)
        self._at += 1
        day = _NUMBER.fullmatch(self._word())
        dated = len(self._tokens) > 1 and is_number(self._tokens[-2])
        if day and not day[1] and not day[2] and len(day[3]) < 3 and day[4] != "%" and not dated:
            self._day(number(day[3]))
            self._at += 1

    def _numeral(self, sign: str = "") -> None:
        """A number in words, as far as it goes; ``sign``: "-" where "minus" stood before it."""
        start = self._at
        total = part = 0
        last = 0
        if self._word() == "dozen" or NUMERALS[self._word()] >= 100:
            # "a million" is a number, "several million" none.
            if self._last() != "a":
                self._tokens.append(self._word())
                self._at += 1
                return
            self._tokens.pop()
            part, last = 1, 1
        while True:
            word = self._word()
            more = word == "and" and last >= 100 and 0 < NUMERALS.get(self._next(), 0) < 100
            value = NUMERALS.get(self._next() if more else word)
            if value is None:
                break
            if value >= 1000:
                if last == 0 or (total and value >= total):
                    break
                total, part = total + part * value, 0
            elif value == 100:
                if not 0 < part < 100:
                    break
                part *= 100
            elif last and not (last >= 100 or (20 <= last <= 90 and 0 < value < 10)):
                break
            else:
                part += value
            last = value
            self._at += 1 + more
        alone = self._at == start + 1 and self._words[start] == "one"
        if alone and not sign and not self._measured():
            self._tokens.append("one")
            return
        self._value(sign + str(total + part))

    def _measured(self) -> bool:
        word = self._word()
        halved = (word, self._next(), self._word(2)) == ("and", "a", "half")
        return halved or word == "dozen" or word in LONG_UNITS or self._percent() > 0

    def _half(self) -> None:
        """Half of something is 50 %; "the second half" is a part, half a million a number."""
        self._at += 1
        before = self._last()
        if before in _PARTS:
            self._tokens.append("half")
            return
        if before in ("a", "one"):
            self._tokens.pop()
        if self._word() == "a" and NUMERALS.get(self._next(), 0) >= 100:
            value = NUMERALS[self._next()] // 2
            self._at += 2
            self._value(str(value))
            return
        self._tokens.append("50%")

    def _percent(self) -> int:
        """How many words of "per cent" stand here."""
        for words in _PERCENT:
            if all(self._word(k) == word for k, word in enumerate(words)):
                return len(words)
        return 0

    def _value(self, value: str, currency: str = "", percent: bool = False) -> None:
        """A number with what stands after it: its scale, "and a half", percent, its unit."""
        value = self._scaled(value, bool(currency))
        words = self._percent()
        if value == "3" and self._word() == "quarters" and self._next() in ("of", ""):
            # Before other words they are a time.
            value, percent = "75", True
            words = 1
        self._at += words
        if percent or words:
            self._put_percent(value)
            return
        hour = _HOUR.fullmatch(value)
        if hour and not currency and self._word() in HALVES_OF_DAY:
            self._time(hour[1], (hour[2] or "").ljust(2, "0"))
            return
        if currency:  # no day, also after a month: "in May $5 was paid"
            self._tokens += [value, currency]
            if UNITS.get(self._word()) == currency:
                self._at += 1
            return
        self._day(value)
        if self._word() in _DEGREES and self._next() in _HEAT:
            self._at += 1
        word = self._word()
        unit = _HEAT.get(word, "") if self._words[self._at - 1] in _DEGREES else ""
        unit = unit or UNITS.get(word, "")
        if unit:
            self._tokens.append(unit)
            self._at += 1

    def _scaled(self, value: str, money: bool) -> str:
        """The number with its scale and its half."""
        while len(value) <= _LONGEST and value.count(".") < 2:
            word = self._word()
            scale = 12 if word == "dozen" else NUMERALS.get(word, 0)
            if money or UNITS.get(self._next()) in _MONEY:
                scale = scale or _SHORT_SCALES.get(word, 0)
            halved = word == "and" and (self._word(1), self._word(2)) == ("a", "half")
            if halved:
                value = in_digits(Decimal(value) + Decimal("0.5").copy_sign(Decimal(value)))
                self._at += 3
            elif scale >= 12 and (scale >= 100 or word == "dozen"):
                value = in_digits(Decimal(value) * scale)
                self._at += 1
            else:
                break
        return value

    def _put_percent(self, value: str) -> None:
        tokens = self._tokens
        value = next((exact for third, exact in _THIRDS if third.fullmatch(value)), value)
        # In "50 to 60 %" and "50-60 %" both are percentages.
        at = len(tokens) - 1
        between = at >= 2 and tokens[at] == "and" and tokens[at - 2] == "between"
        if at >= 1 and (tokens[at] in ("to", "or") or between):
            at -= 1
        if at >= 0 and tokens[at].isdigit() and len(tokens[at]) < 3:
            tokens[at] += "%"
        tokens.append(value + "%")
