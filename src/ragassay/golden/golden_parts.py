"""Parts of a golden set: which queries belong together, because one of them reveals the answers of
others; a sample, and a split, that keep the shares of each kind of query."""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from rapidfuzz import fuzz, process

from ragassay.base.errors import UsageError
from ragassay.base.printable import grouped
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem
from ragassay.texts import sentences
from ragassay.texts.document_names import conversations_of_ids, named_conversation

_ALIKE = 92.0
"""How alike two queries are that ask the same, 0 to 100."""
_ROWS = 500
"""Texts that are compared with all others at a time."""
_LONG = 20
"""Characters of a sentence that is not in two documents by chance."""

Pair = tuple[int, int]


def groups(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> list[int]:
    """For each query the place of the first one of its group: those whose relevant gold spans share
    a character or a sentence (also one in several documents), those that ask nearly the
    same, and those of one conversation, with all that are linked by them."""
    first = list(range(len(items)))

    def root(at: int) -> int:
        while first[at] != at:
            first[at] = at = first[first[at]]
        return at

    shared = (_same_sentence(items, documents), _same_words(items))
    for pairs in (*shared, near_duplicates(items), _turns(items)):
        for number, other in pairs:
            low, high = sorted((root(number), root(other)))
            first[high] = low
    return [root(at) for at in range(len(items))]


def near_duplicates(items: Sequence[GoldenItem]) -> Iterator[Pair]:
    """The places of items that ask nearly the same, the earlier one first."""
    # A follow-up means another thing after other turns.
    texts = [plain(" ".join([*(turn.text for turn in item.history), item.query])) for item in items]
    pairs = alike_texts(texts, texts, fuzz.ratio, _ALIKE)
    return (pair for pair in pairs if pair[0] < pair[1])


def alike_texts(
    texts: Sequence[str], others: Sequence[str], scorer: Callable[..., float], least: float
) -> Iterator[Pair]:
    """The places of each text and of the others that it is like."""
    for begin in range(0, len(texts), _ROWS):
        rows = texts[begin : begin + _ROWS]
        likeness = process.cdist(
            rows, others, scorer=scorer, score_cutoff=least, dtype=np.uint8, workers=-1
        )
        for row, column in zip(*np.nonzero(likeness), strict=True):
            yield begin + int(row), int(column)


def plain(text: str) -> str:
    """The words of a text in lower case, a space between two of them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _same_sentence(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> Iterator[Pair]:
    """Items whose spans overlap, or have no end of a sentence between them."""
    places = grouped(
        (span.document, (span.start, span.end, at))
        for at, item in enumerate(items)
        for span in item.evidence
    )
    for name, spans in places.items():
        text = documents[name].text if name in documents else ""
        ends = [end for _, end in sentences(text)] if len(spans) > 1 else []
        reach, owner = 1, -1
        for start, end, at in sorted(spans):
            # The last character of a span may end its sentence.
            ended = bisect_right(ends, reach - 1) < bisect_right(ends, start)
            if owner >= 0 and (start < reach or (ends and not ended)):
                yield owner, at
            if end > reach:
                reach = end
            owner = at


def _same_words(items: Sequence[GoldenItem]) -> Iterator[Pair]:
    """Items whose spans hold the same sentence, as those in two copies of a document do."""
    return _same_key(
        (at, sentence)
        for at, item in enumerate(items)
        for span in item.evidence
        for place in sentences(span.text)
        if len(sentence := plain(span.text[slice(*place)])) >= _LONG
    )


def _turns(items: Sequence[GoldenItem]) -> Iterator[Pair]:
    """Items of one conversation, by metadata or by ids."""
    named = [named_conversation(item.to_sample()) for item in items]
    keys = named if any(named) else conversations_of_ids([item.id for item in items]) or []
    yield from _same_key((at, key) for at, key in enumerate(keys) if key is not None)


def _same_key(keys: Iterable[tuple[int, str]]) -> Iterator[Pair]:
    """Each place with the first one that has the same key."""
    first: dict[str, int] = {}
    for at, key in keys:
        if first.setdefault(key, at) != at:
            yield first[key], at


K = TypeVar("K", bound=Hashable)
_ALL = ()
"""Stands for all kinds together."""


def sampled(
    items: Sequence[GoldenItem], n: int, by: Sequence[str] = ("type",), seed: int = 0
) -> list[GoldenItem]:
    """A random part in which each kind has its share, in the order of the whole."""
    if not 1 <= n <= len(items):
        raise UsageError(f"{n} items cannot be drawn from {len(items)}.")
    source = random.Random(seed)
    kinds = _kinds(items, by)
    quota = shared_out({kind: n * len(ids) / len(items) for kind, ids in kinds.items()}, n)
    chosen = {text for kind, ids in kinds.items() for text in source.sample(ids, quota[kind])}
    return [item for item in items if item.id in chosen]


def shared_out(exact: Mapping[K, float], n: int) -> dict[K, int]:
    """Whole numbers in place of exact shares, by largest remainders: what is left goes to those
    whose shares were cut most, the first ones where these are equal."""
    quota = {element: int(share) for element, share in exact.items()}
    by_rest = sorted(exact, key=lambda value: quota[value] - exact[value])
    for item in by_rest[: n - sum(quota.values())]:
        quota[item] += 1
    return quota


def split(
    items: Sequence[GoldenItem],
    shares: Mapping[str, float],
    by: Sequence[str] = ("type",),
    seed: int = 0,
    groups: Sequence[int] | None = None,
) -> dict[str, list[GoldenItem]]:
    """Disjoint parts that hold all items, in which each kind has its share, as far as the groups
    (whose items stay in one part) allow it. The shares sum to 1."""
    shown = ", ".join(f"{name}={share:g}" for name, share in shares.items())
    if not all(share > 0 for share in shares.values()):
        raise UsageError(f"The shares {shown} are not all above 0.")
    if abs((total := sum(shares.values())) - 1) > 1e-9:
        raise UsageError(f"The shares {shown} sum to {total:.10g}, not to 1.")
    kind_of = {text: kind for kind, ids in _kinds(items, by).items() for text in ids}
    members: defaultdict[int, list[GoldenItem]] = defaultdict(list)
    for at, item in enumerate(items):
        members[at if groups is None else groups[at]].append(item)
    # Large groups come first: small ones even out what they leave.
    drawn = list(members.values())
    random.Random(seed).shuffle(drawn)
    drawn.sort(key=len, reverse=True)
    totals = Counter([*kind_of.values(), *[_ALL] * len(items)])
    held: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in shares}
    part_of: dict[str, str] = {}
    for group in drawn:
        counts = Counter([*(kind_of[item.id] for item in group), *[_ALL] * len(group)])

        def growth(name: str, counts: Counter[tuple[str, ...]] = counts) -> float:
            """How much the squared distances from what a part should hold grow by the group."""
            share = shares[name]
            return sum(
                n * (2 * (held[name][kind] / share - totals[kind]) + n / share)
                for kind, n in counts.items()
            )

        chosen = min(shares, key=growth)
        held[chosen].update(counts)
        part_of.update((item.id, chosen) for item in group)
    return {name: [item for item in items if part_of[item.id] == name] for name in shares}


def _kinds(items: Sequence[GoldenItem], by: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    unknown = [name for name in by if name not in GoldenItem.model_fields]
    if unknown:
        fields = ", ".join(GoldenItem.model_fields)
        raise UsageError(f"Items have no field {unknown[0]!r}. There are: {fields}.")
    kinds: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for item in items:
        kinds[tuple(str(getattr(item, name)) for name in by)].append(item.id)
    return dict(sorted(kinds.items()))
