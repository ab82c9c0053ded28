"""What are the retrieved chunks worth to a query? ML cube's four values from passage grades."""

from __future__ import annotations

from ragassay.judges.offline.answers import rule_for
from ragassay.judges.offline.evidence import share_of
from ragassay.judges.offline.hostile import evidence_sentences
from ragassay.judges.offline.relevance import PARTLY, grade
from ragassay.judges.offline.words import content
from ragassay.judges.questions.report import ContextReport, ReportOnContext

USED = 2
"""Smallest relevance grade of a chunk that helps to answer."""


@rule_for(ReportOnContext)
def report(question: ReportOnContext) -> ContextReport:
    """Relevance is the mean grade, usefulness the best one, on 1 to 5; utilization is the share of
    the sentences that are near the query and in useful chunks."""
    grades = [grade(question.query, chunk) for chunk in question.chunks]
    used = tuple(at for at, found in enumerate(grades, 1) if found >= USED)
    mean = sum(grades) / len(grades) if grades else 0.0
    best = max(grades, default=0)
    percent = _utilization(question.query, question.chunks, used)
    listed = ", ".join(map(str, used)) or "none"
    return ContextReport(
        relevance_explanation=f"The mean grade of the chunks is {mean:.1f} of 3.",
        relevance=1 + round(4 * mean / 3),
        usefulness_explanation=f"The best chunk has grade {best} of 3.",
        usefulness=1 + round(4 * best / 3),
        utilization_explanation=f"{percent}% of the sentences speak of what the query asks.",
        utilization=percent,
        attribution_explanation=f"Chunks that help to answer: {listed}.",
        attribution=used,
    )


def _utilization(query: str, chunks: tuple[str, ...], used: tuple[int, ...]) -> int:
    asked = frozenset(content(query))
    whole = near = 0
    for at, chunk in enumerate(chunks, 1):
        for sentence in evidence_sentences(chunk):
            whole += 1
            near += at in used and share_of(asked, set(content(sentence))) >= PARTLY / 2
    return round(100 * near / whole) if whole else 0
