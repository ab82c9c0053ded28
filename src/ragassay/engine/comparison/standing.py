"""What may be concluded from a metric: whether its difference may be called better or worse."""

from __future__ import annotations

import re
from functools import cache

from ragassay import suites
from ragassay.engine.results import MetricSummary
from ragassay.errors import UsageError
from ragassay.judges.offline import LABEL, Agreement, agreement_of
from ragassay.metrics.core import kinds_of, naming
from ragassay.scores import RECORD

OFFLINE = "offline-lexical/"
"""How the offline judge's label begins."""

_OFFLINE_LABEL = re.compile(re.escape(OFFLINE) + r"\w*")


def offline_reason(metric: MetricSummary) -> str:
    """Why a metric's values, as far as they were judged offline, decide nothing; empty where the
    judgments are known to agree with people well enough, or nobody was asked offline.

    Returns:
        As in "offline judge, AUC .71 against people's yes or no on relevance (n = 1,674 passages)".
    """
    found = offline_agreement(metric)
    return "" if found is None or found.sufficient else _told(found)


def offline_figure(metric: MetricSummary) -> str:
    """How far a metric's offline judgments agree with people, in the same words; empty where nobody
    was asked offline."""
    found = offline_agreement(metric)
    return "" if found is None else _told(found)


def _told(found: Agreement) -> str:
    return ", ".join(filter(None, ("offline judge", str(found), found.caveat)))


def offline_agreement(metric: MetricSummary) -> Agreement | None:
    """The known agreement of the offline judgments that a metric rests on; ``None`` where nobody
    was asked offline.

    Of several kinds of question the weakest: one that nobody measured, else the smallest figure
    among those that are not sufficient, else the smallest.
    """
    if not judged_offline(metric):
        return None
    labels = (metric.judge, *metric.judges)
    if any({*_OFFLINE_LABEL.findall(label)} - {LABEL} for label in labels):
        return Agreement("")  # another version of the rules: its figures are not ours
    known = [agreement_of(kind) or Agreement(kind) for kind in sorted(_kinds(metric.metric))]
    if not known:
        return Agreement("")
    return min(known, key=lambda one: (one.sufficient, one.value is not None, one.value or 0.0))


def judged_offline(metric: MetricSummary) -> bool:
    """Whether any of its values rests on the offline judge, alone or in a panel."""
    return OFFLINE in metric.judge or any(OFFLINE in label for label in metric.judges)


def unmeasured_judge(metric: MetricSummary) -> bool:
    """Whether its values rest on a judge (an LLM, say) whose agreement with people is not known.

    Of recorded answers the file alone is known, which may well be people's.
    """
    asked = bool(metric.judge) and not metric.judge.startswith((RECORD, "replay:"))
    return asked and not judged_offline(metric)


@cache
def _kinds(metric: str) -> frozenset[str]:
    """Kinds of question that a metric rests on, by its canonical name; none for a user's own."""
    local = suites.every_alias()
    try:
        return kinds_of(naming.parse(metric, local), local)
    except UsageError:
        return frozenset()
