"""Does an answer say that it does not know? A logistic regression over a few features of its text.

``data/refusals.json`` holds the weights; ``python -m benchmarks.fit_refusals PATH`` fits them.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

from ragassay.judges.offline.words import (
    WHOLE,
    any_of,
    content,
    is_hostile,
    is_number,
    is_talk,
    pattern,
    sentences,
    tokens,
    weight,
)
from ragassay.texts.languages import held

_REFUSALS = any_of("\n".join(held("refusals").values()), re.NOFLAG)  # of text in small letters
_GREETINGS, _COURTESIES, _PLACES = map(pattern, ("greetings", "courtesies", "places"))
TURN = re.compile(
    r"[,;:.]?\s+(?:but|however|though|although|nevertheless|nonetheless|aber|jedoch|allerdings|mais"
    r"|cependant|pero|aunque|ma|tuttavia|mas|maar|но|однако)\b,?|；|;|，?(?:但是?|不过|然而)|けど、|が、",
    re.IGNORECASE,
)
"""What may separate a refusal from an answer."""
_STATEMENT = 3  # smallest number of content words of an answer beside a refusal in one sentence


Kind = Literal["refusal", "statement", "small talk", "question"]
_CLAIM_NOTHING: tuple[set[Kind], ...] = ({"refusal"}, {"question"})


@lru_cache(maxsize=4096)
def parts(answer: str, conversation: str = "") -> tuple[tuple[Kind, int], ...]:
    """The parts of an answer, its sentences cut at a "but": what each is, and its content words.

    What addresses the judge is left out, and talk beside anything else. Beside a refusal only what
    shares a word with the conversation (the query with its earlier turns; where it is empty, all
    statements count), or goes on with a number in the same sentence, is a statement."""
    found: list[tuple[Kind, int, bool]] = []
    talk = found.copy()
    about = {stem for stem in content(conversation) if weight(stem) == WHOLE}
    for sentence in sentences(answer):
        pieces = TURN.split(sentence) if _kind(sentence, True) == "refusal" else [sentence]
        refused = False
        for piece in pieces:
            stems = content(piece)
            kind = _kind(piece, len(stems) >= _STATEMENT or len(pieces) == 1)
            if kind is not None:
                goes_on = refused and any(map(is_number, stems))
                refused = refused or kind == "refusal"
                near = not about or goes_on or not about.isdisjoint(stems)
                idle = kind == "statement" and is_talk(piece)
                (talk if idle else found).append((kind, len(stems), near))
    found = found or talk
    alone = all(kind != "refusal" for kind, _, _ in found)
    return tuple((kind, n) for kind, n, near in found if kind == "refusal" or near or alone)


@lru_cache(maxsize=4096)
def _kind(piece: str, enough: bool) -> Kind | None:
    if _REFUSALS.search(piece.lower()):
        return "refusal"
    if piece.endswith(("?", "？")):
        return "question"
    if is_talk(piece) and _GREETINGS.search(piece):
        return "small talk"
    states = enough and tokens(piece) and not _COURTESIES.search(piece)
    return "statement" if states and not is_hostile(piece) else None


def features(answer: str, conversation: str = "") -> tuple[float, ...]:
    """What the classifier sees of an answer with a refusal: see the code, one line a feature."""
    found = parts(answer, conversation)
    kinds = [kind for kind, _ in found]
    said = math.log1p(sum(n for kind, n in found if kind == "statement"))
    first = float(kinds[:1] == ["refusal"])
    return (
        first,
        kinds.count("refusal") / max(len(kinds), 1),
        said,
        math.log1p(len(kinds)),
        float("question" in kinds),
        float("statement" not in kinds),
        first * said,
    )


@cache
def _weights() -> tuple[float, ...]:
    source = resources.files("ragassay.judges.offline").joinpath("data/refusals.json")
    return tuple(json.loads(source.read_text(encoding="utf-8"))["weights"])


def refuses(answer: str, conversation: str = "") -> bool:
    """Whether an answer is a refusal and nothing else: where it has a phrase of refusal, by
    the classifier; else only small talk alone and an answer that says nothing are. ``conversation``
    is the query with its earlier turns."""
    kinds = {kind for kind, _ in parts(answer, conversation)}
    if "refusal" not in kinds:
        return kinds <= {"small talk"}
    constant, *weights = _weights()
    values = features(answer, conversation)
    return constant + math.fsum(w * x for w, x in zip(weights, values, strict=True)) > 0


def declines(reference: str) -> bool:
    """Whether a reference says that there is no answer: a phrase of refusal, or no word. "None"
    alone may be the answer."""
    said = tokens(reference)
    is_refusal = said != ["none"] and "refusal" in dict(parts(reference))
    return not said or (is_refusal and refuses(reference))


def says_idk(answer: str, conversation: str = "") -> Literal["yes", "partial", "no"]:
    """MT-RAG's label: ``yes`` for an answer that `refuses` and names no place to look, ``partial``
    for any other with a refusal in it, else ``no``, small talk included. ``conversation`` is the
    query with its earlier turns."""
    if is_small_talk(answer):
        return "no"
    if refuses(answer, conversation):
        own = [sentence for sentence in sentences(answer) if not is_hostile(sentence)]
        return "partial" if any(map(_PLACES.search, own)) else "yes"
    return "partial" if "refusal" in dict(parts(answer, conversation)) else "no"


def is_small_talk(text: str) -> bool:
    """Whether a text is small talk alone."""
    return {kind for kind, _ in parts(text)} == {"small talk"}


def stated(answer: str) -> list[str]:
    """The sentences of an answer that are no question, no refusal and no talk; talk, too, where
    nothing else is said and it is no greeting. An answer that refuses states nothing."""
    declined = "refusal" in dict(parts(answer)) and refuses(answer)
    every = [] if declined else sentences(answer)
    if all(map(is_talk, every)):
        return [] if is_small_talk(answer) else every
    claiming = (sentence for sentence in every if not is_talk(sentence))
    return [part for part in claiming if {kind for kind, _ in parts(part)} not in _CLAIM_NOTHING]
