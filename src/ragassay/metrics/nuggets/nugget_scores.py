"""The six scores of AutoNuggetizer: arithmetic over importance and assignment labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragassay.formats.nugget_bank_file import Importance
from ragassay.judges.questions.nuggets import Assignment

NuggetScore = Literal["all", "all_strict", "vital", "vital_strict", "weighted", "weighted_strict"]

LENIENT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
STRICT = {"support": 1.0, "partial_support": 0.0, "not_support": 0.0}
OKAY_WEIGHT = 0.5
"""Weight of a nugget that is not vital in the weighted scores."""


def nugget_score(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> float | None:
    """One of the six scores, 0 to 1; ``None`` where no nugget counts.

    ``all`` is the mean over all nuggets, ``vital`` over the vital ones; in ``weighted`` vital ones
    weigh 1, others a half. In the ``strict`` forms partial support counts 0.

    Args:
        which: the score.
        importance: the label of each nugget, ``vital`` or ``okay``.
        assignments: how far the answer holds each nugget, in the same order.
    """
    values = STRICT if which.endswith("_strict") else LENIENT
    base = which.removesuffix("_strict")
    okay = {"all": 1.0, "vital": 0.0}.get(base, OKAY_WEIGHT)
    weights = [1.0 if label == "vital" else okay for label in importance]
    held = sum(weight * values[one] for weight, one in zip(weights, assignments, strict=True))
    return held / sum(weights) if sum(weights) else None


def published_nugget_score(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> float:
    """One of the six scores with the denominators of Open RAG Eval's tool.

    They are never below 1 for each kind: five vital nuggets held, and none okay, make a weighted
    score of .909. The mean of no values is 0.

    Args:
        which: the score.
        importance: the label of each nugget, ``vital`` or ``okay``.
        assignments: how far the answer holds each nugget, in the same order.
    """
    values = STRICT if which.endswith("_strict") else LENIENT
    pairs = list(zip(importance, (values[held] for held in assignments), strict=True))
    vital = [value for label, value in pairs if label == "vital"]
    okay = [value for label, value in pairs if label != "vital"]
    match which.removesuffix("_strict"):
        case "all":
            return sum(value for _, value in pairs) / max(len(pairs), 1)
        case "vital":
            return sum(vital) / max(len(vital), 1)
    top = sum(vital) + OKAY_WEIGHT * sum(okay)
    return top / (max(len(vital), 1) + OKAY_WEIGHT * max(len(okay), 1))
