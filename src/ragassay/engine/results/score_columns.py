"""The scores of a run in columns: twelve bytes a score stay in memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.sample import Identity, Sample
from ragassay.base.score import Outcome, Reason, Unscored, label_of
from ragassay.engine.results import fingerprint
from ragassay.engine.results.attribution import judges_of

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


class ScoreColumns:
    """The numbers of all scores: a float and the number of its kind for each sample and metric.

    Methods take the shown name of a metric; some also a mask of the samples that count, shape
    ``(n_samples,)``, and count all without one.

    Attributes:
        identities: query id, system and repeat of each sample, in the order of evaluation.
        slices: for each slicing column, each sample's value (``None`` where it has none).
        clusters: each sample's cluster (a conversation, a document), when clustering was asked for.
        asked: a number for what each sample asks and expects (see
            `ragassay.engine.results.fingerprint`); empty where that is not known.
        replies: likewise a number for the reply of each sample that ``ragassay ask`` recorded.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[str | None]] = {}
        self.clusters: list[str] | None = None
        self.asked = array("Q")
        self.replies = array("Q")
        self._values = {name: array("d") for name in metrics}
        self._codes = {name: array("I") for name in self._values}
        self._kinds: list[_Kind] = []
        self._code_of: dict[_Kind, int] = {}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order asked for."""
        return list(self._values)

    @property
    def n_queries(self) -> int:
        """How many queries the samples have."""
        return len({query for query, _, _ in self.identities})

    @property
    def systems(self) -> list[str]:
        """The systems, in order of first appearance."""
        return list(dict.fromkeys(system for _, system, _ in self.identities))

    def add_sample(self, sample: Sample) -> None:
        """Appends a sample; its outcomes are added with `add`."""
        self.identities.append(sample.identity)
        self.asked.append(fingerprint.of_sample(sample))
        self.replies.append(fingerprint.of_reply(sample))

    def add(self, metric: str, outcome: Outcome, judge: str = "") -> None:
        """Appends a sample's outcome to a metric's column."""
        number, judges = 0.0, judges_of(outcome, judge)
        if isinstance(outcome, Unscored):
            kind = _Kind(judges, reason=outcome.reason)
        elif isinstance(outcome.value, str | list):
            kind = _Kind(judges, outcome.given, label=label_of(outcome.value))
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
        if self.asked:
            copied.asked = array("Q", [self.asked[at] for at in chosen])
        if self.replies:
            copied.replies = array("Q", [self.replies[at] for at in chosen])
        copied._values = {n: array("d", self.values(n)[rows].tobytes()) for n in self.metrics}
        copied._codes = {n: array("I", self._code_array(n)[rows].tobytes()) for n in self.metrics}
        return copied

    def renamed(self, names: Mapping[str, str]) -> ScoreColumns:
        """The same columns, with some of the metrics under other names; nothing is copied."""
        copied = copy(self)
        copied._values = {names.get(name, name): column for name, column in self._values.items()}
        copied._codes = {names.get(name, name): column for name, column in self._codes.items()}
        return copied

    def owed(self, metric: str) -> Mask:
        """Which samples could have any value in the metric's range, because the system or the judge
        gave nothing to measure, shape ``(n_samples,)``: those unscored for a reason that is
        `OWED`, and those with a number where a mean would run over none (`averaged`).
        """
        without_mean = self.scored(metric) & ~self.averaged(metric)
        return self.unscored(metric, OWED) | without_mean

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
        return scored & bool((scored & ~self.assumed(metric)).any())

    def assumed(self, metric: str) -> Mask:
        """Which samples have a number that stands for a missing part, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.assumed)

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)

    def reasons(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of unscored samples by reason, most frequent first."""
        counts = Counter(dict.fromkeys(Reason, 0))
        for kind, n in self._counted(metric, mask):
            if kind.reason is not None:
                counts[kind.reason] += n
        return {str(reason): n for reason, n in counts.most_common() if n}

    def labels(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of samples by label, most frequent first."""
        labelled = self._where(metric, lambda kind: kind.label is not None)
        codes = self._code_array(metric)[labelled if mask is None else labelled & mask]
        labels = Counter(self._kinds[code].label or "" for code in codes.tolist())
        return dict(labels.most_common())

    def n_given(self, metric: str, mask: Mask | None = None) -> int:
        """The number of values that the records brought."""
        return sum(n for kind, n in self._counted(metric, mask) if kind.given)

    def judges(self, metric: str, mask: Mask | None = None) -> dict[str, int]:
        """The number of values by label of judges (`ragassay.engine.results.attribution`), most
        frequent first. Values by arithmetic alone are left out."""
        counts: Counter[str] = Counter()
        for kind, n in self._counted(metric, mask):
            counts[kind.judges] += n if kind.reason is None else 0
        return {label: n for label, n in counts.most_common() if label and n}

    def _counted(self, metric: str, mask: Mask | None) -> Iterator[tuple[_Kind, int]]:
        """All kinds with the number of the metric's scores among the samples of the mask."""
        codes = self._code_array(metric)
        counts = np.bincount(codes if mask is None else codes[mask], minlength=len(self._kinds))
        return zip(self._kinds, counts.tolist(), strict=True)

    def _where(self, metric: str, holds: Callable[[_Kind], bool]) -> Mask:
        """Where a score is of one of the kinds for which a condition holds."""
        return np.array([holds(kind) for kind in self._kinds], np.bool_)[self._code_array(metric)]

    def value(self, metric: str, row: int) -> float | str | None:
        """A sample's number or label; ``None`` where it is unscored."""
        kind = self._kinds[self._codes[metric][row]]
        if kind.label is not None:
            return kind.label
        return self._values[metric][row] if kind.reason is None else None

    def reason(self, metric: str, row: int) -> Reason | None:
        """Why a sample is unscored; ``None`` where it is not."""
        return self._kinds[self._codes[metric][row]].reason

    def _code_array(self, metric: str) -> NDArray[np.uint32]:
        return np.frombuffer(self._codes[metric], dtype=np.uint32)
