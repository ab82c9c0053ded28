"""MT-RAG's BERTScores: against the first target, and against the passages.

A value that the record brings under its published name is taken and no model is run, unless
``given=false`` (`Score.given` and the explanation say so). Otherwise it is computed as in the
benchmark: with ``microsoft/deberta-xlarge-mnli``, layer 40, without idf weights, rescaled with
bert-score's baseline for English. An empty answer or target has a raw value of 0, which rescaling
makes negative, as in bert-score.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from ragassay.base.counts import plural
from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.bertscore import (
    EMPTY,
    RESCALE,
    BertScoring,
    EncoderMetric,
    OnScale,
    against_references,
    cut_note,
    grouped,
)
from ragassay.metrics.core.metric import Need, missing, passage_texts, register, textless_passage
from ragassay.metrics.core.metric_parameters import param, part
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_given import GIVEN, bounded, impossible, in_range, read, values_of
from ragassay.metrics.mtrag.mtrag_overlap import no_contexts
from ragassay.models.encoders.token_matching import TokenMatch
from ragassay.models.weights.weight_files import Unavailable


@dataclass(frozen=True)
class ByBertScore(OnScale):
    """The parameters of all metrics computed from BERTScores, so that all of them use the same
    model and scale.

    Attributes:
        given: see `GIVEN`.
    """

    rescale: bool = param(True, RESCALE)
    given: bool = param(True, GIVEN, beside=True)

    @property
    def shared_parameters(self) -> dict[str, Any]:
        """These parameters, to pass on to a metric that this one reads."""
        return {spec.name: getattr(self, spec.name) for spec in fields(ByBertScore)}


def against_passages(
    window: Window, scale: BertScoring, rows: tuple[int, ...]
) -> list[list[TokenMatch | None]]:
    """Compares answers with their passages; for `Window.once`.

    Args:
        window: has the samples and the run's models.
        scale: the model and how its values are shown.
        rows: indices into ``window.samples``, of samples with an answer and texts of passages.

    Returns:
        For each sample one `TokenMatch` a passage; ``None`` where no token has any weight.
    """
    chosen = (window.samples[at] for at in rows)
    return grouped(window, scale, ((one.answer_text, passage_texts(one)) for one in chosen))


class _BertScore(ByBertScore, EncoderMetric):
    """A BERTScore, given or computed.

    Rescaling stretches the cosine's -1 to a value that depends on the model, so there is no lower
    bound.

    Source: Zhang et al. 2020, BERTScore; MT-RAG benchmark, step 1
    """

    family = "mtrag"
    low = None
    uses = ("given",)
    nearest: ClassVar[bool] = False
    """Whether the highest value over the passages counts, and not that for the first target."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The value's names in a record; the first that the record has counts."""

    def brings(self, sample: Sample) -> bool:
        """Whether the record brings the value and ``given`` is set."""
        return self.given and values_of(sample, *self.names) is not None

    def read(self, sample: Sample) -> Outcome | None:
        """The record's value that counts, with all values as parts, just as they are given;
        `Unscored` where their number or one of them is not possible."""
        if not self.brings(sample):
            return None
        values = values_of(sample, *self.names) or []
        texts = sample.passages if self.nearest else sample.references
        if texts is not None and len(values) not in (1, len(texts)):
            return Unscored(
                Reason.UNDEFINED,
                f"the given {self.names[0]} has {plural(len(values), 'value')} for "
                f"{plural(len(texts), 'text')}",
            )
        checked = in_range(self, self.names[0], values)
        if isinstance(checked, Unscored):
            return checked
        return read(bounded(self, checked[self._at(checked)]), values=checked)

    def _at(self, values: Sequence[float]) -> int:
        """The index of the value that counts."""
        return max(range(len(values)), key=values.__getitem__) if self.nearest else 0

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records bring impossible values."""
        pairs = zip(window.samples, window.outcomes(self), strict=True)
        n = sum(
            isinstance(outcome, Unscored)
            and outcome.reason is Reason.UNDEFINED
            and self.brings(sample)
            for sample, outcome in pairs
        )
        rule = "one number of at most 1, or one for each text"
        return [impossible(self, self.names[0], n, rule)]

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The model's scores; where there is no model, the error says how to give the values
        instead.

        Raises:
            Unavailable: the model is not available.
        """
        build = against_passages if self.nearest else against_references
        try:
            compared = window.once(build, self.scale, tuple(rows))
        except Unavailable as error:
            raise error.saying(
                f"{error}; values in the records' metrics, under the published names, need no model"
            ) from error
        return [
            self._outcome(window, [one for one in each if one is not None]) for each in compared
        ]

    def _outcome(self, window: Window, matches: Sequence[TokenMatch]) -> Score:
        """The value that counts, with all values as parts; notes say that its text is empty, or
        that texts were cut."""
        values = [getattr(match, getattr(self, "part", "p")) for match in matches]
        at = self._at(values)
        if self.nearest:
            cut = cut_note(matches, window, self.scale, "passage")
        else:
            cut = cut_note(matches[:1], window, self.scale, "target")
        notes = filter(None, (EMPTY if matches[at].empty else "", cut))
        return Score(bounded(self, values[at]), {"values": values}, "; ".join(notes))


@register
class ReferenceBertScore(_BertScore):
    """BERTScore against the first target (MT-RAG BertscoreP, BertscoreR).

    ``bertscore`` takes the best of several references instead.

    Formula: BERTScore of the answer against the first target
    Misleads where: a wrong number or name costs little
    """

    part: Literal["p", "r"] = part("r", ("p", "r"), "precision or recall")

    name = "reference_bertscore"
    needs = ("answer", "references")

    @property
    def names(self) -> Sequence[str]:
        """The spellings of the benchmark's records and of its analytics."""
        return {"p": ("BertscoreP", "Bert-Prec"), "r": ("BertscoreR", "Bert-Rec")}[self.part]


@register
class PassageBertScore(_BertScore):
    """BERTScore precision against the nearest passage (MT-RAG BertKPrec).

    MT-RAG's page calls it keyword precision; it is knowledge precision (Adlakha et al. 2023).
    Unscored where nothing was retrieved, whatever value the record brings.

    Formula: highest BERTScore precision of the answer against a passage
    Misleads where: a copied wrong passage has nearly 1
    """

    name = "passage_bertscore"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "passages")
    names = ("BertKPrec", "Bert-KPrec")
    nearest = True

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without passages, an answer, or (unless the record brings the value) their
        texts."""
        if self.brings(sample) and sample.passages != ():
            return missing(sample, ("answer",))
        if (none := no_contexts(sample)) is not None:
            return missing(sample, ("answer",)) or none
        return super().lacks(sample) or textless_passage(sample)
