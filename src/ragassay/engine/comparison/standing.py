"""Decides whether the difference of a metric may be called better or worse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from ragassay import suites
from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.score import RECORD
from ragassay.engine.comparison.agreement import Agreement, rows_of
from ragassay.engine.results.summary import MetricSummary
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import uses_of
from ragassay.texts.languages import word_lists

OFFLINE = "offline-lexical/"
"""How the offline judge's label begins."""

_OFFLINE_LABEL = re.compile(re.escape(OFFLINE) + r"[^\s,()]*")


@dataclass(frozen=True)
class JudgeAgreement:
    """How far the judge of a metric is known to agree with people.

    Attributes:
        note: what was measured.
        offline: whether the offline judge judged, alone or with others.
        sufficient: whether it agrees with people well enough, in the language of the data.
    """

    note: Note
    offline: bool = True
    sufficient: bool = False

    @property
    def indicative(self) -> bool:
        """Whether no verdict and no gate may rest on the metric."""
        return self.offline and not self.sufficient


def trusted(judged: JudgeAgreement) -> Note:
    """What is said of a judge that ``--trust-offline`` lets decide.

    Args:
        judged: of a metric.
    """
    return Note("offline_trusted", names=judged.note.names) if judged.indicative else judged.note


def judge_agreement(metric: MetricSummary) -> JudgeAgreement | None:
    """How far the judge of a metric is known to agree with people; ``None`` where nobody judged it,
    or recorded answers did.

    The agreement of an LLM judge is never known. That of the offline judge suffices where each of
    its rows in the language of the data does.
    """

    def found(kind: str, **counts: float | str) -> JudgeAgreement:
        return JudgeAgreement(Note(kind, counts, (metric.name,)))

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
        return found("offline_unmeasured")
    rows: list[Agreement] = []
    for measured in by_kind.values():
        rows += (here := [row for row in measured if row.language == metric.language])
        if not here:
            language = word_lists()[measured[0].language].names[0].capitalize()
            return found("offline_language", of=measured[0].of, language=language)
    sufficient = all(row.sufficient for row in rows)
    found_one = found("offline_agrees" if sufficient else "offline_hint", of=rows[0].of)
    return replace(found_one, sufficient=sufficient)


@cache
def agreements(metric: str) -> Mapping[str, tuple[Agreement, ...]]:
    """What was measured of the offline judge, for each kind of question that a metric rests on.

    Args:
        metric: a canonical name; a metric that is not known here rests on nothing.

    Returns:
        By kind, in alphabetical order; no row for a kind of which some use was not measured.
    """
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
