"""An answer against its references: what all such metrics share, computed once a window."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

from ragassay.base.errors import warn_user
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.metrics.answer.text import (
    encode,
    rouge_tokens,
    ultrarag_normal,
)
from ragassay.metrics.citation.citable import Citable
from ragassay.metrics.citation.citation_marks import marks
from ragassay.metrics.citation.citation_parser import without_citations
from ragassay.metrics.core.metric import Metric, missing
from ragassay.metrics.core.window import Window
from ragassay.texts.languages import language_in
from ragassay.texts.numbers import folded
from ragassay.texts.scripts import UNSPACED
from ragassay.texts.word_cutting import words

Tokens = Literal["rouge", "ultrarag", "unicode"]
"""``rouge``: rouge-score's own; ``ultrarag``: the same after UltraRAG's normal form; ``unicode``:
words of any script (`ragassay.texts.words`)."""

Articles = Literal["drop", "keep"]
"""Whether English articles count as words."""

EMPTY_REFERENCE = (
    "Some references hold no words (nothing but punctuation or articles). They cannot be matched: "
    "where a sample has no other, its corrected metrics are unscored with the reason 'undefined'."
)


_MAY_CITE = re.compile("[\\[【［〔(（<①-⑳⁰¹²³⁴-⁹]")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class ReferencedAnswer:
    """An answer and its references, in one normal form or as codes (`metrics.text.encode`).

    ``characters`` says which references are a single character of a script without spaces: found in
    a longer answer, it may be a part of another word.
    """

    answer: str
    references: tuple[str, ...]
    characters: tuple[bool, ...] = ()


V = TypeVar("V")


class ReferenceMetric(Metric, Generic[V]):
    """A metric that compares an answer with its references, from a view prepared once a window.

    Class attributes:
        scripts: in which it finds words, where not in all: a-z, or those with spaces between words.
    """

    family = "answer"
    needs = ("answer", "references")
    scripts: ClassVar[Literal["latin", "spaced"]] = "latin"

    @property
    def for_all_scripts(self) -> str:
        """The metric to take for other `scripts`; empty where this one reads all of them."""
        return ""

    def score_window(self, window: Window) -> Sequence[Outcome]:
        return [
            _absent(sample) if view is None else self.outcome(view)
            for sample, view in zip(window.samples, self.views(window), strict=True)
        ]

    @abstractmethod
    def views(self, window: Window) -> Sequence[V | None]:
        """One view a sample, ``None`` where answer or references are missing."""

    @abstractmethod
    def outcome(self, view: V) -> Outcome:
        """The outcome for one view."""


def coded(
    window: Window, tokens: Tokens, stem: bool, articles: Articles = "keep"
) -> list[ReferencedAnswer | None]:
    """Each sample's answer and references as codes, one character a token; for `Window.once`.

    The citations of an answer are no ``unicode`` tokens (`uncited`). A reference without tokens is
    an empty code. Where such a reference cannot be scored (``unicode`` tokens) a `RagassayWarning`
    says so.

    Args:
        window: the samples.
        tokens: how texts are cut into tokens.
        stem: Porter stems for words of more than three characters.
        articles: ``drop`` leaves English articles out.

    Returns:
        One pair a sample; ``None`` where answer or references are missing.
    """
    texts = window.once(normal if tokens == "ultrarag" else plain)
    pairs: list[ReferencedAnswer | None] = []
    for pair, sample in zip(texts, window.samples, strict=True):
        if pair is None:
            pairs.append(None)
        else:
            cut = tokeniser(tokens, stem, articles, language_in(sample))
            said = pair.answer if tokens != "unicode" else uncited(sample, pair.references)
            answer, *references = encode(map(cut, (said, *pair.references)))
            alone = tuple(map(single_character, references, pair.references))
            pairs.append(ReferencedAnswer(answer, tuple(references), alone))
    if tokens == "unicode" and any(pair and "" in pair.references for pair in pairs):
        warn_user(EMPTY_REFERENCE)
    return pairs


def uncited(sample: Sample, references: Iterable[str]) -> str:
    """The answer without its citations, which are no words of it; as it is where one of them names
    no passage of the sample, nothing else is in it, or a reference holds such marks (``a[1]``).

    Args:
        sample: whose answer it is.
        references: of the answer.
    """
    text, passages = sample.answer_text, sample.passages or ()
    if not passages or not _MAY_CITE.search(text):
        return text
    citable = Citable(passages)
    keys = [key for mark in marks(text, citable, len(passages)) for key in mark.keys]
    if not keys or any(not citable.find_all(key) for key in keys) or any(map(marks, references)):
        return text
    said = without_citations(text, passages)
    return said if words(said) else text


def single_character(code: str, text: str) -> bool:
    """Whether a reference is a single character of a script without spaces.

    Args:
        code: of the reference.
        text: of the reference.
    """
    has_one = len(code) == 1 and _UNSPACED.search(text) is not None
    return has_one and not folded(text).strip().isdecimal()  # 二十 is a number


def plain(window: Window) -> list[ReferencedAnswer | None]:
    """Each sample's answer and references, unchanged; for `Window.once`."""
    return [
        ReferencedAnswer(sample.answer.text, sample.references)
        if sample.answer is not None and sample.references
        else None
        for sample in window.samples
    ]


def normal(window: Window) -> list[ReferencedAnswer | None]:
    """Each sample's answer and references in UltraRAG's normal form; for `Window.once`."""
    return [
        pair
        and ReferencedAnswer(
            ultrarag_normal(pair.answer), tuple(map(ultrarag_normal, pair.references))
        )
        for pair in window.once(plain)
    ]


def tokeniser(
    tokens: Tokens, stem: bool, articles: Articles = "keep", language: str = ""
) -> Callable[[str], list[str]]:
    """The function that cuts a text into tokens.

    Args:
        tokens: how it cuts; ``ultrarag`` expects texts in UltraRAG's normal form.
        stem: Porter stems for words of more than three characters.
        articles: ``drop`` leaves English articles out of ``unicode`` tokens.
        language: of the text, for ``unicode`` tokens.
    """
    if tokens == "unicode":
        return lambda text: words(text, language, articles=articles == "keep", stem=stem)
    return lambda text: rouge_tokens(text, stem)


def _absent(sample: Sample) -> Unscored:
    return missing(sample, ("answer", "references")) or Unscored(Reason.MISSING_INPUT)
