"""What are the retrieved chunks worth to a query? ML cube's four values.

On the topic and holding the answer are two things: the topic is what the query is about without
the thing that it asks for ("ECTS" in "how many ECTS"). A chunk is of use where its grade says so
and a sentence beside the topic tells what is asked for (see `asked_value`): a sentence with a word
of the topic or with the thing itself, or one that continues such a sentence with a pronoun. Where
nothing is asked for by kind, the chunk must hold the thing itself ("which side effects ...").

A yes/no question is answered by a statement with all its words, or with the opposite of one of them
("closed" for "open"), however little else it says.

Usefulness, utilization and attribution have no value (unsupported) where words do not tell the
answer:

- a reason ("why did the bridge fall?"), or how something works whose name is all that the query
  says ("how does photosynthesis work?"), as soon as a chunk is on the topic;
- no chunk is of use, and one holds the right kind of answer in a sentence without the word that
  says what is asked ("opened in 1793" for "when was it renovated?"), or begins with a pronoun for
  something that it does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragassay.judges.offline.context_report.asked_value import (
    STRENGTH,
    Tells,
    asked_value,
    names_agent,
    settles,
    tells,
)
from ragassay.judges.offline.context_report.predicate import predicate
from ragassay.judges.offline.language import (
    WHOLE,
    asked_thing,
    content,
    evidence_sentences,
    kind_of,
    lists,
    share_of,
    stem,
    subject,
    tokens,
    visible,
    weight,
)
from ragassay.judges.offline.relevance_rules import grade
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import ContextReport, ReportOnContext
from ragassay.judges.reply import Lost
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

_REASON_OR_WAY = (
    "the query asks for a reason or a way, and words do not tell a chunk that answers it from "
    "one that only shares its subject; name an LLM as the judge"
)

_IN_OTHER_WORDS = (
    "a chunk may tell in other words what the query asks for, and words do not tell that from "
    "another fact: {}; name an LLM as the judge"
)

_REASON = lists.patterns("asks_reason")
_WAY = lists.patterns("asks_way")
_PRONOUN = lists.patterns("pronouns")


class ChunkWorth(NamedTuple):
    """What a chunk is worth.

    Attributes:
        topic: share of the topic's word weight that the chunk holds, 0 to 1.
        stars: usefulness, 1 to 5.
        tells: whether a sentence on the subject tells what is asked for by kind; "no" where the
            query asks for no kind.
        unclear: whether words cannot tell if the chunk is of use.
        lacks: stems of the query that the chunk does not hold.
        near: share of its sentences that are near the query, 0 to 1.
        sentences: how many sentences it has.
    """

    topic: float
    stars: int
    tells: Tells
    unclear: bool
    lacks: frozenset[str]
    near: float
    sentences: int


@lru_cache(maxsize=4096)
def worth(query: str, chunk: str) -> ChunkWorth:
    """How relevant and useful a chunk is to a query.

    Args:
        query: its text.
        chunk: its text.
    """
    asked, topic = subject(query), topic_of(query)
    parts = [(part, frozenset(content(part))) for part in evidence_sentences(chunk)]
    held = frozenset[str]().union(*(stems for _, stems in parts))
    thing = frozenset(content(asked_thing(query)))
    stars = _STARS[grade(query, chunk)]
    on_topic = share_of(topic, held)
    tells_it: Tells = "no"
    unclear = False
    if kind_of(query) == "any" and any(settles(query, part) for part, _ in parts):
        stars = max(stars, USED)
    elif kind_of(query) != "any":
        tells_it = _strongest_answer(query, parts, topic | thing)
        # What a pronoun at the beginning of a chunk stands for is not in the chunk.
        begins_open = bool(parts) and bool(_PRONOUN.match(parts[0][0]))
        near_enough = stars >= USED or on_topic >= _ON_TOPIC
        unclear = (tells_it == "unclear" and near_enough) or (
            tells_it in ("yes", "unclear") and stars < USED and begins_open
        )
        about = topic - frozenset(content(predicate(query)))
        if any(
            share_of(about, stems) >= _ON_TOPIC and names_agent(query, part)
            for part, stems in parts
        ):
            stars = max(stars, USED)  # the grade knows names by their capitals only
        stars = stars if tells_it == "yes" and stars >= USED else 1
    elif thing and not thing & held:
        stars = min(stars, _UNNAMED)
    near = sum(share_of(asked, stems) >= _NEAR for _, stems in parts)
    return ChunkWorth(
        on_topic,
        stars,
        tells_it,
        unclear,
        asked - held,
        near / len(parts) if parts else 0.0,
        len(parts),
    )


def _strongest_answer(
    query: str, parts: Sequence[tuple[str, frozenset[str]]], words: frozenset[str]
) -> Tells:
    """Whether any sentence on the subject says what the query asks for: the strongest result."""
    title = parts[0][0] if len(parts) > 1 and parts[0][0][-1] not in ".!?。" else ""
    answers = {tells(query, part, title) for part in _on_subject(parts, words)}
    return max(answers, key=STRENGTH.index, default="no")


def _on_subject(
    parts: Sequence[tuple[str, frozenset[str]]], words: frozenset[str]
) -> Iterator[str]:
    """The sentences that hold one of some words, and those directly after one that continue it
    with a pronoun ("It has 180 ECTS.")."""
    continues = False
    for part, stems in parts:
        continues = bool(stems & words) or (continues and bool(_PRONOUN.match(part)))
        if continues:
            yield part


@lru_cache(maxsize=1024)
def topic_of(query: str) -> frozenset[str]:
    """Stems of what the query is about, without the thing that it asks for."""
    asked = subject(query)
    return asked - frozenset(content(asked_thing(query))) or asked


@rule_for(ReportOnContext)
def report(question: ReportOnContext) -> ContextReport:
    """Relevance is the mean share of the topic in the chunks, usefulness the best chunk's, both on
    1 to 5; utilization is the share of the sentences that are near the query, in chunks of use.

    What holds the answer is on the topic, in whatever words: relevance is no less than usefulness.
    """
    worths = [worth(question.query, chunk) for chunk in question.chunks]
    used = tuple(at for at, one in enumerate(worths, 1) if one.stars >= USED)
    topic = sum(one.topic for one in worths) / len(worths) if worths else 0.0
    best = max(worths, key=lambda one: (one.stars, one.topic), default=None)
    stars = 1 + round(4 * topic)
    why = f"On average a chunk holds {topic:.0%} of the words that say what the query is about."
    if best is not None and stars < best.stars:
        stars = best.stars
        holds = "what answers it" if stars >= USED else "a little of what it asks"
        why += f" Chunk {worths.index(best) + 1} holds {holds}."
    relevance: dict[str, Any] = {"relevance_explanation": why, "relevance": stars}
    unsupported = _unsupported(question.query, worths)
    if unsupported:
        lost = Lost(reason=Reason.UNSUPPORTED, detail=unsupported)
        return ContextReport(**relevance, lost=dict.fromkeys(_FROM_THE_ANSWER, lost))
    percent = _utilization(worths)
    listed = ", ".join(map(str, used)) or "none"
    return ContextReport(
        **relevance,
        usefulness_explanation=_why(question.query, worths, best),
        usefulness=best.stars if best else 1,
        utilization_explanation=f"{percent}% of the sentences speak of what the query asks.",
        utilization=percent,
        attribution_explanation=f"Chunks that help to answer: {listed}.",
        attribution=used,
    )


def _unsupported(query: str, worths: Sequence[ChunkWorth]) -> str:
    """Why words cannot show what the chunks are worth; empty where they can."""
    if not _words_can_tell(query) and any(one.topic >= _ON_TOPIC for one in worths):
        return _REASON_OR_WAY
    number = next((at for at, one in enumerate(worths, 1) if one.unclear), 0)
    if not number or any(one.stars >= USED for one in worths):
        return ""
    return _IN_OTHER_WORDS.format(_possible_answer(query, number, worths[number - 1]))


def _possible_answer(query: str, number: int, one: ChunkWorth) -> str:
    """Says what a chunk holds that may be the answer, and what it lacks."""
    missing = _missing(query, one)
    if one.tells == "other":
        return f"chunk {number} holds {asked_value(query)} that says another thing than {missing}"
    without = f" without {missing}" if missing else " and little else of it"
    return f"chunk {number} holds what may be {asked_value(query)}{without}"


def _missing(query: str, one: ChunkWorth) -> str:
    """The words of a query that a chunk lacks, those first that say what is asked."""
    if one.tells == "yes":
        return _words(query, one.lacks)
    thing = one.lacks & frozenset(content(asked_thing(query)))
    verb = predicate(query)
    return _words(query, thing) or (f'"{verb}"' if verb else _words(query, one.lacks))


@lru_cache(maxsize=1024)
def _words_can_tell(query: str) -> bool:
    """Whether words can distinguish a chunk that answers a query from one that only shares its
    subject.

    They cannot where the query asks for a reason, or for a way or mechanism that a single word
    names.
    """
    text = visible(query)
    if _REASON.search(text):
        return False
    telling = sum(weight(stem) == WHOLE for stem in topic_of(query))
    return kind_of(query) != "any" or not _WAY.search(text) or telling > 1


def _utilization(worths: Sequence[ChunkWorth]) -> int:
    """Percent of the sentences; at least 1 where a chunk is of use."""
    n_sentences = sum(one.sentences for one in worths)
    near = sum(one.near * one.sentences for one in worths if one.stars >= USED)
    used = any(one.stars >= USED for one in worths)
    return max(int(used), round(100 * near / n_sentences)) if n_sentences else 0


def _why(query: str, worths: Sequence[ChunkWorth], best: ChunkWorth | None) -> str:
    """What the best chunk has, or what is missing in all of them."""
    kind = asked_value(query)
    if best is None or not any(one.sentences for one in worths):
        return "No chunk holds a sentence that can be used."
    number = worths.index(best) + 1
    if best.stars >= USED:
        beside = f" and holds {kind}, which the query asks for" if kind else ""
        return f"Chunk {number} speaks of what the query asks{beside}."
    reasons: list[str] = []
    if kind:
        half = max(range(len(worths)), key=lambda at: STRENGTH.index(worths[at].tells))
        if worths[half].tells == "no":
            reasons.append(f"no chunk on the subject holds {kind}, which the query asks for")
        else:
            reasons.append(_possible_answer(query, half + 1, worths[half]))
    words = _words(query, frozenset[str].intersection(*(one.lacks for one in worths)))
    if words and not any(words in one for one in reasons):
        reasons.append(f"no chunk speaks of {words}")
    if not reasons:
        lacks = _words(query, best.lacks)
        reasons.append(
            f"no chunk speaks of all that the query asks: chunk {number} lacks {lacks}"
            if lacks
            else f"chunk {number} holds the words of the query and tells little of them"
        )
    text = "; ".join(reasons)
    return f"{text[0].upper()}{text[1:]}."


def _words(query: str, stems: frozenset[str]) -> str:
    """At most three words of a query that have these stems, in quotation marks, rare ones first."""
    words = dict.fromkeys(token for token in tokens(query) if stem(token) in stems)
    telling = sorted(words, key=lambda token: -weight(stem(token)))
    return ", ".join(f'"{word}"' for word in telling[:3])
