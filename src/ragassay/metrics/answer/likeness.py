"""Likeness in meaning of an answer and its references, by an embedder and token by token
(BERTScore), and what all metrics by BERTScore share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.chunk_matching import cosine_matrix
from ragassay.metrics.core.judged import ModelMetric
from ragassay.metrics.core.metric import Metric, Window, param, part, passage_texts, register
from ragassay.models.embedders.embedder import Embedded, is_blank
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.token_matching import (
    RECOMMENDED,
    Baseline,
    Idf,
    Pair,
    TokenMatch,
    baseline,
    compare,
    layer_for,
)
from ragassay.models.weights.weight_files import Weights, missing_folder

DEFAULT = "microsoft/deberta-xlarge-mnli"
"""The model whose BERTScores agree best with people's judgments, by bert-score's authors."""

MODEL = "encoder: a name on the hub (NAME@COMMIT pins it), or a folder"
RESCALE = "stretch the values so that random sentences score 0, by bert-score's baseline"

_NEAR = 0.8
"""Smallest similarity of a model's name to a suggested one, from 0 to 1."""

NO_WEIGHT = "every token of the answer or of its references occurs in all references: no idf weight"
EMPTY = "an empty text has no tokens to match: its raw BERTScore is 0, as bert-score has it"


@dataclass(frozen=True)
class BertScoring:
    """How BERTScores are computed: model, layer (``None``: the last), scale (by the baseline of
    ``lang``, or of a local file), and whether tokens are weighed by how seldom references hold
    them."""

    model: str
    layer: int | None
    rescale: bool = False
    lang: str = "en"
    baseline: str = ""
    idf: bool = False


@dataclass(frozen=True)
class OnScale(Metric):
    """Base of what is computed from BERTScores: its parameters choose the model, layer and
    scale."""

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
                    f"{self.name}: {value!r} cannot be part of a metric's name, because of its "
                    "brackets or commas. Point to it by --model NAME=FOLDER, or rename it."
                )
        if self.rescale and self.layer is None and layer_for(self.model) is None:
            if lacking := missing_folder(self.model):
                raise UsageError(f"{self.name}: {lacking}.")
            raise UsageError(
                f"{self.name}: no layer is recommended for the model {self.model}. "
                f"{did_you_mean(self.model, RECOMMENDED, at_least=_NEAR)} Name a layer, as in "
                f"{self.name}(model={self.model},layer=9)."
            )
        if not self.rescale and (self.baseline or self.lang != "en"):
            idle = "baseline" if self.baseline else "lang"
            raise UsageError(f"{self.name}: {idle} needs rescale=true.")

    @property
    def scale(self) -> BertScoring:
        """How its BERTScores are computed."""
        layer = layer_for(self.model) if self.layer is None else self.layer
        return BertScoring(self.model, layer, self.rescale, self.lang, self.baseline)


class EncoderMetric(OnScale, ModelMetric):
    """A metric that computes BERTScores itself."""

    @cached_property
    def weights(self) -> tuple[Weights, ...]:  # type: ignore[override]  # read only
        return (Weights.parse(self.model),)

    def check(self) -> None:
        """Checks that there is a baseline to rescale by."""
        base_of(self.scale)


def base_of(scale: BertScoring) -> Baseline | None:
    """The baseline of a scale; ``None`` where values are not rescaled."""
    if not scale.rescale or scale.layer is None:
        return None
    return baseline(scale.lang, scale.model, scale.layer, scale.baseline)


def encoder_of(window: Window, scale: BertScoring) -> Encoder:
    """The run's encoder for a scale, loaded on first use."""
    return window.models.use(Encoder, Weights.parse(scale.model), scale.layer)


def bertscores(
    window: Window, scale: BertScoring, pairs: Sequence[Pair]
) -> list[TokenMatch | None]:
    """The BERTScore of each pair on a scale, every text encoded once."""
    base = base_of(scale)
    encoder = encoder_of(window, scale)
    idf = window.all_samples.once(_idf, encoder) if scale.idf else None
    matches = compare(encoder, pairs, idf)
    if base is None:
        return matches
    return [
        match
        if match is None
        else TokenMatch(*base.rescaled(match.p, match.r, match.f), match.cut, match.empty)
        for match in matches
    ]


def against(
    window: Window, scale: BertScoring, rows: tuple[int, ...], passages: bool
) -> list[list[TokenMatch | None]]:
    """Compares the answers of the samples ``rows`` with their references, or passages; for
    `Window.once`. For each one `TokenMatch` a text; ``None`` where no token has any idf weight."""
    chosen = [window.samples[at] for at in rows]
    others = [passage_texts(sample) if passages else sample.references for sample in chosen]
    pairs = [
        (sample.answer_text, text) for sample, of in zip(chosen, others, strict=True) for text in of
    ]
    matches = iter(bertscores(window, scale, pairs))
    return [[next(matches) for _ in of] for of in others]


def cut_note(
    matches: Sequence[TokenMatch | None], window: Window, scale: BertScoring, other: str
) -> str:
    """Says which texts were longer than the model's limit; empty where none was."""
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


@register
class BertScore(EncoderMetric):
    """Likeness in meaning to the best reference, token by token (BERTScore).

    The best value of several references counts, for each of precision, recall and F by itself. Raw
    values lie mostly from 0.4 to 1; rescaled ones spread from about 0 to 1, and may be negative. A
    text longer than the model takes is cut, and the score says so.

    Formula: P = mean over the answer's tokens of the highest cosine with a reference's token; R the
        reverse; F = 2PR / (P + R)
    Part p: precision: how much of the answer the reference holds
    Part r: recall: how much of the reference the answer holds
    Part f: F of both
    Misleads where: raw values lie close together for any two texts; a wrong number or name costs
        little
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
        matches_of = window.once(against, self.scale, tuple(rows), False)
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
        best = {name: max(getattr(pair, name) for pair in weighed) for name in ("p", "r", "f")}
        parts: dict[str, Any] = dict(best)
        if self.idf:
            parts["idf_references"] = window.all_samples.once(
                _idf, encoder_of(window, self.scale)
            ).n
        if len(matches) > 1:
            parts["values"] = [match and [match.p, match.r, match.f] for match in matches]
        notes = [EMPTY] if all(pair.empty for pair in weighed) else []
        notes.append(cut_note(matches, window, self.scale, "reference"))
        return Score(best[self.part], parts, "; ".join(filter(None, notes)))


_GIVEN: Final = ("answer_embedding", "reference_embeddings")


@register
class AnswerSimilarity(ModelMetric):
    """Cosine of answer and closest reference, by an embedder.

    A blank answer has the cosine 0 with every reference; blank references are left out. Vectors may
    come with the record: ``answer_embedding`` and ``reference_embeddings`` (one for each reference)
    under ``given``.

    Formula: highest cosine of the answer's vector with that of a reference
    Misleads where: texts on one topic lie close together, even if one contradicts the other
    Source: Open RAG Eval's golden-answer semantic similarity; ragas' answer similarity
    """

    name = "answer_similarity"
    family = "answer"
    needs = ("answer", "references")
    uses = ("given",)
    low = -1.0
    embeds = True
    aliases = {"semantic_similarity": "answer_similarity"}  # noqa: RUF012

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank."""
        lacking = super().lacks(sample)
        if lacking is None and all(map(is_blank, sample.references)):
            return Unscored(Reason.UNDEFINED, "the reference answers are blank")
        return lacking

    def read(self, sample: Sample) -> Outcome | None:
        """The score by the record's vectors; ``None`` where it brings none."""
        answer, references = (sample.given.get(key) for key in _GIVEN)
        if answer is None and references is None:
            return None
        n = len(sample.references)
        if answer is None or not isinstance(references, list | tuple) or len(references) != n:
            return Unscored(
                Reason.MISSING_INPUT,
                f"{_GIVEN[0]!r} and {_GIVEN[1]!r} belong together: a vector, and a list of {n}",
            )
        try:
            cosines = _cosines(answer, references)
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, str(error))
        return replace(_closest(cosines, range(n), {}, "vectors in the record"), given=True)

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The scores by the run's embedder, each distinct text of the window embedded once."""
        samples = [window.samples[at] for at in rows]
        embedder = window.models.embedder
        vectors = embedder.embed(text for sample in samples for text in _texts(sample))
        return [_embedded(sample, vectors, embedder.label) for sample in samples]


def _embedded(sample: Sample, vectors: Mapping[str, Embedded], label: str) -> Outcome:
    embedded = [vectors[text] for text in _texts(sample) if not is_blank(text)]
    for vector in embedded:
        if isinstance(vector, Unscored):
            return vector
    places = [at for at, text in enumerate(sample.references) if not is_blank(text)]
    parts = {"embedder": label}
    if is_blank(sample.answer_text):
        return _closest([0.0] * len(places), places, parts, "the answer is blank")
    return _closest(_cosines(embedded[0], embedded[1:]), places, parts, f"vectors by {label}")


def _closest(
    cosines: Sequence[float], places: Sequence[int], parts: Mapping[str, Any], explanation: str
) -> Score:
    best = max(range(len(cosines)), key=cosines.__getitem__)
    all_parts = {"cosines": list(cosines), "reference": places[best], **parts}
    return Score(cosines[best], all_parts, explanation)


def _cosines(answer: Any, references: Sequence[Any]) -> list[float]:
    near = cosine_matrix(np.asarray([answer], np.float64), np.asarray(references, np.float64))
    return [float(cosine) for cosine in near[0]]


def _texts(sample: Sample) -> list[str]:
    """The answer and the references that say something."""
    return [sample.answer_text, *(text for text in sample.references if not is_blank(text))]
