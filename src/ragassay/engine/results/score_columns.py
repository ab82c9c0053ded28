"""What stays in memory of a run: its scores in columns (twelve bytes a score); of each sample the
labels that a report is sliced by, its cluster, and a hash of what it asks, because two runs compare
only where these agree; the language of what a judge read; and who judged the values of a metric:
the run's judge, and those that records name. A value that rests on several judges has one label,
theirs joined by `AND`."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.base.printable import few, grouped
from ragassay.base.sample import Identity, Sample
from ragassay.base.score import (
    AND,
    RECORD,
    Outcome,
    Reason,
    Score,
    Unscored,
    label_of as label_of_value,
)
from ragassay.formats.records.field_names import field_of
from ragassay.texts.document_names import CONVERSATION_KEYS, TURN_ID, named_conversation
from ragassay.texts.languages import language_in, language_of

Mask = NDArray[np.bool_]
OWED = frozenset(
    reason
    for reason in Reason
    if reason is Reason.MISSING_INPUT or reason.incomplete or reason.by_system
)
"""Reasons for which a score is owed: the system or the judge gave nothing to measure. Other reasons
are facts about the query."""


class _Kind(NamedTuple):
    """All of a score but its number; most scores of a run are of a few kinds."""

    judges: str
    given: bool = False
    assumed: bool = False
    label: str | None = None
    reason: Reason | None = None
    lacks: str = ""


class Tally(NamedTuple):
    """How many scores of a metric are values, how many of these the records brought, how many there
    are of each reason for none, of each label, and of each label of judges (see `label_of`;
    arithmetic has none), the most frequent first; how many values stand for missing parts; and by
    part of a sample how many scores are missing because the sample lacks it."""

    n_scored: int
    n_given: int
    reasons: dict[str, int]
    labels: dict[str, int]
    judges: dict[str, int]
    n_assumed: int = 0
    lacking: Mapping[str, int] = {}


class ScoreColumns:
    """The numbers of all scores: a float and the number of its kind for each sample and metric.

    Methods take the shown name of a metric, and some a mask of the samples that count, shape
    ``(n_samples,)``. ``metrics`` are these names, in the order asked for. `SampleColumns` fills in
    the samples: ``slices`` has each sample's labels in each slicing column, ``clusters`` each
    sample's cluster where clustering was asked for, ``asked`` is the `number_of` each.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[Labels]] = {}
        self.clusters: list[str] | None = None
        self.asked = array("Q")
        self.metrics = list(metrics)
        self._values = {name: array("d") for name in self.metrics}
        self._codes = {name: array("I") for name in self._values}
        self._kinds: list[_Kind] = []
        self._code_of: dict[_Kind, int] = {}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def systems(self) -> list[str]:
        """The systems, in order of first appearance."""
        return list(dict.fromkeys(system for _, system, _ in self.identities))

    @property
    def rows_by_query(self) -> Mapping[str, list[int]]:
        """Row numbers of each query id, in order of first appearance."""
        return grouped((query, row) for row, (query, _, _) in enumerate(self.identities))

    def add(self, metric: str, outcome: Outcome, judge: str = "") -> None:
        """Appends a sample's outcome to a metric's column."""
        number = 0.0
        if isinstance(outcome, Unscored):
            lacks = "" if outcome.reason is Reason.NOT_APPLICABLE else outcome.lacks
            kind = _Kind("", reason=outcome.reason, lacks=lacks)
        else:
            judges = judges_of(outcome, judge) if outcome.evidence or outcome.by else ""
            if isinstance(outcome.value, str | list):
                kind = _Kind(judges, outcome.given, label=label_of_value(outcome.value))
            else:
                number, kind = float(outcome.value), _Kind(judges, outcome.given, outcome.assumed)
        code = self._code_of.setdefault(kind, len(self._kinds))
        if code == len(self._kinds):
            self._kinds.append(kind)
        self._values[metric].append(number)
        self._codes[metric].append(code)

    def take(self, rows: NDArray[np.int64]) -> ScoreColumns:
        """The same columns for some of the samples, by row number."""
        copied, chosen = copy(self), rows.tolist()
        copied.identities = [self.identities[at] for at in chosen]
        copied.slices = {n: [values[at] for at in chosen] for n, values in self.slices.items()}
        if self.clusters is not None:
            copied.clusters = [self.clusters[at] for at in chosen]
        copied.asked = array("Q", [self.asked[at] for at in chosen if self.asked])
        copied._values = {n: array("d", self.values(n)[rows].tobytes()) for n in self.metrics}
        copied._codes = {
            n: array("I", [codes[at] for at in chosen]) for n, codes in self._codes.items()
        }
        return copied

    def renamed(self, names: Mapping[str, str]) -> ScoreColumns:
        """The same columns, with some of the metrics under other names; nothing is copied."""
        copied = copy(self)
        copied.metrics = [names.get(name, name) for name in self.metrics]
        copied._values = {names.get(name, name): column for name, column in self._values.items()}
        copied._codes = {names.get(name, name): column for name, column in self._codes.items()}
        return copied

    def of_samples(self, samples: Iterable[Sample]) -> ScoreColumns:
        """The same columns for samples that ask and expect the same under other ids."""
        copied, listed = copy(self), [(s.identity, number_of(s)) for s in samples]
        copied.identities = [identity for identity, _ in listed]
        copied.asked = array("Q", [asked for _, asked in listed if self.asked])
        return copied

    def owed(self, metric: str) -> Mask:
        """Which samples could have any value in the metric's range, because the system or the judge
        gave nothing to measure, shape ``(n_samples,)``: those unscored for a reason that is
        `OWED`, and those with a number where a mean would run over none (`averaged`)."""
        return self.unscored(metric, OWED) | (self.scored(metric) & ~self.averaged(metric))

    def unscored(self, metric: str, reasons: Iterable[Reason]) -> Mask:
        """Where a score is missing for one of these reasons, shape ``(n_samples,)``."""
        chosen = set(reasons)
        return self._where(metric, lambda kind: kind.reason in chosen)

    def scored(self, metric: str) -> Mask:
        """Which samples have a number, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.label is None and kind.reason is None)

    def averaged(self, metric: str, mask: Mask | None = None) -> Mask:
        """Which samples a mean runs over, shape ``(n_samples,)``: those with a number, none where
        all of their numbers stand for missing parts."""
        scored = self.scored(metric) if mask is None else self.scored(metric) & mask
        return scored & bool((scored & self._where(metric, lambda kind: not kind.assumed)).any())

    def measured(self, metric: str) -> Mask:
        """Which samples have a number not in place of a missing part, shape ``(n_samples,)``."""
        return self.scored(metric) & self._where(metric, lambda kind: not kind.assumed)

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)

    def tally(self, metric: str, mask: Mask | None = None) -> Tally:
        """What the scores of a metric are, counted over the samples of the mask."""
        codes = np.frombuffer(self._codes[metric], dtype=np.uint32)
        counts = np.bincount(codes if mask is None else codes[mask], minlength=len(self._kinds))
        reasons, labels, judges = Counter(dict.fromkeys(Reason, 0)), Counter[str](), Counter[str]()
        n_given = n_scored = n_assumed = 0
        lacking = Counter[str]()
        for kind, n in zip(self._kinds, counts.tolist(), strict=True):
            if kind.reason is not None:
                reasons[kind.reason] += n
                lacking[kind.lacks] += n if kind.lacks else 0
                continue
            n_scored += n
            n_given += n if kind.given else 0
            n_assumed += n if kind.assumed else 0
            if kind.label is not None:
                labels[kind.label] += n
            if kind.judges:
                judges[kind.judges] += n
        return Tally(
            n_scored,
            n_given,
            {str(reason): n for reason, n in reasons.most_common() if n},
            {label: n for label, n in labels.most_common() if n},
            {label: n for label, n in judges.most_common() if n},
            n_assumed,
            {part: n for part, n in lacking.most_common() if n},
        )

    def _where(self, metric: str, holds: Callable[[_Kind], bool]) -> Mask:
        """Where a score is of one of the kinds for which a condition holds."""
        codes = np.frombuffer(self._codes[metric], dtype=np.uint32)
        return np.array([holds(kind) for kind in self._kinds], np.bool_)[codes]

    def value(self, metric: str, row: int) -> float | str | None:
        """A sample's number or label; ``None`` where it is unscored."""
        kind = self._kinds[self._codes[metric][row]]
        if kind.label is not None:
            return kind.label
        return self._values[metric][row] if kind.reason is None else None

    def reason(self, metric: str, row: int) -> Reason | None:
        """Why a sample is unscored; ``None`` where it is not."""
        return self._kinds[self._codes[metric][row]].reason


MOST = 3
"""Most judges that are listed."""

ValuesByJudge = Mapping[str, int]
"""The number of values by label of judges; `RECORD` for those of records that name no judge."""


def judges_of(outcome: Outcome, judge: str) -> str:
    """The label of the judges that an outcome rests on: those whom the record names, and the run's
    judge where it was asked; empty for arithmetic."""
    by = outcome.by if isinstance(outcome, Score) else ()
    asked = (judge,) if outcome.evidence and judge else ()
    return AND.join(sorted({*by, *asked}))


def given_parts(tally: Tally, judge: str) -> tuple[str, ...]:
    """The parts of a signature on the values that came with the records: whether all or some of
    the scored ones did, and who gave them. The run's judge is named only where all did."""
    is_all = tally.n_given == tally.n_scored
    names = [name for name in names_in(tally.judges) if is_all or name != judge]
    by = f"{'judge' if is_all else 'given_by'}={'+'.join(names)}"
    return (ALL_GIVEN if is_all else "given=some", *([] if names in ([], [RECORD]) else [by]))


ALL_GIVEN = "given=all"
"""The part of a signature where records brought all values."""


def names_in(labels: Iterable[str]) -> tuple[str, ...]:
    """The judges that labels name, alone or with others, sorted."""
    return tuple(sorted({name for label in labels if label for name in label.split(AND)}))


def label_of(judges: ValuesByJudge) -> str:
    """The label of all of a metric's judges; empty where none is known by name."""
    names = names_in(judges)
    more = [f"{len(names) - MOST} others"] if len(names) > MOST else []
    return "" if names == (RECORD,) else AND.join([*names[:MOST], *more])


def mixed(judges_of_metrics: Mapping[str, ValuesByJudge], judge: str = "") -> Iterator[Note]:
    """Notes on the metrics whose values are of different judges: one for all metrics that
    mix the same judges in the same numbers."""
    said: list[tuple[str, str]] = []
    for name, judges in judges_of_metrics.items():
        sets = [{*label.split(AND)} for label in judges]
        largest = max(sets, key=len, default=set())
        lacks_own = judge in largest and any(judge not in group for group in sets)
        # A value that rests on some of another value's judges is not of different ones.
        if lacks_own or not all(group <= largest for group in sets):
            ranked = sorted(judges.items(), key=lambda item: -item[1])
            words = [
                (n, " and ".join("the records" if j == RECORD else j for j in label.split(AND)))
                for label, n in ranked
            ]
            said.append((few([f"{n:,} of {named}" for n, named in words], MOST), name))
    for how, metrics in grouped(said).items():
        yield Note("mixed_judges", {"how": how}, tuple(metrics), "warning")


_LANGUAGE = "language"
_READ = 600
"""Characters of a text that are read to find its language."""
_SHARE = 0.1
"""Least share of the samples in a language by their words, for a slice that nobody asked for."""
MAX_VALUES = 20
"""A metadata column with more distinct values than this is no slice (unless asked for by name)."""


Labels = tuple[str, ...]
"""The labels of a sample in a column, each once: it is in the slice of each."""


class SampleColumns:
    """Fills columns of scores with what a run keeps of each sample. Without ``slice_by``, each
    column of labels is taken that has between 2 and `MAX_VALUES` values, and at most half as many
    as there are samples with one; ``seen`` are all columns that samples have. ``column`` is the one
    that samples are clustered by, where one was asked for; ``n_clustered`` counts the samples that
    have a cluster by their data, and ``names_conversations`` says that metadata name one."""

    def __init__(
        self, scores: ScoreColumns, slice_by: Sequence[str] | None, cluster_by: str | None
    ) -> None:
        self.column, self.clusters = cluster_column(cluster_by), list[str]()
        self.n_clustered, self.names_conversations = 0, False
        self.seen: set[str] = set()
        self._scores = scores
        self._wanted = None if slice_by is None else tuple(slice_by)
        self._columns: dict[str, list[Labels]] = {name: [] for name in self._wanted or ()}
        self._distinct: dict[str, set[str]] = {name: set() for name in self._columns}
        self._dropped: set[str] = set()
        self._turns: list[Labels] = []
        self._languages: list[str] = []
        self._known: dict[Labels, Labels] = {}

    def add(self, sample: Sample) -> None:
        """Takes one sample: its identity, its cluster, and its labels, which are plain metadata and
        lists of it, answerability, language and system."""
        self._scores.identities.append(sample.identity)
        self._scores.asked.append(number_of(sample))
        if self.column in (None, *CONVERSATION_KEYS):
            cluster = named_conversation(sample)
            self.names_conversations |= cluster is not None
            if cluster is None and (turn := TURN_ID.fullmatch(sample.id)):
                cluster = turn["conversation"]
        else:
            value = sample.metadata.get(self.column)
            cluster = None if value is None else str(value)
        self.n_clustered += cluster is not None
        self.clusters.append(f"id {sample.id}" if cluster is None else f"in {cluster}")
        labels = {
            name: label
            for name, value in sample.metadata.items()
            if name not in CONVERSATION_KEYS and (label := _labels(value, self._wanted is not None))
        }
        if sample.answerability is not None:
            labels["answerability"] = (str(sample.answerability),)
        if sample.language:
            labels[_LANGUAGE] = (sample.language,)
        if sample.system:
            labels["system"] = (sample.system,)
        self.seen |= labels.keys()
        for name in labels.keys() - self._columns.keys() - self._dropped:
            # What another tool said of the answer (score.NAME) would only say that it is wrong.
            if self._wanted is None and not name.startswith("score."):
                self._columns[name] = [()] * len(self._turns)
                self._distinct[name] = set()
        self._turns.append(_LATER if sample.history else _FIRST)
        self._languages.append(language_of(sample.query_text[:_READ]))
        for name in list(self._columns):
            own = labels.get(name) or labels.get(field_of(name), ())
            self._columns[name].append(self._known.setdefault(own, own))
            self._distinct[name].update(own)
            if self._wanted is None and len(self._distinct[name]) > MAX_VALUES:
                del self._columns[name], self._distinct[name]
                self._dropped.add(name)

    def close(self, *, clustered: bool) -> None:
        """Gives the scores the slicing columns, each with the labels of each sample, and where
        it is ``clustered`` the clusters.

        Where no sample names its turn, it is ``later`` with a history and ``first`` without. Where
        no metadata name it otherwise (``lang``), a sample's language is that of its query."""
        self._scores.clusters = self.clusters if clustered else None
        self._scores.slices = columns = dict(self._columns)
        named = {name for name in self.seen if field_of(name) == _LANGUAGE}
        unasked = self._wanted is None and named <= {_LANGUAGE} and not self._dropped & named
        if unasked or _LANGUAGE in (self._wanted or ()):
            given = columns.get(_LANGUAGE) or [()] * len(self._languages)
            counts = Counter(self._languages)
            least = 1 if self._wanted is not None else _SHARE * len(self._languages)
            known = ((code,) if code and counts[code] >= least else () for code in self._languages)
            columns[_LANGUAGE] = [text or other for text, other in zip(given, known, strict=True)]
        names_turns = any(name.casefold() == "turn" for name in self.seen)
        if not names_turns and (self._wanted is None or "turn" in self._wanted):
            columns["turn"] = self._turns
        if self._wanted is None:
            self._scores.slices = {
                name: column
                for name, column in sorted(columns.items())
                if (n := sum(map(bool, column))) >= 4  # two values of two
                and 1 < len(values := set().union(*column)) <= n / 2
                and not all(map(_SHARE_OF_ONE.fullmatch, values))  # scores in a table
            }


def _labels(value: object, numbers: bool) -> Labels:
    """The labels in a value; with ``numbers``, those with a point are labels, too."""
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str | int) or (numbers and isinstance(value, float)):
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return (text,) if 0 < len(text) <= 60 else ()
    each = [_labels(item, numbers) for item in value] if isinstance(value, list | tuple) else []
    return tuple(dict.fromkeys(chain(*each))) if all(each) else ()


def language_shown(sample: Sample) -> str:
    """The language that a sample states, else that of its query; or empty."""
    return sample.language or language_of(sample.query_text[:_READ])


def fields_of(sample: Sample) -> dict[str, Any]:
    """The fields of a sample by which subsets are chosen: its metadata (``metadata.NAME`` where a
    field of its own has that name), id, query, system, repeat, answerability, failure, language
    (`language_shown`), and turn (``first`` or ``later``)."""
    named = ("id", "query", "system", "repeat", "answerability", "failure")
    own = {name: getattr(sample, name) for name in named} | {_LANGUAGE: language_shown(sample)}
    turn = {"turn": "later" if sample.history else "first"}
    other = {f"metadata.{name}": sample.metadata[name] for name in own if name in sample.metadata}
    return {**turn, **sample.metadata, **own, **other}


_SHARE_OF_ONE = re.compile(r"0?\.\d+|1\.0+")
_FIRST, _LATER = ("first",), ("later",)
"""The labels of a turn."""


def cluster_column(asked: str | None) -> str | None:
    """The column that a run is clustered by; ``None`` where none was asked for. By ``none`` only
    samples of one query belong together."""
    return None if asked in (None, "", "none") else str(asked)


_LEAST = 0.9
"""Share of the samples with a known language that are in the language of the data."""
_WORD = re.compile(r"[^\W\d_]+")
_OTHER = "?"
"""Another language than those that are known, or several."""


@dataclass
class DataLanguage:
    """Counts the languages of samples."""

    samples: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample) -> None:
        """Counts a sample: its query, answer and passages have to be in one language, where they
        are long enough to tell."""
        answers = [run.answer for run in sample.runs] or [sample.answer]
        texts = (
            sample.query or "",
            " ".join(answer.text[:_READ] for answer in answers if answer is not None),
            " ".join((passage.text or "")[:_READ] for passage in sample.passages or ()),
        )
        found = {language_in(sample)} if sample.language else set[str]()
        for text in () if sample.language else texts:
            words = _WORD.findall(text[:_READ])
            # Words may not tell, as in a list of names; other letters are of another language.
            letters = 2 * sum(not word.isascii() for word in words) > len(words)
            found.add(language_of(text[:_READ]) or (_OTHER if letters else ""))
        found -= {""}
        self.samples[(found.pop() if len(found) == 1 else _OTHER) if found else ""] += 1

    @property
    def code(self) -> str:
        """The language of at least nine tenths of the samples that tell one, and of half of all;
        empty where there is none."""
        known = Counter({code: n for code, n in self.samples.items() if code})
        (most, n), *_ = known.most_common(1) or [(_OTHER, 0)]
        is_known = n >= _LEAST * known.total() and 2 * n >= self.samples.total()
        return most if most != _OTHER and is_known else ""


FACTS = (
    *("query", "history", "references", "reference_groups", "negative_references"),
    *("gold", "answerability"),
)
"""The parts of a sample that belong to the query, not to the system."""

_OF_USER = {"history": "earlier_queries"}  # a system may be asked after its own earlier answers
_READ_BY = [(name, _OF_USER.get(name, name)) for name in FACTS]


def number_of(sample: Sample) -> int:
    """64 bits of the hash of a sample's query id and facts."""
    facts = [sample.id, *(getattr(sample, read) for _, read in _READ_BY)]
    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def differing_facts(sample: Sample, other: Sample) -> list[str]:
    """The names of the facts (`FACTS`) in which two samples of one query differ."""
    return [name for name, read in _READ_BY if getattr(sample, read) != getattr(other, read)]
