"""How far reviewers agree, and where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ragassay.base.files import write_bytes
from ragassay.golden.golden_card import change_card
from ragassay.judges import Question
from ragassay.review.label_forms import answer_fields, needed_fields
from ragassay.review.label_log import LABELS, answered
from ragassay.review.review_editing import REVIEWS
from ragassay.review.review_folder import ReviewFolder
from ragassay.review.review_log import Entry
from ragassay.stats.categorical import (
    agreement_interval,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

Statistic = Callable[[Any], float | None]
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


def agreement(folder: ReviewFolder) -> list[Agreement]:
    """The agreement of independent decisions on items (accept, edit, reject).

    Returns:
        Alpha and Fleiss' kappa of all, then Cohen's kappa of each two people who have items in
        common; empty where no item has two reviews.
    """
    said = folder.standing(REVIEWS).of.values()
    return coefficients([{who: one.said.decision for who, one in of.items()} for of in said])


def label_agreement(folder: ReviewFolder) -> dict[str, list[Agreement]]:
    """The agreement of labels of answers, by kind of question.

    Each value that a question asks for counts as an item of its own, and any two different values
    as different; lists of texts and explanations do not count.
    """
    units: dict[str, list[dict[str, str]]] = {}
    for question, labels in answered(folder.standing(LABELS)):
        values: dict[tuple[str, int], dict[str, str]] = {}
        for who, one in labels.items():
            for name, at, value in _values(question, one.reply):
                values.setdefault((name, at), {})[who] = value
        needed = [field["name"] for field in needed_fields(question)]
        for (name, _), by_person in values.items():
            title = question.kind if [name] == needed else f"{question.kind} ({name})"
            units.setdefault(title, []).append(by_person)
    measured = {kind: coefficients(of_kind) for kind, of_kind in units.items()}
    return {kind: agreements for kind, agreements in measured.items() if agreements}


def coefficients(units: Iterable[Mapping[str, str]]) -> list[Agreement]:
    """Coefficients of agreement.

    Returns:
        See `agreement`.
    """
    several = [unit for unit in units if len(unit) > 1]
    if not several:
        return []
    people = tuple(sorted({name for unit in several for name in unit}))
    labels = sorted({label for unit in several for label in unit.values()})
    counts = np.array([[list(unit.values()).count(one) for one in labels] for unit in several])
    n = counts.sum(axis=1)
    share = float((counts * (counts - 1)).sum() / (n * (n - 1)).sum())

    def measured(
        name: str, who: tuple[str, ...], share: float, statistic: Statistic, units: Any
    ) -> Agreement:
        value, interval = statistic(units), agreement_interval(statistic, units)
        return Agreement(name, who, len(units), share, value, interval)

    agreements = [
        measured("krippendorff alpha", people, share, krippendorff_alpha, counts),
        measured("fleiss kappa", people, share, fleiss_kappa, counts),
    ]
    for pair in combinations(people, 2):
        common = [unit for unit in several if set(pair) <= set(unit)]
        if common:
            rows = np.array([[labels.index(unit[name]) for name in pair] for unit in common])
            same = float(np.mean(rows[:, 0] == rows[:, 1]))
            agreements.append(measured("cohen kappa", pair, same, cohen_kappa, rows))
    return agreements


def disagreements(folder: ReviewFolder) -> list[dict[str, Any]]:
    """The items whose reviewers want different things.

    Returns:
        For each ``item``, ``query``, ``status`` (``draft`` until somebody settles it) and
        ``reviews``.
    """
    standing = folder.standing(REVIEWS)
    return [
        {
            "item": item.id,
            "query": item.query,
            "status": item.status,
            "settled_by": item.reviewer if item.status != "draft" else None,
            "reviews": shown_reviews(standing.of[item.id]),
        }
        for item in folder.golden().items
        if standing.disagree(item.id)
    ]


def label_disagreements(folder: ReviewFolder) -> list[dict[str, Any]]:
    """The questions about answers to which people gave different answers.

    Returns:
        For each ``question`` (its kind), ``sample`` (the query's id), ``data``, ``labels`` (answer
        by person), ``settled_by`` and ``answer`` (``None`` until somebody settles it).
    """
    standing = folder.standing(LABELS)
    open_questions = []
    for question, labels in answered(standing):
        if standing.disagree(question.key):
            settled = standing.settled(question.key)
            records = [one.record for one in labels.values()]
            open_questions.append(
                {
                    "question": question.kind,
                    "sample": next((one["sample"] for one in records if "sample" in one), ""),
                    "data": question.data,
                    "labels": {who: one.answer for who, one in labels.items()},
                    "settled_by": settled and settled.who,
                    "answer": settled and settled.said.record.get("answer"),
                }
            )
    return open_questions


def shown_reviews(reviews: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """Reviews of an item for a person to read."""
    return [
        {"reviewer": who, "decision": one.said.decision, "changes": one.said.changes}
        for who, one in reviews.items()
    ]


def save_adjudication(folder: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    """Writes the disagreements, a line each, into the folder.

    Args:
        folder: of the golden set.
        records: by `disagreements` and `label_disagreements`.

    Returns:
        The file's path.
    """
    path = folder / ADJUDICATION
    lines = [orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in records]
    write_bytes(path, b"".join(lines))
    return path


def tell_card(folder: Path, sentence: str) -> None:
    """Writes the agreement into the golden set's card, where its line for that still stands.

    Args:
        folder: of the golden set.
        sentence: about the agreement.
    """
    change_card(folder, [(_CARD_LINE, f"Agreement of reviewers: {sentence}")])


def _values(question: Question[Any], reply: Any) -> Iterator[tuple[str, int, str]]:
    """The values of a reply that people may differ in: field, place in its list, value."""
    for field in answer_fields(question):
        name, value = field["name"], getattr(reply, field["name"])
        if field["form"] == "choices":
            yield from ((name, at, str(one)) for at, one in enumerate(value))
        elif field["form"] in ("choice", "number", "numbers"):
            yield name, 0, str(value)
