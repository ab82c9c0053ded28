"""Which kinds of query are wanted, by weights."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragassay.errors import UsageError, did_you_mean

FREE = ("style", "language")
"""What a mix may say in words of one's own."""

KNOWN: Mapping[str, tuple[str, ...]] = {
    "type": ("factual", "comparison", "summary", "reasoning", "procedural", "yes-no"),
    "complexity": ("direct", "several-facts", "several-steps"),
    "answerability": ("answerable", "unanswerable", "partial"),
    "length": ("short", "medium", "long"),
    "shape": ("single", "across", "follow-up"),
}
"""The values of the other parts of a mix. ``shape``: from one passage, across two documents, or
a further turn of a conversation."""

DEFAULT: Mapping[str, Mapping[str, float]] = {
    "type": {"factual": 3, "yes-no": 1},
    "answerability": {"answerable": 4, "unanswerable": 1},
    "shape": {"single": 1},
}

Kind = tuple[tuple[str, str], ...]
"""What is wanted of one item: part and value, in the order of the mix."""


@dataclass(frozen=True)
class Mix:
    """Weights of values, for each part that is controlled.

    Attributes:
        weights: by part and value; they sum to 1 in each part.
    """

    weights: Mapping[str, Mapping[str, float]]

    @classmethod
    def parse(cls, words: Iterable[str]) -> Mix:
        """A mix in words: ``type=factual:2,yes-no:1``; a part that is not named has its default.

        Args:
            words: one a part.

        Raises:
            UsageError: an unknown part or value, or a weight that is none.
        """
        given = {part: dict(values) for part, values in DEFAULT.items()}
        for word in words:
            part, equals, values = word.partition("=")
            if not equals or part not in (*KNOWN, *FREE):
                hint = did_you_mean(part, [*KNOWN, *FREE])
                raise UsageError(
                    f"--mix {word!r}: write PART=VALUE:WEIGHT,..., as in type=factual:2,yes-no:1. "
                    f"{hint} Parts: {', '.join([*KNOWN, *FREE])}."
                )
            given[part] = dict(_weight(word, part, one) for one in values.split(","))
        return cls.of(given)

    @classmethod
    def of(cls, weights: Mapping[str, Mapping[str, float]]) -> Mix:
        """The mix with these weights, whose sums may be any.

        Args:
            weights: by part and value.

        Raises:
            UsageError: the weights of a part are all 0.
        """
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

    def values(self, part: str) -> tuple[str, ...]:
        """The values that a part may take.

        Args:
            part: of the mix.
        """
        return tuple(self.weights.get(part, {}))

    def kinds(self, n: int, seed: int) -> list[Kind]:
        """What is wanted of each of ``n`` items: in each part the values in their shares, parts
        independent of each other, in random order.

        Args:
            n: items.
            seed: of the order.
        """
        columns = []
        for part, weights in self.weights.items():
            values = [value for value, n_of in counts(weights, n).items() for _ in range(n_of)]
            random.Random(f"{seed} {part}").shuffle(values)
            columns.append([(part, value) for value in values])
        return [tuple(row) for row in zip(*columns, strict=True)]


def counts(weights: Mapping[str, float], n: int) -> dict[str, int]:
    """How many of ``n`` each value has, by largest remainders.

    Args:
        weights: of the values; they sum to 1.
        n: of all.
    """
    exact = {value: n * weight for value, weight in weights.items()}
    whole = {value: int(share) for value, share in exact.items()}
    by_rest = sorted(exact, key=lambda value: whole[value] - exact[value])
    for value in by_rest[: n - sum(whole.values())]:
        whole[value] += 1
    return whole


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
