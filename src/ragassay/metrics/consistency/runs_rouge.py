"""How similar in wording the answers of repeated runs are: ROUGE over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragassay.base.score import Reason, Unscored
from ragassay.metrics.answer.references import tokeniser
from ragassay.metrics.answer.rouge_metrics import PARTS, PRF, Measure, compare
from ragassay.metrics.answer.text import encode
from ragassay.metrics.consistency.runs import (
    OF_PAIR,
    AnswersMetric,
    Citations,
    Comparable,
    PairsMetric,
    Pairwise,
    answers,
    in_pairs,
)
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import param, part
from ragassay.metrics.core.window import Window

Tokens = Literal["unicode", "rouge"]


def coded(
    window: Window, tokens: Tokens, stem: bool, citations: Citations
) -> list[Comparable[str] | Unscored]:
    """The answers of each group as codes, one character a token; for `Window.once`.

    Args:
        window: the groups.
        tokens: how answers are cut into tokens.
        stem: Porter stems for words of more than three characters.
        citations: which citation marks are removed from the answers.

    Returns:
        One entry a group; `Unscored` where it has fewer than two answers.
    """
    cut = tokeniser(tokens, stem)
    return answers(window.samples, citations, lambda texts: encode(map(cut, texts)))


def compared(
    window: Window, measure: Measure, tokens: Tokens, stem: bool, citations: Citations
) -> list[Pairwise[PRF] | Unscored]:
    """Compares the answers of each group in pairs; for `Window.once`.

    There is no value where both answers are too short: without any word, or any pair of words for
    ROUGE-2.

    Args:
        window: the groups.
        measure: ``rouge1``, ``rouge2`` or ``rougeL``.
        tokens: how answers are cut into tokens.
        stem: Porter stems for words of more than three characters.
        citations: which citation marks are removed from the answers.

    Returns:
        One entry a group; `Unscored` where it has fewer than two answers.
    """
    least = 2 if measure == "rouge2" else 1

    def alike(earlier: str, later: str) -> PRF | None:
        long = max(len(earlier), len(later)) >= least
        return compare(measure, later, earlier) if long else None

    return in_pairs(window.once(coded, tokens, stem, citations), alike)


@dataclass(frozen=True)
class _RunsRouge(AnswersMetric, PairsMetric):
    """Part p: precision of the later answer against the earlier
    Part r: recall of the earlier answer by the later
    Part f: F
    Source: Open RAG Eval, metrics page (consistency); Lin 2004
    """

    part: Literal["p", "r", "f"] = part("f", PARTS, OF_PAIR)
    stem: bool = param(False, "compare Porter stems instead of words")
    tokens: Tokens = param("unicode", "unicode: words of any script; rouge: rouge-score's a-z0-9")

    undefined = Unscored(Reason.EMPTY_ANSWER, "neither answer holds a word")
    measure: ClassVar[Measure]

    @property
    def signature(self) -> str:
        """Says which rules cut words of any script."""
        return super().signature + ("|words=2" if self.tokens == "unicode" else "")

    def compared(self, window: Window) -> Sequence[Pairwise[PRF] | Unscored]:
        return window.once(compared, self.measure, self.tokens, self.stem, self.citations)


@register
class RunsRouge1(_RunsRouge):
    """Words that the answers of repeated runs share, over all pairs (ROUGE-1).

    F is the same in both directions; P is the share of the later answer's words that stand in the
    earlier one, R the share of the earlier one's.

    Good for: whether the same words come back
    """

    name = "runs_rouge1"
    measure = "rouge1"


@register
class RunsRouge2(_RunsRouge):
    """Word pairs that the answers of repeated runs share, over all pairs (ROUGE-2).

    P and R as in ``runs_rouge1``.

    Good for: whether the same phrases come back
    """

    name = "runs_rouge2"
    measure = "rouge2"
    undefined = Unscored(Reason.UNDEFINED, "neither answer holds two words")


@register
class RunsRougeL(_RunsRouge):
    """Longest common subsequence of the answers of repeated runs, over all pairs (ROUGE-L).

    P and R as in ``runs_rouge1``.

    Good for: whether the answer comes back word for word
    """

    name = "runs_rougeL"
    measure = "rougeL"
