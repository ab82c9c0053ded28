"""Combines the replies of a panel into one.

Each field of the reply is decided on its own, by what it holds:

================  ==============================================================================
whole number      ``median``: the middle vote, the lower of the two middle ones where their number
                  is even. ``majority``: the most frequent; of equally frequent ones the nearest to
                  that median, then the lower
label             its words stand in order in the reply's type, so the same two rules hold; "lower"
                  is the word that is named later there (``full, partial, none``)
yes or no         more than half the votes, under both rules: a tie is no
list of labels    entry by entry
or of yes and no
list of numbers   a set of indices: those that more than half the votes name, ascending
list of texts     cannot be combined (two judges' claims do not pair up): the first judge's list
text              the words of the first judge who voted for the whole outcome, else for the field
                  that the text explains, else the votes themselves: ``votes: 4, 2``
================  ==============================================================================

A field that half the replies or more have no valid value for (`ReplyInParts`) has none.

A tie therefore never raises a score. A text ``usefulness_explanation`` explains the field
``usefulness``; any other text explains all the fields that are voted on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from ragassay.judges.reply import Lost, Reply, ReplyInParts, about

RULES = ("median", "majority")
R = TypeVar("R", bound=Reply)


def combine(replies: Sequence[R], rule: str) -> R:
    """One answer from several (at least one) to the same question, by one of the `RULES`; a
    `ValueError` for lists of labels of different lengths."""
    first = replies[0]
    if len(replies) == 1:
        return first
    kinds = type(first).fields()
    deciders = {name: _decider(kind, rule) for name, kind in kinds.items()}
    decided: dict[str, Any] = {}
    lost: dict[str, Lost] = {}
    for name, decide in deciders.items():
        votes = [vote for reply in replies if (vote := getattr(reply, name)) is not None]
        if decide is not None and 2 * len(votes) > len(replies):
            decided[name] = decide(votes)
        elif decide is not None:
            lost[name] = next(
                reply.lost[name]
                for reply in replies
                if isinstance(reply, ReplyInParts) and name in reply.lost
            )
    words: dict[str, Any] = {}
    for name in (name for name, decide in deciders.items() if decide is None):
        if kinds[name] is not str:
            words[name] = getattr(first, name)
        elif about(name) in lost:
            words[name] = None
        else:
            fields = [about(name)] if about(name) in decided else list(decided)
            speaker = _voter(replies, decided, decided) or _voter(replies, decided, fields)
            said = ", ".join(_vote(reply, fields) for reply in replies)
            words[name] = getattr(speaker, name) if speaker else f"votes: {said}"
    if isinstance(first, ReplyInParts):
        words |= {**dict.fromkeys(lost), "lost": lost}
    return first.model_copy(update={**decided, **words})


def differ(replies: Sequence[Reply]) -> bool:
    """Whether replies to one question differ in what they say. Other words for the same answer do
    not count, nor do lists of texts, which are not voted on."""
    if len(replies) < 2:
        return False
    voted = [name for name, kind in type(replies[0]).fields().items() if _decider(kind, "median")]
    votes = ({repr(getattr(reply, name)) for reply in replies} - {"None"} for name in voted)
    return any(len(different) > 1 for different in votes)


def combinable(reply: type[Reply]) -> bool:
    """Whether several replies of a type say more than the first: not where all fields are free
    text."""
    return any(_decider(kind, "median") for kind in reply.fields().values())


Decider = Callable[[Sequence[Any]], Any]


def _decider(kind: Any, rule: str) -> Decider | None:
    """The function that combines votes of a type; ``None`` for words."""
    if kind is bool:
        return lambda votes: 2 * sum(votes) > len(votes)
    if kind is int:
        return lambda votes: _ordinal(votes, rule)
    if get_origin(kind) is Literal:
        words = get_args(kind)[::-1]  # ascending: the last named is the lowest
        return lambda votes: words[_ordinal([words.index(vote) for vote in votes], rule)]
    if get_origin(kind) is not tuple:
        return None
    (entry, *_) = get_args(kind)
    entry = get_args(entry)[0] if get_origin(entry) is Annotated else entry
    if entry is int:
        return _indices
    decide = _decider(entry, rule)
    if decide is None:
        return None
    return lambda votes: tuple(decide(column) for column in zip(*votes, strict=True))


def _ordinal(votes: Sequence[int], rule: str) -> int:
    middle = sorted(votes)[(len(votes) - 1) // 2]
    if rule == "median":
        return middle
    counts = Counter(votes)
    return min(counts, key=lambda vote: (-counts[vote], abs(vote - middle), vote))


def _indices(votes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    counts = Counter(index for vote in votes for index in set(vote))
    return tuple(sorted(index for index, count in counts.items() if 2 * count > len(votes)))


def _voter(replies: Sequence[R], outcome: Mapping[str, Any], fields: Iterable[str]) -> R | None:
    """The first who voted for an outcome, in some of its fields."""
    names = list(fields)
    voted = (one for one in replies if all(getattr(one, n) == outcome[n] for n in names))
    return next(voted, None)


def _vote(reply: Reply, names: Sequence[str]) -> str:
    """A vote as a text, where no member's own words fit the result."""
    values = [getattr(reply, name) for name in names]
    shown = [json.dumps(one) if isinstance(one, tuple | bool) else str(one) for one in values]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
