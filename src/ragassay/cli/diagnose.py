"""``ragassay diagnose``: why samples fail."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.cli.command import Given, command
from ragassay.cli.output import show


@command("diagnose")
def diagnose(given: Given) -> None:
    """Tell apart why the samples of a run fail, or which faults a change moved.

    Each failing sample is put into one class by the scores that the run holds: not retrieved,
    retrieved too low, refused though answerable, contradicted, invented, cited wrongly, right but
    incomplete, retrieved but ignored, answered though not answerable. No model is asked. With each
    class come its count, its interval, what it costs in the headline metric, examples, and what to
    try. A class that needs another metric says which. docs/diagnose.md has the rules.

    With a second run, the old one, it says which classes the samples moved between.

    ```sh
    ragassay diagnose runs/new
    ragassay diagnose runs/new runs/old
    ragassay diagnose runs/new --headline token_f1.f --below 0.4
    ```
    """
    from ragassay.engine.diagnosis.decision_table import Thresholds
    from ragassay.engine.diagnosis.diagnosing import diagnose as carry_out
    from ragassay.engine.diagnosis.moved_classes import moved
    from ragassay.engine.results import open_run
    from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report

    if given.examples < 0:
        raise UsageError(f"--examples is {given.examples}; give 0 or more.")
    options: dict[str, Any] = {
        **given.of("headline", "below", "headline_only"),
        "thresholds": Thresholds(**given.of(*(one.name for one in fields(Thresholds)))),
        "n_examples": given.examples,
    }
    new = open_run(given.run)
    if given.old is not None:
        change = moved(new, open_run(given.old), **options)
        if given.json:
            show.json(change.to_json())
        else:
            show.report(moved_report(change))
        return
    diagnosis = carry_out(new, **options)
    if given.json:
        show.json(diagnosis.to_json())
        return
    show.report(diagnosis_report(diagnosis))
    if diagnosis.command:
        show.lines("To look at them, too:", f"  {diagnosis.command}")
