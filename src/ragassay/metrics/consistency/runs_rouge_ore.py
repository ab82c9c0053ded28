"""ROUGE-L over all pairs of answers as Open RAG Eval's tool computes it.

The tool takes it from the package ``rouge`` 1.0.1, whose values differ from ROUGE-L as published
(``runs_rougeL``): texts are split at full stops and at spaces, case and punctuation stay, and a
word counts once however often it occurs in an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragassay.base.score import Reason, Unscored
from ragassay.metrics.answer.rouge_metrics import PARTS, PRF
from ragassay.metrics.consistency.runs import (
    AnswersMetric,
    Citations,
    PairsMetric,
    Pairwise,
    answers,
    in_pairs,
)
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import part
from ragassay.metrics.core.window import Window

_TINY = 1e-8
"""What keeps the package's F from a division by 0; it makes F of equal texts a little below 1."""

Sentences = Sequence[Sequence[str]]


def sentences(text: str) -> Sentences:
    """The words of each sentence. A piece of nothing but white space is a sentence of one empty
    word, as in the package."""
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def union_lcs(hypothesis: Sentences, reference: Sentences) -> PRF:
    """Precision, recall and F of a text against a reference.

    For each reference sentence, the words of its longest common subsequence with each sentence of
    the hypothesis are collected over the whole text. Precision and recall divide the number of
    these words by the number of distinct words of the hypothesis and of the reference.

    Args:
        hypothesis: the sentences of the text, one at least.
        reference: those of the reference, one at least.
    """
    here, there = ({word for one in side for word in one} for side in (hypothesis, reference))
    common = {
        word for one in reference for other in hypothesis for word in _common_words(one, other)
    }
    p, r = len(common) / len(here), len(common) / len(there)
    return PRF(p, r, 2.0 * ((p * r) / (p + r + _TINY)))


def _common_words(reference: Sequence[str], hypothesis: Sequence[str]) -> set[str]:
    """The words of one longest common subsequence.

    Where there are several, it is the one that the package chooses: reading from the end, a common
    word is taken; otherwise the reference is shortened where that alone keeps the length.
    """
    known = set(reference)
    # Words that the reference lacks are always passed over.
    left, top = reference, [word for word in hypothesis if word in known]
    if not top:
        return set()
    table = [[0] * (len(top) + 1)]
    for word in left:
        above, row = table[-1], [0]
        for at, other in enumerate(top):
            row.append(above[at] + 1 if word == other else max(above[at + 1], row[at]))
        table.append(row)
    words, i, j = set(), len(left), len(top)
    while i and j:
        if left[i - 1] == top[j - 1]:
            i, j = i - 1, j - 1
            words.add(left[i])
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


def compared(window: Window, citations: Citations) -> list[Pairwise[PRF] | Unscored]:
    """Compares the answers of each group in pairs; for `Window.once`. A pair has no value where an
    answer has no sentence.

    Args:
        window: the groups.
        citations: which citation marks are removed from the answers.

    Returns:
        One entry a group; `Unscored` where it has fewer than two answers.
    """
    cut = answers(window.samples, citations, lambda texts: list(map(sentences, texts)))
    return in_pairs(cut, _both)


def _both(earlier: Sentences, later: Sentences) -> PRF | None:
    """The mean of both directions."""
    if not earlier or not later:
        return None
    ways = [union_lcs(earlier, later), union_lcs(later, earlier)]
    return PRF(*(sum(values) / 2 for values in zip(*ways, strict=True)))


@register
class RunsRougeOre(AnswersMetric, PairsMetric):
    """Words in the same order in the answers of repeated runs, as Open RAG Eval computes it.

    Each pair's value is the mean of its two directions. F of two equal answers is 1 - 5e-9.

    Part p: precision, mean of both directions
    Part r: recall, mean of both directions
    Part f: F, mean of both directions
    Source: Open RAG Eval 0.3.0, consistency (ROUGE-L of the package rouge 1.0.1)
    """

    part: Literal["p", "r", "f"] = part("f", PARTS, "of each pair: precision, recall or F")

    name = "runs_rouge_ore"
    version = 1
    undefined = Unscored(Reason.EMPTY_ANSWER, "an answer has no words")

    def compared(self, window: Window) -> Sequence[Pairwise[PRF] | Unscored]:
        return window.once(compared, self.citations)
