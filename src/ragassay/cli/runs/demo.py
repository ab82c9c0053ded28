"""``ragassay demo``: the main job on bundled data."""

from __future__ import annotations

import shlex

from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.cli.show import progress_bar


@command("demo")
def demo(given: Given) -> None:
    """Evaluate two small RAG systems on a bundled dataset, compare them, write HTML reports.

    No key, no network, no configuration. The dataset is invented but real-looking: documents,
    questions with gold spans and references, unanswerable questions, and conversations.

    ```sh
    ragassay demo
    ragassay demo --data town
    ```
    """
    from ragassay.engine import evaluate
    from ragassay.engine.comparison.compare_runs import compare
    from ragassay.examples import SYSTEMS, copy_to, path_of
    from ragassay.reports.html import pages
    from ragassay.reports.run_reports import write_reports
    from ragassay.reports.views.comparison_view import comparison_report

    if given.data is not None:
        show.lines(*(f"  {path}" for path in copy_to(given.data)))
        return
    results = {}
    for name in SYSTEMS:
        with progress_bar(f"scoring {name}") as progress:
            results[name] = evaluate(path_of(name), save=given.output / name, progress=progress)
        write_reports(results[name])
    new, old = (results[name] for name in SYSTEMS)
    comparison = compare(new, old)
    page = given.output / "comparison.html"
    with show.status("writing the comparison"):
        pages.write_comparison(comparison, new, old, page)
    if given.json:
        show.json(comparison.to_json())
        return
    show.report(comparison_report(comparison))
    show.lines("The pages have every metric, sample and query:")
    paths = (page, *(given.output / name / "report.html" for name in SYSTEMS))
    runs = shlex.join(str(given.output / name) for name in SYSTEMS)
    by_hand = f"The same by hand:  ragassay compare {runs}"
    show.lines(*(f"  {path.resolve()}" for path in paths), by_hand)
