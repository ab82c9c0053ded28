"""The signals of a sample that a diagnosis uses, each from the first metric that gives it.

A signal is a number with one meaning, whichever metric gave it: the rank of the first relevant
passage may come from ``RR`` or from ``umbrela_MRR``. A metric of a run is known by its canonical
name, so the name that a suite shows it by does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from ragassay.base.counts import grouped
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.engine.results.summary import MetricSummary

Reading = Callable[[ScoreRow, Sample], float | None]
"""The signal that a score gives; ``None`` for none."""

FOUND_SOMEWHERE = 0.0
"""The rank of a relevant passage that was retrieved, where no metric tells at which rank."""

_NAME = re.compile(r"[A-Za-z0-9_\-]+")


Source = tuple[str, Reading]
"""A metric by its canonical name (without parameters, part and cut-off), and what makes a signal of
its score."""


@dataclass(frozen=True)
class Signal:
    """One property of a sample that the decision table asks for.

    Attributes:
        name: of the signal.
        says: its meaning, in words.
        sources: the metrics that give it, the first with a value counts.
        lacking: why no sample has it though such metrics have scores.
    """

    name: str
    says: str
    sources: tuple[Source, ...]
    lacking: str = "not told by the scores of"

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
    deepest_first = sorted(metrics.items(), key=lambda one: -_depth(one[1].metric))
    names = ((canonical_name(metric.metric or shown), shown) for shown, metric in deepest_first)
    return grouped((name, shown) for name, shown in names if name)


def canonical_name(metric: str) -> str:
    """A metric's name without parameters, part and cut-off; empty where it begins otherwise."""
    match = _NAME.match(metric)
    return "" if match is None else match[0]


def _depth(metric: str) -> float:
    """The cut-off of a metric; infinite where it has none."""
    cut = metric.rpartition("@")[2]
    return int(cut) if cut.isdigit() else inf


def _value(made: Callable[[float], float] = float, *, measured: bool = False) -> Reading:
    """Reads the score where it is a number."""

    def read(row: ScoreRow, _: Sample) -> float | None:
        if row.value is None or isinstance(row.value, str | list):
            return None
        return None if measured and row.status == "assumed" else made(float(row.value))

    return read


def _part(*keys: str) -> Reading:
    """Reads the first of these parts; a metric whose parts are named otherwise gives nothing."""

    def read(row: ScoreRow, _: Sample) -> float | None:
        value = next((row.parts[key] for key in keys if key in row.parts), None)
        return value if isinstance(value, float | int) else None

    return read


def _cited_precision(row: ScoreRow, sample: Sample) -> float | None:
    """The precision of the citations, where there are any: Open RAG Eval publishes 0 for an answer
    that cites nothing, which is no wrong citation."""
    statements = row.parts.get("statements")
    if isinstance(statements, list | tuple) and not any(
        isinstance(one, Mapping) and one.get("citations") for one in statements
    ):
        return None
    return _part("precision")(row, sample)


def _hit_ranks(row: ScoreRow, _: Sample) -> float | None:
    ranks = row.parts.get("hit_ranks")
    return min(ranks, default=inf) if isinstance(ranks, list | tuple) else None


_NUMBER = _value()
_RECIPROCAL = _value(lambda value: inf if value <= 0 else round(1 / value))
_WHETHER_FOUND = _value(lambda value: FOUND_SOMEWHERE if value > 0 else inf)
_USEFULNESS = _value(lambda value: FOUND_SOMEWHERE if value > 2 else inf, measured=True)
_CONTRADICTS = _value(lambda value: float(value <= 2), measured=True)


def _by_gold(read: Reading) -> Reading:
    """The rank by gold: none where the gold has no relevant passage, which nothing could retrieve
    (retrieval metrics are 0 there, as in trec_eval)."""

    def checked(row: ScoreRow, sample: Sample) -> float | None:
        if sample.gold is not None and not any(one.grade > 0 for one in sample.gold):
            return None
        return read(row, sample)

    return checked


def _is(*values: object) -> Reading:
    return lambda row, _: float(row.value in values)


def _refused_by_label(row: ScoreRow, sample: Sample) -> float | None:
    """Whether the answer is a refusal, from whether refusing or not was right for the label."""
    if sample.answerability in (None, Answerability.UNDERSPECIFIED):
        return None
    should = sample.answerability in ABSTAINING
    return float(bool(row.value) == should)


RANK = Signal(
    "rank",
    "rank of the first relevant passage",
    (
        ("RR", _by_gold(_RECIPROCAL)),
        *((name, _by_gold(_hit_ranks)) for name in ("SpanR", "SpanF1", "ChunkR")),
        ("umbrela_MRR", _RECIPROCAL),
        *(
            (name, _by_gold(_WHETHER_FOUND))
            for name in (
                *("nDCG", "Recall", "Success", "AP", "SpanR", "ChunkR", "ChunkF1", "hybrid"),
                *("CharR", "CharIoU", "CharF1"),
            )
        ),
        *((name, _WHETHER_FOUND) for name in ("umbrela_nDCG", "umbrela_P")),
        ("ragreport_usefulness", _USEFULNESS),
    ),
)
"""The rank from 1; infinite where none was retrieved, `FOUND_SOMEWHERE` where nothing tells it."""

REFUSED = Signal(
    "refused",
    "whether the answer is a refusal",
    (
        ("idk_eval", _is(1, 1.0)),
        ("answered", _is(0, False)),
        ("no_answer", _is("no")),
        ("answerability_accuracy", _refused_by_label),
    ),
)

CONTRADICTED = Signal(
    "contradicted",
    "share of the answer that passages or references contradict",
    (("contradicted", _NUMBER), ("ragreport_faithfulness", _CONTRADICTS)),
)

SUPPORTED = Signal(
    "supported",
    "share of the answer that the passages support",
    tuple((name, _NUMBER) for name in ("rl_f", "hhem_windows", "hhem")),
)

CITED = Signal(
    "cited",
    "share of the citations that support what they stand at",
    tuple(
        (name, _cited_precision)
        for name in (
            *("citation_pairs", "citation", "citation_sentences", "citation_trec"),
            "citation_ore",
        )
    ),
    "no answer cites anything, by",
)

RIGHT = Signal(
    "right",
    "share of the answer that stands in the reference",
    (
        ("factual_correctness", _part("precision")),
        *((name, _part("p")) for name in ("token_f1", "rouge1", "rougeL")),
    ),
)

COMPLETE = Signal(
    "complete",
    "share of what should be said that the answer says",
    (
        *((name, _NUMBER) for name in ("nuggets", "nuggets_ore")),
        ("factual_correctness", _part("recall")),
        *((name, _part("r")) for name in ("token_f1", "rouge1", "rougeL")),
        ("reference_recall", _NUMBER),
    ),
)

SIGNALS = (RANK, REFUSED, CONTRADICTED, SUPPORTED, CITED, RIGHT, COMPLETE)
