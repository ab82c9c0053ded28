"""How stable retrieval is over repeated runs: the same passages, in the same order?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Reason, Unscored
from ragassay.metrics.consistency.runs import (
    Comparable,
    PairsMetric,
    Pairwise,
    comparable,
    in_pairs,
)
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.stats.overlap import jaccard, rank_biased_overlap

_PLACES = "passages are told apart by their texts, for an id stands for different ones"
_CLASH = "one id stands for different passages, and some have no text to tell them apart by"


def lists(window: Window) -> list[Comparable[list[str]] | Unscored]:
    """Each group's retrieved lists, as names; for `Window.once`. Equal names stand for equal
    passages."""
    return comparable(
        window.samples, lambda run: run.passages is not None, "retrieved passages", _names
    )


def _names(runs: Sequence[Sample]) -> tuple[list[list[str]], str] | Unscored:
    """Names of the passages of each run, and a note on how they were told apart.

    A passage is named by its id, else by its text, else by its place in a document. Where one id
    stands for different texts in two runs (``[1]``, ``[2]``: the place in a list), all are named by
    text; `Unscored` where some of them have no text then.
    """
    texts: dict[str, str] = {}
    passages = [passage for run in runs for passage in run.passages or ()]
    clash = any(
        texts.setdefault(one.id, text) != text
        for one in passages
        if one.id is not None and (text := _plain(one.text)) is not None
    )
    if clash and any(one.text is None for one in passages):
        return Unscored(Reason.UNDEFINED, _CLASH)
    names = [[_name(one, clash) for one in run.passages or ()] for run in runs]
    return names, _PLACES if clash else ""


def _name(passage: Passage, by_text: bool) -> str:
    if passage.id is not None and not by_text:
        return f"id {passage.id}"
    if passage.text is not None:
        return f"text {_plain(passage.text)}"
    return f"place {passage.document} {passage.start} {passage.end}"


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())


class _RunsRetrieval(PairsMetric):
    version = 2
    undefined = Unscored(Reason.NOTHING_RETRIEVED, "neither run retrieved a passage")

    def compared(self, window: Window) -> Sequence[Pairwise[float] | Unscored]:
        return in_pairs(window.once(lists), self.alike)

    @abstractmethod
    def alike(self, one: Sequence[str], other: Sequence[str]) -> float | None:
        """How similar two lists are, 0 to 1; ``None`` where both are empty.

        Args:
            one: names of the passages of a run, in rank order.
            other: those of another run.
        """


@register
class RunsOverlap(_RunsRetrieval):
    """Share of retrieved passages that come back in a repeated run, over all pairs (Jaccard).

    Passages are the same when they have the same id, else the same text.

    Formula: passages in both runs / passages in either, mean over pairs
    Misleads where: says nothing about order; see runs_rbo
    Good for: whether the same passages come back
    Source: our own; Jaccard 1912
    """

    name = "runs_overlap"

    alike = staticmethod(jaccard)


@register
class RunsRbo(_RunsRetrieval):
    """Agreement of the rankings of repeated runs, over all pairs (rank-biased overlap).

    As ``runs_overlap``, but what stands first counts most.

    Formula: extrapolated Σ p^(d-1) × overlap at depth d, mean over pairs
    Misleads where: the choice of p decides how deep it looks
    Good for: whether the same passages come back in the same order
    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings
    """

    p: float = param(
        0.9,
        "how likely a reader goes on to the next rank, above 0 and below 1",
        minimum=0,
        maximum=1,
        exclusive=True,
    )

    name = "runs_rbo"

    def alike(self, one: Sequence[str], other: Sequence[str]) -> float | None:
        """The rank-biased overlap of the two lists."""
        return rank_biased_overlap(one, other, self.p)
