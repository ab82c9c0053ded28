"""Does a sentence tell what a query asks for?

It does where it holds a value of the right kind (a date, an amount of money, a person's name) and
says of it what the query asks ("renovated" in "when was the Louvre renovated?"). With the value
but without that word it may still tell the same in other words, and words cannot tell; where it
holds the opposite of that word ("died" for "born") it tells something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from ragassay.judges.offline import lists
from ragassay.judges.offline.opposites import opposed
from ragassay.judges.offline.predicate import BEING, predicate, root
from ragassay.judges.offline.quantities import measures, quantity_of
from ragassay.judges.offline.values import MONTHS, is_number
from ragassay.judges.offline.wanted import kind_of
from ragassay.judges.offline.words import WHOLE, content, stem, tokens, visible, weight

Tells = Literal["no", "other", "untold", "yes"]
ACCOUNTS: tuple[Tells, ...] = ("no", "other", "untold", "yes")
"""What a sentence may tell of what is asked for: nothing of its kind, a value of another fact,
words cannot tell, the value itself."""

_PERSON = lists.patterns("asks_person")
_PLACE = lists.patterns("asks_place")
_WHERE = re.compile(r"\b(?:where|wo|où|d[oó]nde|dove)\b", re.IGNORECASE)
_TIMES = lists.patterns("times")
_EXAMPLES = lists.patterns("examples")
_WORD = r"[A-ZÀ-ÖØ-Þ][\w’'-]{0,40}\.?"
_NAME = re.compile(rf"\b{_WORD}(?: (?:(?:de|van|von|di|of|the|del|la) )*{_WORD}){{0,4}}")
_LOCATIVE = re.compile(
    r"\b(?:in|at|near|from|on|through|via|to|into|across|throughout|im|aus|nach|à|en|au)"
    r"(?: (?:the|der|dem|la|le|el))?"
    r"(?: [^\W\d_]{2,20}(?: of)?)?(?: [\w’'-]{2,20},)? $",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(
    r"\b(?:in|at|on|under|near|inside|into|through) (?:(?:the|a|an|their|its) )?([^\W\d_]{2,40})"
)
_REACH = 40
"""Characters before a name that are searched for "in the"."""


@lru_cache(maxsize=1024)
def asked_value(query: str) -> str:
    """What the query asks for, in words: "a date", "an amount of money". Empty for no kind."""
    kind = kind_of(query)
    if kind == "any":
        return ""
    if kind == "date":
        return "a date"
    if kind == "number":
        return quantity_of(query).name
    if _asks_place(query):
        return "the name of a place"
    if _PERSON.search(visible(query)):
        return "the name of a person or an organisation"
    return "a name"


@lru_cache(maxsize=4096)
def tells(query: str, sentence: str, title: str = "") -> Tells:
    """Whether a sentence tells what a query with a kind asks for.

    Args:
        query: a query that asks for a date, a number or a name.
        sentence: a sentence on its subject.
        title: the title that the sentence stands under, which may say what is asked.
    """
    held = _holds(query, sentence)
    if held is False:
        return "no"
    asked = predicate(query)
    if not asked or asked in quantity_of(query).words:
        return "yes" if held else "untold"
    words = frozenset(tokens(f"{title}\n{sentence}"))
    if root(asked) in map(root, words):
        return "yes" if held else "untold"
    return "other" if any(opposed(asked, word) for word in words) else "untold"


def _holds(query: str, sentence: str) -> bool | None:
    """Whether a sentence holds a value of the right kind; ``None`` where words cannot tell."""
    kind = kind_of(query)
    text = visible(sentence)
    if kind == "number":
        wanted = quantity_of(query)
        measured = measures(sentence, wanted)
        # A date of birth tells an age, too.
        return None if not measured and wanted.dates and _TIMES.search(text) else measured
    if kind == "date":
        return bool(_TIMES.search(text))
    if any(True for _ in _named(query, text)):
        return True
    # A place needs no name: "they sleep in burrows".
    asked = frozenset(content(query))
    return (
        None
        if _asks_place(query)
        and any(
            stem(found[1]) not in asked | {""} for found in _SOMEWHERE.finditer(text.casefold())
        )
        else False
    )


def _asks_place(query: str) -> bool:
    return bool(_PLACE.search(visible(query)))


def _named(query: str, text: str) -> Iterator[str]:
    """The names of a sentence that may be what the query asks for."""
    asked = frozenset(content(query))
    verb = root(predicate(query))
    where = bool(_WHERE.search(query))
    person = not _asks_place(query) and bool(_PERSON.search(visible(query)))
    example = _EXAMPLES.search(text)
    for found in _NAME.finditer(text):
        if example and found.start() > example.start():
            return
        stems = [one for one in content(found.group()) if not is_number(one)]
        new = [one for one in stems if one not in asked and one not in _MONTH_STEMS]
        if not new or new[0] != stems[0]:
            continue
        there = bool(_LOCATIVE.search(text[max(0, found.start() - _REACH) : found.start()]))
        if (person and there) or (where and not there):
            continue
        if found.start() == 0 and len(stems) == 1:
            # A first word is capitalised whatever it is: before the predicate it is a name.
            following = "".join(tokens(text[found.end() : found.end() + _REACH])[:1])
            named = not verb or following in BEING or root(following) == verb
            named = named or text[found.end() :][:1] == ","
            if weight(stems[0]) < WHOLE or not named:
                continue
        yield found.group()


_MONTH_STEMS = frozenset(map(stem, MONTHS.values())) | frozenset(map(stem, lists.words("weekdays")))
