"""Does a response answer, decline, or ask back? By phrases, and by where they stand.

Each sentence of the response is a refusal ("the documents do not mention ..."), filler (apologies,
thanks, offers of more help, advice to look elsewhere), or says something. What stands in a sentence
before the refusal, or after a "but" or "however" behind it, says something too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ragassay.judges.offline import lists
from ragassay.judges.offline.hostile import is_hostile
from ragassay.judges.offline.texts import plain, sentences
from ragassay.judges.offline.words import content, tokens

_REFUSAL = lists.patterns("refusals")
_FILLER = lists.patterns("fillers")
_SMALL_TALK = lists.patterns("small_talk")
_ADVICE = lists.patterns("advice")
"""Where to look instead: no part of an answer beside a refusal, but a claim of its own."""
_ASKS = lists.patterns("asks_back")
_OFFER = lists.patterns("offers")
_BARE = re.compile(
    r"\W*(?:no[_ -]answer|n/?a|unknown|none|null|unanswerable|idk|not answerable|api[_ ]error|sorry"
    r"|no (?:results?|information|data)(?: found)?)\W*",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"[,;:.]?\s+(?:but|however|though|although|nevertheless|nonetheless|yet|instead|that said"
    r"|aber|jedoch|allerdings|mais|cependant|toutefois|pero|sin embargo|aunque|ma|tuttavia)\b[,]?"
    r"|；|;|，?(?:但是?|不过|然而)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"^\W*(?:(?:{lists.patterns('leads').pattern})(?!\w)[\s,:;.–—-]*)+", re.IGNORECASE
)
_CONCEDES = re.compile(
    r"^\W*(?:while|although|though|even though|whereas|obwohl|bien que|aunque|sebbene)\b[^,]*,",
    re.IGNORECASE,
)
_SAYS_SOMETHING = 3
"""Content words that a piece beside a refusal must hold to count as part of an answer."""


class Shape(NamedTuple):
    """How many sentences, or parts of one, decline, say something, are small talk, or send away."""

    refusing: int
    saying: int
    small_talk: int
    advising: int


@lru_cache(maxsize=2048)
def shape(answer: str) -> Shape:
    """Counts the parts of a response. Sentences that speak to the judge count as nothing."""
    refusing = saying = talk = advising = 0
    for sentence in sentences(plain(answer)):
        if is_hostile(sentence):
            continue
        if _BARE.fullmatch(sentence):
            refusing += 1
        elif _REFUSAL.search(sentence):
            refused, said = _parts(sentence)
            refusing += refused
            saying += said
        elif _courteous(sentence):
            talk += bool(_SMALL_TALK.search(sentence))
        elif _ADVICE.search(sentence):
            advising += 1
        elif content(sentence) or tokens(sentence):
            saying += 1
    return Shape(refusing, saying, talk, advising)


def _parts(sentence: str) -> tuple[int, int]:
    """Refusals and statements in a sentence that holds a refusal."""
    refused = said = 0
    for part in _TURN.split(sentence):
        found = _REFUSAL.search(part)
        if found is None:
            said += _says(part)
        else:
            refused += 1
            said += _says(_LEAD.sub("", part[: found.start()]))
            conceded = _CONCEDES.match(part)
            if conceded and conceded.end() > found.end():
                said += _says(part[conceded.end() :])
    return refused, int(said > 0)


def _says(text: str) -> bool:
    return len(content(_LEAD.sub("", text))) >= _SAYS_SOMETHING and not (
        _FILLER.search(text) or _ADVICE.search(text)
    )


def _courteous(sentence: str) -> bool:
    return bool(_FILLER.search(sentence) or (_SMALL_TALK.search(sentence) and _short(sentence)))


def _short(sentence: str) -> bool:
    return len(tokens(sentence)) <= 25


def says_idk(answer: str) -> Literal["yes", "partial", "no"]:
    """Yes: only refusals, small talk or nothing at all; partial: refusals beside an answer."""
    found = shape(answer)
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
        elif not (_REFUSAL.search(sentence) or _courteous(sentence) or _ADVICE.search(sentence)):
            saying += 1
    return asked or (questions > 0 and saying == 0)
