"""Precision, recall and F1 of citations: arithmetic over what each citation is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.metrics.base import harmonic


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


def over_citations(statements: Cited) -> CitationScores:
    """Open RAG Eval's formulas as written: all citations' worth over their number; the mean worth
    of each statement's citations (0 without any) over the number of statements."""
    return _scores(statements, _mean)


def best_citations(statements: Cited) -> CitationScores:
    """The same precision; for recall a statement is worth what its best citation is worth: one that
    supports it is enough, and a weak one beside it harms the precision already."""
    return _scores(statements, max)


def first_citations(statements: Cited) -> CitationScores:
    """TREC: the first citation of each sentence, over the sentences that cite and over all."""
    return _scores([cited[:1] for cited in statements], max)


def published_scores(statements: Cited) -> CitationScores:
    """As Open RAG Eval computes them: the mean over distinct cited passages of their mean worth;
    the mean over parts. A citation of what was not retrieved is left out, and a part with no other
    citation with it; nothing cited is precision 0."""
    by_passage: dict[str, list[float]] = defaultdict(list)
    parts: list[float] = []
    for cited in statements:
        known = [one.value for one in cited if one.retrieved]
        if known or not cited:
            parts.append(_mean(known) if known else 0.0)
        for one in cited:
            if one.retrieved:
                by_passage[one.passage].append(one.value)
    precision = _mean([_mean(values) for values in by_passage.values()]) if by_passage else 0.0
    recall = _mean(parts) if parts else 0.0
    return CitationScores(precision, recall, harmonic(precision, recall))


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
