"""Does an answer say that it does not know? A logistic regression over a few features of its text.

``data/refusals.json`` holds the weights; ``python -m benchmarks.fit_refusals PATH`` fits them.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple

from ragassay.judges.offline.words import content, is_hostile, pattern, plain, sentences

_REFUSALS, _SMALL_TALK = pattern("refusals"), pattern("small_talk")
_COURTESIES, OFFERS = pattern("courtesies"), pattern("offers")
TURN = re.compile(
    r"[,;:.]?\s+(?:but|however|though|although|nevertheless|nonetheless|aber|jedoch|allerdings|mais"
    r"|cependant|pero|aunque|ma|tuttavia|mas|maar|но|однако)\b,?|；|;|，?(?:但是?|不过|然而)|けど、|が、",
    re.IGNORECASE,
)
"""What may stand between a refusal and an answer."""
_STATEMENT = 3
"""Smallest number of content words of an answer beside a refusal in one sentence."""


class Parts(NamedTuple):
    """How many parts of an answer (its sentences, cut at a "but") are refusals, statements, small
    talk and questions; whether the first one refuses; content words of the statements."""

    refusals: int
    first: bool
    statements: int
    words: int
    small_talk: int
    questions: int


@lru_cache(maxsize=4096)
def parts(answer: str) -> Parts:
    """Counts the parts of an answer."""
    refusals = statements = words = small_talk = questions = 0
    first: bool | None = None
    for sentence in sentences(plain(answer)):
        pieces = TURN.split(sentence) if _REFUSALS.search(sentence) else [sentence]
        for at, piece in enumerate(pieces):
            n = len(content(piece))
            refuses = _REFUSALS.search(piece) is not None
            if refuses:
                refusals += 1
            elif piece.endswith(("?", "？")):
                questions += 1
            elif _is_small_talk(piece):
                small_talk += 1
            elif is_hostile(piece) or _COURTESIES.search(piece) or not n:
                continue
            elif len(pieces) == 1 or n >= _STATEMENT:
                statements += 1
                words += n
            else:
                continue
            first = refuses if first is None else first
    return Parts(refusals, bool(first), statements, words, small_talk, questions)


def _is_small_talk(sentence: str) -> bool:
    match = _SMALL_TALK.search(sentence)
    if match is None:
        return False
    return len(content(sentence[: match.start()] + " " + sentence[match.end() :])) <= 1


def features(answer: str) -> tuple[float, ...]:
    """What the classifier sees of an answer: see the code, one line a feature."""
    found = parts(answer)
    n = found.refusals + found.statements + found.questions + found.small_talk
    words = math.log1p(found.words)
    return (
        float(found.refusals > 0),
        float(found.first),
        found.refusals / max(n, 1),
        words,
        math.log1p(len(content(answer))),
        float(found.questions > 0),
        float(not found.statements),
        float(found.refusals > 0) * words,
    )


@cache
def _weights() -> tuple[float, ...]:
    source = resources.files("ragassay.judges.offline").joinpath("data/refusals.json")
    return tuple(json.loads(source.read_text(encoding="utf-8"))["weights"])


def refuses(answer: str) -> bool:
    """Whether an answer is a refusal or small talk, and nothing else."""
    constant, *weights = _weights()
    return constant + math.fsum(w * x for w, x in zip(weights, features(answer), strict=True)) > 0


def says_idk(answer: str) -> Literal["yes", "partial", "no"]:
    """``yes`` for an answer that `refuses`, ``partial`` for another one with a refusal in it, else
    ``no``."""
    if refuses(answer):
        return "yes"
    return "partial" if parts(answer).refusals else "no"


def is_small_talk(text: str) -> bool:
    """Whether a text is small talk alone."""
    found = parts(text)
    return found.small_talk > 0 and not (found.statements or found.refusals or found.questions)


def claims_nothing(sentence: str) -> bool:
    """Whether a sentence is a question, a refusal, small talk or a courtesy, and nothing else."""
    return sentence.endswith(("?", "？")) or not parts(sentence).statements
