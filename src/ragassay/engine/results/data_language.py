"""The language of what a judge read in a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ragassay.base.sample import Sample
from ragassay.texts.languages import language_in, language_of

_READ = 600
"""Characters of a text that are read."""
_LEAST = 0.9
"""Share of the samples with a known language that are in the language of the data."""
_WORD = re.compile(r"[^\W\d_]+")
_OTHER = "?"
"""Another language than those that are known, or several."""


class DataLanguage:
    """Counts the languages of samples."""

    def __init__(self) -> None:
        self._samples: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Counts a sample: its query, answer and passages have to be in one language, where they
        are long enough to tell.
        """
        if sample.language:
            told = {language_in(sample)}
        else:
            told = {_told(text[:_READ]) for text in _texts(sample)} - {""}
        self._samples[(told.pop() if len(told) == 1 else _OTHER) if told else ""] += 1

    @property
    def code(self) -> str:
        """The language of at least nine tenths of the samples that tell one, and of half of all;
        empty where there is none.
        """
        told = Counter({code: n for code, n in self._samples.items() if code})
        (most, n), *_ = told.most_common(1) or [(_OTHER, 0)]
        is_known = n >= _LEAST * told.total() and 2 * n >= self._samples.total()
        return most if most != _OTHER and is_known else ""


def _texts(sample: Sample) -> Iterator[str]:
    yield sample.query or ""
    answers = [run.answer for run in sample.runs] or [sample.answer]
    yield " ".join(one.text[:_READ] for one in answers if one is not None)
    yield " ".join((one.text or "")[:_READ] for one in sample.passages or ())


def _told(text: str) -> str:
    """The language of a text; empty where its words do not tell, as in a list of names."""
    words = _WORD.findall(text)
    letters = 2 * sum(not word.isascii() for word in words) > len(words)
    return language_of(text) or (_OTHER if letters else "")
