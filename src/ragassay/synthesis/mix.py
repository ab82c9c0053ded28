"""Which kinds of query are wanted, by weights."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragassay.base import package_files
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.golden.golden_parts import shared_out

FREE = ("style", "language")
"""What a mix may say in words of one's own."""

WORDS = (3, 60)
"""Fewest and most words of a query."""

LENGTHS: Mapping[str, tuple[int, int]] = {"short": (1, 8), "medium": (9, 16), "long": (17, 35)}
"""Fewest and most words of a query of each wanted length."""

JOINT = "question_type"
"""A part that sets two others: Open RAG Eval's four types of query."""

EXPANDED: Mapping[str, Mapping[str, str]] = {
    "directly_answerable": {"type": "factual", "answerability": "answerable"},
    "reasoning_required": {"type": "reasoning", "answerability": "answerable"},
    "unanswerable": {"type": "factual", "answerability": "unanswerable"},
    "partially_answerable": {"type": "factual", "answerability": "partial"},
}
"""What they set."""

ASKED: Mapping[str, Mapping[str, str]] = package_files.table("ragassay.synthesis", "data/mix.yaml")
"""What a prompt says of each value of a part."""

KNOWN = {part: tuple(values) for part, values in ASKED.items()} | {JOINT: tuple(EXPANDED)}
"""The values of the parts of a mix that are not free."""

DEFAULT: Mapping[str, Mapping[str, float]] = {
    "type": {"factual": 3, "yes-no": 1},
    "answerability": {"answerable": 4, "unanswerable": 1},
    "shape": {"single": 1},
}

Kind = tuple[tuple[str, str], ...]
"""What is wanted of one item: part and value, by the names of the parts."""


@dataclass(frozen=True)
class Mix:
    """Weights of values, for each part that is controlled.

    Attributes:
        weights: by part and value; they sum to 1 in each part.
    """

    weights: Mapping[str, Mapping[str, float]]

    @classmethod
    def parse(cls, words: Iterable[str]) -> Mix:
        """A mix in words: ``type=factual:2,yes-no:1``; a part that is not named has its default."""
        defaults = {part: dict(values) for part, values in DEFAULT.items()}
        chosen: dict[str, dict[str, float]] = {}
        for word in words:
            part, equals, values = word.partition("=")
            if not equals or part not in (*KNOWN, *FREE):
                hint = did_you_mean(part, [*KNOWN, *FREE])
                raise UsageError(
                    f"--mix {word!r}: write PART=VALUE:WEIGHT,..., as in type=factual:2,yes-no:1. "
                    f"{hint} Parts: {', '.join([*KNOWN, *FREE])}."
                )
            chosen[part] = dict(_weight(word, part, one) for one in values.split(","))
        if JOINT in chosen:
            both = {"type", "answerability"} & chosen.keys()
            if both:
                raise UsageError(f"--mix {JOINT} sets {both.pop()} too: name one of the two.")
            del defaults["type"], defaults["answerability"]
        return cls.of({**defaults, **chosen})

    @classmethod
    def of(cls, weights: Mapping[str, Mapping[str, float]]) -> Mix:
        """The mix with these weights, whose sums may be any."""
        for part, values in weights.items():
            if not sum(values.values()) > 0:
                raise UsageError(f"--mix {part}: no weight is above 0.")
        return cls(
            {
                part: {
                    value: one / sum(values.values()) for value, one in values.items() if one > 0
                }
                for part, values in sorted(weights.items())
            }
        )

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The values that each part may take; the joint part as those that it sets."""
        parts = {part: tuple(values) for part, values in self.weights.items() if part != JOINT}
        for value in self.weights.get(JOINT, {}):
            for part, set_to in EXPANDED[value].items():
                parts[part] = tuple(dict.fromkeys((*parts.get(part, ()), set_to)))
        return parts

    def kinds(self, n: int, seed: int) -> list[Kind]:
        """What is wanted of each of ``n`` items: in each part the values in their shares, parts
        independent of each other, in random order."""
        columns = []
        for part, weights in self.weights.items():
            quota = shared_out({value: n * weight for value, weight in weights.items()}, n)
            values = [value for value, n_of in quota.items() for _ in range(n_of)]
            random.Random(f"{seed} {part}").shuffle(values)
            columns.append(
                [EXPANDED[value] if part == JOINT else {part: value} for value in values]
            )
        rows = zip(*columns, strict=True)
        return [
            tuple(sorted((part, value) for one in row for part, value in one.items()))
            for row in rows
        ]


def _weight(word: str, part: str, text: str) -> tuple[str, float]:
    value, _, number = text.strip().partition(":")
    if part in KNOWN and value not in KNOWN[part]:
        raise UsageError(
            f"--mix {word!r}: no {part} is called {value!r}. There are: {', '.join(KNOWN[part])}."
        )
    try:
        weight = float(number or 1)
    except ValueError:
        weight = -1.0
    if not value or not 0 <= weight < float("inf"):
        raise UsageError(
            f"--mix {word!r}: {text!r} is no VALUE:WEIGHT with a weight of at least 0."
        )
    return value, weight
