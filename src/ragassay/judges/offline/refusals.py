"""Does a response answer, decline, or ask back: by phrases and their places in the sentences.

Each sentence of the response is a refusal ("the documents do not mention ..."), filler (apologies,
thanks, offers of more help, advice to look elsewhere), or a statement. The words of a sentence
before its refusal, or after a "but" or "however" that follows it, are a statement as well.

A negation about the world is no refusal: phrases that fit both ("is not covered by ...", "there is
no evidence ...") count only where the same part of the sentence names the texts or the information
at hand. A hedge ("I'm not sure, but ...") is a refusal only in a response without statements.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline.language import (
    WHOLE,
    content,
    is_hostile,
    lists,
    names,
    plain,
    sentences,
    tokens,
    weight,
)

_REFUSAL = lists.patterns("refusals")
_OF_TEXTS = lists.patterns("refusals_of_texts")
_AT_HAND = lists.patterns("texts_at_hand")
_ABSENT_THING = lists.patterns("absent_things")
_CONDITION = lists.patterns("conditions")
_FILLER = lists.patterns("fillers")
_SMALL_TALK = lists.patterns("small_talk")
_ADVICE = lists.patterns("advice")
"""Advice where to look instead: no answer where a refusal stands with it, but a claim."""
_DESCRIBES = lists.patterns("describes_texts")
"""Descriptions of the texts: no answer where a refusal stands with them."""
_ASKS = lists.patterns("asks_back")
_OFFER = lists.patterns("offers")
_ALONE = re.compile(rf"\W*(?:{lists.patterns('refusals_alone').pattern})\W*", re.IGNORECASE)
"""Refusals that say so little that a sentence must hold nothing else."""
_TURN = lists.patterns("turns")
_LEADS = rf"\W*(?:(?:{lists.patterns('leads').pattern})(?!\w)[\s,:;.–—-]*)"
_LEAD = re.compile(f"^{_LEADS}+", re.IGNORECASE)
_HEDGE = re.compile(
    rf"{_LEADS}*(?:{lists.patterns('hedges').pattern})"
    rf"(?=\W*$|\s*[,;:，、—–]|{_TURN.pattern})(?:{_TURN.pattern}|[\s,;:，、—–]+)*",
    re.IGNORECASE,
)
_CONCEDES = lists.patterns("concessions")
_PRONOUN = re.compile(r"^\W*(?:it|they|he|she)\b", re.IGNORECASE)
_QUOTED = lists.patterns("quotations")
_SALUTATION = lists.patterns("salutations")
_INTERJECTION = lists.patterns("interjections")
_PERSONAL = re.compile(r"\b(?:i|we|me|us|you|my)\b|\?", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NEAR = 40
"""Characters before a refusal that are searched for an "if"."""
_STATEMENT = 3
"""Smallest number of content words in the rest of a sentence with a refusal for it to be a
statement; a number or a name is enough as well."""


_SHORT_STATEMENT = 2
"""Smallest number of content words of a statement after a courtesy or around a quotation."""


class Shape(NamedTuple):
    """How many sentences, or parts of one, are refusals, statements, small talk, or advice."""

    refusals: int
    statements: int
    small_talk: int
    advice: int


@lru_cache(maxsize=2048)
def shape(answer: str, conversation: str = "") -> Shape:
    """Counts the parts of a response. Hedges count as refusals where there are no statements.

    Args:
        answer: the response.
        conversation: the query with its earlier turns. In a response with a refusal only what is
            about it is a statement; where it is empty, everything is.
    """
    parts = [_part(sentence) for sentence in sentences(plain(answer))]
    refusals = sum(part.refusals for part in parts)
    statements = [part for part in parts if part.statement]
    if refusals:
        statements = [part for part in statements if not _DESCRIBES.search(part.statement)]
    if refusals and conversation:
        stems = _content_of(conversation)
        statements = [part for part in statements if _is_about(part, stems)]
    if not statements:
        refusals += sum(part.hedge for part in parts)
    return Shape(
        refusals,
        len(statements),
        sum(part.talk for part in parts),
        sum(part.advice for part in parts),
    )


def _is_about(part: _Part, stems: frozenset[str]) -> bool:
    """Whether it shares a content word with the conversation or continues its subject: with a
    pronoun, or with a number after the refusal in the same sentence ("..., but in 1965")."""
    return bool(
        stems & set(content(part.statement))
        or _PRONOUN.match(_LEAD.sub("", part.statement))
        or _DIGIT.search(part.after)
    )


@lru_cache(maxsize=1024)
def _content_of(conversation: str) -> frozenset[str]:
    stems = content(conversation)
    return frozenset(stem for stem in stems if weight(stem) == WHOLE) or frozenset(stems)


class _Part(NamedTuple):
    """What a sentence is.

    Attributes:
        refusals: the number of refusals in it.
        statement: its words that are no refusal.
        after: those of them that follow the first refusal.
        talk: whether it is small talk.
        advice: whether it advises to look elsewhere.
        hedge: whether it begins with a hedge.
    """

    refusals: int = 0
    statement: str = ""
    after: str = ""
    talk: bool = False
    advice: bool = False
    hedge: bool = False


@lru_cache(maxsize=4096)
def _part(sentence: str) -> _Part:
    if _ALONE.fullmatch(sentence):
        return _Part(refusals=1)
    hedged = _after_hedges(sentence)
    if hedged:
        rest = sentence[hedged:]
        unhedged = _unhedged(rest) if content(rest) else _Part()
        # The hedge in "I'm not sure, but you may ask the office" is about no answer.
        if unhedged.statement and not _is_statement(unhedged.statement, least=1):
            unhedged = unhedged._replace(statement="")
        return unhedged._replace(hedge=True)
    return _unhedged(sentence)


def _after_hedges(sentence: str) -> int:
    """The position after the hedges that a sentence begins with; 0 where it has none."""
    at = 0
    while match := _HEDGE.match(sentence, at):
        at = match.end()
    return at


def _unhedged(sentence: str) -> _Part:
    if _refusal(sentence):
        return _around_refusal(sentence)
    if is_hostile(sentence):
        return _Part()
    if _courteous(sentence):
        return _Part(talk=bool(_SMALL_TALK.search(sentence)))
    if _ADVICE.search(sentence):
        return _Part(advice=True)
    return _Part(statement=sentence if tokens(sentence) else "")


def _refusal(part: str) -> re.Match[str] | None:
    """The first refusal in a part of a sentence: after interjections, outside quotations."""
    part = _unquoted(part)
    rest = _INTERJECTION.sub("", part)
    # Spaces keep the places, for patterns that begin where the part does.
    if _ABSENT_THING.search(part):
        return None  # "no information on a fee, as there is none": that is the answer
    return _first_refusal(part) or (
        _first_refusal(" " * (len(part) - len(rest)) + rest) if rest != part else None
    )


def _unquoted(text: str) -> str:
    """The text with its quotations masked: a quoted refusal is not the speaker's. Unchanged where
    hardly a word stands outside them."""
    masked = _QUOTED.sub(lambda quoted: "_" * len(quoted.group()), text)
    outside = masked.replace("_", " ") if masked != text else ""
    return masked if len(content(outside)) >= _SHORT_STATEMENT else text


def _first_refusal(part: str) -> re.Match[str] | None:
    match = next((m for m in _REFUSAL.finditer(part) if _is_made(part, m)), None)
    if match is None and _AT_HAND.search(part):
        match = next((m for m in _OF_TEXTS.finditer(part) if _is_made(part, m)), None)
    return match


def _is_made(part: str, match: re.Match[str]) -> bool:
    return not _CONDITION.search(part[max(0, match.start() - _NEAR) : match.start()])


def _around_refusal(sentence: str) -> _Part:
    """A sentence that holds a refusal, with its words before and after it."""
    refused = 0
    hedge = False
    before: list[str] = []
    following: list[str] = []
    for part in _TURN.split(sentence):
        hedged = _after_hedges(part)
        if hedged and not content(part[hedged:]):
            hedge = True
            continue
        match = _refusal(part)
        if match is None:
            (following if refused else before).append(part)
            continue
        (following if refused else before).append(_LEAD.sub("", part[: match.start()]))
        refused += 1
        conceded = _CONCEDES.match(part)
        if conceded and conceded.end() > match.end():
            following.append(part[conceded.end() :])
    if is_hostile(sentence):
        return _Part(refused, hedge=hedge)
    after = " ".join(filter(_is_statement, following))
    return _Part(refused, " ".join(filter(_is_statement, [*before, after])), after, hedge=hedge)


def _is_statement(text: str, least: int = _STATEMENT) -> bool:
    rest = _LEAD.sub("", text)
    enough = len(content(rest)) >= least or _DIGIT.search(rest) or names(rest)
    return bool(enough) and not (_FILLER.search(text) or _ADVICE.search(text))


def _courteous(sentence: str) -> bool:
    greeted = _SALUTATION.match(sentence)
    if greeted is not None:
        rest = sentence[greeted.end() :]
        # "Sorry, the museum is closed" states something; "sorry, I can do no more" does not.
        if (
            len(content(rest)) >= _SHORT_STATEMENT
            and not _PERSONAL.search(rest)
            and not _courteous(rest)
        ):
            return False
    if _FILLER.search(sentence):
        return True
    rest, n = _SMALL_TALK.subn(" ", sentence)
    return n > 0 and len(content(rest)) <= 1


def says_idk(answer: str, conversation: str = "") -> Literal["yes", "partial", "no"]:
    """Whether an answer says that it does not know.

    Where there is a refusal, only words about the conversation are an answer. A hedge before an
    answer is no refusal.

    Args:
        answer: its text.
        conversation: the query and what was said before it.

    Returns:
        ``yes`` for refusals or small talk alone, and for an answer without words; ``partial`` for a
        refusal with an answer; else ``no``.
    """
    counts = shape(answer, conversation)
    if counts.statements:
        return "partial" if counts.refusals else "no"
    return "yes" if counts.refusals or counts.small_talk or not counts.advice else "no"


def claims_nothing(sentence: str) -> bool:
    """Whether a sentence is a question, a refusal without a statement, or filler."""
    counts = shape(sentence)
    return sentence.endswith(("?", "？")) or not (counts.statements or counts.advice)


def is_small_talk(text: str) -> bool:
    """Whether a text is small talk alone: greetings, thanks and the like."""
    counts = shape(text)
    return counts.small_talk > 0 and not counts.statements and not counts.refusals


def asks_back(answer: str) -> bool:
    """Whether an answer says that the query leaves something open, and asks for it.

    After an answer of several sentences only a plain request ("please specify") counts, not any
    question at the end; an offer of more help never does.
    """
    saying = 0
    asked = False
    questions = 0
    for sentence in sentences(plain(answer)):
        if is_hostile(sentence) or _OFFER.search(sentence):
            continue
        asked = asked or bool(_ASKS.search(sentence))
        if sentence.endswith(("?", "？")):
            questions += 1
        elif not (_refusal(sentence) or _courteous(sentence) or _ADVICE.search(sentence)):
            saying += 1
    return asked or (questions > 0 and saying == 0)
