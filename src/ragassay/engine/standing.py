"""What may be concluded from a metric: whether its difference may be called better or worse."""

from __future__ import annotations

from functools import cache
from typing import Literal

from ragassay import suites
from ragassay.engine.summary import MetricSummary
from ragassay.errors import UsageError
from ragassay.judges.offline.agreement import NOT_MEASURED, Agreement, agreement_of
from ragassay.metrics import naming
from ragassay.metrics.judged import kinds_of

Standing = Literal["tested", "exploratory", "indicative", "not comparable"]
"""``tested``: its verdict counts. ``exploratory``: not among the primary metrics. ``indicative``:
judged offline, and nobody showed that these judgments agree with people. ``not comparable``: the
two runs did not compute it alike."""

OFFLINE = "offline-lexical/"
"""How the offline judge's label begins."""


def offline_reason(metric: MetricSummary) -> str:
    """Why a metric's values, as far as they were judged offline, decide nothing; empty where the
    judgments are known to agree with people well enough, or nobody was asked offline.

    Returns:
        As in "offline judge, AUC .71 against people's yes or no on relevance (n = 1,674 passages)",
        for the kind of question with the least known agreement.
    """
    if not judged_offline(metric):
        return ""
    kinds = _kinds(metric.metric)
    known = [agreement_of(kind) or Agreement(kind) for kind in sorted(kinds)]
    lacking = [one for one in known if not one.sufficient]
    if not kinds:
        return f"offline judge, {NOT_MEASURED}"
    if not lacking:
        return ""
    # What nobody measured is the weakest; among figures, the smallest.
    weakest = min(lacking, key=lambda one: (one.value is not None, one.value or 0.0))
    return ", ".join(filter(None, ("offline judge", str(weakest), weakest.caveat)))


def judged_offline(metric: MetricSummary) -> bool:
    """Whether any of its values rests on the offline judge, alone or in a panel."""
    return OFFLINE in metric.judge or any(OFFLINE in label for label in metric.judges)


def unmeasured_judge(metric: MetricSummary) -> bool:
    """Whether its values rest on a judge (an LLM, say) whose agreement with people is not known."""
    return (
        bool(metric.judge) and not judged_offline(metric) and not metric.judge.startswith("record")
    )


@cache
def _kinds(metric: str) -> frozenset[str]:
    """Kinds of question that a metric rests on, by its canonical name; none for a user's own."""
    local = suites.every_alias()
    try:
        return kinds_of(naming.parse(metric, local), local)
    except UsageError:
        return frozenset()
