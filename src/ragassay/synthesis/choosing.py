"""Chooses among accepted drafts: the kinds in their shares, in each kind the most different."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from rapidfuzz import fuzz

from ragassay.synthesis.draft import Draft
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import part_of


def chosen(drafts: Sequence[Draft], kinds: Sequence[Kind]) -> list[Draft]:
    """As many drafts as there are kinds, or all: each time one of the kind that lacks most, and of
    these the one that is least like those chosen before, from the least used document and part.

    A kind without drafts leaves its place to the others.
    """
    by_kind: defaultdict[Kind, list[int]] = defaultdict(list)
    for at, draft in enumerate(drafts):
        by_kind[draft.kind].append(at)
    places = [(name, part_of(place)) for name, place in (one.places[0] for one in drafts)]
    lacking = Counter(kinds)
    nearest = [0.0] * len(drafts)
    documents: Counter[str] = Counter()
    parts: Counter[tuple[str, str]] = Counter()
    result: list[Draft] = []

    def cost(at: int) -> tuple[float, int]:
        from_document = documents[places[at][0]] / (len(result) + 1)
        from_part = parts[places[at]] / (len(result) + 1)
        return nearest[at] / 100 + from_document + from_part, at

    while by_kind and len(result) < len(kinds):
        kind = max(sorted(by_kind), key=lambda one: lacking[one])
        best = min(by_kind[kind], key=cost)
        by_kind[kind].remove(best)
        if not by_kind[kind]:
            del by_kind[kind]
        lacking[kind] -= 1
        draft = drafts[best]
        result.append(draft)
        documents[places[best][0]] += 1
        parts[places[best]] += 1
        for others in by_kind.values():
            for at in others:
                alike = fuzz.token_set_ratio(drafts[at].query, draft.query)
                nearest[at] = max(nearest[at], alike)
    return result
