"""The signals of a sample that a diagnosis uses: numbers with one meaning, whichever metric gave
them. ``signals.yaml`` has a row for each; metrics are known by their canonical names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from ragassay.base import package_files
from ragassay.base.counts import grouped
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.engine.results.summary import MetricSummary

Reading = Callable[[ScoreRow, Sample], float | None]
"""The signal that a score gives; ``None`` for none."""

FOUND_SOMEWHERE = 0.0
"""The rank of a relevant passage that was retrieved, where no metric tells at which rank. Ranks
count from 1; that of a passage which was not retrieved is infinite."""

_NAME = re.compile(r"[A-Za-z0-9_\-]+")


def _part(name: str) -> Reading:
    """Reads a part; a metric whose parts are named otherwise gives nothing."""

    def read(row: ScoreRow, _: Sample) -> float | None:
        value = row.parts.get(name)
        return value if isinstance(value, float | int) else None

    return read


def _number(of: Callable[[float], float] = float, *, measured: bool = False) -> Reading:
    """Reads the score where it is a number, ``measured`` not where it stands for a missing part."""

    def read(row: ScoreRow, _: Sample) -> float | None:
        if row.value is None or isinstance(row.value, str | list):
            return None
        return None if measured and row.status == "assumed" else of(float(row.value))

    return read


def _hit_rank(row: ScoreRow, _: Sample) -> float | None:
    ranks = row.parts.get("hit_ranks")
    return min(ranks, default=inf) if isinstance(ranks, list | tuple) else None


def _cited(row: ScoreRow, sample: Sample) -> float | None:
    """The precision of the citations, where there are any: Open RAG Eval publishes 0 for an answer
    that cites nothing, which is no wrong citation."""
    statements = row.parts.get("statements")
    if isinstance(statements, list | tuple) and not any(
        isinstance(one, Mapping) and one.get("citations") for one in statements
    ):
        return None
    return _part("precision")(row, sample)


def _right_to_refuse(row: ScoreRow, sample: Sample) -> float | None:
    """Whether the answer is a refusal, from whether refusing or not was right for the label."""
    if sample.answerability in (None, Answerability.UNDERSPECIFIED):
        return None
    return float(bool(row.value) == (sample.answerability in ABSTAINING))


READINGS: Mapping[str, Reading] = {
    "number": _number(),
    "reciprocal": _number(lambda value: inf if value <= 0 else round(1 / value)),
    "hit rank": _hit_rank,
    "found": _number(lambda value: FOUND_SOMEWHERE if value > 0 else inf),
    "useful": _number(lambda value: FOUND_SOMEWHERE if value > 2 else inf, measured=True),
    "low grade": _number(lambda value: float(value <= 2), measured=True),
    "one": lambda row, _: float(row.value == 1),
    "zero": lambda row, _: float(row.value == 0),
    "no": lambda row, _: float(row.value == "no"),
    "right to refuse": _right_to_refuse,
    "cited": _cited,
}
"""How a signal is read from a score, by the name in ``signals.yaml``."""


def _reading(name: str) -> Reading:
    """The reading of this name; ``part NAME`` reads a part."""
    kind, _, rest = name.partition(" ")
    if kind == "part":
        return _part(rest)
    if kind != "gold":
        return READINGS[name]

    def by_gold(row: ScoreRow, sample: Sample) -> float | None:
        # Where the gold has no relevant passage, nothing could retrieve one (retrieval metrics are
        # 0 there, as in trec_eval).
        if sample.gold is not None and not any(one.grade > 0 for one in sample.gold):
            return None
        return READINGS[rest](row, sample)

    return by_gold


@dataclass(frozen=True)
class Signal:
    """One property of a sample that the decision table asks for: a row of ``signals.yaml``. Of its
    sources the first with a value counts; ``propose`` has the metric to compute for it, by what the
    samples must hold (joined by ``+``)."""

    name: str
    says: str
    sources: tuple[tuple[str, Reading], ...] = field(repr=False)
    propose: Mapping[str, str] = field(default_factory=dict, hash=False)

    def read(
        self, rows: Rows, names: Mapping[str, Sequence[str]], sample: Sample
    ) -> SignalValue | None:
        """The signal of a sample, and which metric gave it; ``None`` where none did."""
        for metric, read in self.sources:
            for shown in names.get(metric, ()):
                row = rows.get(shown)
                value = None if row is None or row.value is None else read(row, sample)
                if value is not None:
                    return SignalValue(value, shown)
        return None

    def given_by(self, names: Mapping[str, Sequence[str]]) -> list[str]:
        """The metrics of a run that give this signal, by the names that it shows."""
        return [shown for metric, _ in self.sources for shown in names.get(metric, ())]


@dataclass(frozen=True, slots=True)
class SignalValue:
    """The value of a signal, and the metric (by its shown name) that gave it."""

    value: float
    metric: str


def names_by_metric(metrics: Mapping[str, MetricSummary]) -> dict[str, list[str]]:
    """The names that a run shows, by canonical name without parameters, part and cut-off; those
    with the deepest cut-off come first."""

    ranked = []
    for shown, metric in metrics.items():
        cut = metric.metric.rpartition("@")[2]
        depth = int(cut) if cut.isdigit() else inf
        ranked.append((-depth, canonical_name(metric.metric or shown), shown))
    ranked.sort(key=lambda one: one[0])
    return grouped((name, shown) for _, name, shown in ranked if name)


def canonical_name(metric: str) -> str:
    """A metric's name without parameters, part and cut-off; empty where it begins otherwise."""
    match = _NAME.match(metric)
    return "" if match is None else match[0]


SIGNALS: Mapping[str, Signal] = {
    name: Signal(
        name,
        row["says"],
        tuple(
            (metric, _reading(how))
            for source in row["sources"]
            for how, metrics in source.items()
            for metric in metrics.split()
        ),
        row.get("propose", {}),
    )
    for name, row in package_files.table("ragassay.engine.diagnosis", "signals.yaml").items()
}
"""All signals, by name."""
