"""What changed from one golden set to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Postfix, Prefix

from ragassay.golden.golden_item import GoldenItem


@dataclass(frozen=True)
class Change:
    """A query that differs; ``moved``: the same texts at other places. ``texts``: of gold that
    differs, before and now; of moved spans their documents."""

    id: str
    kind: Literal["added", "removed", "changed", "moved"]
    fields: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def difference(old: Sequence[GoldenItem], new: Sequence[GoldenItem]) -> Iterator[Change]:
    """The queries that differ, those of the new set first."""
    remaining = {item.id: item for item in old}
    for item in new:
        one = remaining.pop(item.id, None)
        if one is None:
            yield Change(item.id, "added")
            continue
        fields = tuple(
            name for name in GoldenItem.model_fields if getattr(one, name) != getattr(item, name)
        )
        if fields == ("gold",) and _texts(one) == _texts(item):
            spans = zip(one.gold or (), item.gold or (), strict=True)
            places = dict.fromkeys((a.document, b.document) for a, b in spans)
            documents = tuple(place for place in places if place[0] != place[1])
            yield Change(item.id, "moved", fields, documents)
        elif fields:
            yield Change(item.id, "changed", fields, _edited(one, item))
    yield from (Change(name, "removed") for name in remaining)


def _texts(item: GoldenItem) -> list[tuple[str, int]]:
    return [(span.text, span.grade) for span in item.gold or ()]


def _edited(old: GoldenItem, new: GoldenItem) -> tuple[tuple[str, str], ...]:
    before, now = _texts(old), _texts(new)
    if len(before) != len(now):
        return ()
    return tuple((a, b) for (a, _), (b, _) in zip(before, now, strict=True) if a != b)


_MOST = 60
"""Characters of a text that is shown in full."""
_BESIDE = 15
"""Characters of equal text that are shown beside what differs."""


def excerpt(text: str, start: int = 0, end: int | None = None) -> str:
    """A text in quotes: where it is long, the part around some characters, at most about 60."""
    if len(text) <= _MOST:
        return repr(text)
    first = max(0, min(start - _BESIDE, len(text) - _MOST))
    wanted = len(text) if end is None else end + _BESIDE
    last = min(len(text), wanted, first + _MOST)
    return repr(f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}")


def differing(old: str, new: str) -> tuple[str, str]:
    """Two texts in quotes, each around what differs."""
    head = Prefix.similarity(old, new)
    tail = Postfix.similarity(old[head:], new[head:])
    return excerpt(old, head, len(old) - tail), excerpt(new, head, len(new) - tail)
