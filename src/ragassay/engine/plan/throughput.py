"""How fast a judge answers: by the latencies in its ledger, else by an assumption."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from ragassay.engine.config import RunConfig
from ragassay.engine.plan.cost_estimate import SECONDS_A_CALL, Throughput
from ragassay.judges import Judge
from ragassay.transport import MOST

if TYPE_CHECKING:
    from ragassay.judges.ledger import Ledger

_RECENT = 200
"""The newest answers of a model that are looked at."""


def throughput_of(judge: Judge, config: RunConfig, ledger: Ledger | None = None) -> Throughput:
    """The pace of a judge: the median latency of each model's last answers; the slowest model of a
    panel counts.

    Args:
        judge: who would be asked.
        config: has the limits.
        ledger: with the judge's earlier answers.
    """
    leaves = judge.leaves()
    models = {leaf.model for leaf in leaves}
    timed = [] if ledger is None else [_median(ledger, model) for model in sorted(models)]
    known = [seconds for seconds in timed if seconds is not None]
    endpoints = {_endpoint(leaf.label) for leaf in leaves}
    return Throughput(
        seconds=max(known, default=SECONDS_A_CALL),
        measured=bool(known),
        concurrency=(config.concurrency or MOST) * max(1, len(endpoints)),
        rpm=config.rpm,
        tpm=config.tpm,
    )


def is_fresh(judge: Judge, ledger: Ledger | None) -> bool:
    """Whether a ledger holds nothing of the judge's models. ``False`` without a ledger: a judge of
    the user's own may remember answers in another way.

    Args:
        judge: who would be asked.
        ledger: of the run.
    """
    if ledger is None:
        return False
    models = {leaf.model for leaf in judge.leaves()}
    return not any(
        ledger.select("SELECT 1 FROM verdicts WHERE model = ? LIMIT 1", (model,))
        for model in models
    )


def _median(ledger: Ledger, model: str) -> float | None:
    rows = ledger.select(
        "SELECT latency / CASE WHEN attempts > 1 THEN attempts ELSE 1 END FROM verdicts "
        "WHERE model = ? AND reason IS NULL "
        "ORDER BY rowid DESC LIMIT ?",
        (model, _RECENT),
    )
    return median(row[0] for row in rows) if rows else None


def _endpoint(label: str) -> str:
    """``URL`` of ``URL#model``, ``openai`` of ``openai:model``."""
    return label.partition("#")[0] if "://" in label else label.partition(":")[0]
