"""``ragassay compare``: is the new run really better?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.errors import UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command

if TYPE_CHECKING:
    from ragassay.engine.results import Result


@command("compare")
def compare(given: Given) -> int:
    """Compare run folders, query by query: NEW first, OLD (the baseline) last.

    Prints for each metric both means, their difference (from 96 columns on with its interval), and
    a verdict, which is corrected for the number of metrics. --full adds p-values and the method.
    With more than two runs, each is compared with the last. One folder that holds several systems
    compares those systems.

    A verdict is "only a hint" where the differences of few queries could have come out
    otherwise (one sentence says why), or where the offline judge is not known to agree with people.

    ```sh
    ragassay compare runs/new runs/old
    ragassay compare runs/new runs/old -o comparison.html --fail-if-worse
    ragassay compare runs/three-systems --baseline reference
    ragassay compare runs/new runs/old --primary em --fail-if-drop 'token_f1.f>0.02'
    ragassay compare runs/new runs/old --fail-if-worse --junit junit.xml --badge badge.svg
    ```
    """
    from ragassay.engine.comparison.compare_runs import compare as carry_out
    from ragassay.engine.comparison.comparison_gates import with_not_worse
    from ragassay.reports.ci import junit_xml
    from ragassay.reports.ci.badge import write_badge_of_comparison
    from ragassay.reports.run_reports import write_comparison
    from ragassay.reports.views.comparison_view import comparison_report

    pairs = _pairs(given.runs, given.baseline, given.where or ())
    comparisons = [
        carry_out(
            new,
            old,
            fail_if_drop=given.fail_if_drop or (),
            **given.of("metrics", "primary", "n_resamples", "seed", "level", "correction"),
            **given.of("trust_offline", "unpaired", "force"),
        )
        for new, old in pairs
    ]
    if given.fail_if_worse:
        comparisons = [*map(with_not_worse, comparisons)]
    if given.json:
        show.json({"comparisons": [comparison.to_json() for comparison in comparisons]})
    else:
        for comparison in comparisons:
            show.report(comparison_report(comparison, full=given.full))
    written: list[tuple[str, Path]] = []
    for at, (one, (new, old)) in enumerate(zip(comparisons, pairs, strict=True), start=1):
        if given.output is not None:
            target = show.numbered(given.output, at, len(comparisons))
            with show.status("writing the comparison"):
                write_comparison(one, new, old, target)
            written.append(("comparison", target))
        if given.badge is not None:
            target = show.numbered(given.badge, at, len(comparisons))
            write_badge_of_comparison(one, target)
            written.append(("badge", target))
        if given.json:
            show.warn(one.warnings)
    if given.junit is not None:
        junit_xml.write_junit_of_comparisons(comparisons, given.junit)
        written.append(("junit", given.junit))
    gates = [gate for one in comparisons for gate in one.gates]
    if given.json:
        show.warn([gate.sentence for gate in gates if not gate.passed])
    else:
        show.lines(*(f"{what}: {path}" for what, path in written))
        show.gates(gates)
    if given.github:
        show.github(
            [comparison_report(one, full=True) for one in comparisons], gates, as_json=given.json
        )
    return show.exit_code(gates, lacking=not all(one.decidable for one in comparisons))


def _pairs(
    runs: list[Path], baseline: str | None, conditions: Sequence[str]
) -> list[tuple[Result, Result]]:
    from ragassay.engine.comparison.derived_runs import by_system, subset_of
    from ragassay.engine.results import open_run

    results = [open_run(folder) for folder in runs]
    if len(results) == 1:
        results = by_system(results[0])
        if len(results) < 2:
            raise UsageError(
                f"{runs[0]} holds one system only. Name two runs: ragassay compare NEW OLD."
            )
        names = [result.name for result in results]
        if baseline is not None and baseline not in names:
            raise UsageError(f"No system is called {baseline!r}. There are: {', '.join(names)}.")
        if baseline is not None:
            results.append(results.pop(names.index(baseline)))
    elif baseline is not None:
        raise UsageError("--baseline is for one folder with several systems; else name it last.")
    results = [subset_of(result, conditions) for result in results]
    return [(result, results[-1]) for result in results[:-1]]
