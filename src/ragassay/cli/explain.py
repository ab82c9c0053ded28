"""``ragassay explain``: a score, and the verdicts that it rests on."""

from __future__ import annotations

from ragassay.cli.command import Given, command
from ragassay.cli.output import show


@command("explain")
def explain(given: Given) -> None:
    """Show why a sample has the scores it has: the verdicts, the prompts, the raw replies.

    ```sh
    ragassay explain runs/new q17
    ragassay explain runs/new q17 citation.f1 --full
    ```
    """
    from ragassay.engine.results import open_run
    from ragassay.engine.run import rescoring
    from ragassay.reports.views.evidence_view import evidence_report, labels_to_give

    explanation = rescoring.explain(
        open_run(given.folder), given.sample, given.metric, system=given.system, repeat=given.repeat
    )
    if given.json:
        show.json(explanation.to_json())
    else:
        show.report(evidence_report(explanation, full=given.full))
        if lines := labels_to_give(explanation):
            show.lines("Lines to add to the file of labels, with an answer each:", "", *lines)
