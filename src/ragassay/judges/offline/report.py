"""What are the retrieved chunks worth to a query? ML cube's four values.

On the topic and holding the answer are two things: the topic is what the query is about without
the thing that it asks for ("ECTS" in "how many ECTS"). A chunk is of use where its grade says so
and the kind of answer that is asked for (a date, a number, a name) stands beside the topic: in a
sentence with a word of the topic or with the thing itself, or in one that continues such a sentence
with a pronoun. Where none is asked for by kind, the chunk must hold the thing itself ("which side
effects ...").

Words do not tell a reason ("why did the bridge fall?"), nor how something works whose name is all
that the query says ("how does photosynthesis work?"): where a chunk is on the topic of such a
query, usefulness, utilization and attribution have no value (unsupported).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.judges.offline import lists
from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.asked_thing import asked_thing
from ragassay.judges.offline.evidence import share_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.relevance import grade
from ragassay.judges.offline.wanted import KINDS, Kind, answers_by_name, holds, kind_of, subject
from ragassay.judges.offline.words import WHOLE, content, stem, tokens, visible, weight
from ragassay.judges.question import Lost
from ragassay.judges.questions.report import ContextReport, ReportOnContext
from ragassay.scores import Reason

USED = 4
"""Smallest usefulness of a chunk that the response can be made from."""

_STARS = (1, 2, 4, 5)
"""Usefulness of a chunk by its relevance grade."""

_UNNAMED = 2
"""Highest usefulness of a chunk without the thing that is asked for by its own word ("which side
effects ..."), where no date, number or name could answer in its place."""

_ON_TOPIC = 0.6
"""Share of the topic's word weight from which a chunk is on the topic."""

_NEAR = 0.3
"""Share of the query's word weight in a sentence from which it counts as utilized."""


_FROM_THE_ANSWER = ("usefulness", "utilization", "attribution")
"""The fields of a report that depend on whether a chunk holds the answer."""

_UNTOLD = Lost(
    reason=Reason.UNSUPPORTED,
    detail=(
        "the query asks for a reason or a way, and words do not tell a chunk that answers it from "
        "one that only shares its subject; name an LLM with --judge"
    ),
)

_REASON = lists.patterns("asks_reason")
_WAY = lists.patterns("asks_way")
_PRONOUN = lists.patterns("pronouns")


class Worth(NamedTuple):
    """What a chunk is worth.

    Attributes:
        topic: share of the topic's word weight that the chunk holds, 0 to 1.
        stars: usefulness, 1 to 5.
        fits: whether the kind of answer that is asked for stands on the subject.
        lacks: stems of the query that the chunk does not hold.
        near: share of its sentences that are near the query, 0 to 1.
        sentences: how many sentences it has.
    """

    topic: float
    stars: int
    fits: bool
    lacks: frozenset[str]
    near: float
    sentences: int


@lru_cache(maxsize=4096)
def worth(query: str, chunk: str) -> Worth:
    """What a chunk is worth to a query."""
    asked, topic, kind = subject(query), topic_of(query), kind_of(query)
    parts = [(part, frozenset(content(part))) for part in evidence_sentences(chunk)]
    held = frozenset[str]().union(*(stems for _, stems in parts))
    thing = frozenset(content(asked_thing(query)))
    fits = _holds_answer(_on_subject(parts, topic | thing), kind, query)
    stars = _STARS[grade(query, chunk)]
    if kind != "any":
        stars = stars if fits and stars >= USED else 1
    elif thing and not thing & held:
        stars = min(stars, _UNNAMED)
    near = sum(share_of(asked, stems) >= _NEAR for _, stems in parts)
    return Worth(
        share_of(topic, held),
        stars,
        fits,
        asked - held,
        near / len(parts) if parts else 0.0,
        len(parts),
    )


def _on_subject(
    parts: Sequence[tuple[str, frozenset[str]]], words: frozenset[str]
) -> Sequence[str]:
    """The sentences that hold one of some words, each with those directly after it that continue
    it with a pronoun ("It has 180 ECTS."), a line a sentence."""
    found: list[str] = []
    continues = False
    for part, stems in parts:
        if continues and _PRONOUN.match(part):
            found[-1] += f"\n{part}"
        else:
            continues = bool(stems & words)
            found += [part] * continues
    return found


def _holds_answer(sentences: Sequence[str], kind: Kind, query: str) -> bool:
    """Whether sentences on the subject hold something of the kind that the query asks for.

    Any capital letter would do for a name, and any text can be put before a sentence: a person or a
    place must stand there as one ("by ...", "in ...", a full name).
    """
    if kind == "name":
        return any(answers_by_name(sentence, kind, query) for sentence in sentences)
    return holds(" \n".join(sentences), kind, frozenset(content(query)))


@lru_cache(maxsize=1024)
def topic_of(query: str) -> frozenset[str]:
    """Stems of what the query is about, without the thing that it asks for."""
    asked = subject(query)
    return asked - frozenset(content(asked_thing(query))) or asked


@rule_for(ReportOnContext)
def report(question: ReportOnContext) -> ContextReport:
    """Relevance is the mean share of the topic in the chunks, usefulness the best chunk's, both on
    1 to 5; utilization is the share of the sentences that are near the query, in chunks of use."""
    found = [worth(question.query, chunk) for chunk in question.chunks]
    used = tuple(at for at, one in enumerate(found, 1) if one.stars >= USED)
    topic = sum(one.topic for one in found) / len(found) if found else 0.0
    relevance: dict[str, Any] = {
        "relevance_explanation": (
            f"On average a chunk holds {topic:.0%} of the words that say what the query is about."
        ),
        "relevance": 1 + round(4 * topic),
    }
    if not tells(question.query) and any(one.topic >= _ON_TOPIC for one in found):
        return ContextReport(**relevance, lost=dict.fromkeys(_FROM_THE_ANSWER, _UNTOLD))
    best = max(found, key=lambda one: (one.stars, one.topic), default=None)
    percent = _utilization(found)
    listed = ", ".join(map(str, used)) or "none"
    return ContextReport(
        **relevance,
        usefulness_explanation=_why(question.query, found, best),
        usefulness=best.stars if best else 1,
        utilization_explanation=f"{percent}% of the sentences speak of what the query asks.",
        utilization=percent,
        attribution_explanation=f"Chunks that help to answer: {listed}.",
        attribution=used,
    )


@lru_cache(maxsize=1024)
def tells(query: str) -> bool:
    """Whether words tell a chunk that answers a query from one that only shares its subject.

    Not so for a reason, nor for a way or mechanism where a single word says what it is about.
    """
    text = visible(query)
    if _REASON.search(text):
        return False
    telling = sum(weight(stem) == WHOLE for stem in topic_of(query))
    return kind_of(query) != "any" or not _WAY.search(text) or telling > 1


def _utilization(found: Sequence[Worth]) -> int:
    """Percent of the sentences; at least 1 where a chunk is of use."""
    whole = sum(one.sentences for one in found)
    near = sum(one.near * one.sentences for one in found if one.stars >= USED)
    used = any(one.stars >= USED for one in found)
    return max(int(used), round(100 * near / whole)) if whole else 0


def _why(query: str, found: Sequence[Worth], best: Worth | None) -> str:
    """What the best chunk has, or what is missing in all of them."""
    kind = KINDS.get(kind_of(query))
    if best is None or not any(one.sentences for one in found):
        return "No chunk holds a sentence that can be used."
    if best.stars >= USED:
        number = found.index(best) + 1
        beside = f" and {kind}, which the query asks for" if kind else ""
        return f"Chunk {number} speaks of what the query asks{beside}."
    said: list[str] = []
    if kind and not any(one.fits for one in found):
        said.append(f"no chunk on the subject holds {kind}, which the query asks for")
    missing = frozenset[str].intersection(*(one.lacks for one in found))
    words = _words(query, missing)
    if words:
        said.append(f"no chunk speaks of {words}")
    if not said:
        said.append("what the query asks about is only mentioned")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _words(query: str, stems: frozenset[str]) -> str:
    """The words of a query that have these stems, in quotation marks: three, the telling first."""
    found = dict.fromkeys(token for token in tokens(query) if stem(token) in stems)
    telling = sorted(found, key=lambda token: -weight(stem(token)))
    return ", ".join(f'"{word}"' for word in telling[:3])
