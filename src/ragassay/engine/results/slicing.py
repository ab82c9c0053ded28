"""What a run keeps of each sample beside its scores: the columns that a report is sliced by, its
cluster, the language of what a judge read; and, as numbers, what it asks and which reply was
recorded: two runs compare only where the former agree and the latter differ."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.base.sample import Sample
from ragassay.formats import folded
from ragassay.formats.records.field_names import FIELD_OF
from ragassay.texts.document_names import (
    CONVERSATION_KEYS,
    conversation_of_id,
    named_conversation,
)
from ragassay.texts.languages import language_in, language_of

_LANGUAGE = "language"
_READ = 600
"""Characters of a text that are read to find its language."""
_SHARE = 0.1
"""Least share of the samples in a language by their words, for a slice that nobody asked for."""
MAX_VALUES = 20
"""A metadata column with more distinct values than this is no slice (unless asked for by name)."""


class Labels(str):
    """Several labels of one sample, printed as one text: the sample is in the slice of each."""

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
    """Collects each sample's value of every slicing column. Without ``wanted`` columns, each is
    taken that has between 2 and `MAX_VALUES` values, and at most half as many as there are samples
    with one; ``seen`` are all columns that samples have."""

    def __init__(self, wanted: Sequence[str] | None) -> None:
        self._wanted = None if wanted is None else tuple(wanted)
        self._columns: dict[str, list[str | None]] = {name: [] for name in self._wanted or ()}
        self._distinct: dict[str, set[str]] = {name: set() for name in self._columns}
        self._dropped: set[str] = set()
        self._turns: list[str | None] = []
        self._languages: list[str] = []
        self.seen: set[str] = set()

    def add(self, sample: Sample) -> None:
        """Takes one sample's labels: plain metadata and lists of it, answerability, language and
        system."""
        labels = {
            name: label
            for name, value in sample.metadata.items()
            if name not in CONVERSATION_KEYS and (label := _label(value)) is not None
        }
        if sample.answerability is not None:
            labels["answerability"] = str(sample.answerability)
        if sample.language:
            labels[_LANGUAGE] = sample.language
        if sample.system:
            labels["system"] = sample.system
        self.seen |= labels.keys()
        n = len(self._turns)
        self._turns.append("later" if sample.history else "first")
        self._languages.append(language_of(sample.query_text[:_READ]))
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
        no metadata name it otherwise (``lang``), a sample's language is that of its query."""
        columns = dict(self._columns)
        named = {name for name in self.seen if FIELD_OF.get(folded(name)) == _LANGUAGE}
        unasked = self._wanted is None and named <= {_LANGUAGE} and not self._dropped & named
        if unasked or _LANGUAGE in (self._wanted or ()):
            given = columns.get(_LANGUAGE) or [None] * len(self._languages)
            counts = Counter(self._languages)
            least = 1 if self._wanted is not None else _SHARE * len(self._languages)
            known = (code if code and counts[code] >= least else None for code in self._languages)
            columns[_LANGUAGE] = [one or other for one, other in zip(given, known, strict=True)]
        names_turns = any(name.casefold() == "turn" for name in self.seen)
        if not names_turns and (self._wanted is None or "turn" in self._wanted):
            columns["turn"] = self._turns
        if self._wanted is not None:
            return columns
        return {
            name: column
            for name, column in sorted(columns.items())
            if 1
            < len({label for value in column for label in labels_of(value)})
            <= sum(value is not None for value in column) / 2
        }


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


IN_CLUSTER = "in "
"""Begins the cluster of a sample that has one by its data, not only by its id."""

NO_CLUSTERS = "none"
"""Value of ``cluster_by`` by which only samples of one query belong together."""


def cluster_column(asked: str | None) -> str | None:
    """The column that a run is clustered by; ``None`` where none was asked for."""
    return None if asked in (None, "", NO_CLUSTERS) else str(asked)


def cluster_of(sample: Sample, column: str | None) -> str:
    """The cluster that a sample belongs to; its own id where it has none."""
    if column in CONVERSATION_KEYS:
        name = named_conversation(sample) or conversation_of_id(sample.id)
    else:
        value = sample.metadata.get(column or "")
        name = None if value is None else str(value)
    return f"id {sample.id}" if name is None else f"{IN_CLUSTER}{name}"


_LEAST = 0.9
"""Share of the samples with a known language that are in the language of the data."""
_WORD = re.compile(r"[^\W\d_]+")
_OTHER = "?"
"""Another language than those that are known, or several."""


@dataclass
class DataLanguage:
    """Counts the languages of samples."""

    _samples: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample) -> None:
        """Counts a sample: its query, answer and passages have to be in one language, where they
        are long enough to tell."""
        answers = [run.answer for run in sample.runs] or [sample.answer]
        texts = (
            sample.query or "",
            " ".join(answer.text[:_READ] for answer in answers if answer is not None),
            " ".join((passage.text or "")[:_READ] for passage in sample.passages or ()),
        )
        found = (
            {language_in(sample)}
            if sample.language
            else {_language_of_words(text[:_READ]) for text in texts}
        )
        found -= {""}
        self._samples[(found.pop() if len(found) == 1 else _OTHER) if found else ""] += 1

    @property
    def code(self) -> str:
        """The language of at least nine tenths of the samples that tell one, and of half of all;
        empty where there is none."""
        known = Counter({code: n for code, n in self._samples.items() if code})
        (most, n), *_ = known.most_common(1) or [(_OTHER, 0)]
        is_known = n >= _LEAST * known.total() and 2 * n >= self._samples.total()
        return most if most != _OTHER and is_known else ""


def _language_of_words(text: str) -> str:
    """The language of a text; empty where its words do not tell, as in a list of names."""
    words = _WORD.findall(text)
    letters = 2 * sum(not word.isascii() for word in words) > len(words)
    return language_of(text) or (_OTHER if letters else "")


NO_REPLY = 0
"""In place of the number of a reply, where none was recorded."""

FACTS = (
    "query",
    "history",
    "references",
    "reference_groups",
    "negative_references",
    "gold",
    "answerability",
)
"""The parts of a sample that belong to the query, not to the system."""


def numbers_of(sample: Sample) -> tuple[int, int]:
    """64 bits of the hash of a sample's query id and facts, and of the reply that ``ragassay ask``
    recorded in ``metadata["asked"]`` (`NO_REPLY` where it recorded none)."""
    facts = [sample.id, *(getattr(sample, name) for name in FACTS)]
    asked = sample.metadata.get("asked")
    names = ("fingerprint", "at", "latency")
    reply = [asked.get(name) if isinstance(asked, Mapping) else None for name in names]
    digests = (
        hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).digest()[:8]
        for values in (facts, reply)
    )
    of_facts, of_reply = (int.from_bytes(digest, "big") for digest in digests)
    return of_facts, NO_REPLY if None in reply else of_reply


def asked_hash(asked: Iterable[int]) -> str:
    """16 digits for a set of queries, whatever their order and however often each was asked."""
    body = b"".join(number.to_bytes(8, "big") for number in sorted(set(asked)))
    return hashlib.sha256(body).hexdigest()[:16]


def differing_facts(one: Sample, other: Sample) -> list[str]:
    """The names of the facts (`FACTS`) in which two samples of one query differ."""
    return [name for name in FACTS if getattr(one, name) != getattr(other, name)]
