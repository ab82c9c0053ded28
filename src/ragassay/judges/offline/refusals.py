"""Does a response answer, decline, or ask back? By phrases, and by where they stand.

Each sentence of the response is a refusal ("the documents do not mention ..."), filler (apologies,
thanks, offers of more help, advice to look elsewhere), or says something. What stands in a sentence
before the refusal, or after a "but" or "however" behind it, says something too.

A negation about the world is no refusal: phrases that fit both ("is not covered by ...", "there is
no evidence ...") count only where the same part of the sentence names the texts or the information
at hand. A hedge ("I'm not sure, but ...") is a refusal only where nothing is said beside it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline import lists
from ragassay.judges.offline.evidence import names
from ragassay.judges.offline.hostile import is_hostile
from ragassay.judges.offline.texts import plain, sentences
from ragassay.judges.offline.words import WHOLE, content, tokens, weight

_REFUSAL = lists.patterns("refusals")
_OF_TEXTS = lists.patterns("refusals_of_texts")
_AT_HAND = lists.patterns("texts_at_hand")
_CONDITION = lists.patterns("conditions")
_FILLER = lists.patterns("fillers")
_SMALL_TALK = lists.patterns("small_talk")
_ADVICE = lists.patterns("advice")
"""Where to look instead: no part of an answer beside a refusal, but a claim of its own."""
_DESCRIBES = lists.patterns("describes_texts")
"""What the texts are about: no part of an answer beside a refusal either."""
_ASKS = lists.patterns("asks_back")
_OFFER = lists.patterns("offers")
_BARE = re.compile(
    r"\W*(?:no[_ -]answer|n/?a|not known|unknown|none|null|unanswerable|idk|not answerable"
    r"|api[_ ]error|sorry|no idea|no (?:results?|information|data)(?: found)?)\W*",
    re.IGNORECASE,
)
_TURN = lists.patterns("turns")
_LEADS = rf"\W*(?:(?:{lists.patterns('leads').pattern})(?!\w)[\s,:;.–—-]*)"
_LEAD = re.compile(f"^{_LEADS}+", re.IGNORECASE)
_HEDGE = re.compile(
    rf"{_LEADS}*(?:{lists.patterns('hedges').pattern})"
    rf"(?=\W*$|\s*[,;:，、—–]|{_TURN.pattern})(?:{_TURN.pattern}|[\s,;:，、—–]+)*",
    re.IGNORECASE,
)
_CONCEDES = re.compile(
    r"^\W*(?:while|although|though|even though|whereas|obwohl|bien que|aunque|sebbene)\b[^,]*,",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^\W*(?:it|they|he|she)\b", re.IGNORECASE)
_QUOTED = re.compile(
    r"(?<!\w)'[^'’]{1,3}(?:[^'’]|['’](?=\w)){0,200}'(?!\w)|\"[^\"]{1,200}\"|“[^“”]{1,200}”"
    r"|‘(?:[^‘’]|’(?=\w)){1,200}’(?!\w)|«[^«»]{1,200}»|„[^„“”]{1,200}[“”]"
)
_SALUTATION = re.compile(
    r"^\W{0,9}(?:sorry|(?:my )?apologies|thanks|thank you|hi|hello|hey|greetings"
    r"|good (?:morning|afternoon|evening))\s*[,–—-]\s*(?=\w)",
    re.IGNORECASE,
)
_INTERJECTION = re.compile(
    r"^\W*(?:(?:h+m+|um+|uh+|oh|ah|well|sorry|apologies|honestly|frankly)\b\W*)+", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(?:i|we|me|us|you|my)\b|\?", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NEAR = 40
"""Characters before a refusal in which an "if" is looked for."""
_SAYS_SOMETHING = 3
"""Content words that a piece beside a refusal must hold to count as part of an answer; a number or
a name will do instead."""


_STATES = 2
"""Content words of a statement behind a courtesy, or around a quotation, at least."""


class Shape(NamedTuple):
    """How many sentences, or parts of one, decline, say something, are small talk, or send away."""

    refusing: int
    saying: int
    small_talk: int
    advising: int


@lru_cache(maxsize=2048)
def shape(answer: str, conversation: str = "") -> Shape:
    """Counts the parts of a response. Hedges count as refusals where nothing is said at all.

    Args:
        answer: the response.
        conversation: the query with its earlier turns. Beside a refusal only what is about it says
            something; where none is given, everything does.
    """
    parts = [_part(sentence) for sentence in sentences(plain(answer))]
    refusing = sum(part.refusing for part in parts)
    said = [part for part in parts if part.said]
    if refusing:
        said = [part for part in said if not _DESCRIBES.search(part.said)]
    if refusing and conversation:
        stems = _telling(conversation)
        said = [part for part in said if _is_about(part, stems)]
    if not said:
        refusing += sum(part.hedge for part in parts)
    return Shape(
        refusing, len(said), sum(part.talk for part in parts), sum(part.advice for part in parts)
    )


def _is_about(part: _Part, stems: frozenset[str]) -> bool:
    """Whether it shares a telling word with the conversation or goes on about its subject: by a
    pronoun, or by a number behind the refusal in the same sentence ("..., but in 1965")."""
    return bool(
        stems & set(content(part.said))
        or _PRONOUN.match(_LEAD.sub("", part.said))
        or _DIGIT.search(part.behind)
    )


@lru_cache(maxsize=1024)
def _telling(conversation: str) -> frozenset[str]:
    stems = content(conversation)
    return frozenset(stem for stem in stems if weight(stem) == WHOLE) or frozenset(stems)


class _Part(NamedTuple):
    """What a sentence is.

    Attributes:
        refusing: refusals in it.
        said: what it says, beside those.
        behind: the share of ``said`` that stands behind the first of them.
        talk: whether it is small talk.
        advice: whether it sends elsewhere.
        hedge: whether it begins with a hedge.
    """

    refusing: int = 0
    said: str = ""
    behind: str = ""
    talk: bool = False
    advice: bool = False
    hedge: bool = False


@lru_cache(maxsize=4096)
def _part(sentence: str) -> _Part:
    if _BARE.fullmatch(sentence):
        return _Part(refusing=1)
    hedged = _behind_hedges(sentence)
    if hedged:
        rest = sentence[hedged:]
        found = _unhedged(rest) if content(rest) else _Part()
        # "But you may ask the office" is no answer that the hedge could be about.
        said = "" if found.said and not _says(found.said, least=1) else found.said
        return found._replace(said=said, hedge=True)
    return _unhedged(sentence)


def _behind_hedges(sentence: str) -> int:
    """Where a sentence goes on after the hedges that it begins with; 0 where it has none."""
    at = 0
    while found := _HEDGE.match(sentence, at):
        at = found.end()
    return at


def _unhedged(sentence: str) -> _Part:
    if _refusal(sentence):
        return _beside(sentence)
    if is_hostile(sentence):
        return _Part()
    if _courteous(sentence):
        return _Part(talk=bool(_SMALL_TALK.search(sentence)))
    if _ADVICE.search(sentence):
        return _Part(advice=True)
    return _Part(said=sentence if tokens(sentence) else "")


def _refusal(part: str) -> re.Match[str] | None:
    """The first refusal in a part of a sentence: behind interjections, outside quotations."""
    part = _unquoted(part)
    rest = _INTERJECTION.sub("", part)
    # Spaces keep the places, for patterns that begin where the part does.
    return _first_refusal(part) or (
        _first_refusal(" " * (len(part) - len(rest)) + rest) if rest != part else None
    )


def _unquoted(text: str) -> str:
    """The text with its quotations blotted out, unless hardly a word stands outside them: what
    somebody in the text said is no refusal of the speaker's."""
    blotted = _QUOTED.sub(lambda quoted: "_" * len(quoted.group()), text)
    outside = blotted.replace("_", " ") if blotted != text else ""
    return blotted if len(content(outside)) >= _STATES else text


def _first_refusal(part: str) -> re.Match[str] | None:
    found = next((m for m in _REFUSAL.finditer(part) if _is_made(part, m)), None)
    if found is None and _AT_HAND.search(part):
        found = next((m for m in _OF_TEXTS.finditer(part) if _is_made(part, m)), None)
    return found


def _is_made(part: str, found: re.Match[str]) -> bool:
    return not _CONDITION.search(part[max(0, found.start() - _NEAR) : found.start()])


def _beside(sentence: str) -> _Part:
    """A sentence that holds a refusal, with what it says before and behind it."""
    refused = 0
    hedge = False
    before: list[str] = []
    behind: list[str] = []
    for part in _TURN.split(sentence):
        hedged = _behind_hedges(part)
        if hedged and not content(part[hedged:]):
            hedge = True
            continue
        found = _refusal(part)
        if found is None:
            (behind if refused else before).append(part)
            continue
        (behind if refused else before).append(_LEAD.sub("", part[: found.start()]))
        refused += 1
        conceded = _CONCEDES.match(part)
        if conceded and conceded.end() > found.end():
            behind.append(part[conceded.end() :])
    if is_hostile(sentence):
        return _Part(refused, hedge=hedge)
    after = " ".join(filter(_says, behind))
    return _Part(refused, " ".join(filter(_says, [*before, after])), after, hedge=hedge)


def _says(text: str, least: int = _SAYS_SOMETHING) -> bool:
    rest = _LEAD.sub("", text)
    enough = len(content(rest)) >= least or _DIGIT.search(rest) or names(rest)
    return bool(enough) and not (_FILLER.search(text) or _ADVICE.search(text))


def _courteous(sentence: str) -> bool:
    greeted = _SALUTATION.match(sentence)
    if greeted is not None:
        rest = sentence[greeted.end() :]
        # "Sorry, the museum is closed" states something; "sorry, I can do no more" does not.
        if len(content(rest)) >= _STATES and not _PERSONAL.search(rest) and not _courteous(rest):
            return False
    if _FILLER.search(sentence):
        return True
    rest, n = _SMALL_TALK.subn(" ", sentence)
    return n > 0 and len(content(rest)) <= 1


def says_idk(answer: str, conversation: str = "") -> Literal["yes", "partial", "no"]:
    """Yes: only refusals, small talk or nothing at all; partial: refusals beside an answer.

    Beside a refusal, only what is about the conversation is an answer. A hedge before an answer is
    none of either.
    """
    found = shape(answer, conversation)
    if found.saying:
        return "partial" if found.refusing else "no"
    return "yes" if found.refusing or found.small_talk or not found.advising else "no"


def claims_nothing(sentence: str) -> bool:
    """Whether a sentence is a question, a refusal with nothing beside it, or filler."""
    found = shape(sentence)
    return sentence.endswith(("?", "？")) or not (found.saying or found.advising)


def is_small_talk(text: str) -> bool:
    """Whether it is nothing but greeting, thanks and the like."""
    found = shape(text)
    return found.small_talk > 0 and not found.saying and not found.refusing


def asks_back(answer: str) -> bool:
    """Whether it says that the query leaves something open, and asks for it.

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
