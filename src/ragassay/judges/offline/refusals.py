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
from ragassay.judges.offline.words import WHOLE, content, tokens, weight

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
def shape(answer: str, about: frozenset[str] = frozenset()) -> Shape:
    """Counts the parts of a response.

    Args:
        answer: the response.
        about: stems of the conversation. Beside a refusal only what shares one of them says
            something; where none is given, everything does.
    """
    parts = [_part(sentence) for sentence in sentences(plain(answer))]
    refusing = sum(part.refusing for part in parts)
    said = [part.said for part in parts if part.said]
    if refusing and about:
        said = [text for text in said if about & set(content(text))]
    return Shape(
        refusing, len(said), sum(part.talk for part in parts), sum(part.advice for part in parts)
    )


class _Part(NamedTuple):
    refusing: int = 0
    said: str = ""
    talk: bool = False
    advice: bool = False


@lru_cache(maxsize=4096)
def _part(sentence: str) -> _Part:
    if _BARE.fullmatch(sentence):
        return _Part(refusing=1)
    if _REFUSAL.search(sentence):
        refused, said = _beside(sentence)
        return _Part(refused, "" if is_hostile(sentence) else said)
    if is_hostile(sentence):
        return _Part()
    if _courteous(sentence):
        return _Part(talk=bool(_SMALL_TALK.search(sentence)))
    if _ADVICE.search(sentence):
        return _Part(advice=True)
    return _Part(said=sentence if tokens(sentence) else "")


def _beside(sentence: str) -> tuple[int, str]:
    """Refusals in a sentence that holds one, and what it says beside them."""
    refused = 0
    said: list[str] = []
    for part in _TURN.split(sentence):
        found = _REFUSAL.search(part)
        if found is None:
            said.append(part)
            continue
        refused += 1
        said.append(_LEAD.sub("", part[: found.start()]))
        conceded = _CONCEDES.match(part)
        if conceded and conceded.end() > found.end():
            said.append(part[conceded.end() :])
    return refused, " ".join(filter(_says, said))


def _says(text: str) -> bool:
    return len(content(_LEAD.sub("", text))) >= _SAYS_SOMETHING and not (
        _FILLER.search(text) or _ADVICE.search(text)
    )


def _courteous(sentence: str) -> bool:
    return bool(_FILLER.search(sentence) or (_SMALL_TALK.search(sentence) and _short(sentence)))


def _short(sentence: str) -> bool:
    return len(tokens(sentence)) <= 25


def says_idk(answer: str, conversation: str = "") -> Literal["yes", "partial", "no"]:
    """Yes: only refusals, small talk or nothing at all; partial: refusals beside an answer.

    Beside a refusal, only what shares a telling word with the conversation is an answer.
    """
    stems = content(conversation)
    about = frozenset(stem for stem in stems if weight(stem) == WHOLE) or frozenset(stems)
    found = shape(answer, about)
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
