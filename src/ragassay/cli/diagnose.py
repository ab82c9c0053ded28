"""``ragassay diagnose``: why samples fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.base.errors import UsageError
from ragassay.cli.flags import Switch
from ragassay.cli.output import show


def diagnose(
    run: Path,
    old: Path | None = None,
    /,
    *,
    headline: str | None = None,
    below: float | None = None,
    low_rank: int = 3,
    max_contradicted: float = 0.0,
    min_supported: float = 0.5,
    min_cited: float = 0.5,
    min_right: float = 0.5,
    min_complete: float = 0.25,
    headline_only: Switch = False,
    examples: Annotated[int, Parameter(negative=())] = 3,
    json: Switch = False,
) -> None:
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

    Args:
        run: A folder that 'ragassay run -o' wrote.
        old: The folder of an older run of the same queries.
        headline: The metric that says which samples fail (default: the first that the run has of
            those in docs/diagnose.md).
        below: A sample fails where the headline is below this (default: the middle of its range).
        low_rank: A first relevant passage below this rank is retrieved too low.
        max_contradicted: Above this share of contradicted text, an answer is contradicted.
        min_supported: Below this share of supported text, an answer is invented.
        min_cited: Below this share of supporting citations, an answer cites wrongly.
        min_right: From this share of words or claims of the reference on, a failing answer is right
            but incomplete.
        min_complete: The same by the share of the reference that it says, where the other share is
            not known.
        headline_only: Samples fail by the headline alone. Otherwise an answer that is contradicted,
            invented, cited wrongly or given to an unanswerable query fails in any case.
        examples: Samples shown of each class.
        json: Print everything as JSON, with the ids of all failing samples.
    """
    from ragassay.engine.diagnosis.decision_table import Thresholds
    from ragassay.engine.diagnosis.diagnosing import diagnose as carry_out
    from ragassay.engine.diagnosis.moved_classes import moved
    from ragassay.engine.results import open_run
    from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report

    if examples < 0:
        raise UsageError(f"--examples is {examples}; give 0 or more.")
    thresholds = Thresholds(
        low_rank, max_contradicted, min_supported, min_cited, min_right, min_complete
    )
    options: dict[str, Any] = {
        "headline": headline, "below": below, "thresholds": thresholds,
        "headline_only": headline_only, "n_examples": examples,
    }  # fmt: skip
    new = open_run(run)
    if old is not None:
        change = moved(new, open_run(old), **options)
        if json:
            show.json(change.to_json())
        else:
            show.report(moved_report(change))
        return
    diagnosis = carry_out(new, **options)
    if json:
        show.json(diagnosis.to_json())
        return
    show.report(diagnosis_report(diagnosis))
    if diagnosis.command:
        show.lines("To look at them, too:", f"  {diagnosis.command}")
