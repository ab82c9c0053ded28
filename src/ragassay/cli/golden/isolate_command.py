"""``ragassay golden isolate``: is it the retrieval or the generation that fails?"""

from __future__ import annotations

from ragassay.base.counts import few
from ragassay.cli.command import Given, command
from ragassay.cli.output import show


@command("golden isolate")
def isolate(given: Given) -> None:
    """Tell failures of retrieval from failures of generation: the full run, then the isolated one.

    In the isolated run the generator was given the gold passages ('ragassay ask --gold-passages').
    What is right with them only fails by its retrieval; what is wrong with them fails by its
    generation. The difference of the two runs, with its test, is what retrieval costs. Runs that
    are swapped, or of which none was given the gold passages, are refused; runs of different
    systems are noted.

    ```sh
    ragassay golden isolate runs/full runs/isolated -m contains_answer
    ```
    """
    from ragassay.engine.diagnosis.isolated_run import CLASSES, isolated
    from ragassay.engine.results import open_run
    from ragassay.reports.views.comparison_view import comparison_report

    result = isolated(open_run(given.full), open_run(given.alone), given.metric, given.threshold)
    if given.json:
        keys = ("queries", "unscored", "unknown", "notes")
        body = {key: getattr(result, key) for key in keys}
        show.json({**body, "comparison": result.comparison.to_json()})
        return
    n = sum(map(len, result.queries.values()))
    for kind, sentence in CLASSES.items():
        names = result.queries[kind]
        head = f"{len(names):>5} of {n}  "
        listed = f"  ({few(names)})" if names else ""
        show.wrapped(f"{head}{sentence}{listed}", " " * len(head))
    if result.unscored:
        show.lines(f"{result.unscored:>5}       unscored in one of the runs or in both")
    if result.unknown:
        head = f"{len(result.unknown):>5}       "
        left_out = f"left out: the gold passages are not known  ({few(result.unknown)})"
        show.wrapped(f"{head}{left_out}", " " * len(head))
    show.warn(result.notes)
    show.report(comparison_report(result.comparison))
