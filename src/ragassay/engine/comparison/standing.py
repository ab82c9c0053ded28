"""Decides whether the difference of a metric may be called better or worse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from ragassay import suites
from ragassay.counts import grouped
from ragassay.engine.results import MetricSummary
from ragassay.errors import UsageError
from ragassay.judges.offline import LABEL, NOT_MEASURED, Agreement, agreement_of
from ragassay.metrics.core import naming, uses_of
from ragassay.scores import RECORD

OFFLINE = "offline-lexical/"
"""How the offline judge's label begins."""

_OFFLINE_LABEL = re.compile(re.escape(OFFLINE) + r"\w*")


def offline_reason(metric: MetricSummary) -> str:
    """Why a metric's offline judgments do not allow a verdict; empty where they are known to agree
    with people well enough, or where there are none.

    Returns:
        As in "offline judge, AUC .71 against people's yes or no on relevance (n = 1,674 passages)".
    """
    agreement = offline_agreement(metric)
    return "" if agreement is None or agreement.sufficient else offline_figure(metric)


def offline_figure(metric: MetricSummary) -> str:
    """How far a metric's offline judgments agree with people, in the words of `offline_reason`;
    empty where no judgment was made offline.
    """
    agreement = offline_agreement(metric)
    words = () if agreement is None else ("offline judge", str(agreement), agreement.caveat)
    return ", ".join(filter(None, words))


def judge_figure(metric: MetricSummary) -> str:
    """Who judged a metric and how far that agrees with people, in the words of `offline_reason`;
    empty where nobody judged it, or recorded answers did.
    """
    if unmeasured_judge(metric):
        return f"{metric.judge}, {NOT_MEASURED}"
    return offline_figure(metric)


def offline_agreement(metric: MetricSummary) -> Agreement | None:
    """The known agreement of the offline judgments that a metric rests on; ``None`` where there are
    none.

    Of several kinds of question the weakest counts: one that was never measured, else the smallest
    figure among those that are not sufficient, else the smallest.
    """
    if not judged_offline(metric):
        return None
    labels = (metric.judge, *metric.judges)
    if any({*_OFFLINE_LABEL.findall(label)} - {LABEL} for label in labels):
        return Agreement("")  # another version of the rules: its figures are not ours
    figures = [
        agreement or Agreement(kind) for kind, agreement in agreements(metric.metric).items()
    ]
    return _weakest(figures) if figures else Agreement("")


@cache
def agreements(metric: str) -> Mapping[str, Agreement | None]:
    """How far the offline judge agrees with labels, for each kind of question that a metric rests
    on. A figure is for the part of the answer that the metric uses; of several uses the weakest
    counts.

    Args:
        metric: a canonical name; a metric that is not known here rests on nothing.

    Returns:
        By kind, in alphabetical order; ``None`` for one that the offline judge does not answer.
    """
    local = suites.every_alias()
    try:
        uses = sorted(uses_of(naming.parse(metric, local), local))
    except UsageError:
        return {}
    by_kind = grouped((use.kind, agreement_of(use.kind, use.metric)) for use in uses)
    return {
        kind: _weakest([one for one in listed if one is not None]) if all(listed) else None
        for kind, listed in by_kind.items()
    }


def _weakest(figures: Sequence[Agreement]) -> Agreement:
    return min(figures, key=lambda one: (one.sufficient, one.value is not None, one.value or 0.0))


def judged_offline(metric: MetricSummary) -> bool:
    """Whether any of its values rests on the offline judge, alone or in a panel."""
    return OFFLINE in metric.judge or any(OFFLINE in label for label in metric.judges)


def unmeasured_judge(metric: MetricSummary) -> bool:
    """Whether the metric's values rest on a judge (an LLM, say) whose agreement with people is not
    known.

    Recorded answers are not such a judge: only their file is known, and they may be people's.
    """
    asked = bool(metric.judge) and not metric.judge.startswith((RECORD, "replay:"))
    return asked and not judged_offline(metric)
