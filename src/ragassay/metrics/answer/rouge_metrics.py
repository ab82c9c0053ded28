"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), with precision, recall and F.

`Rouge1`, `Rouge2` and `RougeL` give rouge-score's values to the last bit (``tokens=rouge``), or
count words of any script (``tokens=unicode``). `UltraRouge1` and its sisters are UltraRAG's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple

from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.references import ReferenceMetric, Tokens, coded
from ragassay.metrics.answer.text import encode, rouge_tokens
from ragassay.metrics.core.metric import harmonic, register
from ragassay.metrics.core.metric_parameters import param, part
from ragassay.metrics.core.window import Window

Measure = Literal["rouge1", "rouge2", "rougeL"]
MEASURES: tuple[Measure, ...] = ("rouge1", "rouge2", "rougeL")
PARTS = ("p", "r", "f")


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    p: float
    r: float
    f: float


def rouge(
    hypothesis: str,
    reference: str | Sequence[str],
    *,
    measures: Sequence[Measure] = MEASURES,
    stem: bool = True,
) -> dict[str, PRF]:
    """ROUGE of a text against one reference, or against the best (by F) of several.

    Args:
        hypothesis: the text to score.
        reference: a text, or several of which any may match.
        measures: which of ``rouge1``, ``rouge2`` and ``rougeL``.
        stem: Porter stems for words of more than three characters.

    Returns:
        Precision, recall and F by measure; all 0 where either side has no tokens, or there is no
        reference.

    Raises:
        UsageError: an unknown measure.
    """
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no ROUGE measure; there are {', '.join(MEASURES)}.")
    texts = [hypothesis, *([reference] if isinstance(reference, str) else reference)]
    answer, *references = encode(rouge_tokens(text, stem) for text in texts)
    if not references:
        return dict.fromkeys(measures, PRF(0.0, 0.0, 0.0))
    return {
        measure: max((compare(measure, answer, code) for code in references), key=_f_of)
        for measure in measures
    }


def compare(measure: Measure, answer: str, reference: str) -> PRF:
    """One ROUGE measure of two codes (see `ragassay.metrics.answer.text.encode`).

    Args:
        measure: ``rouge1``, ``rouge2`` or ``rougeL``.
        answer: the answer's code.
        reference: the reference's code, from the same call of ``encode``.
    """
    if measure == "rougeL":
        from rapidfuzz.distance import LCSseq

        return prf(LCSseq.similarity(answer, reference), len(answer), len(reference))
    if measure == "rouge2":
        return overlap_prf(list(pairwise(answer)), list(pairwise(reference)))
    return overlap_prf(answer, reference)


def prf(hits: int, n_answer: int, n_reference: int) -> PRF:
    """Precision, recall and F of ``hits`` common items; 0 where there are none.

    Args:
        hits: number of common items.
        n_answer: number of items of the answer.
        n_reference: number of items of the reference.
    """
    p, r = hits / max(n_answer, 1), hits / max(n_reference, 1)
    return PRF(p, r, harmonic(p, r))


def overlap(left: Sequence[Any], right: Sequence[Any]) -> int:
    """How many items two sequences have in common; repeats count as often as both have them.

    Args:
        left: hashable items.
        right: hashable items.
    """
    return (Counter(left) & Counter(right)).total()


def overlap_prf(answer: Sequence[Any], reference: Sequence[Any]) -> PRF:
    """Precision, recall and F of the items that two sequences have in common.

    Args:
        answer: hashable items: words, or the characters of a code.
        reference: hashable items.
    """
    return prf(overlap(answer, reference), len(answer), len(reference))


_f_of = attrgetter("f")


def best_score(values: Sequence[PRF], part: str, note: str) -> Score:
    """The score of an answer by its best reference: the first one with the highest F.

    Args:
        values: precision, recall and F by reference.
        part: which of them is the value.
        note: the explanation of the score.
    """
    best = max(values, key=_f_of)
    parts: dict[str, Any] = best._asdict()
    if len(values) > 1:
        parts["reference"] = values.index(best)
    return Score(getattr(best, part), parts, note)


class Compared(NamedTuple):
    """An answer against each of its references, and how many tokens each of those has."""

    values: tuple[PRF, ...]
    sizes: tuple[int, ...]


def compared(window: Window, measure: Measure, tokens: Tokens, stem: bool) -> list[Compared | None]:
    """Each sample's values against each of its references; for `Window.once`.

    Args:
        window: the samples.
        measure: ``rouge1``, ``rouge2`` or ``rougeL``.
        tokens: how texts are cut into tokens.
        stem: Porter stems for words of more than three characters.

    Returns:
        One entry a sample; ``None`` where answer or references are missing.
    """
    return [
        None
        if pair is None
        else Compared(
            tuple(compare(measure, pair.answer, code) for code in pair.references),
            tuple(map(len, pair.references)),
        )
        for pair in window.once(coded, tokens, stem)
    ]


@dataclass(frozen=True)
class _Rouge(ReferenceMetric[Compared]):
    """Formula: P = shared / the answer's, R = shared / the reference's, F = 2PR / (P + R); words,
        word pairs, or the longest common subsequence; best reference
    Misleads where: counts words, not meaning; long answers lose precision; only a-z and 0-9 count
        unless tokens=unicode
    Source: Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries; rouge-score 0.1.2
    """

    stem: bool = param(True, "compare Porter stems instead of words")
    tokens: Literal["rouge", "unicode"] = param(
        "rouge", "rouge: rouge-score's a-z0-9; unicode: words of any script"
    )
    part: Literal["p", "r", "f"] = part("f", PARTS, "precision, recall or F of the best reference")

    measure: ClassVar[Measure]

    @property
    def signature(self) -> str:
        """Says which rules cut words of any script."""
        return super().signature + ("|words=2" if self.tokens == "unicode" else "")

    @property
    def for_all_scripts(self) -> str:
        """The same with ``tokens=unicode``."""
        return f"{self.measure}(tokens=unicode)" if self.tokens == "rouge" else ""

    def views(self, window: Window) -> Sequence[Compared | None]:
        return window.once(compared, self.measure, self.tokens, self.stem)

    def outcome(self, view: Compared) -> Outcome:
        """The values of the reference with the highest F, as rouge-score's ``score_multi`` has
        them."""
        note = ""
        if not any(view.sizes):
            if self.tokens == "unicode":
                return Unscored(Reason.UNDEFINED, "no reference holds a word of any script")
            note = "no reference holds a letter a-z or a digit; tokens=unicode reads other scripts"
        return best_score(view.values, self.part, note)


@register
class Rouge1(_Rouge):
    """Overlap of words with the best reference (ROUGE-1).

    Good for: summaries and long answers
    """

    name = "rouge1"
    measure = "rouge1"


@register
class Rouge2(_Rouge):
    """Overlap of word pairs with the best reference (ROUGE-2).

    Good for: summaries and long answers, where word order matters
    """

    name = "rouge2"
    measure = "rouge2"


@register
class RougeL(_Rouge):
    """Longest common subsequence with the best reference (ROUGE-L).

    Sentences are not split.

    Good for: long answers: the usual overlap measure
    """

    name = "rougeL"
    measure = "rougeL"


class _UltraRouge(ReferenceMetric[Compared]):
    """F of the best reference, of stems: articles never count, and only ``a-z0-9`` is seen.

    Formula: F of the n-grams (n = 1, 2) or of the longest common subsequence (L) shared with a
        reference
    Misleads where: counts words, not meaning; long answers lose precision; only a-z and 0-9 count,
        so texts in other scripts share nothing but numbers (rouge1(tokens=unicode) and its sisters
        count words of any script)
    Good for: comparison with published UltraRAG figures
    Source: UltraRAG, servers/evaluation
    """

    measure: ClassVar[Measure]

    @property
    def for_all_scripts(self) -> str:
        """Ours of the same measure, with ``tokens=unicode``."""
        return f"{self.measure}(tokens=unicode)"

    def views(self, window: Window) -> Sequence[Compared | None]:
        return window.once(compared, self.measure, "ultrarag", True)

    def outcome(self, view: Compared) -> Outcome:
        """F of the best reference."""
        return Score(max(map(_f_of, view.values)))


@register
class UltraRouge1(_UltraRouge):
    """UltraRAG's ROUGE-1 F as published (rouge1 keeps articles; tokens=unicode all scripts)."""

    name = "rouge-1"
    aliases: ClassVar[Mapping[str, str]] = {"Rouge_1": "rouge-1"}
    measure = "rouge1"


@register
class UltraRouge2(_UltraRouge):
    """UltraRAG's ROUGE-2 F as published (rouge2 keeps articles; tokens=unicode all scripts)."""

    name = "rouge-2"
    aliases: ClassVar[Mapping[str, str]] = {"Rouge_2": "rouge-2"}
    measure = "rouge2"


@register
class UltraRougeL(_UltraRouge):
    """UltraRAG's ROUGE-L F as published (rougeL keeps articles; tokens=unicode all scripts)."""

    name = "rouge-l"
    aliases: ClassVar[Mapping[str, str]] = {"Rouge_L": "rouge-l"}
    measure = "rougeL"
