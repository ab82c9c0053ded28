"""BERTScore of the answer against its references, and what all metrics by BERTScore share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric, register
from ragassay.metrics.core.metric_parameters import param, part
from ragassay.metrics.core.modelled import ModelMetric
from ragassay.metrics.core.window import Window
from ragassay.models.encoders.baselines import RECOMMENDED, Baseline, baseline, layer_for
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.text_model import ReadTexts
from ragassay.models.encoders.token_matching import Idf, Pair, TokenMatch, compare
from ragassay.models.weights.weight_files import Weights, missing_folder

DEFAULT = "microsoft/deberta-xlarge-mnli"
"""The model whose BERTScores agree best with people's judgments, by bert-score's authors."""

MODEL = "encoder: a name on the hub (NAME@COMMIT pins it), or a folder"
RESCALE = "stretch the values so that random sentences score 0, by bert-score's baseline"

_NEAR = 0.8
"""Smallest similarity of a model's name to a suggested one, from 0 to 1."""

NO_WEIGHT = "every token of the answer or of its references occurs in all references: no idf weight"
ONCE = "idf weights need the data twice: give a file or a list, not an iterator"
EMPTY = "an empty text has no tokens to match: its raw BERTScore is 0, as bert-score has it"


@dataclass(frozen=True)
class BertScoring:
    """How BERTScores are computed: the model, its layer, the weights of tokens and the scale.

    Attributes:
        model: name or folder, with or without a commit.
        layer: of the model, from 0; ``None`` for the last.
        rescale: by the baseline of ``lang``.
        baseline: a local file of baselines, in place of the bundled ones.
        idf: weigh tokens by how seldom the run's references hold them.
    """

    model: str
    layer: int | None
    rescale: bool = False
    lang: str = "en"
    baseline: str = ""
    idf: bool = False


@dataclass(frozen=True)
class OnScale(Metric):
    """Base of what is computed from BERTScores: its parameters choose the model, layer and scale.

    Raises:
        UsageError: values are to be rescaled at a layer that is neither given nor known, a value
            that cannot stand in a metric's name, or a baseline without rescaling.
    """

    model: str = param(DEFAULT, MODEL)
    layer: int | None = param(
        None,
        "layer whose vectors are compared (default: the one that bert-score recommends, else the "
        "last)",
        minimum=0,
    )
    rescale: bool = param(False, RESCALE)
    lang: str = param("en", "language of the baseline of rescale=true: en, en-sci, de, zh ...")
    baseline: str = param(
        "", "file of baselines of your own for rescale=true, with lines LAYER,P,R,F"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in (self.model, self.lang, self.baseline):
            if set(value) & set("(),"):
                raise UsageError(
                    f"{self.name}: {value!r} cannot stand in a metric's name, because of its "
                    "brackets or commas. Point to it by --model NAME=FOLDER, or rename it."
                )
        if self.rescale and self.layer is None and layer_for(self.model) is None:
            if lacking := missing_folder(self.model):
                raise UsageError(f"{self.name}: {lacking}.")
            raise UsageError(
                f"{self.name}: nobody recommends a layer of the model {self.model}. "
                f"{did_you_mean(self.model, RECOMMENDED, at_least=_NEAR)} Name a layer, as in "
                f"{self.name}(model={self.model},layer=9)."
            )
        if not self.rescale and (self.baseline or self.lang != "en"):
            idle = "baseline" if self.baseline else "lang"
            raise UsageError(f"{self.name}: {idle} goes with rescale=true.")

    @property
    def scale(self) -> BertScoring:
        """How its BERTScores are computed."""
        layer = layer_for(self.model) if self.layer is None else self.layer
        return BertScoring(self.model, layer, self.rescale, self.lang, self.baseline)


class EncoderMetric(OnScale, ModelMetric):
    """A metric that computes BERTScores itself."""

    @property
    def weights(self) -> tuple[Weights, ...]:
        return (Weights.parse(self.model),)

    def check(self) -> None:
        """Checks that there is a baseline to rescale by.

        Raises:
            Unavailable: there is none.
        """
        base_of(self.scale)


def base_of(scale: BertScoring) -> Baseline | None:
    """The baseline of a scale; ``None`` where values are not rescaled.

    Raises:
        Unavailable: there is no baseline for the language, model and layer.
    """
    if not scale.rescale or scale.layer is None:
        return None
    return baseline(scale.lang, scale.model, scale.layer, scale.baseline)


def encoder_of(window: Window, scale: BertScoring) -> Encoder:
    """The run's encoder for a scale, loaded on first use.

    Args:
        window: has the run's models.
        scale: names the model and its layer.

    Raises:
        Unavailable: a package or the model is not available.
    """
    return window.models.use(Encoder, Weights.parse(scale.model), scale.layer)


def bertscores(
    window: Window, scale: BertScoring, pairs: Sequence[Pair]
) -> list[TokenMatch | None]:
    """The BERTScore of each pair on a scale, every text encoded once.

    Args:
        window: has the run's models, and its references for idf weights.
        scale: the model and how its values are shown.
        pairs: candidate and reference.

    Returns:
        One `TokenMatch` a pair; ``None`` where no token of a text has any idf weight.

    Raises:
        Unavailable: the model, a package or the baseline is not available.
    """
    base = base_of(scale)
    encoder = encoder_of(window, scale)
    idf = window.all_samples.once(_idf, encoder) if scale.idf else None
    matches = compare(encoder, pairs, idf)
    read = (
        pair
        for of, one in zip(pairs, matches, strict=True)
        if one
        for pair in zip(of, one.cut, strict=True)
    )
    window.models.use(ReadTexts, Weights.parse(scale.model)).add(read, encoder.longest)
    if base is None:
        return matches
    return [
        one if one is None else TokenMatch(*base.rescaled(one.p, one.r, one.f), one.cut, one.empty)
        for one in matches
    ]


def grouped(
    window: Window, scale: BertScoring, groups: Iterable[tuple[str, Sequence[str]]]
) -> list[list[TokenMatch | None]]:
    """Compares each candidate with each of its own references.

    Args:
        window: has the run's models, and its references for idf weights.
        scale: the model and how its values are shown.
        groups: candidates, each with its own references.

    Returns:
        For each candidate one `TokenMatch` a reference; ``None`` where no token of a text has any
        idf weight.

    Raises:
        Unavailable: see `bertscores`.
    """
    groups = list(groups)
    pairs = [(text, other) for text, others in groups for other in others]
    matches: Iterator[TokenMatch | None] = iter(bertscores(window, scale, pairs))
    return [[next(matches) for _ in others] for _, others in groups]


def cut_note(
    matches: Sequence[TokenMatch | None], window: Window, scale: BertScoring, other: str
) -> str:
    """Says which texts were longer than the model's limit; empty where none was.

    Args:
        matches: of one candidate with each of its references.
        window: has the model.
        scale: names it.
        other: what a reference is called; they are counted from 1.
    """
    cut = [(at, *match.cut) for at, match in enumerate(matches, 1) if match is not None]
    cut_texts = ["the answer"] if any(answer for _, answer, _ in cut) else []
    cut_texts += [f"{other} {at}" for at, _, its in cut if its]
    if not cut_texts:
        return ""
    encoder = encoder_of(window, scale)
    return f"cut to the {encoder.longest} tokens that the model takes: {', '.join(cut_texts)}"


def _idf(samples: Iterable[Sample], encoder: Encoder) -> Idf:
    """Weights from the references of all samples, whether or not they were answered: an unanswered
    sample must not change the scale."""
    return Idf.of(encoder, (text for sample in samples for text in sample.references))


def against_references(
    window: Window, scale: BertScoring, rows: tuple[int, ...]
) -> list[list[TokenMatch | None]]:
    """Compares answers with their references; for `Window.once`.

    Args:
        window: has the samples and the run's models.
        scale: the model and how its values are shown.
        rows: indices into ``window.samples``, of samples with an answer.

    Returns:
        For each sample one `TokenMatch` a reference; ``None`` as in `grouped`.
    """
    chosen = (window.samples[at] for at in rows)
    return grouped(window, scale, ((one.answer_text, one.references) for one in chosen))


@register
class BertScore(EncoderMetric):
    """Likeness in meaning to the best reference, token by token (BERTScore).

    Of several references the best value counts, for each of precision, recall and F by itself. Raw
    values of trained models lie close together, mostly from 0.4 to 1; rescaled ones spread from
    about 0 to 1, and may be negative. A text longer than the model takes is cut, and the score says
    so. An empty answer scores a raw 0; an empty reference cannot be matched.

    Formula: P = mean over the answer's tokens of the highest cosine with a reference's token; R the
        reverse; F = 2PR / (P + R)
    Part p: precision: how much of the answer the reference holds
    Part r: recall: how much of the reference the answer holds
    Part f: F of both
    Misleads where: raw values lie close together for any two texts; a wrong number or name costs
        little
    Good for: answers that say the same in other words
    Source: Zhang et al. 2020, BERTScore; bert-score 0.3.13
    """

    idf: bool = param(False, "weigh tokens by how seldom they are in the references of the run")
    part: Literal["p", "r", "f"] = part(
        "f", ("p", "r", "f"), "precision, recall or F of the best reference"
    )

    name = "bertscore"
    family = "answer"
    needs = ("answer", "references")
    low = None

    @property
    def scale(self) -> BertScoring:
        return replace(super().scale, idf=self.idf)

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The value of the best reference, with the values of all references as parts."""
        if self.idf and not window.all_samples.readable:
            return [Unscored(Reason.MISSING_INPUT, ONCE)] * len(rows)
        matches_of = window.once(against_references, self.scale, tuple(rows))
        return [
            self._outcome(window, window.samples[at], matches)
            for at, matches in zip(rows, matches_of, strict=True)
        ]

    def _outcome(
        self, window: Window, sample: Sample, matches: Sequence[TokenMatch | None]
    ) -> Outcome:
        if not any(text.strip() for text in sample.references):
            return Unscored(Reason.UNDEFINED, "the reference is empty")
        weighed = [match for match in matches if match is not None]
        if not weighed:
            return Unscored(Reason.UNDEFINED, NO_WEIGHT)
        best = {name: max(getattr(one, name) for one in weighed) for name in ("p", "r", "f")}
        parts: dict[str, Any] = dict(best)
        if self.idf:
            parts["idf_references"] = window.all_samples.once(
                _idf, encoder_of(window, self.scale)
            ).n
        if len(matches) > 1:
            parts["values"] = [one and [one.p, one.r, one.f] for one in matches]
        notes = [EMPTY] if all(one.empty for one in weighed) else []
        notes.append(cut_note(matches, window, self.scale, "reference"))
        return Score(best[self.part], parts, "; ".join(filter(None, notes)))
