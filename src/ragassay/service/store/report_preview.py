"""What a report would hold and cost, before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from ragassay.client.shapes import ReportPreview
from ragassay.engine.config.run_config import make_config
from ragassay.engine.plan import preview
from ragassay.engine.plan.cost_estimate import CallPlan
from ragassay.engine.run.prepared_run import prepare
from ragassay.engine.run.run_warnings import record_warnings
from ragassay.service.store.database import Store
from ragassay.service.store.projects import get_task
from ragassay.service.store.records import count_records, read_samples
from ragassay.service.store.reports import (
    checked_interval,
    checked_options,
    run_options,
    samples_where,
)

MOST_LOOKED_AT = 2_000
"""Records that are read; what the others would ask is extrapolated."""
MOST_WALKED = 256
"""Records whose questions are counted."""


def preview_report(
    store: Store,
    task_id: str,
    start: float,
    end: float,
    options: Mapping[str, Any] | None = None,
) -> ReportPreview:
    """What `create_report` would make of the same arguments. No judge is called; nothing is stored.

    Args:
        store: where.
        task_id: of the task.
        start, end: seconds since 1970, both inclusive.
        options: of the run.

    Raises:
        NotThere: there is no such task.
        UsageError: an interval that is reversed, an unknown or impossible option.
    """
    task = get_task(store, task_id)
    checked_interval(start, end)
    chosen = run_options(store, task, checked_options(options or {}))
    chosen_samples = samples_where(read_samples(store, task_id, start, end), chosen)
    samples = list(islice(chosen_samples, MOST_LOOKED_AT))
    if not samples:
        return ReportPreview(
            n_records=0, n_looked_at=0, metrics={}, parts={}, lacking={}, absent={}, notes=[],
            **_calls(None),
        )  # fmt: skip
    config = make_config(**{**chosen, "ledger": store.ledger(task.project_id)})
    if chosen.get("where"):
        n = len(samples) + sum(1 for _ in chosen_samples)
    else:
        n = count_records(store, task_id, start, end)
    with record_warnings() as recorded:
        job = prepare(config, samples, dry=True, named=store.models.words)
    plan = preview(job, walk=MOST_WALKED, of=n)
    return ReportPreview(
        n_records=n,
        n_looked_at=len(samples),
        metrics=plan.applicable,
        parts=plan.parts,
        lacking={name: dict(lacks) for name, lacks in plan.lacking.items()},
        absent=dict(plan.extras),
        notes=[*recorded(), *plan.warnings, *(plan.calls.notes if plan.calls else ())],
        **_calls(plan.calls),
    )


def _calls(plan: CallPlan | None) -> dict[str, Any]:
    if plan is None:
        names = ("judge", "calls", "held", "cost", "seconds", "budget")
        return dict.fromkeys(names)
    total = plan.total
    return {
        "judge": plan.judge,
        "calls": total.calls,
        "held": total.held,
        "cost": total.cost,
        "seconds": plan.seconds,
        "budget": None if plan.budget is None else plan.budget.verdict,
    }
