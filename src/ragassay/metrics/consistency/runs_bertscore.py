"""How similar in meaning the answers of repeated runs are: BERTScore over all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.metrics.answer.bertscore import MODEL, RESCALE, BertScoring, EncoderMetric, bertscores
from ragassay.metrics.consistency.runs import (
    OF_PAIR,
    AnswersMetric,
    Citations,
    Comparable,
    Pairwise,
    answers,
)
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import param, part
from ragassay.metrics.core.window import Window
from ragassay.models.encoders.token_matching import TokenMatch

DEFAULT = "xlm-roberta-large"
"""Open RAG Eval's model for comparing answers: it reads a hundred languages."""

_EMPTY = Unscored(Reason.EMPTY_ANSWER, "both answers are empty")
_RAW_0 = "a raw BERTScore of 0, as bert-score has it"


def compared(
    window: Window, scale: BertScoring, citations: Citations, rows: tuple[int, ...]
) -> list[Pairwise[TokenMatch] | Unscored]:
    """Compares the answers of each group in pairs; for `Window.once`.

    All pairs of the window go through the model together, so that each answer is encoded once.

    Args:
        window: has the groups and the run's models.
        scale: the model and how its values are shown.
        citations: which citation marks are removed from the answers.
        rows: indices into ``window.samples``.

    Returns:
        One entry a group; `Unscored` where it has fewer than two answers.

    Raises:
        Unavailable: the model is not available.
    """
    samples = [window.samples[at] for at in rows]
    groups = answers(samples, citations, lambda texts: texts)
    texts = [
        (later, earlier)
        for group in groups
        if not isinstance(group, Unscored)
        for earlier, later in group.pairs
    ]
    matches = iter(bertscores(window, scale, texts))
    return [
        group if isinstance(group, Unscored) else _matched(group, matches, scale)
        for group in groups
    ]


def _matched(
    group: Comparable[str], matches: Iterator[TokenMatch | None], scale: BertScoring
) -> Pairwise[TokenMatch]:
    """A group's pairs with the next of the matches."""
    known = [
        match if earlier.strip() or later.strip() else None
        for (earlier, later), match in zip(group.pairs, matches, strict=False)
    ]
    notes = []
    if any(match is not None and any(match.cut) for match in known):
        notes.append("answers longer than the model takes were cut")
    one_empty = [match for match in known if match is not None and match.empty]
    if one_empty:
        notes.append(
            f"in {len(one_empty)} of {len(known)} pairs one answer is empty: {_RAW_0}"
            + (f", {one_empty[0].f:.2f} on this scale" if scale.rescale else "")
        )
    return group.paired(known, "; ".join(notes))


@register
class RunsBertScore(AnswersMetric, EncoderMetric):
    """Likeness in meaning of the answers of repeated runs, over all pairs (BERTScore).

    F is the same in both directions; P is how well the later answer is matched in the earlier one,
    R the reverse. Rescaled by the baseline of ``lang``, as Open RAG Eval does by default: random
    sentences then score about 0. The layer is the one that bert-score recommends (17 of
    xlm-roberta-large); the published tool takes the last.

    Part p: precision of the later answer against the earlier
    Part r: recall of the earlier answer by the later
    Part f: F
    Good for: whether the same thing is said again, in whatever words
    Source: Open RAG Eval, metrics page (consistency); Zhang et al. 2020, BERTScore
    """

    model: str = param(DEFAULT, MODEL)
    rescale: bool = param(True, RESCALE)
    part: Literal["p", "r", "f"] = part("f", ("p", "r", "f"), OF_PAIR)

    name = "runs_bertscore"
    low = None

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The mean over all pairs of answers, with the values of each pair as parts."""
        groups = window.once(compared, self.scale, self.citations, tuple(rows))
        return [
            one if isinstance(one, Unscored) else one.outcome(_EMPTY, self.part) for one in groups
        ]
