"""Hallucination by Vectara's HHEM: as Open RAG Eval runs it, and sentence by sentence.

The model gives a source and a text a number from 0 to 1: how far the source supports the text. A
refusal is a text like any other: "I cannot find that" is seldom supported by what was retrieved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragassay.base.sample import Answer, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.citation.citable import passage_keys
from ragassay.metrics.citation.citation_parser import sentences, text_for_models
from ragassay.metrics.core.judged import ModelMetric
from ragassay.metrics.core.metric import missing, passage_texts, register, textless_passage
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_given import GIVEN, Given
from ragassay.metrics.mtrag.mtrag_overlap import no_contexts
from ragassay.models.classifiers.hhem import FOUNDATION, HHEM, HhemModel

_THREADS = 2
_PAIRS = 4096
"""Pairs that are prepared at a time: enough to group pairs of similar length in little memory."""


class _Hhem(ModelMetric):
    """Base of the metrics by HHEM: what they need, and what they cannot score."""

    family = "trecrag"
    needs = ("answer", "passages")

    weights = (HHEM, FOUNDATION)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer with text, passages, and the texts of the passages."""
        lacking = missing(sample, self.needs) or textless_passage(sample) or no_contexts(sample)
        if lacking is not None:
            return lacking
        if not any(text.strip() for text in passage_texts(sample)):
            return Unscored(Reason.NOTHING_RETRIEVED, "the passages are empty texts")
        if not text_for_models(_answer(sample)).strip():
            return Unscored(
                Reason.EMPTY_ANSWER, "the answer is empty, so there is nothing to bear out"
            )
        return None


@register
class Hhem(Given, _Hhem):
    """Factual consistency of the answer with the passages by HHEM, 1 is consistent.

    As Open RAG Eval computes it: the passages joined by a space and cut at 8,192 characters, the
    parts of the answer (without their citations) joined by a space and not cut, two threads of the
    processor. Refusals are scored like any other text.

    Formula: the model's probability that the answer follows from all passages
    Misleads where: long contexts are cut; one wrong sentence among ten may go unnoticed
    Source: Open RAG Eval, metrics page; vectara/hallucination_evaluation_model
    """

    given: bool = param(True, GIVEN, beside=True)
    max_chars: int = param(8192, "characters of the joined passages that are read", minimum=1)

    name = "hhem"
    uses = ("given",)
    published = ("hhem", "hhem_score", "hallucination_score")

    def lacks(self, sample: Sample) -> Unscored | None:
        """As for the model; nothing is lacking where the record brings the value."""
        return None if self.read(sample) is not None else super().lacks(sample)

    def read(self, sample: Sample) -> Outcome | None:
        return self.brought(sample)

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """One pair of source and answer a sample; the parts say how many characters were read."""
        model = window.models.use(HhemModel)
        sources = [" ".join(passage_texts(window.samples[at])) for at in rows]
        pairs = [
            (source[: self.max_chars], text_for_models(_answer(window.samples[at])))
            for source, at in zip(sources, rows, strict=True)
        ]
        values = model.scores(pairs, at_most=_THREADS)
        return [self._outcome(value, source) for value, source in zip(values, sources, strict=True)]

    def _outcome(self, value: float | None, source: str) -> Outcome:
        if value is None:
            return _overflow()
        n, read_of = len(source), min(len(source), self.max_chars)
        explanation = (
            f"the passages were cut at {read_of:,} of {n:,} characters" if read_of < n else ""
        )
        return Score(value, {"source_characters": n, "read_characters": read_of}, explanation)


@register
class HhemWindows(_Hhem):
    """Factual consistency of each sentence with its best passage by HHEM, the mean.

    Differs from ``hhem``: nothing is cut off, each sentence is scored by itself, and the parts say
    which passage supports it (``parts["minimum"]`` has the lowest value). Refusals are scored like
    any other text.

    Formula: mean over sentences of the highest probability over windows of the passages
    Misleads where: a sentence that needs two passages is not credited in full
    Source: our own, after Open RAG Eval
    """

    window: int = param(384, "tokens of a passage that are read at a time", minimum=16)

    name = "hhem_windows"
    version = 2

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where the answer has no sentence with words."""
        lacking = super().lacks(sample)
        if lacking is None and not _sentences(sample):
            return Unscored(Reason.EMPTY_ANSWER, "the answer has no words, so there is no sentence")
        return lacking

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """Scores every sentence of a sample with every window of its passages."""
        model = window.models.use(HhemModel)
        outcomes: list[Outcome] = []
        waiting: list[_Crossed] = []
        for sample in (window.samples[at] for at in rows):
            waiting.append(_Crossed(_sentences(sample), list(self._pieces(sample, model)), sample))
            if sum(len(one.sentences) * len(one.pieces) for one in waiting) >= _PAIRS:
                outcomes += _scored(waiting, model)
                waiting = []
        return [*outcomes, *_scored(waiting, model)]

    def _pieces(self, sample: Sample, model: HhemModel) -> Iterator[_Piece]:
        for at, text in enumerate(passage_texts(sample)):
            for start, end in model.windows(text, self.window, self.window // 4):
                if text[start:end].strip():
                    yield _Piece(at, start, end, text[start:end])


class _Piece(NamedTuple):
    """A window of a passage: its passage's index, its characters there, its text."""

    passage: int
    start: int
    end: int
    text: str


class _Crossed(NamedTuple):
    """The sentences of an answer and the windows that may support them."""

    sentences: Sequence[str]
    pieces: Sequence[_Piece]
    sample: Sample


def _scored(crossed: Sequence[_Crossed], model: HhemModel) -> Iterator[Outcome]:
    values = iter(
        model.scores(
            [
                (piece.text, sentence)
                for one in crossed
                for sentence in one.sentences
                for piece in one.pieces
            ]
        )
    )
    for one in crossed:
        table = [[next(values) for _ in one.pieces] for _ in one.sentences]
        yield _best(one, table)


def _best(one: _Crossed, table: Sequence[Sequence[float | None]]) -> Outcome:
    """Each sentence with its best window; the first one where several are equally good."""
    if not one.pieces:
        return Unscored(
            Reason.NOTHING_RETRIEVED, "the passages hold nothing that the model can read"
        )
    keys = passage_keys(one.sample.passages or ())
    details, values = [], []
    for sentence, row in zip(one.sentences, table, strict=True):
        numbers = [value for value in row if value is not None]
        if len(numbers) < len(row):
            return _overflow()
        value = max(numbers)
        piece = one.pieces[numbers.index(value)]
        values.append(value)
        details.append(
            {
                "text": sentence,
                "value": value,
                "passage": keys[piece.passage],
                "start": piece.start,
                "end": piece.end,
            }
        )
    weakest = min(values)
    explanation = f"{one.sentences[values.index(weakest)]!r} is borne out least, {weakest:.3f}"
    parts = {"minimum": weakest, "sentences": details, "windows": len(one.pieces)}
    return Score(sum(values) / len(values), parts, explanation if len(values) > 1 else "")


def _overflow() -> Unscored:
    return Unscored(
        Reason.FAILED, "the model gave no finite number in this precision; use --dtype float32"
    )


def _answer(sample: Sample) -> Answer:
    assert sample.answer is not None
    return sample.answer


def _sentences(sample: Sample) -> list[str]:
    """The sentences of the answer, without citations of any form."""
    answer, passages = _answer(sample), sample.passages or ()
    texts = [one.text for one in answer.statements] or [answer.text]
    return [sentence.text for text in texts for sentence in sentences(text, passages)]
