"""Precision, recall and F1 of citations: arithmetic over what each citation is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.metrics.core.metric import harmonic


class CitationWorth(NamedTuple):
    """A citation: its passage, whether that was retrieved, and its worth (0 where it was not)."""

    passage: str
    retrieved: bool
    value: float


Cited = Sequence[Sequence[CitationWorth]]
"""The citations of each statement, in order."""


class CitationScores(NamedTuple):
    """Three scores from 0 to 1. ``precision`` is ``None`` where nothing is cited; all are ``None``
    where the answer has no statement."""

    precision: float | None
    recall: float | None
    f1: float | None


def over_passages(statements: Cited) -> CitationScores:
    """Open RAG Eval's formulas as written.

    Precision: each cited passage's mean worth over the statements that cite it, averaged over the
    cited passages. Recall: the mean worth of each statement's citations (0 without any), averaged
    over the statements.
    """
    over = over_pairs(statements)
    means = [_mean(values) for values in _by_passage(statements).values()]
    if not means or over.recall is None:
        return over
    precision = _mean(means)
    return CitationScores(precision, over.recall, harmonic(precision, over.recall))


def over_pairs(statements: Cited) -> CitationScores:
    """The recall of `over_passages`; for precision every pair of a statement and a citation counts
    once, so it is the mean worth of all pairs."""
    return _scores(statements, _mean)


def best_citations(statements: Cited) -> CitationScores:
    """Precision over pairs; recall by the best citation of each statement.

    One citation that supports a statement is enough; a weak one beside it already lowers the
    precision.
    """
    return _scores(statements, max)


def first_citations(statements: Cited) -> CitationScores:
    """TREC: the first citation of each sentence, over the sentences that cite and over all."""
    return _scores([cited[:1] for cited in statements], max)


def published_scores(statements: Cited) -> CitationScores:
    """The scores as Open RAG Eval's tool computes them.

    Precision: the mean over distinct cited passages of their mean worth, 0 where nothing is cited.
    Recall: the mean over parts. A citation of a passage that was not retrieved is left out, and so
    is a part with no other citation.
    """
    parts: list[float] = []
    retrieved = [[one for one in cited if one.retrieved] for cited in statements]
    for cited, of_retrieved in zip(statements, retrieved, strict=True):
        if of_retrieved or not cited:
            parts.append(_mean([one.value for one in of_retrieved]) if of_retrieved else 0.0)
    by_passage = _by_passage(retrieved)
    precision = _mean([_mean(values) for values in by_passage.values()]) if by_passage else 0.0
    recall = _mean(parts) if parts else 0.0
    return CitationScores(precision, recall, harmonic(precision, recall))


def _by_passage(statements: Cited) -> dict[str, list[float]]:
    """What each cited passage is worth wherever it is cited, in order of first mention."""
    worths: dict[str, list[float]] = defaultdict(list)
    for cited in statements:
        for one in cited:
            worths[one.passage].append(one.value)
    return worths


def _scores(statements: Cited, worth: Callable[[Sequence[float]], float]) -> CitationScores:
    if not statements:
        return CitationScores(None, None, None)
    values = [[one.value for one in cited] for cited in statements]
    flat = [value for cited in values for value in cited]
    recall = sum(worth(cited) for cited in values if cited) / len(values)
    if not flat:
        return CitationScores(None, recall, 0.0)
    precision = _mean(flat)
    return CitationScores(precision, recall, harmonic(precision, recall))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
