"""How similar in wording the answers of repeated runs are: ROUGE over all pairs."""

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
    answer_text,
    pairs_of,
    runs_with,
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
    groups: list[_Coded | Unscored] = []
    for sample in window.samples:
        runs = runs_with(sample, lambda run: run.answer is not None, "an answer")
        if isinstance(runs, Unscored):
            groups.append(runs)
            continue
        kept, note = runs
        texts = encode(cut(answer_text(run, citations)) for run in kept)
        codes = {run.repeat: code for run, code in zip(kept, texts, strict=True)}
        groups.append(_Coded(kept, codes, note))
    return groups


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
    groups: list[Pairwise[PRF] | Unscored] = []
    for group in window.once(coded, tokens, stem, citations):
        if isinstance(group, Unscored):
            groups.append(group)
            continue
        pairs = [(first.repeat, second.repeat) for first, second in pairs_of(group.runs)]
        values = []
        for first, second in pairs:
            earlier, later = group.codes[first], group.codes[second]
            long = max(len(earlier), len(later)) >= least
            values.append(compare(measure, later, earlier) if long else None)
        groups.append(Pairwise(pairs, values, group.note))
    return groups


@dataclass(frozen=True)
class _RunsRouge(PairsRouge):
    stem: bool = param(False, "compare Porter stems instead of words")
    tokens: Tokens = param("unicode", "unicode: words of any script; rouge: rouge-score's a-z0-9")

    undefined = "neither answer holds a word"
    measure: ClassVar[Measure]
    parts_titles = PARTS_TITLES
    source = "Open RAG Eval, metrics page (consistency); Lin 2004"

    def compared(self, window: Window) -> Sequence[Pairwise[PRF] | Unscored]:
        """The values of the later answer against the earlier."""
        return window.once(compared, self.measure, self.tokens, self.stem, self.citations)


@register
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
class RunsRouge2(_RunsRouge):
    """ROUGE-2 over all pairs of answers to a query; P and R as in ``runs_rouge1``."""

    name = "runs_rouge2"
    measure = "rouge2"
    undefined = "neither answer holds two words"
    title = "Word pairs that the answers of repeated runs share, over all pairs (ROUGE-2)"
    recommended_for = "whether the same phrases come back"


@register
class RunsRougeL(_RunsRouge):
    """ROUGE-L over all pairs of answers to a query; P and R as in ``runs_rouge1``."""

    name = "runs_rougeL"
    measure = "rougeL"
    title = "Longest common subsequence of the answers of repeated runs, over all pairs (ROUGE-L)"
    recommended_for = "whether the answer comes back word for word"
