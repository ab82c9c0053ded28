"""MT-RAG's first step without models: the answer against targets and passages, and lengths.

The benchmark stores a list for each metric: one value a target, or one a passage. Here the list is
in ``parts["values"]``. The score is the first target's value, as in the benchmark's own composites,
or the highest value of the passages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.metrics.answer.references import ReferencedAnswer, ReferenceMetric, plain
from ragassay.metrics.answer.rouge_metrics import Compared, compare, compared, overlap
from ragassay.metrics.answer.text import bare_words, encode, rouge_tokens, squad_normal
from ragassay.metrics.core.metric import (
    SampleMetric,
    missing,
    passage_texts,
    register,
    scored,
    textless_passage,
)
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.texts.word_cutting import words


def no_contexts(sample: Sample) -> Unscored | None:
    """The outcome of a comparison with passages where there are none; ``None`` where there are."""
    if sample.passages:
        return None
    none = "nothing was retrieved, so there is no passage to compare with"
    return missing(sample, ("passages",)) or Unscored(Reason.NOTHING_RETRIEVED, none)


@register
class ReferenceRecall(ReferenceMetric[ReferencedAnswer]):
    """Share of the target's words that the answer holds (MT-RAG Recall).

    Words are SQuAD's normal form. Words count as often as they occur. 0 for a target without words,
    as published.

    Formula: words of the first target that occur in the answer / its words
    Misleads where: an answer that says everything has 1
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1
    """

    name = "reference_recall"
    family = "mtrag"

    def views(self, window: Window) -> Sequence[ReferencedAnswer | None]:
        return window.once(plain)

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """The first target's recall, with the values of all targets as parts."""
        answer = squad_normal(view.answer).split()
        targets = [squad_normal(text).split() for text in view.references]
        values = [overlap(answer, words) / max(len(words), 1) for words in targets]
        return scored(values[0], values=values)


@register
class ReferenceRougeL(ReferenceMetric[Compared]):
    """ROUGE-L F against the first target, unstemmed (MT-RAG RougeL_stemFalse).

    Equal to ``rougeL(stem=false).f`` where there is one target; of several, that metric takes the
    best.

    Formula: ROUGE-L F against the first target
    Misleads where: counts words, not meaning
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1
    """

    name = "reference_rougeL"
    family = "mtrag"

    def views(self, window: Window) -> Sequence[Compared | None]:
        return window.once(compared, "rougeL", "rouge", False)

    def outcome(self, view: Compared) -> Outcome:
        """The first target's F, with the values of all targets as parts."""
        values = [value.f for value in view.values]
        return scored(values[0], values=values)


class _AgainstPassages(SampleMetric):
    """A metric that compares the answer with the texts of the passages.

    Unscored where nothing was retrieved; the benchmark has an explicit null there.
    """

    family = "mtrag"
    needs = ("answer", "passages")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer or passages."""
        return missing(sample, ("answer",)) or no_contexts(sample)

    def score_sample(self, sample: Sample) -> Outcome:
        """Unscored where a passage has no text."""
        lacking = textless_passage(sample)
        return lacking or self.against(sample.answer_text, passage_texts(sample))

    @abstractmethod
    def against(self, answer: str, passages: Sequence[str]) -> Outcome:
        """The outcome of the comparison.

        Args:
            answer: the answer's text.
            passages: the texts of one or more passages, in rank order.
        """


@register
class PassageRougeL(_AgainstPassages):
    """ROUGE-L F with the nearest passage (MT-RAG Extractiveness_RougeL, as published).

    A passage that the answer contains entirely (spaces ignored) counts 1, hence an empty passage
    too.

    Formula: highest ROUGE-L F with a passage; 1 where a passage contains the answer
    Misleads where: a sentence copied from a long passage scores low; see extractive_coverage
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1
    """

    name = "passage_rougeL"
    higher_is_better = None

    def against(self, answer: str, passages: Sequence[str]) -> Outcome:
        bare = [bare_words(text) for text in (answer, *passages)]
        answer_code, *sources = encode(map(rouge_tokens, bare))
        unspaced = bare[0].replace(" ", "")
        values = [
            1.0 if text.replace(" ", "") in unspaced else compare("rougeL", answer_code, code).f
            for text, code in zip(bare[1:], sources, strict=True)
        ]
        return scored(max(values), values=values)


@register
class ExtractiveCoverage(_AgainstPassages):
    """Share of the answer's words that are copied from the passages.

    With ``run=1`` this is the extractive fragment coverage of Grusky et al. 2018 over all passages.
    A larger ``run`` ignores shorter runs, which agree by chance. Words of any script.

    Formula: words of the answer in a run copied from a passage / words of the answer
    Misleads where: a copied wrong passage has 1
    Good for: telling copying from rephrasing
    Source: Grusky et al. 2018, Newsroom (coverage)
    """

    run: int = param(1, "shortest run of words that counts as copied", minimum=1)

    name = "extractive_coverage"
    version = 3
    higher_is_better = None

    def against(self, answer: str, passages: Sequence[str]) -> Outcome:
        answer_code, *sources = encode(map(words, (answer, *passages)))
        if not answer_code:
            return Unscored(Reason.EMPTY_ANSWER, "the answer holds no words")
        run = min(self.run, len(answer_code))
        starts = range(len(answer_code) - run + 1)
        copied = [{at for at in starts if answer_code[at : at + run] in code} for code in sources]
        covered = [{at + step for at in positions for step in range(run)} for positions in copied]
        values = [len(positions) / len(answer_code) for positions in covered]
        return scored(len(set().union(*covered)) / len(answer_code), values=values)


class _Length(SampleMetric):
    family = "mtrag"
    needs = ("answer",)
    high = None
    higher_is_better = None

    def score_sample(self, sample: Sample) -> Outcome:
        """The length; the parts hold it once for each target."""
        length = self.measure(sample.answer_text)
        return scored(length, values=[length] * len(sample.references))

    @staticmethod
    @abstractmethod
    def measure(text: str, /) -> int:
        """The length of a text."""


@register
class AnswerWords(_Length):
    """Words in the answer (MT-RAG Length, as described).

    Formula: number of words between white space
    Misleads where: texts without spaces (Chinese, Japanese) are one word
    Source: MT-RAG metrics reference, step 1
    """

    name = "answer_words"

    @staticmethod
    def measure(text: str) -> int:
        return len(text.split())


@register
class AnswerCharacters(_Length):
    """Characters in the answer (MT-RAG Length, as published).

    Formula: number of code points
    Misleads where: longer is neither better nor worse
    Source: MT-RAG benchmark, scripts/evaluation
    """

    name = "answer_characters"

    measure = staticmethod(len)
