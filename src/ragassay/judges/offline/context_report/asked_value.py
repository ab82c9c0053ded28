"""Does a sentence tell what a query asks for?

It does where it holds a value of the right kind (a date, an amount of money, a person's name) and
says of it what the query asks ("renovated" in "when was the Louvre renovated?"). With the value
but without that word it may still tell the same in other words, and words cannot tell; where it
holds the opposite of that word ("died" for "born") it tells something else.

A question for yes or no is answered by a sentence that states it, or its opposite.

Whoever a passive of the asked verb names after "by" is a person or an organisation, with or without
capitals ("is run by the faculty of law" for "who runs the canteen?").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple, get_args

from ragassay.judges.offline.context_report.predicate import BEING, predicate
from ragassay.judges.offline.context_report.quantities import measures, quantity_of
from ragassay.judges.offline.language import (
    MONTHS,
    NAME_WORD,
    WHOLE,
    asks_place,
    content,
    is_number,
    is_participle,
    kind_of,
    lists,
    root,
    sentences,
    stem,
    subject,
    tokens,
    visible,
    weight,
)
from ragassay.judges.offline.near_copies import opposed

Tells = Literal["no", "other", "unclear", "yes"]
"""Whether a sentence tells what is asked for: it holds no value of the kind, the value of another
fact, a value of which words cannot say whether it is the one, or the value itself."""

STRENGTH: tuple[Tells, ...] = get_args(Tells)
"""The values of `Tells`, the weakest first."""

_PERSON = lists.patterns("asks_person")
_WHERE = re.compile(r"\b(?:where|wo|où|d[oó]nde|dove)\b", re.IGNORECASE)
_TIMES = lists.patterns("times")
_EXAMPLES = lists.patterns("examples")
_NAME = re.compile(
    rf"\b{NAME_WORD}(?: (?:(?:de|der|van|von|di|of|the|del|la) ){{0,3}}{NAME_WORD}){{0,4}}"
)
_LOCATIVE = lists.patterns("before_places")
_MADE_BY = lists.patterns("made_by")
_MAKING = lists.words("verbs_of_making")
_PREPOSITIONS = lists.words("prepositions")
_BY = re.compile(r"\b(?:by|von|par|por|da|di) $")
_PASSIVE = lists.patterns("passives")
_NO_AGENTS = lists.words("no_agents")
_INDIRECT = lists.words("indirect_questions")
_OPENING = lists.words("auxiliaries") - {"to", "be", "been", "being"}
"""With one of these a question for yes or no begins."""

_FEWEST = 2
"""Content words that a question must have: "is it open?" says too little of what it asks about."""

_SOMEWHERE = lists.patterns("somewhere")
_REACH = 40
"""Characters before a name that are searched for "in the"."""


class _Asked(NamedTuple):
    """What a query asks a name for: its stems, the root of its predicate, whether it asks for a
    person, a place, or "where"."""

    stems: frozenset[str]
    verb: str
    person: bool
    place: bool
    where: bool


@lru_cache(maxsize=1024)
def _asked(query: str) -> _Asked:
    text = visible(query)
    place = asks_place(query)
    person = not place and bool(_PERSON.search(text))
    where = bool(_WHERE.search(text))
    return _Asked(frozenset(content(query)), root(predicate(query)), person, place, where)


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
    if _asked(query).place:
        return "the name of a place"
    if _asked(query).person:
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
    if names_agent(query, sentence):
        return "yes"
    held = _holds(query, sentence)
    if held is False:
        return "no"
    verb = predicate(query)
    if not verb or verb in quantity_of(query).words:
        return "yes" if held else "unclear"
    if verb in _MAKING and _asked(query).person and _is_made_by(sentence):
        return "yes"
    words = _words(sentence)
    if _asked(query).verb in _roots(sentence) or _asked(query).verb in _roots(title):
        return "yes" if held else "unclear"
    return "other" if any(opposed(verb, word) for word in words) else "unclear"


@lru_cache(maxsize=4096)
def names_agent(query: str, sentence: str) -> bool:
    """Whether a sentence says in the passive who did what the query asks for a person: after an
    article, or in the plural ("by volunteers"). After "whether" or "if" it says no such thing.

    Args:
        query: that asks for a person.
        sentence: that may name one.
    """
    asked = _asked(query)
    if not asked.person or not asked.verb:
        return False
    text = visible(sentence)
    return any(
        root(match[1].casefold()) == asked.verb
        and bool(match[2] or match[3].endswith("s"))
        and not match[3].casefold().endswith("ing")
        and match[3].casefold() not in _NO_AGENTS
        and stem(match[3].casefold()) not in asked.stems
        and _INDIRECT.isdisjoint(tokens(text[: match.start()]))
        for match in _PASSIVE.finditer(text)
    )


def _is_made_by(sentence: str) -> bool:
    """Whether a sentence says by whom its subject is ("Dune is a novel by Frank Herbert"), and not
    by whom something was done to it ("was opened by")."""
    return any(
        not words or not (is_participle(words[-1]) or _PREPOSITIONS & set(words))
        for match in _MADE_BY.finditer(visible(sentence))
        for words in [match[1].casefold().split()]
    )


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


@lru_cache(maxsize=1024)
def _roots(text: str) -> frozenset[str]:
    return frozenset(map(root, _words(text)))


def _holds(query: str, sentence: str) -> bool | None:
    """Whether a sentence holds a value of the right kind; ``None`` where words cannot tell."""
    kind = kind_of(query)
    text = visible(sentence)
    if kind == "number":
        wanted = quantity_of(query)
        measured = measures(sentence, wanted)
        dated = 0 < wanted.dates <= len(_TIMES.findall(text))
        return None if dated and not measured else measured
    if kind == "date":
        return bool(_TIMES.search(text))
    if any(True for _ in _names(query, text)):
        return True
    # A place needs no name: "they sleep in burrows".
    places = (stem(match[1]) for match in _SOMEWHERE.finditer(text.casefold()))
    asked = _asked(query)
    unnamed = asked.place and any(one and one not in asked.stems for one in places)
    return None if unnamed else False


def _names(query: str, text: str) -> Iterator[str]:
    """The names of a sentence that may be what the query asks for."""
    asked = _asked(query)
    example = _EXAMPLES.search(text)
    for match in _NAME.finditer(text):
        if example and match.start() > example.start():
            return
        stems = [one for one in content(match.group()) if not is_number(one)]
        new = [one for one in stems if one not in asked.stems and one not in _MONTH_STEMS]
        if not new or new[0] != stems[0]:
            continue
        before = text[max(0, match.start() - _REACH) : match.start()]
        is_place = bool(_LOCATIVE.search(before))
        if (asked.person and is_place) or (asked.where and not is_place):
            continue
        alone = len(stems) == 1 and (asked.person or match.start() == 0)
        if alone and not (asked.person and _BY.search(before)):
            # A single capitalised word may be no name: before the predicate it is one.
            following = "".join(tokens(text[match.end() : match.end() + _REACH])[:1])
            is_name = not asked.verb or following in BEING or root(following) == asked.verb
            is_name = is_name or (not asked.person and text[match.end() : match.end() + 1] == ",")
            if weight(stems[0]) < WHOLE or not is_name:
                continue
        yield match.group()


_MONTH_STEMS = frozenset(map(stem, MONTHS.values())) | frozenset(map(stem, lists.words("weekdays")))


@lru_cache(maxsize=1024)
def yes_no_question(query: str) -> str:
    """The last sentence of a query where it begins with an auxiliary ("is the pool open?"), and
    says what it is about; else empty."""
    last = next(reversed(sentences(visible(query))), "")
    return last if _begins_with_auxiliary(last) and len(subject(last)) >= _FEWEST else ""


@lru_cache(maxsize=4096)
def settles(query: str, sentence: str) -> bool:
    """Whether a sentence states what a yes/no question asks, or the opposite.

    It does where it holds all content words of the question, one of them perhaps by its opposite,
    and an auxiliary, and is no question itself, neither direct nor indirect ("ask whether ...").

    Args:
        query: any query; one that asks for something else is settled by no sentence.
        sentence: of a passage.
    """
    question = yes_no_question(query)
    if not question or sentence.rstrip().endswith("?"):
        return False
    words = tokens(visible(sentence))
    if _begins_with_auxiliary(sentence) or _OPENING.isdisjoint(words):
        return False
    # "The pool is open if the sun shines" answers; "ask if the pool is open" does not.
    stated = takewhile(lambda word: word not in _INDIRECT, words)
    if subject(question).isdisjoint(map(stem, stated)) and not _INDIRECT.isdisjoint(words):
        return False
    lacking = subject(question) - frozenset(content(sentence))
    if not lacking:
        return True
    (one, *others) = lacking
    asked = [word for word in tokens(visible(question)) if stem(word) == one]
    return not others and any(opposed(word, other) for word in asked for other in words)


def _begins_with_auxiliary(sentence: str) -> bool:
    return next(iter(tokens(sentence)), "") in _OPENING
