"""MT-RAG's values without a judge or a model: what the record brings among its ``metrics``, and the
benchmark's first step, the answer against targets and passages, and lengths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import AND, RECORD, Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.references import (
    ReferencedAnswer,
    ReferenceMetric,
    bare_words,
    encode,
    rouge_tokens,
    squad_normal,
)
from ragassay.metrics.answer.word_overlap import Compared, compare, compared
from ragassay.metrics.core.metric import (
    Measured,
    Metric,
    SampleMetric,
    Window,
    measure,
    missing,
    param,
    passage_texts,
    register,
    scored,
    textless_passage,
)
from ragassay.texts.word_cutting import words

GIVEN = "take the value that the record brings, where it has one"
"""Help of the parameter ``given``."""

READ = "read from the record"
"""Explanation of a value that the record brings."""

ROUNDING = 1e-6
"""Tolerance for values beyond their range, because of single precision."""


def values_of(sample: Sample, *names: str) -> list[Any] | None:
    """The record's values under the first of ``names`` that it has, as a list, texts of numbers as
    numbers; ``None`` where it has none."""
    name = _present(sample, names)
    if not name:
        return None
    value = sample.given[name]
    values = value if isinstance(value, list | tuple) else [value]
    return [_number(text) if isinstance(text, str) else text for text in values]


def _present(sample: Sample, names: Iterable[str]) -> str:
    """The first of the names under which the record has a value; empty where it has none."""
    for name in names:
        value = sample.given.get(name)
        values = value if isinstance(value, list | tuple) else [value]
        if any(item is not None for item in values):
            return name
    return ""


def givers(sample: Sample, *names: str) -> tuple[str, ...]:
    """Who gave the value that `values_of` reads: labels of judges, or `RECORD` where the record
    does not say."""
    name = _present(sample, names)
    return tuple((sample.given_by.get(name) or RECORD).split(AND)) if name else ()


def explained(sample: Sample, name: str) -> Unscored | None:
    """Why the record's value is null, where the record says so; else ``None``. A judge asked now
    could be another one than gave the values beside it."""
    if name not in sample.given or values_of(sample, name) is not None:
        return None
    why = sample.given_unscored.get(name)
    return None if why is None else Unscored.of_words(why)


def in_range(metric: Metric, name: str, values: Sequence[Any]) -> list[float] | Unscored:
    """Checks the values that a record gives under a name."""
    low = -math.inf if metric.low is None else metric.low - ROUNDING
    high = math.inf if metric.high is None else metric.high + ROUNDING
    for value in values:
        if not _is_number(value):
            return Unscored(
                Reason.UNDEFINED, f"the given {name} holds {value!r}, which is not a number"
            )
        if not low <= value <= high:
            bound = f"above {metric.high:g}" if value > high else f"below {metric.low:g}"
            return Unscored(
                Reason.UNDEFINED, f"the given {name} holds {value:g}, which cannot be {bound}"
            )
    return list(values)


def bounded(metric: Metric, value: float) -> float:
    """The value, or the bound of the metric's range that it exceeds by a rounding error."""
    value = value if metric.low is None else max(value, metric.low)
    return value if metric.high is None else min(value, metric.high)


class Given(Metric):
    """A metric whose value a record may bring.

    Class attributes:
        published: names of the value in a record; the first that it has counts.
        rule_of_value: what the value should be.
    """

    given: bool
    published: ClassVar[tuple[str, ...]] = ()
    rule_of_value: ClassVar[str] = "a number from 0 to 1"

    @property
    def names(self) -> tuple[str, ...]:
        """`published`, unless they depend on a parameter."""
        return self.published

    def brought(self, sample: Sample) -> Outcome | None:
        """The outcome by the record's value: `Unscored` where that is not possible, ``None`` where
        there is none or ``given`` is not set."""
        name = _present(sample, self.names) if self.given else ""
        return self.taken_over(sample, name, values_of(sample, name) or []) if name else None

    def taken_over(self, sample: Sample, name: str, values: Sequence[Any]) -> Outcome:
        """The outcome by the values that the record has under ``name``: the first of them."""
        checked = in_range(self, name, values[:1])
        if isinstance(checked, Unscored):
            return checked
        return self.read_score(bounded(self, checked[0]), sample)

    def read_score(self, value: float, sample: Sample) -> Score:
        """The score of a value that the record brings."""
        return Score(value, {}, READ, given=True)

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records bring an impossible value."""
        if not self.names:
            return
        n = sum(
            _present(sample, self.names) != "" and isinstance(self.brought(sample), Unscored)
            for sample in window.samples
        )
        name, rule = self.names[0], self.rule_of_value
        yield CountedFact(
            f"{{n}} given {{value|values}} of {name} {{is|are}} impossible ({name} is {rule}). "
            "{It was|They were} not taken.",
            n,
        )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def no_contexts(sample: Sample) -> Unscored | None:
    """The outcome of a comparison with passages where there are none; ``None`` where there are."""
    if sample.passages:
        return None
    none = "nothing was retrieved, so there is no passage to compare with"
    return missing(sample, ("passages",)) or Unscored(Reason.NOTHING_RETRIEVED, none)


class _OfTargets(ReferenceMetric):
    """Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1"""

    family = "mtrag"

    def outcome(self, view: Any) -> Outcome:
        """The first target's value, with the values of all targets as parts."""
        values = self.measured(view)
        return scored(values[0], values=values)


@measure("reference_recall", base=_OfTargets)
def reference_recall(view: ReferencedAnswer) -> list[float]:
    """Share of the target's words that the answer holds (MT-RAG Recall).

    Words are SQuAD's normal form. Words count as often as they occur. 0 for a target without words,
    as published.

    Formula: words of the first target that occur in the answer / its words
    Misleads where: an answer that says everything scores 1
    """
    answer = squad_normal(view.answer).split()
    targets = [squad_normal(text).split() for text in view.references]
    return [compare("rouge1", answer, words).r for words in targets]


@register
class ReferenceRougeL(_OfTargets):
    """ROUGE-L F against the first target, unstemmed (MT-RAG RougeL_stemFalse).

    Equal to ``rougeL(stem=false).f`` with one target; with several, that metric takes the best.

    Formula: ROUGE-L F against the first target
    Misleads where: counts words, not meaning
    """

    name = "reference_rougeL"
    prepared = staticmethod(compared)
    prepared_by = ("measure", "tokens", "stem")
    measure, tokens, stem = "rougeL", "rouge", False

    def measured(self, *data: Compared) -> list[float]:
        return [value.f for value in data[0].values]


class _AgainstPassages(SampleMetric, Measured):
    """A metric that compares the answer with the texts of the passages, in rank order.

    Unscored where nothing was retrieved; the benchmark has an explicit null there.
    """

    family = "mtrag"
    needs = ("answer", "passages")
    higher_is_better = None

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer or passages."""
        return missing(sample, ("answer",)) or no_contexts(sample)

    def score_sample(self, sample: Sample) -> Outcome:
        """Unscored where a passage has no text."""
        lacking = textless_passage(sample)
        return lacking or self.measured(sample.answer_text, passage_texts(sample))


@measure("passage_rougeL", base=_AgainstPassages)
def passage_rouge_l(answer: str, passages: Sequence[str]) -> Outcome:
    """ROUGE-L F with the nearest passage (MT-RAG Extractiveness_RougeL, as published).

    A passage that the answer contains entirely (spaces ignored) counts 1, so an empty passage does,
    too.

    Formula: highest ROUGE-L F with a passage; 1 where a passage contains the answer
    Misleads where: a sentence copied from a long passage scores low; see extractive_coverage
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1
    """
    bare = [bare_words(text) for text in (answer, *passages)]
    answer_code, *sources = encode(map(rouge_tokens, bare))
    unspaced = bare[0].replace(" ", "")
    values = [
        1.0 if text.replace(" ", "") in unspaced else compare("rougeL", answer_code, code).f
        for text, code in zip(bare[1:], sources, strict=True)
    ]
    return scored(max(values), values=values)


@measure("extractive_coverage", base=_AgainstPassages, version=3)
def extractive_coverage(
    answer: str,
    passages: Sequence[str],
    run: int = param(1, "shortest run of words that counts as copied", minimum=1),
) -> Outcome:
    """Share of the answer's words that are copied from the passages.

    With ``run=1`` this is the extractive fragment coverage of Grusky et al. 2018 over all passages.
    A larger ``run`` ignores shorter runs, which agree by chance. Words of any script.

    Formula: words of the answer in a run copied from a passage / words of the answer
    Misleads where: a copied wrong passage scores 1
    Source: Grusky et al. 2018, Newsroom (coverage)
    """
    answer_code, *sources = encode(map(words, (answer, *passages)))
    if not answer_code:
        return Unscored(Reason.EMPTY_ANSWER, "the answer holds no words")
    run = min(run, len(answer_code))
    starts = range(len(answer_code) - run + 1)
    copied = [{at for at in starts if answer_code[at : at + run] in code} for code in sources]
    covered = [{at + step for at in positions for step in range(run)} for positions in copied]
    values = [len(positions) / len(answer_code) for positions in covered]
    return scored(len(set().union(*covered)) / len(answer_code), values=values)


class _Length(SampleMetric, Measured):
    family = "mtrag"
    needs = ("answer",)
    high = None
    higher_is_better = None

    def score_sample(self, sample: Sample) -> Outcome:
        """The length; the parts hold it once for each target."""
        length = self.measured(sample.answer_text)
        return scored(length, values=[length] * len(sample.references))


@measure("answer_words", base=_Length)
def answer_words(text: str) -> int:
    """Words in the answer (MT-RAG Length, as described).

    Formula: number of words between white space
    Misleads where: texts without spaces (Chinese, Japanese) are one word
    Source: MT-RAG metrics reference, step 1
    """
    return len(text.split())


@measure("answer_characters", base=_Length)
def answer_characters(text: str) -> int:
    """Characters in the answer (MT-RAG Length, as published).

    Formula: number of code points
    Misleads where: longer is neither better nor worse
    Source: MT-RAG benchmark, scripts/evaluation
    """
    return len(text)
