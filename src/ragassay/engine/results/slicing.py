"""The columns that a report is sliced by, collected while the samples stream past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.base.sample import Sample
from ragassay.formats import folded
from ragassay.formats.records.aliases import FIELD_OF
from ragassay.texts.conversation_names import CONVERSATION_KEYS
from ragassay.texts.languages import language_of

_LANGUAGE = "language"
_READ = 600
"""Characters of a query that are read to find its language."""
_SHARE = 0.1
"""Least share of the samples in a language that their words tell, for a slice unasked for."""
MAX_VALUES = 20
"""A metadata column with more distinct values than this is no slice (unless asked for by name)."""


class Labels(str):
    """Several labels of one sample, printed as one text: the sample is in the slice of each.

    Attributes:
        each: the labels.
    """

    each: tuple[str, ...]

    def __new__(cls, each: Sequence[str]) -> Labels:
        """``each`` without repeats, joined by commas."""
        labels = tuple(dict.fromkeys(each))
        made = super().__new__(cls, ", ".join(labels))
        made.each = labels
        return made


def labels_of(value: str | None) -> tuple[str, ...]:
    """The slices that a sample with this value is in."""
    if isinstance(value, Labels):
        return value.each
    return () if value is None else (value,)


class Slicer:
    """Collects each sample's value of every slicing column.

    Attributes:
        seen: the columns that samples have, whether or not they are slices.

    Args:
        wanted: names of metadata columns (or ``answerability``, ``language``, ``turn``,
            ``system``, or another name of these in records); ``None`` takes every column that
            turns out to have between 2 and `MAX_VALUES` values, and at most half as many as there
            are samples with one.
    """

    def __init__(self, wanted: Sequence[str] | None) -> None:
        self._wanted = None if wanted is None else tuple(wanted)
        self._columns: dict[str, list[str | None]] = {name: [] for name in self._wanted or ()}
        self._distinct: dict[str, set[str]] = {name: set() for name in self._columns}
        self._dropped: set[str] = set()
        self._turns: list[str | None] = []
        self._told: list[str] = []
        self.seen: set[str] = set()

    def add(self, sample: Sample) -> None:
        """Takes one sample's values."""
        labels = facets(sample)
        self.seen |= labels.keys()
        n = len(self._turns)
        self._turns.append("later" if sample.history else "first")
        self._told.append(language_of(sample.query_text[:_READ]))
        for name in labels.keys() - self._columns.keys() - self._dropped:
            if self._wanted is None:
                self._columns[name] = [None] * n
                self._distinct[name] = set()
        for name in list(self._columns):
            value = labels.get(name, labels.get(FIELD_OF.get(folded(name), name)))
            self._columns[name].append(value)
            if value is not None:
                self._distinct[name].update(labels_of(value))
                if self._wanted is None and len(self._distinct[name]) > MAX_VALUES:
                    del self._columns[name], self._distinct[name]
                    self._dropped.add(name)

    def columns(self) -> dict[str, list[str | None]]:
        """The slicing columns, each with one value (or ``None``) a sample.

        Where no sample names its turn, it is ``later`` with a history and ``first`` without. Where
        no metadata name it otherwise (``lang``), a sample's language is that of its query.
        """
        columns = dict(self._columns)
        sizes = {name: len(values) for name, values in self._distinct.items()}
        named = {name for name in self.seen if FIELD_OF.get(folded(name)) == _LANGUAGE}
        unasked = self._wanted is None and named <= {_LANGUAGE} and not self._dropped & named
        if unasked or _LANGUAGE in (self._wanted or ()):
            languages = self._languages(columns.get(_LANGUAGE) or [None] * len(self._told))
            columns[_LANGUAGE], sizes[_LANGUAGE] = languages, len({*languages} - {None})
        names_turns = any(name.casefold() == "turn" for name in self.seen)
        if not names_turns and (self._wanted is None or "turn" in self._wanted):
            columns["turn"], sizes["turn"] = self._turns, len(set(self._turns))
        if self._wanted is not None:
            return columns
        return {
            name: column
            for name, column in sorted(columns.items())
            if 1 < sizes[name] <= sum(value is not None for value in column) / 2
        }

    def _languages(self, given: Sequence[str | None]) -> list[str | None]:
        """Each sample's language, as given or told by its query."""
        counts = Counter(self._told)
        least = 1 if self._wanted is not None else _SHARE * len(self._told)
        told = (code if code and counts[code] >= least else None for code in self._told)
        return [one or other for one, other in zip(given, told, strict=True)]


def facets(sample: Sample) -> dict[str, str]:
    """A sample's short labels: scalar metadata, lists, answerability, language and system."""
    labels: dict[str, str] = {}
    for name, value in sample.metadata.items():
        label = _label(value)
        if label is not None and name not in CONVERSATION_KEYS:
            labels[name] = label
    if sample.answerability is not None:
        labels["answerability"] = str(sample.answerability)
    if sample.language:
        labels[_LANGUAGE] = sample.language
    if sample.system:
        labels["system"] = sample.system
    return labels


def _label(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        text = str(value)
        return text if 0 < len(text) <= 60 else None
    if isinstance(value, list | tuple):
        labels = [_label(item) for item in value]
        if labels and all(labels):
            return Labels([label for label in labels if label])
    return None
