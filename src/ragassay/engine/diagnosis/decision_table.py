"""The signals of a sample (``signals.yaml``), numbers with one meaning whichever metric gave them,
and the decision table (docs/diagnose.md): which class a failing sample is in by them, and which are
missing. The first row that holds decides, because later steps depend on earlier ones; a row whose
signal the sample lacks is skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Literal

from ragassay.base import packages
from ragassay.base.errors import UsageError
from ragassay.base.printable import grouped
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.engine.comparison.offline_agreement import OFFLINE
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.engine.results.summary import MetricSummary
from ragassay.stats.intervals import ROUNDING

Reading = Callable[[ScoreRow, Sample], float | None]
"""The signal that a score gives; ``None`` for none."""

FOUND_SOMEWHERE = 0.0
"""The rank of a relevant passage that was retrieved, where no metric tells at which rank. Ranks
count from 1; that of a passage which was not retrieved is infinite."""


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


def _cited(row: ScoreRow, sample: Sample) -> float | None:
    """The precision of the citations, where there are any: Open RAG Eval publishes 0 for an answer
    that cites nothing, which is no wrong citation."""
    statements = row.parts.get("statements")
    if isinstance(statements, list | tuple) and not any(
        isinstance(statement, Mapping) and statement.get("citations") for statement in statements
    ):
        return None
    return _part("precision")(row, sample)


def _right_to_refuse(row: ScoreRow, sample: Sample) -> float | None:
    """Whether the answer is a refusal, from whether refusing or not was right for the label."""
    if sample.answerability in (None, Answerability.UNDERSPECIFIED):
        return None
    return float(bool(row.value) == (sample.answerability in ABSTAINING))


def _first_found(row: ScoreRow, sample: Sample) -> float | None:
    """The rank of the first gold passage where something was found, if it is known."""
    found = READINGS["found"](row, sample)
    if found != FOUND_SOMEWHERE or "rel=" in row.metric:  # by which other passages are relevant
        return found
    from ragassay.metrics.retrieval.ranking_metric import ranked  # what gave the score has it

    grades, scores, _ = ranked(sample)
    relevant = (name for name, grade in grades.items() if grade > 0)
    return min((1.0 - scores[name] for name in relevant if name in scores), default=found)


READINGS: Mapping[str, Reading] = {
    "number": _number(),
    "reciprocal": _number(lambda value: inf if value <= 0 else round(1 / value)),
    "hit rank": lambda row, _: (
        None if (ranks := row.parts.get("hit_ranks")) is None else min(ranks, default=inf)
    ),
    "found": _number(lambda value: FOUND_SOMEWHERE if value > 0 else inf),
    "first found": _first_found,
    "mostly": _number(lambda value: FOUND_SOMEWHERE if value >= 0.5 else inf),
    "useful": _number(lambda value: FOUND_SOMEWHERE if value > 2 else inf, measured=True),
    "low grade": _number(lambda value: float(value <= 2), measured=True),
    "none": _number(lambda _: 0.0),
    "best": lambda row, _: 1.0 if row.parts.get("best_grade") == 3 else None,
    "all of it": lambda row, _: 1.0 if row.value == 5 else None,
    "one": lambda row, _: float(row.value == 1),
    "zero": lambda row, _: float(row.value == 0),
    "no": lambda row, _: float(row.value == "no"),
    "right to refuse": _right_to_refuse,
    "cited": _cited,
}
"""How a signal is read from a score, by the name in ``signals.yaml``."""


_COUNTS: Mapping[str, Callable[[ScoreRow, Sample], bool]] = {
    # Nothing could retrieve a relevant passage where there is none (0 there, as in trec_eval).
    "gold": lambda _, sample: sample.gold is None or any(each.grade > 0 for each in sample.gold),
    # Words do not show whether a passage is relevant, nor stand in for what a judge read.
    "graded": lambda row, _: OFFLINE not in row.judge,
}
"""Where a score counts whose reading begins with this word."""


def _reading(name: str) -> Reading:
    """The reading of this name; ``part NAME`` reads a part."""
    kind, _, rest = name.partition(" ")
    if kind == "part":
        return _part(rest)
    if kind not in _COUNTS:
        return READINGS[name]
    counts, read = _COUNTS[kind], READINGS[rest]
    return lambda row, sample: read(row, sample) if counts(row, sample) else None


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
        self, tables: Iterable[Rows], names: Mapping[str, Sequence[str]], sample: Sample
    ) -> SignalValue | None:
        """The signal of a sample by the first table of rows that gives it, and by which metric."""
        for rows, (metric, read) in product(tables, self.sources):
            for shown in names.get(metric, ()):
                row = rows.get(shown)
                value = None if row is None or row.value is None else read(row, sample)
                if value is not None:
                    return SignalValue(value, shown)
        return None


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
    ranked.sort(key=lambda value: value[0])
    return grouped((name, shown) for _, name, shown in ranked if name)


def canonical_name(metric: str) -> str:
    """A metric's name without parameters, part and cut-off; empty where it begins otherwise."""
    return re.split(r"[^A-Za-z0-9_\-]", metric, maxsplit=1)[0]


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
    for name, row in packages.table("ragassay.engine.diagnosis", "signals.yaml").items()
}
"""All signals, by name."""


Values = Mapping[str, float]
"""The signals of a sample that are known, by name."""

# The names of two more: 1 where a headline that reads meaning fails, or where it needs an answer.
FAILS, WANTS_ANSWER = "fails", "wants answer"


@dataclass(frozen=True)
class Thresholds:
    """The numbers of the decision table.

    Attributes:
        low_rank: a first relevant passage below this rank counts as ranked too low.
        max_contradicted: share of an answer, 0 to 1; above it, the answer is wrong.
        min_supported: share of an answer, 0 to 1; below it, the answer is wrong or invented.
        min_cited: share of the citations, 0 to 1; below it, the answer cites wrongly.
        min_right: share of an answer, 0 to 1; from it on, what a failing answer says is right.
        min_complete: share of what should be said, 0 to 1; from it on, an answer whose share of
            right words is not known counts as right but incomplete.

    Raises:
        UsageError: a number out of range.
    """

    low_rank: int = 3
    max_contradicted: float = 0.0
    min_supported: float = 0.55
    min_cited: float = 0.5
    min_right: float = 0.5
    min_complete: float = 0.25

    def __post_init__(self) -> None:
        if self.low_rank < 1:
            raise UsageError(f"--low-rank is {self.low_rank}; ranks count from 1.")
        for name, value in vars(self).items():
            if name != "low_rank" and not 0.0 <= value <= 1.0:
                raise UsageError(f"--{name.replace('_', '-')} is {value:g}; it is from 0 to 1.")


Rule = Callable[[Values, Sample, Thresholds], bool]
"""Whether a row holds for a sample with these signals."""


@dataclass(frozen=True)
class FaultClass:
    """A class of failing samples: a row of ``decision_table.yaml``.

    ``needs`` names the signals that its row asks for, one of each group; a sample fails by
    ``own_fault`` alone, however good its headline value is; only samples with a label of
    answerability can be in a class that is ``labelled``."""

    name: str
    title: str
    says: str
    advice: str
    holds: Rule = field(repr=False)
    needs: Sequence[Sequence[str]] = ()
    own_fault: bool = False
    labelled: bool = False


_UNANSWERABLE = Answerability.UNANSWERABLE
_NEITHER = (Answerability.CONVERSATIONAL, Answerability.UNDERSPECIFIED)


def refusal(values: Values, sample: Sample) -> Literal["right", "wrong", "open", ""]:
    """Whether the answer rightly refuses a query, whatever a comparison of words says; ``open``
    where no label, reference, gold or graded passage says whether the query has an answer."""
    if values.get("refused") != 1.0 or sample.answerability in _NEITHER:
        return ""
    if sample.answerability is not None or not sample.answer_text.strip():
        return "right" if sample.answerability is _UNANSWERABLE else "wrong"
    gold = any(passage.grade > 0 for passage in sample.gold or ())
    return "wrong" if sample.references or gold or "answerable" in values else "open"


def _no_reply(values: Values, sample: Sample, _: Thresholds) -> bool:
    """An empty answer is none, unless the query needs none."""
    expected = sample.answer is None or sample.answerability not in ABSTAINING
    named = sample.failure is not None or (values.get(WANTS_ANSWER) == 1.0 and expected)
    return named and not sample.answer_text.strip()


def _incomplete(values: Values, _: Sample, limits: Thresholds) -> bool:
    if _says_everything(values):
        return False
    if "right" in values:
        return values["right"] >= limits.min_right
    return values.get("complete", 0.0) >= limits.min_complete


def _says_everything(values: Values) -> bool:
    """Whether the answer is known to say all that should be said: then nothing is missing in it,
    and what was retrieved was not ignored."""
    return values.get("complete", 0.0) >= 1.0 - ROUNDING


def _invented(values: Values, sample: Sample, limits: Thresholds) -> bool:
    # One unsupported claim explains why an answer fails that is not mostly right.
    fails = values.get(FAILS) == 1.0 and values.get("right", 0.0) < limits.min_right
    least = 1.0 - ROUNDING if fails else limits.min_supported
    is_talk = sample.answerability is Answerability.CONVERSATIONAL  # which needs no passage
    unsupported = not is_talk and values.get("supported", 1.0) < least
    return unsupported or values.get("contradicted", 0.0) > limits.max_contradicted


_RULES: Mapping[str, Rule] = {
    "no_reply": _no_reply,
    "answered_unanswerable": lambda v, s, at: (
        s.answerability is _UNANSWERABLE and v.get("refused") == 0.0
    ),
    "not_retrieved": lambda v, s, at: s.answerability not in ABSTAINING and v.get("rank") == inf,
    "ranked_low": lambda v, s, at: (
        s.answerability not in ABSTAINING and at.low_rank < v.get("rank", inf) < inf
    ),
    "refused_answerable": lambda v, s, at: refusal(v, s) == "wrong",
    "invented": _invented,
    # What a refusal cites is not what its query is about.
    "cited_wrongly": lambda v, s, at: (
        v.get("refused") != 1.0 and v.get("cited", 1.0) < at.min_cited
    ),
    "incomplete": _incomplete,
    "ignored": lambda v, s, at: (
        not _says_everything(v) and v.get("rank", inf) < inf and ("right" in v or "complete" in v)
    ),
    "unexplained": lambda v, s, at: True,
}
"""Where each row holds: by a sample's signals (v), the sample (s) and the thresholds (at)."""


*CLASSES, UNEXPLAINED = (
    FaultClass(name, holds=_RULES[name], **row)
    for name, row in packages.table("ragassay.engine.diagnosis", "decision_table.yaml").items()
)
"""The rows of the table, in order, and the class of failing samples for which none holds."""


def class_of(
    values: Values, sample: Sample, below: bool, limits: Thresholds, *, headline_only: bool,
    measures: str = "retrieval", compares_words: bool = False,
) -> FaultClass | None:  # fmt: skip
    """The class of a sample; ``None`` where it does not fail. The headline: see `Diagnosis`."""
    refused = refusal(values, sample)
    if refused == "right":
        return None
    # What passages support of which none is relevant does not answer the query, nor a refusal.
    off_topic = values.get("rank") == inf and values.get("refused") != 1.0
    no_answer = measures == "support" and (off_topic or refused == "wrong")
    below = (below or no_answer) and refused != "open"
    values = {**values, FAILS: below and not compares_words, WANTS_ANSWER: measures != "retrieval"}
    for row in CLASSES:
        fails = below or (row.own_fault and not headline_only)
        if fails and row.holds(values, sample, limits):
            return row
    return UNEXPLAINED if below else None


@dataclass(frozen=True)
class NotLookedAt:
    """A class that no signal can show: why, in words, and a metric for each signal that lacks."""

    fault: FaultClass
    why: str
    metrics: tuple[str, ...] = ()


def parts_of(sample: Sample) -> set[str]:
    """What a sample holds, as far as it decides which metrics can be proposed."""
    gold = sample.gold or ()
    parts = {
        "passages": sample.passages is not None,
        "gold ids": any(passage.id is not None for passage in gold),
        "gold spans": any(passage.id is None for passage in gold),
        "references": bool(sample.references),
        "labels": sample.answerability is not None,
    }
    return {name for name, is_there in parts.items() if is_there}


def not_looked_at(
    metrics: Mapping[str, MetricSummary],
    names: Mapping[str, Sequence[str]],
    known: Collection[str],
    parts: Collection[str],
) -> Iterator[NotLookedAt]:
    """The classes for which a signal is missing in all samples, which have these parts; ``known``
    are the signals that are not."""
    for fault in CLASSES:
        if fault.labelled and "labels" not in parts:
            yield NotLookedAt(fault, "the samples have no answerability label")
            continue
        whys, proposed = [], []
        for group in ([SIGNALS[name] for name in each] for each in fault.needs):
            if any(signal.name in known for signal in group):
                continue
            every = (metric for signal in group for metric, _ in signal.sources)
            held = [shown for metric in every for shown in names.get(metric, ())]
            fit = (
                metric
                for needed, metric in group[0].propose.items()
                if all(part in parts for part in needed.split(" + ") if part)
            )
            metric = next(fit, None)
            if metric is not None and canonical_name(metric) not in names:
                proposed.append(metric)
            said = " or ".join(signal.says for signal in group)
            why = f"not computed: {said}"
            if held:
                scored = [shown for shown in held if metrics[shown].n_scored]
                listed = ", ".join(dict.fromkeys(scored or held))
                why = f"{listed} does not decide" if scored else f"{listed} has no value"
            elif metric is None:
                why = f"the samples do not show the {said}"
            whys.append(why)
        if whys:
            yield NotLookedAt(fault, "; ".join(whys), tuple(proposed))
