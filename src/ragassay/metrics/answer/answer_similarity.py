"""How similar in meaning an answer and its reference are, by an embedder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.chunk_matching import cosine_matrix
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.modelled import ModelMetric
from ragassay.metrics.core.window import Window
from ragassay.models.embedders.embedder import Embedded, is_blank

_GIVEN: Final = ("answer_embedding", "reference_embeddings")


@register
class AnswerSimilarity(ModelMetric):
    """Cosine of answer and closest reference, by an embedder.

    A blank answer has the cosine 0 with every reference; blank references are left out. Vectors may
    come with the record: ``answer_embedding`` and ``reference_embeddings`` (one for each reference)
    under ``given``.

    Formula: highest cosine of the answer's vector with that of a reference
    Misleads where: texts on one topic lie close together, also where one contradicts the other
    Good for: answers that say the same in other words, where an embedder is at hand
    Source: Open RAG Eval's golden-answer semantic similarity; ragas' answer similarity
    """

    name = "answer_similarity"
    family = "answer"
    needs = ("answer", "references")
    uses = ("given",)
    low = -1.0
    embeds = True
    aliases = {"semantic_similarity": "answer_similarity"}  # noqa: RUF012

    def texts_to_embed(self, sample: Sample) -> Iterable[str]:
        """Answer and references; nothing where the record brings vectors."""
        if self.lacks(sample) is not None or any(sample.given.get(key) for key in _GIVEN):
            return ()
        return _texts(sample)

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
