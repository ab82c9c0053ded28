"""How like each other the answers of repeated runs are in their words: ROUGE over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragassay.metrics.answer import PRF, Measure, compare, encode, tokeniser
from ragassay.metrics.consistency.runs import (
    PARTS_TITLES,
    Citations,
    PairsRouge,
    Pairwise,
    having,
    pairs_of,
    said,
)
from ragassay.metrics.core import Window, param, register
from ragassay.samples import Sample
from ragassay.scores import Unscored

Tokens = Literal["unicode", "rouge"]


@dataclass(frozen=True)
class _Coded:
    """The answers of a group as codes, by ``repeat`` (`ragassay.metrics.answer.text.encode`)."""

    runs: Sequence[Sample]
    codes: dict[int, str]
    note: str


def coded(
    window: Window, tokens: Tokens, stem: bool, citations: Citations
) -> list[_Coded | Unscored]:
    """Each group's answers as codes; for `Window.once`."""
    cut = tokeniser(tokens, stem)
    found: list[_Coded | Unscored] = []
    for sample in window.samples:
        runs = having(sample, lambda run: run.answer is not None, "an answer")
        if isinstance(runs, Unscored):
            found.append(runs)
            continue
        kept, note = runs
        texts = encode(cut(said(run, citations)) for run in kept)
        codes = {run.repeat: code for run, code in zip(kept, texts, strict=True)}
        found.append(_Coded(kept, codes, note))
    return found


def compared(
    window: Window, measure: Measure, tokens: Tokens, stem: bool, citations: Citations
) -> list[Pairwise[PRF] | Unscored]:
    """Each group's pairs; for `Window.once`. Two answers that are both too short (without any word,
    or any pair of words for ROUGE-2) cannot be compared."""
    least = 2 if measure == "rouge2" else 1
    found: list[Pairwise[PRF] | Unscored] = []
    for group in window.once(coded, tokens, stem, citations):
        if isinstance(group, Unscored):
            found.append(group)
            continue
        pairs = [(first.repeat, second.repeat) for first, second in pairs_of(group.runs)]
        values = []
        for first, second in pairs:
            earlier, later = group.codes[first], group.codes[second]
            long = max(len(earlier), len(later)) >= least
            values.append(compare(measure, later, earlier) if long else None)
        found.append(Pairwise(pairs, values, group.note))
    return found


@dataclass(frozen=True)
class _RunsRouge(PairsRouge):
    stem: bool = param(False, "compare Porter stems instead of words")
    tokens: Tokens = param("unicode", "unicode: words of any script; rouge: rouge-score's a-z0-9")

    undefined = "neither answer holds a word"
    measure: ClassVar[Measure]
    parts_titles = PARTS_TITLES
    source = "Open RAG Eval, metrics page (consistency); Lin 2004"

    def compared(self, window: Window) -> Sequence[Pairwise[PRF] | Unscored]:
        """Of the later answer against the earlier."""
        return window.once(compared, self.measure, self.tokens, self.stem, self.citations)


@register
@dataclass(frozen=True)
class RunsRouge1(_RunsRouge):
    """ROUGE-1 over all pairs of answers to a query.

    F is the same in both directions; P is the share of the later answer's words that stand in the
    earlier one, R the share of the earlier one's.
    """

    name = "runs_rouge1"
    measure = "rouge1"
    title = "Words that the answers of repeated runs share, over all pairs (ROUGE-1)"
    recommended_for = "whether the same words come back"


@register
@dataclass(frozen=True)
class RunsRouge2(_RunsRouge):
    """ROUGE-2 over all pairs of answers to a query; P and R as in ``runs_rouge1``."""

    name = "runs_rouge2"
    measure = "rouge2"
    undefined = "neither answer holds two words"
    title = "Word pairs that the answers of repeated runs share, over all pairs (ROUGE-2)"
    recommended_for = "whether the same phrases come back"


@register
@dataclass(frozen=True)
class RunsRougeL(_RunsRouge):
    """ROUGE-L over all pairs of answers to a query; P and R as in ``runs_rouge1``."""

    name = "runs_rougeL"
    measure = "rougeL"
    title = "Longest common subsequence of the answers of repeated runs, over all pairs (ROUGE-L)"
    recommended_for = "whether the answer comes back word for word"
