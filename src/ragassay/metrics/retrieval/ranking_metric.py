"""The base of the qrels-based metrics: from samples to rankings, and from values to scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from ragassay.base.errors import CountedFact, warn_user
from ragassay.base.sample import ABSTAINING, Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core import metric
from ragassay.metrics.core.metric import Measured, missing, not_applicable
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.core.window import Window
from ragassay.metrics.retrieval.ranking_sources import from_lists
from ragassay.metrics.retrieval.rankings import Floats, Rankings

SHOWN_RANKS = 10
_BY_SCORE = "ranked by score, which is not the order given"
_CONTRADICTED = (
    "Samples whose passages do not stand in the order of their scores: {n}. The retrieval metrics "
    "rank them by score, highest first; chunks and spans keep the order given. If the order given "
    "is right (a reranker's, or by distance, where lower is better), leave the scores out."
)


AT_K: Any = cutoff(..., "rank cut-off")
WITHIN_K: Any = cutoff()
REL: Any = param(1, "lowest grade that counts as relevant", minimum=0)
"""Parameters that many measures have. With ``rel`` 0 every judged document is relevant."""


class RankingMetric(Measured):
    """A metric that compares a ranking of passage ids with graded ids.

    Passages are ranked by score, highest first, when all of them have a score; the order given
    decides between equal scores (in TREC runs it is trec_eval's: ids descending), and alone where
    scores are missing. A passage id that occurs again in a sample counts at its
    best rank only, and the explanation says so. A sample that was judged and has no relevant
    passage counts 0, as in trec_eval, unless its query is labelled unanswerable or conversational.
    """

    family: ClassVar[str] = "retrieval"
    needs = ("passages", "gold")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage has no id, or a gold passage has two grades."""
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
    """Rankings of the samples that have one.

    ``problems`` has an entry for each sample: the reason why it has no ranking, else ``None``;
    ``notes`` has one for each ranking.
    """

    rankings: Rankings
    problems: list[Unscored | None]
    notes: list[str]


def tabulate(window: Window) -> Table:
    """The rankings of a window's samples; for `Window.once`."""
    problems = [missing(s, RankingMetric.needs) or _unusable(s) for s in window.samples]
    usable = [s for s, problem in zip(window.samples, problems, strict=True) if problem is None]
    retrieved, notes = [], []
    for sample in usable:
        scores, note = _scores(sample.passages or ())
        retrieved.append(scores)
        notes.append(note)
    contradicted = sum(_BY_SCORE in note for note in notes)
    warn_user(CountedFact(_CONTRADICTED, contradicted))
    gold = [{str(g.id): g.grade for g in sample.gold or ()} for sample in usable]
    return Table(from_lists([s.id for s in usable], gold, retrieved), problems, notes)


def _unusable(sample: Sample) -> Unscored | None:
    if sample.gold == () and sample.answerability in ABSTAINING:
        return not_applicable(f"the query is labelled {sample.answerability} and has no gold")
    grades: dict[str, int] = {}
    for gold in sample.gold or ():
        if gold.id is None:
            return not_applicable(
                "a gold passage has no id; the suite 'chunks' compares texts and spans"
            )
        if grades.setdefault(gold.id, gold.grade) != gold.grade:
            return Unscored(
                Reason.UNDEFINED,
                f"gold passage {gold.id!r} is graded both {grades[gold.id]} and {gold.grade}",
            )
    for rank, passage in enumerate(sample.passages or (), 1):
        if passage.id is None:
            detail = f"retrieved passage {rank} has no id; {_NAME_IDS}"
            if all(one.text is not None or one.document is not None for one in sample.gold or ()):
                detail += "; the suite 'chunks' compares texts and spans"
            return Unscored(Reason.MISSING_INPUT, detail)
    return None


_NAME_IDS = "where its metadata hold one, name it: --columns 'passage_ids=passages[*].metadata.KEY'"


def _scores(passages: Sequence[Passage]) -> tuple[dict[str, float], str]:
    """A score for each passage id by which no two tie, and a note where the ranking is not simply
    the order given."""
    ids = [str(passage.id) for passage in passages]
    scores = [passage.score for passage in passages if passage.score is not None]
    notes = []
    if len(scores) == len(ids) and any(after > before for before, after in pairwise(scores)):
        notes.append(_BY_SCORE)
        ids = [ids[at] for at in sorted(range(len(ids)), key=lambda at: -scores[at])]
    best = {name: -float(rank) for rank, name in enumerate(dict.fromkeys(ids))}
    if repeats := len(passages) - len(best):
        notes.append(f"{repeats} repeated passage ids ignored")
    return best, "; ".join(notes)


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
