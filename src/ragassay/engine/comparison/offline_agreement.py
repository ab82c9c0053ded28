"""How far the offline judge is known to agree with people, by which a difference of its scores may
be called better or worse. ``agreement.yaml`` has a row for each use of its answers and each
population that was measured; a row speaks for no other metric and language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ragassay import suites
from ragassay.base import packages
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.base.score import RECORD
from ragassay.engine.results.summary import MetricSummary
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.naming import uses_of
from ragassay.texts.languages import word_lists

Measure = Literal["AUC", "balanced accuracy", "Spearman"]

LEAST: Mapping[Measure, float] = {"AUC": 0.80, "balanced accuracy": 0.80, "Spearman": 0.60}
"""What the lower bound of each measure has to reach for a verdict."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of the offline judge with labels, on one population.

    ``kinds`` are of questions (`Question.kind`), ``metrics`` the names of those (`Metric.name`)
    whose use of the answers was measured, ``of`` says in the plural what was labelled. ``low`` and
    ``high`` are the 95 % interval of ``value``, a bootstrap over conversations or queries."""

    name: str
    kinds: tuple[str, ...]
    metrics: tuple[str, ...]
    language: str
    of: str
    labels: str
    people: bool
    measure: Measure
    source: str
    value: float
    low: float
    high: float
    n: int

    @property
    def sufficient(self) -> bool:
        """Whether verdicts may rest on it: the lower bound reaches `LEAST` on labels by people."""
        return self.people and self.low >= LEAST[self.measure]

    def __str__(self) -> str:
        interval = f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.measure} {interval} against {self.labels} ({self.n:,} {self.of})"


@cache
def rows() -> tuple[Agreement, ...]:
    """All rows of the table."""
    read: dict[str, dict[str, Any]]
    read = packages.table("ragassay.engine.comparison", "agreement.yaml")
    return tuple(
        Agreement(
            name,
            tuple(row["kinds"]),
            tuple(row["metrics"]),
            source=row["source"],
            **row["data"] | row["against"] | row["found"],
        )
        for name, row in read.items()
    )


def rows_of(kind: str, metric: str) -> tuple[Agreement, ...]:
    """The rows of a metric's use of the answers to a kind of question."""
    return tuple(row for row in rows() if kind in row.kinds and metric in row.metrics)


OFFLINE = "offline-lexical/"
"""How the offline judge's label begins."""

_OFFLINE_LABEL = re.compile(re.escape(OFFLINE) + r"[^\s,()]*")


@dataclass(frozen=True)
class JudgeAgreement:
    """How far the judge of a metric is known to agree with people: what was measured, whether the
    offline judge judged (alone or with others), and whether that suffices for the data's language.
    """

    note: Note
    offline: bool = True
    sufficient: bool = False

    @property
    def indicative(self) -> bool:
        """Whether no verdict and no gate may rest on the metric."""
        return self.offline and not self.sufficient


def trusted(judged: JudgeAgreement) -> Note:
    """What is said of a judge that ``--trust-offline`` lets decide."""
    return Note("offline_trusted", names=judged.note.names) if judged.indicative else judged.note


def judge_agreement(metric: MetricSummary) -> JudgeAgreement | None:
    """How far the judge of a metric is known to agree with people; ``None`` where nobody judged it,
    or recorded answers did.

    The agreement of an LLM judge is never known. That of the offline judge suffices where each of
    its rows in the language of the data does."""

    def found(kind: str, *, sufficient: bool = False, **counts: float | str) -> JudgeAgreement:
        return JudgeAgreement(Note(kind, counts, (metric.name,)), sufficient=sufficient)

    labels = (metric.judge, *metric.judges)
    if not metric.n_scored or not any(labels):
        return None
    if not any(OFFLINE in label for label in labels):
        # Recorded answers are no such judge: only their file is known, and they may be people's.
        if not metric.judge or metric.judge.startswith((RECORD, "replay:")):
            return None
        note = Note("judge_unmeasured", {"judge": metric.judge}, (metric.name,))
        return JudgeAgreement(note, offline=False)
    of_another_version = any({*_OFFLINE_LABEL.findall(label)} - {LABEL} for label in labels)
    by_kind = agreements(metric.metric)
    if of_another_version or not by_kind or not all(by_kind.values()):
        return found("offline_hint")
    rows: list[Agreement] = []
    for measured in by_kind.values():
        rows += (here := [row for row in measured if row.language == metric.language])
        if not here:
            language = word_lists()[measured[0].language].names[0].capitalize()
            return found("offline_language", of=measured[0].of, language=language)
    sufficient = all(row.sufficient for row in rows)
    if not sufficient:
        return found("offline_hint")
    return found("offline_agrees", sufficient=True, of=rows[0].of)


def shown_offline(metric: Metric) -> bool:
    """Whether a metric is shown by default where only the offline judge is asked: it needs none, or
    the agreement of each question with labels was measured and its value reaches `LEAST`."""
    measured = agreements(str(metric)).values()
    return all(rows and all(row.value >= LEAST[row.measure] for row in rows) for rows in measured)


@cache
def agreements(metric: str) -> Mapping[str, tuple[Agreement, ...]]:
    """What was measured of the offline judge, for each kind of question that a metric rests on."""
    local = suites.every_alias()
    try:
        uses = sorted(uses_of(naming.parse(metric, local), local))
    except UsageError:
        return {}
    by_kind = grouped((use.kind, rows_of(use.kind, use.metric)) for use in uses)
    return {
        kind: tuple(row for rows in each for row in rows) if all(each) else ()
        for kind, each in by_kind.items()
    }
