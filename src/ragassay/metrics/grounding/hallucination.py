"""How far an answer agrees with its passages and its reference: by Vectara's HHEM (0 to 1, how far
a source supports a text; a refusal is a text like any other), by claims and a judge, by rules; and
whether the passages hold the claims of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from ragassay.base.sample import Answer, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges.asking import Ask
from ragassay.judges.offline.questions import contradicted, unread
from ragassay.judges.questions import ClaimSupport, ExtractClaims
from ragassay.metrics.answer.answer_match import blank_references
from ragassay.metrics.citation.citation_parser import sentences, text_for_models
from ragassay.metrics.core.judged import JudgedMetric, ModelMetric
from ragassay.metrics.core.metric import (
    SampleMetric,
    Window,
    harmonic,
    missing,
    param,
    part,
    passage_keys,
    passage_texts,
    register,
    textless_passage,
)
from ragassay.metrics.mtrag.mtrag_values import GIVEN, Given, no_contexts
from ragassay.models.classifiers.hhem import FOUNDATION, HHEM, HhemModel
from ragassay.texts.languages import stated_language

_THREADS = 2


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
    which passage supports it.

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
        return [self._outcome(window.samples[at], model) for at in rows]

    def _outcome(self, sample: Sample, model: HhemModel) -> Outcome:
        """The mean over the sentences, each with its best window (the first of equals)."""
        texts, pieces = _sentences(sample), list(self._pieces(sample, model))
        if not pieces:
            return Unscored(
                Reason.NOTHING_RETRIEVED, "the passages hold nothing that the model can read"
            )
        keys = passage_keys(sample.passages or ())
        pairs = [(piece.text, sentence) for sentence in texts for piece in pieces]
        numbers = [value for value in model.scores(pairs) if value is not None]
        if len(numbers) < len(pairs):
            return _overflow()
        details: list[dict[str, Any]] = []
        for at, sentence in enumerate(texts):
            row = numbers[at * len(pieces) : (at + 1) * len(pieces)]
            place = pieces[row.index(max(row))]
            of = {"passage": keys[place.passage], "start": place.start, "end": place.end}
            details.append({"text": sentence, "value": max(row), **of})
        values = [detail["value"] for detail in details]
        weakest = min(values)
        least = f"{texts[values.index(weakest)]!r} is borne out least, {weakest:.3f}"
        parts = {"minimum": weakest, "sentences": details, "windows": len(pieces)}
        return Score(sum(values) / len(values), parts, least if len(values) > 1 else "")

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
    texts = [statement.text for statement in answer.statements] or [answer.text]
    return [sentence.text for text in texts for sentence in sentences(text, passages)]


class _Side(NamedTuple):
    """The claims of a text, and which of them the other text supports."""

    claims: tuple[str, ...]
    held: tuple[bool, ...]

    @property
    def share(self) -> float | None:
        """Share of the claims that are supported, 0 to 1; ``None`` where nothing is claimed."""
        return sum(self.held) / len(self.held) if self.held else None


async def side(ask: Ask, query: str, text: str, other: str) -> _Side:
    """The claims of a text, and which of them another text supports; for `Ask.once`."""
    if not text.strip():
        return _Side((), ())
    claims = (await ask(ExtractClaims(f"user: {query}", text))).claims
    if not claims or not other.strip():
        return _Side(claims, (False,) * len(claims))
    return _Side(claims, (await ask(ClaimSupport(claims, (other,)))).supported)


@register
class FactualCorrectness(JudgedMetric):
    """Claims that answer and reference share.

    Where there are several references, the one with the highest F1 counts, for all three. An answer
    without claims has no precision, recall 0 and F1 0; a reference without claims is left out.

    Formula: P = claims of the answer that the reference supports / its claims; R the reverse; F1 =
        2PR / (P + R)
    Part precision: share of the answer's claims that the reference supports
    Part recall: share of the reference's claims that the answer supports
    Part f1: harmonic mean of both
    Misleads where: the judge cuts the claims; a terse reference calls right details unsupported
    Source: Open RAG Eval 0.3.0, golden answers
    """

    part: Literal["precision", "recall", "f1"] = part(
        "f1", ("precision", "recall", "f1"), "which of them is the value"
    )

    name = "factual_correctness"
    family = "answer"
    needs = ("query", "answer", "references")
    asks = (ExtractClaims, ClaimSupport)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank."""
        return super().lacks(sample) or blank_references(sample)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        answer = sample.answer_text
        candidates: list[tuple[float, dict[str, Any]]] = []
        for at, reference in enumerate(sample.references):
            if not reference.strip():
                continue
            claimed = await ask.once(side, sample.query_text, answer, reference)
            wanted = await ask.once(side, sample.query_text, reference, answer)
            if wanted.share is None:
                continue
            precision, recall = claimed.share, wanted.share
            f1 = 0.0 if precision is None else harmonic(precision, recall)
            parts = {
                "precision": precision,
                "recall": recall,
                "f1": f1,
                "reference": at,
                "answer_claims": list(zip(claimed.claims, claimed.held, strict=True)),
                "reference_claims": list(zip(wanted.claims, wanted.held, strict=True)),
            }
            candidates.append((f1, parts))
        if not candidates:
            return Unscored(Reason.UNDEFINED, "the reference claims nothing")
        _, best = max(candidates, key=lambda item: item[0])
        value = best[self.part]
        if value is None:
            return Unscored(
                Reason.NOTHING_CLAIMED, "the answer claims nothing, so it has no precision"
            )
        return Score(value, best)


@register
class Contradicted(SampleMetric):
    """Sentences that say the opposite of a passage or a reference, by rules.

    A sentence is contradicted where it is close to a sentence of a passage or of a reference, and
    has a negation, an opposite, another number or exchanged roles ("the museum lends to the
    library").

    Formula: contradicted sentences of the answer / its sentences
    Misleads where: only near copies are seen, so 0 does not say that nothing is contradicted
    Source: our own
    """

    name = "contradicted"
    family = "answer"
    version = 4
    needs = ("answer",)
    uses = ("passages", "references")
    higher_is_better = False

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where there is no text to hold the answer against."""
        lacking = missing(sample, self.needs)
        if lacking is None and not any(_others(sample).values()):
            given = sample.passages is not None
            reason = Reason.NOTHING_RETRIEVED if given else Reason.NOT_APPLICABLE
            return Unscored(reason, "there is no text of a passage or a reference")
        return lacking

    def score_sample(self, sample: Sample) -> Outcome:
        """The share; the parts name each contradicted sentence, what contradicts it (passages or
        references), and the kind of difference."""
        pieces = sentences(sample.answer_text, sample.passages or ())
        answer_sentences = [piece.text for piece in pieces if piece.text.strip()]
        if not answer_sentences:
            return Unscored(Reason.EMPTY_ANSWER, "the answer is empty")
        texts = _others(sample)
        beside = " ".join(chain([sample.query_text], *texts.values()))
        if where := unread(sample.answer_text, beside, stated_language(sample)):
            return Unscored(Reason.UNSUPPORTED, f"{self.name} knows no negation in {where}")
        contradictions: list[dict[str, Any]] = []
        for sentence in answer_sentences:
            for against, others in texts.items():
                kind = contradicted(sentence, others) if others else None
                if kind is not None:
                    contradictions.append({"text": sentence, "against": against, "kind": kind})
                    break
        if not contradictions:
            return Score(0.0)
        n, of = len(contradictions), len(answer_sentences)
        explanation = f"{n} of {of} sentences are contradicted"
        return Score(n / of, {"sentences": contradictions}, explanation)


def _others(sample: Sample) -> dict[str, list[str]]:
    """The texts that may contradict an answer, references first."""
    passages = [passage.text or "" for passage in sample.passages or ()]
    return {
        "references": [text for text in sample.references if text.strip()],
        "passages": [text for text in passages if text.strip()],
    }


@register
class ClaimRecall(JudgedMetric):
    """Share of the reference's claims that the passages support.

    The largest share among several references counts. Where nothing was retrieved, no
    claim is supported.

    Formula: claims of the reference that the passages support / its claims
    Misleads where: details of the reference count even if the query does not ask for them; order
        does not
    Source: Es et al. 2024, RAGAS (context recall)
    """

    name = "claim_recall"
    family = "retrieval"
    needs = ("query", "passages", "references")
    asks = (ExtractClaims, ClaimSupport)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where all references are blank, or a passage has no text."""
        return super().lacks(sample) or blank_references(sample) or textless_passage(sample)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        texts = passage_texts(sample)
        shares: list[tuple[float, Score]] = []
        for reference in filter(str.strip, sample.references):
            extracted = await ask(ExtractClaims(f"user: {sample.query_text}", reference))
            claims = tuple(claim for claim in extracted.claims if claim.strip())
            if not claims:
                continue
            held = (False,) * len(claims)
            if texts:
                held = (await ask(ClaimSupport(claims, texts))).supported
            said = f"{sum(held)} of {len(claims)} claims of the reference are in the passages"
            share = sum(held) / len(claims)
            shares.append((share, Score(share, {"claims": claims, "held": held}, said)))
        if not shares:
            return Unscored(Reason.UNDEFINED, "no reference makes a claim")
        return max(shares, key=lambda found: found[0])[1]
