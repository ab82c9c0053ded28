"""How far reviewers agree, and where they do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ragassay.files import write_bytes
from ragassay.golden import change_card
from ragassay.judges import Question, label_of
from ragassay.review.label_forms import answer_fields
from ragassay.review.label_log import LabelLog
from ragassay.review.review_editing import outcome
from ragassay.review.review_log import Review
from ragassay.review.review_store import ReviewStore
from ragassay.stats import agreement_interval, cohen_kappa, fleiss_kappa, krippendorff_alpha

ADJUDICATION = "adjudication.jsonl"
_CARD_LINE = re.compile(r"^Agreement of reviewers: .*$", re.M)


@dataclass(frozen=True)
class Agreement:
    """A coefficient of agreement.

    Attributes:
        name: ``krippendorff alpha``, ``fleiss kappa`` or ``cohen kappa``.
        people: whose reviews.
        n_items: how many items two of them or more reviewed or labelled.
        share: of pairs of labels of an item that are the same.
        value: at most 1; ``None`` where it is undefined: all labels are the same.
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
    of_item = store.standing().of_item.values()
    return coefficients([{who: one.decision for who, one in given.items()} for given in of_item])


def label_agreement(log: LabelLog) -> dict[str, list[Agreement]]:
    """The agreement of labels of answers, by kind of question.

    Each value that a question asks for counts as an item of its own, and any two different values
    as different; lists of texts and explanations do not count.

    Args:
        log: labels by people.
    """
    units: dict[str, list[dict[str, str]]] = {}
    for question, given in log.answers():
        labels: dict[tuple[str, int], dict[str, str]] = {}
        for who, record in given.items():
            _, reply = label_of(record)
            for name, at, value in _values(question, reply):
                labels.setdefault((name, at), {})[who] = value
        for (name, _), by_person in labels.items():
            title = question.kind if name in _plain(question) else f"{question.kind} ({name})"
            units.setdefault(title, []).append(by_person)
    return {kind: found for kind, each in units.items() if (found := coefficients(each))}


def coefficients(units: Iterable[Mapping[str, str]]) -> list[Agreement]:
    """Coefficients of agreement.

    Args:
        units: the labels of each item, by person.

    Returns:
        See `agreement`.
    """
    several = [given for given in units if len(given) > 1]
    if not several:
        return []
    people = tuple(sorted({name for given in several for name in given}))
    labels = sorted({label for given in several for label in given.values()})
    counts = np.array([[list(given.values()).count(one) for one in labels] for given in several])
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
            [labels.index(given[name]) for name in pair]
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


def label_disagreements(log: LabelLog) -> list[dict[str, Any]]:
    """The questions about answers to which people gave different answers.

    Args:
        log: labels by people.

    Returns:
        For each ``question`` (its kind), ``sample`` (the query's id), ``data``, ``labels`` (answer
        by person), ``settled_by`` and ``answer`` (``None`` until somebody settles it).
    """
    found = []
    for question, given in log.answers():
        if log.disagree(question.key):
            settled = log.settled(question.key) or {}
            found.append(
                {
                    "question": question.kind,
                    "sample": next(
                        (one["sample"] for one in given.values() if "sample" in one), ""
                    ),
                    "data": question.data,
                    "labels": {who: one["answer"] for who, one in given.items()},
                    "settled_by": settled.get("judge"),
                    "answer": settled.get("answer"),
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
        found: by `disagreements` and `label_disagreements`.

    Returns:
        The file's path.
    """
    path = store.folder / ADJUDICATION
    lines = [orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in found]
    write_bytes(path, b"".join(lines))
    return path


def tell_card(store: ReviewStore, sentence: str) -> None:
    """Writes the agreement into the golden set's card, where its line for that still stands.

    Args:
        store: of the golden set.
        sentence: about the agreement.
    """
    change_card(store.folder, [(_CARD_LINE, f"Agreement of reviewers: {sentence}")])


def _values(question: Question[Any], reply: Any) -> Iterator[tuple[str, int, str]]:
    """The values of a reply that people may differ in: field, place in its list, value."""
    for field in answer_fields(question):
        name, value = field["name"], getattr(reply, field["name"])
        if field["form"] == "choices":
            yield from ((name, at, str(one)) for at, one in enumerate(value))
        elif field["form"] in ("choice", "number", "numbers"):
            yield name, 0, str(value)


def _plain(question: Question[Any]) -> set[str]:
    """The one field that people fill in; none where there are several."""
    needed = [field["name"] for field in answer_fields(question) if not field["optional"]]
    return set(needed) if len(needed) == 1 else set()
