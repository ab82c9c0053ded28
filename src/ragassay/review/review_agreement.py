"""How far reviewers agree, and where they do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ragassay.files import atomic, write_text
from ragassay.review.review_editing import outcome
from ragassay.review.review_log import Review
from ragassay.review.review_store import ReviewStore
from ragassay.stats import agreement_interval, cohen_kappa, fleiss_kappa, krippendorff_alpha

ADJUDICATION = "adjudication.jsonl"
_CARD_LINE = re.compile(r"^Agreement of reviewers: .*$", re.M)
_LABELS = ("accept", "edit", "reject")


@dataclass(frozen=True)
class Agreement:
    """A coefficient of agreement.

    Attributes:
        name: ``krippendorff alpha``, ``fleiss kappa`` or ``cohen kappa``.
        people: whose reviews.
        n_items: how many items two of them or more reviewed.
        share: of pairs of reviews of an item that have the same decision.
        value: at most 1; ``None`` where it is undefined: all decisions are the same.
        interval: 95 %, by bootstrap over items.
    """

    name: str
    people: tuple[str, ...]
    n_items: int
    share: float
    value: float | None
    interval: tuple[float, float] | None


def agreement(store: ReviewStore) -> list[Agreement]:
    """The agreement of independent decisions (accept, edit, reject).

    Args:
        store: of a reviewed golden set.

    Returns:
        Alpha and Fleiss' kappa of all, then Cohen's kappa of each two people who have items in
        common; empty where no item has two reviews.
    """
    several = [given for given in store.standing().of_item.values() if len(given) > 1]
    if not several:
        return []
    people = tuple(sorted({name for given in several for name in given}))
    counts = np.array([_counts(given) for given in several])
    n = counts.sum(axis=1)
    share = float((counts * (counts - 1)).sum() / (n * (n - 1)).sum())
    found = [
        Agreement(
            name, people, len(several), share, statistic(counts),
            agreement_interval(statistic, counts),
        )
        for name, statistic in (
            ("krippendorff alpha", krippendorff_alpha),
            ("fleiss kappa", fleiss_kappa),
        )
    ]  # fmt: skip
    for pair in combinations(people, 2):
        codes = [
            [_LABELS.index(given[name].decision) for name in pair]
            for given in several
            if set(pair) <= set(given)
        ]
        if codes:
            rows = np.array(codes)
            same = float(np.mean(rows[:, 0] == rows[:, 1]))
            interval = agreement_interval(cohen_kappa, rows)
            value = cohen_kappa(rows)
            found.append(Agreement("cohen kappa", pair, len(rows), same, value, interval))
    return found


def disagreements(store: ReviewStore) -> list[dict[str, Any]]:
    """The items whose reviewers want different things.

    Args:
        store: of a reviewed golden set.

    Returns:
        For each ``item``, ``query``, ``status`` (``draft`` until somebody settles it) and
        ``reviews``.
    """
    standing = store.standing()
    found = []
    for item in store.golden().items:
        given = standing.of_item.get(item.id, {})
        if len({outcome(one.decision, one.changes) for one in given.values()}) > 1:
            found.append(
                {
                    "item": item.id,
                    "query": item.query,
                    "status": item.status,
                    "settled_by": item.reviewer if item.status != "draft" else None,
                    "reviews": told(given),
                }
            )
    return found


def told(given: Mapping[str, Review]) -> list[dict[str, Any]]:
    """Reviews of an item for a person to read.

    Args:
        given: by reviewer.
    """
    return [
        {"reviewer": one.reviewer, "decision": one.decision, "changes": one.changes}
        for one in given.values()
    ]


def save_adjudication(store: ReviewStore, found: Sequence[Mapping[str, Any]]) -> Path:
    """Writes the disagreements, a line each, into the folder.

    Args:
        store: of the golden set.
        found: by `disagreements`.

    Returns:
        The file's path.
    """
    path = store.folder / ADJUDICATION
    with atomic(path) as stream:
        for one in found:
            stream.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
    return path


def tell_card(store: ReviewStore, sentence: str) -> None:
    """Writes the agreement into the golden set's card, where its line for that still stands.

    Args:
        store: of the golden set.
        sentence: about the agreement.
    """
    path = store.folder / "card.md"
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    # A function, because a name in the sentence may hold what a replacement gives a meaning.
    told = _CARD_LINE.sub(lambda _: f"Agreement of reviewers: {sentence}", text, count=1)
    if told != text:
        write_text(path, told)


def _counts(given: Mapping[str, Review]) -> list[int]:
    decisions: list[str] = [one.decision for one in given.values()]
    return [decisions.count(label) for label in _LABELS]
