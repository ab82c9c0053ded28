"""Deletes what is older than it is to be kept."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from ragassay.client.service_shapes import Project
from ragassay.judges.ledger import ledger_admin
from ragassay.judges.ledger.ledger_admin import Selection
from ragassay.judges.ledger.ledger_store import Ledger, is_there
from ragassay.service.store.database import Store
from ragassay.service.store.projects import list_projects, list_tasks
from ragassay.service.store.records import delete_records_before
from ragassay.service.store.reports import list_reports
from ragassay.service.store.schema import reports
from ragassay.service.store.store_errors import NotThere

DAY_S = 86_400.0


def delete_old(store: Store, keep_days: int | None = None) -> None:
    """Deletes the records (by their time), the reports (by the time at which they were asked for)
    and the paid answers that are older than ``keep_days``, or than a task says, where that is less.
    Paid answers belong to a project: they are kept as long as the records of any of its tasks."""
    for project in list_projects(store):
        with suppress(NotThere):  # it was deleted meanwhile
            _delete_old_of(store, project, keep_days)


def _delete_old_of(store: Store, project: Project, keep_days: int | None) -> None:
    never = math.inf
    most, now = never if keep_days is None else keep_days, time.time()
    kept = []
    for task in list_tasks(store, project.id):
        kept.append(min(never if task.options.keep_days is None else task.options.keep_days, most))
        if (before := now - kept[-1] * DAY_S) == -never:
            continue
        delete_records_before(store, task.id, before)
        for report in list_reports(store, task.id):
            if report.created < before:
                store.remove(reports, report.id)
    days, place = max(kept, default=most), store.ledger(project.id)
    if days < never and is_there(place):
        with Ledger(place) as ledger:
            ledger_admin.prune(ledger, Selection(before=now - days * DAY_S))
