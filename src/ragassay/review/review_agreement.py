"""How far reviewers agree, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ragassay.base.files import write_bytes
from ragassay.base.printable import plural
from ragassay.judges import Question
from ragassay.review.answer_labels import Label, answered
from ragassay.review.label_forms import answer_fields, needed_fields
from ragassay.review.review_store import Review
from ragassay.review.reviewing import Reviewing, Standing
from ragassay.stats.categorical import (
    agreement_interval,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

Statistic = Callable[[Any], float | None]
ADJUDICATION = "adjudication.jsonl"


@dataclass(frozen=True)
class Agreement:
    """A coefficient of agreement, ``None`` where all labels are the same; and the share of pairs
    of labels that are. The interval is of 95 %, by bootstrap over items."""

    name: str
    people: tuple[str, ...]
    n_items: int
    share: float
    value: float | None
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        value = "undefined (one label throughout)" if self.value is None else f"{self.value:.3f}"
        if self.interval is not None:
            value += f" [{self.interval[0]:.3f}, {self.interval[1]:.3f}]"
        items, people = plural(self.n_items, "item"), ", ".join(self.people)
        return f"{self.name}: {value}, {items}, {self.share:.0%} alike: {people}"


@dataclass(frozen=True)
class Agreements:
    """How far people agree, by kind of question (items under an empty one); a record for each
    thing on which they differ; and by person how many known answers were right, of how many."""

    measures: Mapping[str, Sequence[Agreement]]
    differ: Sequence[Mapping[str, Any]]
    known: Mapping[str, tuple[int, int]]
    seconds: Mapping[str, Sequence[float]]


def item_agreement(folder: Reviewing[Any]) -> Agreements:
    """The agreement of independent decisions on items (accept, edit, reject)."""
    standing = folder.standing(Review)
    units = [{who: review.decision for who, review in of.items()} for of in standing.of.values()]
    differ = [
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
    return _agreements(standing, {"": units}, differ)


def label_agreement(folder: Reviewing[Any]) -> Agreements:
    """The agreement of labels of answers, by kind of question. Each value that a question asks
    for counts as an item of its own; lists of texts and explanations do not count."""
    standing = folder.standing(Label)
    units: dict[str, list[dict[str, str]]] = {}
    differ = []
    for question, labels in answered(standing):
        values: dict[tuple[str, int], dict[str, str]] = {}
        for who, label in labels.items():
            for name, at, value in _values(question, label.reply):
                values.setdefault((name, at), {})[who] = value
        needed = [field["name"] for field in needed_fields(question)]
        for (name, _), by_person in values.items():
            title = question.kind if [name] == needed else f"{question.kind} ({name})"
            units.setdefault(title, []).append(by_person)
        if standing.disagree(question.key):
            settled = standing.settled(question.key)
            samples = (str(item.record.get("sample", "")) for item in labels.values())
            differ.append(
                {
                    "question": question.kind,
                    "sample": next(filter(None, samples), ""),
                    "data": question.data,
                    "labels": {who: item.answer for who, item in labels.items()},
                    "settled_by": settled and settled.who,
                    "answer": settled and settled.record.get("answer"),
                }
            )
    return _agreements(standing, units, differ)


def _agreements(
    standing: Standing[Any],
    units: Mapping[str, Sequence[Mapping[str, str]]],
    differ: Sequence[Mapping[str, Any]],
) -> Agreements:
    """The agreement on units, in which each person has a value, by kind of question."""
    known = {
        who: (sum(bool(value.right) for value in said.values()), len(said))
        for who, said in sorted(standing.known.items())
        if said
    }
    measures = {kind: found for kind, ones in units.items() if (found := coefficients(ones))}
    return Agreements(measures, differ, known, standing.seconds)


def coefficients(units: Iterable[Mapping[str, str]]) -> list[Agreement]:
    """Alpha and Fleiss' kappa of all, then Cohen's kappa of each two people who have units in
    common; empty where no unit has two values."""
    several = [unit for unit in units if len(unit) > 1]
    if not several:
        return []
    people = tuple(sorted({name for unit in several for name in unit}))
    labels = sorted({label for unit in several for label in unit.values()})
    counts = np.array([[list(unit.values()).count(label) for label in labels] for unit in several])
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


def shown_reviews(reviews: Mapping[str, Review]) -> list[dict[str, Any]]:
    """Reviews of an item for a person to read."""
    return [
        {"reviewer": who, "decision": review.decision, "changes": review.changes}
        for who, review in reviews.items()
    ]


def keep(folder: Path, items: Agreements, labels: Agreements) -> Path:
    """Writes what people disagree on into a file of the folder, a line each; returns the file."""
    path = folder / ADJUDICATION
    records = [*items.differ, *labels.differ]
    lines = [orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records]
    write_bytes(path, b"".join(lines))
    return path


def _values(question: Question[Any], reply: Any) -> Iterator[tuple[str, int, str]]:
    """The values of a reply that people may differ in: field, place in its list, value."""
    for field in answer_fields(question):
        name, value = field["name"], getattr(reply, field["name"])
        if field["form"] == "choices":
            yield from ((name, at, str(item)) for at, item in enumerate(value))
        elif field["form"] in ("choice", "number", "numbers"):
            yield name, 0, str(value)
