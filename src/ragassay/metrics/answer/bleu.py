"""BLEU through sacrebleu, with the signature that says how it was computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, ClassVar, Literal

from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.references import ReferencedAnswer, ReferenceMetric, plain
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window

Tokenize = Literal["13a", "intl", "zh", "char", "none"]
Smooth = Literal["exp", "floor", "add-k", "none"]


@dataclass(frozen=True, slots=True)
class BleuScore:
    """A BLEU value from 0 to 1 and its sacrebleu signature."""

    value: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    tokenize: Tokenize = "13a",
    smooth: Smooth = "exp",
    lowercase: bool = False,
) -> BleuScore:
    """BLEU of a whole corpus: counts are summed before they are divided.

    Args:
        hypotheses: one text an item.
        references: for each item one accepted text, or several (their number may vary).
        tokenize: sacrebleu's tokeniser (``zh`` for Chinese).
        smooth: sacrebleu's smoothing of zero counts.
        lowercase: ignore case.

    Raises:
        UsageError: no items, lists of unequal length, or an item without references.
    """
    if not hypotheses or len(hypotheses) != len(references):
        raise UsageError(
            f"corpus_bleu needs as many references as hypotheses, and at least one: got "
            f"{len(hypotheses)} hypotheses and {len(references)} references."
        )
    golds = [[item] if isinstance(item, str) else list(item) for item in references]
    bare = next((index for index, gold in enumerate(golds) if not gold), None)
    if bare is not None:
        raise UsageError(f"corpus_bleu: item {bare} has no reference.")
    streams = [
        [gold[i] if i < len(gold) else None for gold in golds] for i in range(max(map(len, golds)))
    ]
    scorer = _scorer(tokenize, smooth, lowercase, effective=False)
    bleu = scorer.corpus_score(list(hypotheses), streams)
    return BleuScore(_unit(bleu.score), scorer.get_signature().format())


def sentence_bleu(
    hypothesis: str,
    references: str | Sequence[str],
    *,
    tokenize: Tokenize = "13a",
    smooth: Smooth = "exp",
    lowercase: bool = False,
) -> BleuScore:
    """BLEU of one text, with the effective order for short texts (sacrebleu's default)."""
    golds = [references] if isinstance(references, str) else list(references)
    if not golds:
        raise UsageError("sentence_bleu needs at least one reference.")
    scorer = _scorer(tokenize, smooth, lowercase, effective=True)
    bleu = scorer.sentence_score(hypothesis, golds)
    return BleuScore(_unit(bleu.score), scorer.get_signature().format())


@register
class BLEU(ReferenceMetric[ReferencedAnswer]):
    """N-gram precision against all references (sentence BLEU).

    Formula: brevity penalty × geometric mean of the n-gram precisions, n = 1 to 4, as far as the
        answer has n-grams
    Misleads where: made for whole corpora; of one short answer it is mostly smoothing
    Source: Post 2018, A Call for Clarity in Reporting BLEU Scores; sacrebleu
    """

    tokenize: Tokenize = param("13a", "sacrebleu's tokeniser; zh for Chinese")
    smooth: Smooth = param("exp", "sacrebleu's smoothing of n-grams that never match")
    lowercase: bool = param(False, "ignore case")

    name = "BLEU"
    aliases: ClassVar = {"bleu_score": "BLEU"}
    scripts = "spaced"

    @property
    def for_all_scripts(self) -> str:
        """BLEU with another tokeniser, where this one takes a clause without spaces for a word."""
        words = "BLEU(tokenize=zh), or BLEU(tokenize=char) for languages other than Chinese"
        return words if self.tokenize in ("13a", "intl", "none") else ""

    def views(self, window: Window) -> Sequence[ReferencedAnswer | None]:
        return window.once(plain)

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """The value from 0 to 1, with sacrebleu's signature."""
        if not any(reference.strip() for reference in view.references):
            return Unscored(Reason.UNDEFINED, "all references are empty")
        bleu = sentence_bleu(
            view.answer,
            view.references,
            tokenize=self.tokenize,
            smooth=self.smooth,
            lowercase=self.lowercase,
        )
        return Score(bleu.value, {"signature": bleu.signature})

    @property
    def signature(self) -> str:
        """sacrebleu's signature (references vary from sample to sample) and our version."""
        case = "lc" if self.lowercase else "mixed"
        return (
            f"{self}|nrefs:var|case:{case}|eff:yes|tok:{self.tokenize}|smooth:{self.smooth}"
            f"|version:{version('sacrebleu')}|v{self.version}"
        )


@cache
def _scorer(tokenize: Tokenize, smooth: Smooth, lowercase: bool, effective: bool) -> Any:
    from sacrebleu.metrics.bleu import BLEU as Scorer  # noqa: N811  # ours has the same name

    return Scorer(
        lowercase=lowercase,
        tokenize=tokenize,
        smooth_method=smooth,
        effective_order=effective,
        force=True,
    )


def _unit(percent: float) -> float:
    """From 0..100 to 0..1; sacrebleu's perfect score is 100 and some rounding error."""
    return min(percent / 100, 1.0)
