"""The base of the qrels-based metrics: from samples to rankings, from values to scores; measures
of the retrieved set as a whole, counts, and the grades themselves as a string.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ragassay.base.errors import CountedFact, UsageError, warn_user
from ragassay.base.sample import ABSTAINING, GoldPassage, Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core import metric
from ragassay.metrics.core.chunk_matching import same_chunks
from ragassay.metrics.core.metric import (
    Measured,
    Window,
    cutoff,
    missing,
    not_applicable,
    param,
    register,
)
from ragassay.metrics.retrieval.ranking_sources import from_lists
from ragassay.metrics.retrieval.rankings import JUDGED, Floats, Rankings, share

SHOWN_RANKS = 10
_BY_SCORE = "ranked by score, which is not the order given"
_CONTRADICTED = (
    "Samples whose passages are not in the order of their scores: {n}. The retrieval metrics "
    "rank them by score, highest first; chunks and spans keep the order given. If the order given "
    "is right (a reranker's, or by distance, where lower is better), leave the scores out."
)


AT_K: Any = cutoff(..., "rank cut-off")
WITHIN_K: Any = cutoff()
REL: Any = param(1, "lowest grade that counts as relevant", minimum=0)
"""Parameters that many measures have. With ``rel`` 0 every judged document is relevant."""


class RankingMetric(Measured):
    """A metric that compares a ranking of passages with graded ones, by their ids; where any has
    none, by their texts, of which one may hold the other.

    Passages are ranked by score, highest first, when all of them have one, else in the order given.
    A passage that occurs again counts at its best rank only. A sample that was judged and has no
    relevant passage counts 0, as in trec_eval, unless its query is labelled unanswerable or
    conversational."""

    family: ClassVar[str] = "retrieval"
    needs = ("passages", "gold")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage has neither id nor text, or a gold passage two grades."""
        return super().lacks(sample) or _unusable(sample)

    def values(self, rankings: Rankings) -> Floats:
        """One finite value a query, shape ``(n_queries,)``."""
        values: Floats = self.measured(rankings)
        return values

    def score_window(self, window: Window) -> Sequence[Outcome]:
        table = window.once(tabulate)
        values = iter(self.values(table.rankings).tolist())
        evidence = iter(window.once(_evidence, getattr(self, "rel", 1)))
        return [
            problem or Score(self.shown_value(next(values)), explanation=next(evidence))
            for problem in table.problems
        ]

    def shown_value(self, value: float) -> float:
        """The value in the form that a sample's score shows."""
        return value


measure = partial(metric.measure, base=RankingMetric)
"""Makes a metric of a function of rankings, which gives one finite value a query."""


class Table(NamedTuple):
    """Rankings of the samples that have one, a note for each, and for every sample the reason why
    it has none."""

    rankings: Rankings
    problems: list[Unscored | None]
    notes: list[str]


def tabulate(window: Window) -> Table:
    """The rankings of a window's samples; for `Window.once`."""
    problems = [missing(s, RankingMetric.needs) or _unusable(s) for s in window.samples]
    usable = [s for s, problem in zip(window.samples, problems, strict=True) if problem is None]
    gold, retrieved, notes = [], [], []
    for sample in usable:
        grades, scores, note = ranked(sample)
        gold.append(grades)
        retrieved.append(scores)
        notes.append(note)
    contradicted = sum(_BY_SCORE in note for note in notes)
    warn_user(CountedFact(_CONTRADICTED, contradicted))
    return Table(from_lists([s.id for s in usable], gold, retrieved), problems, notes)


def _unusable(sample: Sample) -> Unscored | None:
    relevant = sample.gold is None or any(gold.grade > 0 for gold in sample.gold)
    if not relevant and sample.answerability in ABSTAINING:
        return not_applicable(f"the query is labelled {sample.answerability} and has no gold")
    passages, graded = sample.passages or (), sample.gold or ()
    every: list[Passage | GoldPassage] = [*passages, *graded]
    by_text = all(each.text for each in every) and not any(gold.end for gold in graded)
    if by_text and None in {each.id for each in every}:
        return None
    grades: dict[str, int] = {}
    for gold in graded:
        if gold.id is None:
            return not_applicable(f"a gold passage has no id; {_BY_SPAN}")
        if grades.setdefault(gold.id, gold.grade) != gold.grade:
            return Unscored(
                Reason.UNDEFINED,
                f"gold passage {gold.id!r} is graded both {grades[gold.id]} and {gold.grade}",
            )
    for rank, passage in enumerate(passages, 1):
        if passage.id is None:
            detail = f"retrieved passage {rank} has no id; {_NAME_IDS}"
            located = all(gold.text is not None or gold.document is not None for gold in graded)
            return Unscored(Reason.MISSING_INPUT, detail + f"; {_BY_SPAN}" * located)
    return None


_BY_SPAN = "the suite 'chunks' compares texts and spans"
_NAME_IDS = "where its metadata hold one, name it: --columns 'passage_ids=passages[*].metadata.KEY'"


def ranked(sample: Sample) -> tuple[dict[str, int], dict[str, float], str]:
    """The grade of each gold passage, and for each retrieved one a score by which no two tie, by
    what they are known by; and a note where the ranking is not simply the order given."""
    passages, gold = sample.passages or (), sample.gold or ()
    every: list[Passage | GoldPassage] = [*passages, *gold]
    ids = [each.id for each in every if each.id is not None]
    if len(ids) < len(every):
        ids = [*map(str, same_chunks(every, held=True))]
    grades: dict[str, int] = {}
    for name, each in zip(ids[len(passages) :], gold, strict=True):
        grades[name] = max(each.grade, grades.get(name, each.grade))
    ids = ids[: len(passages)]
    scores = [passage.score for passage in passages if passage.score is not None]
    notes = []
    if len(scores) == len(ids) and any(after > before for before, after in pairwise(scores)):
        notes.append(_BY_SCORE)
        ids = [ids[at] for at in sorted(range(len(ids)), key=lambda at: -scores[at])]
    best = {name: -float(rank) for rank, name in enumerate(dict.fromkeys(ids))}
    if repeats := len(passages) - len(best):
        notes.append(f"{repeats} repeated passages ignored")
    return grades, best, "; ".join(notes)


def _evidence(window: Window, rel: int) -> list[str]:
    """A sentence for each sample that has a ranking: the ranks of its relevant passages."""
    rankings, _, notes = window.once(tabulate)
    relevant = rankings.relevant(rel)
    ranks: list[list[int]] = [[] for _ in range(len(rankings))]
    for query, rank in zip(relevant.query.tolist(), relevant.rank.tolist(), strict=True):
        ranks[query].append(rank)
    return [
        "; ".join(filter(None, (_sentence(where, known, n), note)))
        for where, known, n, note in zip(
            ranks, relevant.n_known.tolist(), rankings.n_retrieved.tolist(), notes, strict=True
        )
    ]


def _sentence(ranks: list[int], known: int, n_retrieved: int) -> str:
    if not known:
        return "no relevant passage is known for this query"
    if not ranks:
        return f"none of {known} relevant passages among {n_retrieved} retrieved"
    shown = ", ".join(map(str, ranks[:SHOWN_RANKS])) + (" ..." if ranks[SHOWN_RANKS:] else "")
    return (
        f"{len(ranks)} of {known} relevant passages among {n_retrieved} retrieved, at rank {shown}"
    )


@measure("SetP")
def set_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Precision of everything retrieved.

    Formula: relevant retrieved / retrieved
    Misleads where: retrieving less makes it better
    Source: trec_eval set_P
    """
    return share(rankings.relevant(rel).n_retrieved, rankings.n_retrieved)


@measure("SetR")
def set_recall(rankings: Rankings, rel: int = REL) -> Floats:
    """Share of the relevant documents that were retrieved.

    Formula: relevant retrieved / R
    Misleads where: a system that retrieves everything scores 1
    Source: trec_eval set_recall
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved, relevant.n_known)


@measure("SetF")
def set_f(
    rankings: Rankings,
    x: float = param(1.0, "importance of recall relative to precision (beta squared)", minimum=0),
    rel: int = REL,
) -> Floats:
    """F measure of everything retrieved.

    Formula: (x + 1) P R / (R + x P)
    Misleads where: no order at all
    Source: van Rijsbergen, Information Retrieval (1979); trec_eval set_F
    """
    relevant = rankings.relevant(rel)
    precision = share(relevant.n_retrieved, rankings.n_retrieved)
    recall = share(relevant.n_retrieved, relevant.n_known)
    return share((x + 1) * precision * recall, recall + x * precision)


@measure("SetAP")
def set_average_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Average precision of everything retrieved.

    Formula: SetP × SetR
    Misleads where: no order at all
    Source: trec_eval set_map
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved**2, relevant.n_known * rankings.n_retrieved)


@measure("SetRelP")
def set_relative_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Precision of everything retrieved, relative to the best possible.

    Formula: SetP / min(1, R / retrieved)
    Misleads where: no order at all
    Source: trec_eval set_relative_P
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved, np.minimum(relevant.n_known, rankings.n_retrieved))


@measure("RelP")
def relative_precision(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """Precision at k, relative to the best possible.

    Formula: P@k / min(1, R / k)
    Misleads where: with one relevant document it only says whether it was found
    Source: trec_eval relative_P
    """
    possible = np.minimum(rankings.relevant(rel).n_known, k)
    return share(rankings.hits(rel, k), possible)


@measure("Utility", low=None, high=None)
def utility(
    rankings: Rankings,
    found: float = param(1.0, "worth of a relevant document retrieved"),
    noise: float = param(-1.0, "worth of an irrelevant document retrieved"),
    missed: float = param(0.0, "worth of a relevant document not retrieved"),
    rest: float = param(0.0, "worth of an irrelevant document not retrieved"),
    collection: int = param(0, "documents in the collection; needed for 'rest'", minimum=0),
    rel: int = REL,
) -> Floats:
    """Utility of everything retrieved.

    Formula: weighted sum of relevant and irrelevant, retrieved and not
    Misleads where: the weights decide
    Source: trec_eval utility
    """
    relevant, retrieved = rankings.relevant(rel), rankings.n_retrieved
    irrelevant = retrieved - relevant.n_retrieved
    worth: Floats = (
        found * relevant.n_retrieved
        + noise * irrelevant
        + missed * (relevant.n_known - relevant.n_retrieved)
        + rest * (collection - relevant.n_known - irrelevant)
    )
    return worth


@measure("Unjudged", higher_is_better=None)
def unjudged(rankings: Rankings, k: int = AT_K) -> Floats:
    """Unjudged documents at k.

    Formula: unjudged among the first k / k
    Misleads where: not quality
    Source: trec_eval unj
    """
    inside = np.minimum(rankings.n_retrieved, k)
    return (inside - rankings.hits(JUDGED, k)) / k


class _Count(RankingMetric):
    """A number of documents or queries; summed over queries.

    Formula: a count
    Misleads where: a count, not quality
    """

    high = None
    higher_is_better = None
    aggregate = "sum"

    def shown_value(self, value: float) -> int:
        return int(value)


@measure("NumQ", "num_q", base=_Count)
def num_queries(rankings: Rankings) -> Floats:
    """Judged queries.

    Source: trec_eval num_q
    """
    return np.ones(len(rankings))


@measure("NumRet", "num_ret", base=_Count)
def num_retrieved(rankings: Rankings) -> Floats:
    """Documents retrieved.

    Source: trec_eval num_ret
    """
    return rankings.n_retrieved.astype(np.float64)


@measure("NumRel", "num_rel", base=_Count)
def num_relevant(rankings: Rankings, rel: int = REL) -> Floats:
    """Relevant documents known.

    Source: trec_eval num_rel
    """
    return rankings.relevant(rel).n_known.astype(np.float64)


@measure("NumRelRet", "num_rel_ret", base=_Count)
def num_relevant_retrieved(rankings: Rankings, rel: int = REL) -> Floats:
    """Relevant documents retrieved.

    Source: trec_eval num_rel_ret
    """
    return rankings.relevant(rel).n_retrieved.astype(np.float64)


@measure("NumNonrelJudgedRet", "num_nonrel_judged_ret", base=_Count)
def num_irrelevant_judged_retrieved(rankings: Rankings, rel: int = REL) -> Floats:
    """Judged irrelevant documents retrieved.

    Source: trec_eval num_nonrel_judged_ret
    """
    judged, relevant = rankings.relevant(JUDGED), rankings.relevant(rel)
    return (judged.n_retrieved - relevant.n_retrieved).astype(np.float64)


@register
class RelevanceString(RankingMetric):
    """Grades of the first k documents.

    ``0`` to ``9``: the grade; ``>``: a higher one; ``-``: not in the qrels; ``.``: in the qrels
    with a grade below 0.

    Formula: the grades of the first k, a character each
    Misleads where: for reading, not quality
    Source: trec_eval relstring
    """

    k: int = cutoff(10)

    name = "RelString"
    low = None
    high = None
    higher_is_better = None

    def strings(self, rankings: Rankings) -> list[str]:
        """One string a query."""
        rows = [["-"] * n for n in np.minimum(rankings.n_retrieved, self.k).tolist()]
        inside = rankings.hit_rank <= self.k
        for query, rank, grade in zip(
            rankings.hit_query[inside].tolist(),
            rankings.hit_rank[inside].tolist(),
            rankings.hit_grade[inside].tolist(),
            strict=True,
        ):
            rows[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(grade)
        return ["".join(characters) for characters in rows]

    def values(self, rankings: Rankings) -> Floats:
        """A label has no number."""
        raise UsageError("RelString is a label; it has no numeric values.")

    def score_window(self, window: Window) -> Sequence[Outcome]:
        table = window.once(tabulate)
        strings = iter(self.strings(table.rankings))
        return [problem or Score(next(strings)) for problem in table.problems]
