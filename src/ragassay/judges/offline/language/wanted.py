"""What a query asks for: the kind (a date, a number, a name) and the thing, as it is named there
("ECTS" in "how many ECTS has it?"); and texts that have it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import chain
from typing import Literal

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.word_weights import WHOLE, content, tokens, visible, weight

Kind = Literal["date", "number", "name", "any"]
KINDS: dict[Kind, str] = {"date": "a date", "number": "a number", "name": "a name"}
"""Each kind that a text may lack, in words."""

_ASKED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("date", lists.patterns("asks_date")),
    ("number", lists.patterns("asks_number")),
    ("name", lists.patterns("asks_name")),
)
_HOLDS = {"date": lists.patterns("dates"), "number": lists.patterns("numbers")}
_CAPITAL = re.compile(r"\b[^\W\d_a-zß-öø-ÿ][\w’'-]*")
_REQUESTS = lists.patterns("requests")
_PLACE = lists.patterns("asks_place")
_THING = lists.patterns("asks_thing")
NAME_WORD = r"[A-ZÀ-ÖØ-Þ][\w’'-]{0,40}\.?"
"""A capitalised word, as a pattern."""
_PERSON = re.compile(
    rf"\b(?:by|von|par|por|da|di) (?P<after>{NAME_WORD}(?: {NAME_WORD}){{0,3}})"
    rf"|\b(?P<full>{NAME_WORD} (?:(?:de|van|von|di) )?{NAME_WORD})"
)
_THERE = re.compile(
    r"(?:\b(?:in|at|near|on|from|to|of|is|was|im?|à|en|a|nach|aus)(?: the| der| la| le)? |\()"
    rf"({NAME_WORD}(?: {NAME_WORD}){{0,3}})"
)


def asking(text: str) -> Iterator[re.Match[str]]:
    """The question words of a visible text that ask for a date, a number or a name."""
    for _, asked in _ASKED:
        yield from asked.finditer(text)


@lru_cache(maxsize=1024)
def kind_of(query: str) -> Kind:
    """The kind that the query asks for, by the last question word in it."""
    text = visible(query)
    matches = [(match.end(), kind) for kind, asked in _ASKED for match in asked.finditer(text)]
    return max(matches)[1] if matches else "any"


def asks_place(query: str) -> bool:
    """Whether the query asks for a place."""
    return bool(_PLACE.search(visible(query)))


@lru_cache(maxsize=1024)
def subject(query: str) -> frozenset[str]:
    """Stems of what the query is about: all but its question words ("wer", "quand") and its words
    of request ("tell me", "how does ... work")."""
    text = visible(query)
    question_words = (one.group() for one in asking(text) if " " not in one.group())
    requests = (" ".join(filter(None, match.groups())) for match in _REQUESTS.finditer(text))
    words = {stem for part in chain(question_words, requests) for stem in content(part)}
    stems = frozenset(content(query))
    return stems - words or stems


@lru_cache(maxsize=1024)
def asked_thing(query: str) -> str:
    """The word after "how many", "which" or "what", and what stands in "what is the ... of".

    Empty where the query names no such thing: "when was it opened?", "how much does it cost?".
    """
    text = visible(query)
    match = _THING.search(text)
    if match is None:
        return ""
    if match.lastindex:
        return str(match[match.lastindex])
    words = tokens(text[match.end() : match.end() + _LONGEST])
    return words[0] if words and content(words[0]) else ""


_LONGEST = 60
"""Characters after the question word that are searched."""


def holds(text: str, kind: Kind, asked: Set[str] = frozenset()) -> bool:
    """Whether a text holds something of the kind.

    Args:
        text: a plain text.
        kind: what is wanted; ``any`` is held by every text.
        asked: stems of the query; what stands there is no answer to it.
    """
    if kind == "any":
        return True
    if kind == "name":
        stems = content(" ".join(_CAPITAL.findall(visible(text))))
        return any(stem not in asked and weight(stem) == WHOLE and len(stem) > 1 for stem in stems)
    return any(match.group().casefold() not in asked for match in _HOLDS[kind].finditer(text))


def answers_by_name(sentence: str, kind: Kind, query: str) -> bool:
    """Whether a sentence names something of the query and holds what is asked for: a date, a
    number, a person's full name or one after "by", a place's name after "in".

    Stricter than `holds`, for sentences that share little else with the query.

    Args:
        sentence: of a passage.
        kind: that the query asks for.
        query: its text.
    """
    asked = frozenset(content(query))
    if kind == "any" or not asked.intersection(content(" ".join(_CAPITAL.findall(sentence)))):
        return False
    if kind != "name":
        return holds(sentence, kind, asked)
    if asks_place(query):
        return any(_new(match[1], asked) for match in _THERE.finditer(sentence))
    return any(
        _new(match["after"] or match["full"], asked, words=1 if match["after"] else 2)
        for match in _PERSON.finditer(sentence)
    )


def _new(name: str, asked: frozenset[str], words: int = 1) -> bool:
    """Whether a name has at least so many content words, none of them the query's."""
    stems = content(name)
    return len(stems) >= words and asked.isdisjoint(stems)
