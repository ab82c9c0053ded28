"""Finds scores in one picture that were computed in different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.base.counts import few, grouped
from ragassay.engine.comparison.comparability import OWN_NUGGETS
from ragassay.engine.results.attribution import names_in
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.plots.result_files.evaluator_tables import (
    BY_FILE,
    PAGE,
    UNKNOWN,
    by_two_formulas,
)
from ragassay.reports.plots.series import Series

_METRICS, _FILES = 8, 3
"""How many names a sentence has; of more it says how many."""

Facts = Mapping[str, frozenset[str]]
"""How a metric was computed: its judges, its formula, and of a run folder the rest of its
signature. What a CSV does not hold is left out, and counts as no difference."""


def differences_in_computation(series: Sequence[Series], metrics: Sequence[str]) -> list[str]:
    """A sentence for each way in which metrics were not computed alike in all files.

    Signatures are compared. A CSV has no signature: what its columns show is compared, and what is
    not known is no difference. (``ragassay compare`` refuses what it does not know.)

    Args:
        series: the files.
        metrics: that are drawn.
    """
    pairs = []
    for name in metrics:
        facts_by_file = {
            one.name: _facts(metric)
            for one in series
            if (metric := one.metric(name)) is not None and one.size(name)
        }
        how = [
            sentence
            for fact in ("formula", "judge", "rest")
            if (sentence := _differing(facts_by_file, fact))
        ]
        if sum(OWN_NUGGETS in facts.get("rest", ()) for facts in facts_by_file.values()) > 1:
            how.append("each file has nuggets of its own")
        if how:
            pairs.append(("; ".join(how), name))
    return [
        f"Not computed alike: {few(names, _METRICS)} ({how})."
        for how, names in grouped(pairs).items()
    ]


def _facts(metric: MetricSummary) -> Facts:
    parts = [part for part in metric.signature.split("|") if part and part != UNKNOWN]
    judges = [part for part in parts if part.startswith("judge=")]
    formula = [part for part in parts if part.startswith("formula=")]
    parts_of = {"judge": judges, "formula": formula}
    if metric.judges:
        # Two systems of one run have its signature, whoever judged the one and the other.
        parts_of["judge"] = [f"judge={'+'.join(names_in(metric.judges))}"]
    if BY_FILE not in parts:
        parts_of["rest"] = [part for part in parts if part not in (*judges, *formula)]
        if by_two_formulas(metric.name):
            parts_of["formula"] = [PAGE]
    return {fact: frozenset(parts) for fact, parts in parts_of.items() if parts}


def _differing(facts_by_file: Mapping[str, Facts], fact: str) -> str:
    """How the files differ in one fact, with their names; empty where those that hold it agree."""
    parts_of = {name: facts[fact] for name, facts in facts_by_file.items() if fact in facts}
    if len(set(parts_of.values())) < 2:
        return ""
    common = frozenset.intersection(*parts_of.values())
    files = grouped(
        (" ".join(sorted(parts - common)) or "by default", name) for name, parts in parts_of.items()
    )
    return "; ".join(f"{how} in {few(names, _FILES)}" for how, names in files.items())
