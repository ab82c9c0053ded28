"""Precision, recall and F1 of citations: arithmetic over what each citation is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.metrics.core import harmonic


class Worth(NamedTuple):
    """A citation, whether its passage was retrieved, and its worth (0 where it was not)."""

    passage: str
    retrieved: bool
    value: float


Cited = Sequence[Sequence[Worth]]
"""The citations of each statement, in order."""


class CitationScores(NamedTuple):
    """``precision`` is ``None`` where nothing is cited; all are ``None`` where nothing is said."""

    precision: float | None
    recall: float | None
    f1: float | None


def over_passages(statements: Cited) -> CitationScores:
    """Open RAG Eval's formulas as written: each cited passage's mean worth over the statements that
    cite it, over the number of cited passages; the mean worth of each statement's citations (0
    without any) over the number of statements."""
    over = over_pairs(statements)
    means = [_mean(values) for values in _by_passage(statements).values()]
    if not means or over.recall is None:
        return over
    precision = _mean(means)
    return CitationScores(precision, over.recall, harmonic(precision, over.recall))


def over_pairs(statements: Cited) -> CitationScores:
    """The same recall; for precision every pair of a statement and a citation counts once: all
    worth over the number of pairs."""
    return _scores(statements, _mean)


def best_citations(statements: Cited) -> CitationScores:
    """Precision over pairs; for recall a statement is worth what its best citation is worth: one
    that supports it is enough, and a weak one beside it harms the precision already."""
    return _scores(statements, max)


def first_citations(statements: Cited) -> CitationScores:
    """TREC: the first citation of each sentence, over the sentences that cite and over all."""
    return _scores([cited[:1] for cited in statements], max)


def published_scores(statements: Cited) -> CitationScores:
    """As Open RAG Eval computes them: the mean over distinct cited passages of their mean worth;
    the mean over parts. A citation of what was not retrieved is left out, and a part with no other
    citation with it; nothing cited is precision 0."""
    parts: list[float] = []
    retrieved = [[one for one in cited if one.retrieved] for cited in statements]
    for cited, known in zip(statements, retrieved, strict=True):
        if known or not cited:
            parts.append(_mean([one.value for one in known]) if known else 0.0)
    by_passage = _by_passage(retrieved)
    precision = _mean([_mean(values) for values in by_passage.values()]) if by_passage else 0.0
    recall = _mean(parts) if parts else 0.0
    return CitationScores(precision, recall, harmonic(precision, recall))


def _by_passage(statements: Cited) -> dict[str, list[float]]:
    """What each cited passage is worth wherever it is cited, in order of first mention."""
    found: dict[str, list[float]] = defaultdict(list)
    for cited in statements:
        for one in cited:
            found[one.passage].append(one.value)
    return found


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
