"""``ragassay compare``: is the new run really better?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Repeated, Switch
from ragassay.cli.output import github_output, show

if TYPE_CHECKING:
    from ragassay.engine.results import Result


def compare(
    runs: list[Path],
    /,
    *,
    baseline: str | None = None,
    metrics: Annotated[list[str] | None, Parameter(name=["--metrics", "-m"], negative=())] = None,
    primary: Repeated | None = None,
    where: Repeated | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: Literal["maxt", "holm", "bh", "none"] = "maxt",
    interval: Literal["auto", "t", "percentile", "bca"] = "auto",
    output: Output | None = None,
    fail_if_worse: Switch = False,
    fail_if_drop: Repeated | None = None,
    trust_offline: Switch = False,
    unpaired: Switch = False,
    force: Switch = False,
    junit: Path | None = None,
    badge: Path | None = None,
    github: Switch = False,
    full: Switch = False,
    json: Switch = False,
) -> int:
    """Compare run folders, query by query: NEW first, OLD (the baseline) last.

    Prints for each metric both means, their difference (from 96 columns on with its interval), and
    a verdict, which is corrected for the number of metrics. --full adds p-values and the method.
    With more than two runs, each is compared with the last. One folder that holds several systems
    compares those systems.

    A verdict is "indicative", a hint, where the differences of few queries could have come out
    otherwise (one sentence says why), or where the offline judge is not known to agree with people.

    ```sh
    ragassay compare runs/new runs/old
    ragassay compare runs/new runs/old -o comparison.html --fail-if-worse
    ragassay compare runs/three-systems --baseline reference
    ragassay compare runs/new runs/old --primary em --fail-if-drop 'token_f1.f>0.02'
    ragassay compare runs/new runs/old --fail-if-worse --junit junit.xml --badge badge.svg
    ```

    Args:
        runs: Run folders, the newest first and the baseline last; or one with several systems.
        baseline: System that the others are compared with, for one folder with several systems
            (default: the last by name).
        metrics: Metrics to compare, joined with commas (default: all that both have).
        primary: Metrics to test, joined with commas; the others are shown as exploratory and weaken
            nothing (default: all).
        where: Compare only samples for which this holds in both runs: FIELD=VALUE, FIELD!=VALUE, or
            several values with commas (type=summary,comparison). Repeatable: all must hold.
        n_resamples: Random sign patterns of the test; all patterns up to 16 queries or clusters.
        seed: Seed of the test.
        level: Confidence level of the intervals before correction; the rest to 1 is the level of
            the tests together.
        correction: For several metrics: step-down max-T, Holm, Benjamini-Hochberg, or none.
        interval: Accepted for older scripts: the interval of a difference is that of its test.
        output: File to write: .html (everything, query by query), .md (for a pull request), .json,
            .svg or .png. With more than two runs: one file each, numbered.
        fail_if_worse: Exit with 1 when any tested metric is significantly worse after correction;
            with 3 when a metric is worse by a verdict that is indicative only, when scores that
            should be there, or queries of the old run, are missing and may hide it, or when no
            metric has a verdict.
        fail_if_drop: METRIC>SIZE: exit with 1 when a drop by more than SIZE is shown, with 0 when
            it is excluded (also with the worst values for queries that only the old run has), else
            with 3. Other metrics do not weaken it. Repeatable.
        trust_offline: Give verdicts on what was judged offline, whatever its agreement with people.
        unpaired: Compare the means of runs over different queries, such as two weeks of logs
            (Welch's test). A difference may then be one of the queries.
        force: Compare although the metrics were not computed alike (judge, prompt, parameters), or
            the queries differ in what they ask or expect, or both runs hold the same recorded
            replies. A note says which.
        junit: File to write the gates to as JUnit XML, a test case for each.
        badge: SVG file to write: the difference of the first metric that a gate is on, coloured by
            the gates. With more than two runs: one file each, numbered.
        github: Print GitHub's annotations, and add the table to $GITHUB_STEP_SUMMARY.
        full: Print all columns and notes: p-values, detectable differences, the method.
        json: Print the comparison as JSON.
    """
    from ragassay.engine.comparison.compare_runs import compare as carry_out
    from ragassay.engine.comparison.comparison_gates import with_not_worse
    from ragassay.reports.ci import junit_xml
    from ragassay.reports.ci.badge import write_badge_of_comparison
    from ragassay.reports.run_reports import write_comparison
    from ragassay.reports.views.comparison_view import comparison_report

    pairs = _pairs(runs, baseline, where or ())
    comparisons = [
        carry_out(
            new,
            old,
            metrics=metrics,
            primary=primary,
            fail_if_drop=fail_if_drop or (),
            n_resamples=n_resamples,
            seed=seed,
            level=level,
            correction=correction,
            interval=interval,
            trust_offline=trust_offline,
            unpaired=unpaired,
            force=force,
        )
        for new, old in pairs
    ]
    if fail_if_worse:
        comparisons = [*map(with_not_worse, comparisons)]
    if json:
        show.json({"comparisons": [comparison.to_json() for comparison in comparisons]})
    else:
        for comparison in comparisons:
            show.report(comparison_report(comparison, full=full))
    written: list[tuple[str, Path]] = []
    for at, (one, (new, old)) in enumerate(zip(comparisons, pairs, strict=True), start=1):
        if output is not None:
            target = show.numbered(output, at, len(comparisons))
            with show.status("writing the comparison"):
                write_comparison(one, new, old, target)
            written.append(("comparison", target))
        if badge is not None:
            target = show.numbered(badge, at, len(comparisons))
            write_badge_of_comparison(one, target)
            written.append(("badge", target))
        if json:
            show.warn(one.warnings)
    if junit is not None:
        junit_xml.write_junit_of_comparisons(comparisons, junit)
        written.append(("junit", junit))
    gates = [gate for one in comparisons for gate in one.gates]
    if json:
        show.warn([gate.sentence for gate in gates if not gate.passed])
    else:
        show.lines(*(f"{what}: {path}" for what, path in written))
        show.gates(gates)
    if github:
        github_output.tell_of_comparisons(comparisons, gates, as_json=json)
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
