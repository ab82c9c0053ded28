"""An answer against its references: texts in the forms of published tools and in ours, prepared
once a window."""

from __future__ import annotations

import re
import string
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, ClassVar, Literal

from ragassay.base.errors import warn_user
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome
from ragassay.metrics.citation.citable import Citable, marks
from ragassay.metrics.citation.citation_parser import without_citations
from ragassay.metrics.core.metric import Measured, Window
from ragassay.texts.languages import language_in
from ragassay.texts.word_cutting import stemmed, words

Tokens = Literal["rouge", "ultrarag", "unicode"]
"""``rouge``: rouge-score's own; ``ultrarag``: the same after UltraRAG's normal form; ``unicode``:
words of any script (`ragassay.texts.word_cutting`)."""

Articles = Literal["drop", "keep"]
"""Whether English articles count as words."""

EMPTY_REFERENCE = (
    "Some references are empty or hold no words (only punctuation or articles). Where a sample has "
    "no other, metrics that compare words are not scored ('undefined'). If there is no answer to "
    'its query, say so: "answerable": false.'
)


_MAY_CITE = re.compile("[\\[【［〔(（<①-⑳⁰¹²³⁴-⁹]")


@dataclass(frozen=True, slots=True)
class ReferencedAnswer:
    """An answer and its references, in one normal form or as codes (`encode`); ``groups`` has the
    number of references of each group, where they came as groups."""

    answer: str
    references: tuple[str, ...]
    groups: tuple[int, ...] = ()


def coded(
    window: Window, tokens: Tokens, stem: bool, articles: Articles = "keep"
) -> list[ReferencedAnswer | None]:
    """Each sample's answer and references as codes, one character a token; for `Window.once`. The
    citations of an answer are no ``unicode`` tokens (`uncited`); where a reference has none, a
    `RagassayWarning` says that it cannot be scored."""
    texts = window.once(referenced, ultrarag_normal if tokens == "ultrarag" else str)
    pairs: list[ReferencedAnswer | None] = []
    for pair, sample in zip(texts, window.samples, strict=True):
        if pair is None:
            pairs.append(None)
            continue
        if tokens == "unicode":
            kept, language = articles == "keep", language_in(sample)
            said = pair.answer
            if sample.passages and _MAY_CITE.search(said):
                said = uncited(sample, pair.references)
            cut = [words(t, language, articles=kept, stem=stem) for t in (said, *pair.references)]
        else:
            cut = [rouge_tokens(text, stem) for text in (pair.answer, *pair.references)]
        answer, *references = encode(cut)
        pairs.append(replace(pair, answer=answer, references=tuple(references)))
    if tokens == "unicode" and any(pair and "" in pair.references for pair in pairs):
        warn_user(EMPTY_REFERENCE)
    return pairs


def uncited(sample: Sample, references: Iterable[str]) -> str:
    """The answer without its citations, which are no words of it; as it is where one of them names
    no passage of the sample, nothing else is in it, or a reference holds such marks (``a[1]``)."""
    text, passages = sample.answer_text, sample.passages or ()
    citable = Citable(passages)
    keys = [key for mark in marks(text, citable, len(passages)) for key in mark.keys]
    if not keys or any(not citable.find_all(key) for key in keys) or any(map(marks, references)):
        return text
    said = without_citations(text, passages)
    return said if words(said) else text


def referenced(window: Window, form: Callable[[str], str]) -> list[ReferencedAnswer | None]:
    """Each sample's answer and references in a form; for `Window.once`."""
    return [
        ReferencedAnswer(
            form(sample.answer.text),
            tuple(map(form, sample.references)),
            tuple(map(len, sample.reference_groups)),
        )
        if sample.answer is not None and sample.references
        else None
        for sample in window.samples
    ]


class ReferenceMetric(Measured):
    """A metric that compares an answer with its references, in a form prepared once a window.

    Class attributes:
        scripts: in which it finds words, where not in all: a-z, or those with spaces between words.
        wide: the metric to take for others; empty where this one reads all of them.
        for_all_scripts: the values of parameters with which it reads all of them.
        prepared: makes of a window what `outcome` gets of each sample (for `Window.once`): texts,
            codes (`coded`) or values; ``None`` where answer or references are missing.
        prepared_by: the attributes that it takes.
        form: the normal form of texts.
    """

    family = "answer"
    needs = ("answer", "references")
    scripts: ClassVar[Literal["latin", "spaced"]] = "latin"
    wide: ClassVar[str] = ""
    for_all_scripts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    prepared: ClassVar[Callable[..., Sequence[Any]]] = staticmethod(referenced)
    prepared_by: ClassVar[tuple[str, ...]] = ("form",)
    form: ClassVar[Any] = staticmethod(str)

    @property
    def wider(self) -> str:
        """`wide`, unless the metric's parameters let it read all scripts."""
        chosen = self.for_all_scripts.items()
        return "" if any(getattr(self, name) in values for name, values in chosen) else self.wide

    def score_window(self, window: Window) -> Sequence[Outcome]:
        options = (getattr(self, name) for name in self.prepared_by)
        views = window.once(type(self).prepared, *options)
        return [
            self.lacks(sample) or self.outcome(view)
            for sample, view in zip(window.samples, views, strict=True)
        ]

    @abstractmethod
    def outcome(self, view: Any) -> Outcome:
        """The outcome for the answer and references of a sample that lacks neither."""


_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NEITHER_WORD_NOR_SPACE = re.compile(r"[^\w\s]")
_TO_SPACES = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_NOT_ROUGE_TO_SPACES = bytes(
    byte if chr(byte) in string.ascii_lowercase + string.digits else ord(" ") for byte in range(256)
)
_DELETED = str.maketrans("", "", string.punctuation)


def ultrarag_normal(text: str) -> str:
    """UltraRAG's normal form: a text that is only ``True`` or ``False`` becomes ``yes`` or ``no``;
    lower case, ASCII punctuation and ``‘ ’ ´ `` become spaces, English articles are removed, white
    space is collapsed. ``"don't"`` gives ``don t``, ``"The"`` nothing. Source: UltraRAG,
    servers/evaluation."""
    text = {"True": "yes", "False": "no"}.get(text, text)
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_TO_SPACES)).split())


def squad_normal(text: str) -> str:
    """MT-RAG's normal form for ``Recall`` (the SQuAD convention): lower case, without ASCII
    punctuation and English articles, white space collapsed. Source: MT-RAG benchmark,
    scripts/evaluation."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_DELETED)).split())


def bare_words(text: str) -> str:
    """MT-RAG's normal form for ``Extractiveness_RougeL``: lower case, newlines as spaces, nothing
    but word characters and white space. Source: MT-RAG benchmark, scripts/evaluation."""
    return _NEITHER_WORD_NOR_SPACE.sub("", text.replace("\n", " ")).lower()


def rouge_tokens(text: str, stem: bool = False) -> list[str]:
    """rouge-score's tokens: runs of ``a-z0-9`` in the lower-cased text.

    A script without Latin letters gives no tokens at all. Source: rouge-score 0.1.2.
    """
    # Bytes have the fastest table lookup, and no byte of a longer UTF-8 character is ASCII.
    ascii_only = text.lower().encode(errors="surrogatepass").translate(_NOT_ROUGE_TO_SPACES)
    words = ascii_only.decode("ascii").split()
    return stemmed(words) if stem else words


def encode(texts: Iterable[Sequence[str]]) -> list[str]:
    """Each list of tokens as a string, equal tokens as equal characters: a run of tokens is a
    substring. All texts that are to be compared must be encoded in one call."""
    tokens = list(texts)
    vocabulary = dict(
        zip(dict.fromkeys(chain.from_iterable(tokens)), map(chr, count()), strict=False)
    )
    return ["".join(map(vocabulary.__getitem__, words)) for words in tokens]
