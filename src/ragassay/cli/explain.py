"""``ragassay explain``: a score, and the verdicts that it rests on."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli.flags import Switch
from ragassay.cli.output import show


def explain(
    folder: Path,
    sample: str,
    metric: str | None = None,
    /,
    *,
    system: str | None = None,
    repeat: int | None = None,
    full: Switch = False,
    json: Switch = False,
) -> None:
    """Show why a sample has the scores it has: the verdicts, the prompts, the raw replies.

    ```sh
    ragassay explain runs/new q17
    ragassay explain runs/new q17 citation.f1 --full
    ```

    Args:
        folder: A folder that 'ragassay run -o' wrote.
        sample: The query's id.
        metric: One metric (default: all of them).
        system: Which system, where the run holds several.
        repeat: Which repeat, where a query was run several times (counted from 0).
        full: Show prompts, all texts in full, and each metric over repeated runs with its parts.
        json: Print everything as JSON.
    """
    from ragassay.engine.results import open_run
    from ragassay.engine.run import rescoring
    from ragassay.reports.views.evidence_view import evidence_report, labels_to_give

    explanation = rescoring.explain(open_run(folder), sample, metric, system=system, repeat=repeat)
    if json:
        show.json(explanation.to_json())
    else:
        show.report(evidence_report(explanation, full=full))
        if lines := labels_to_give(explanation):
            show.lines("Lines to add to the file of labels, with an answer each:", "", *lines)
