"""``ragassay compare``: is the new run really better?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.exits import GATE_FAILED, INCOMPLETE, OK
from ragassay.errors import UsageError

if TYPE_CHECKING:
    from ragassay.engine.results import Result

Flag = Parameter(negative=())


def compare(
    runs: list[Path],
    /,
    *,
    baseline: str | None = None,
    metrics: Annotated[list[str] | None, Parameter(name=["--metrics", "-m"], negative=())] = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: Literal["holm", "bh"] = "holm",
    interval: Literal["t", "percentile", "bca"] = "t",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    fail_if_worse: Annotated[bool, Flag] = False,
    force: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> int:
    """Compare run folders, query by query: NEW first, OLD (the baseline) last.

    Prints for each metric the means of A (new) and B (old), their difference with its interval, the
    p-value of a two-sided paired permutation test, the p-value corrected for the number of metrics,
    and the smallest difference that so many queries could have shown. With more than two runs, each
    is compared with the last. One folder that holds several systems compares those systems.

    ```sh
    ragassay compare runs/new runs/old
    ragassay compare runs/new runs/old -o comparison.html --fail-if-worse
    ragassay compare runs/three-systems --baseline reference
    ```

    Args:
        runs: Run folders, the newest first and the baseline last; or one with several systems.
        baseline: System that the others are compared with, for one folder with several systems
            (default: the last by name).
        metrics: Metrics to compare, joined with commas (default: all that both have).
        n_resamples: Sign flips of the permutation test; exact when few queries differ.
        seed: Seed of the test.
        level: Confidence level of the intervals.
        correction: For several metrics: Holm, or Benjamini-Hochberg.
        interval: Kind of interval of the difference.
        output: File to write: .html (everything, query by query), .md (for a pull request), .json,
            .svg or .png. With more than two runs: one file each, numbered.
        fail_if_worse: Exit with 1 when any metric is significantly worse after correction.
        force: Compare although the metrics were not computed alike (judge, prompt, parameters), or
            the queries differ in what they ask or expect; what differs is told as a note.
        json: Print the comparison as JSON.
    """
    from ragassay.engine.comparison import compare as carry_out
    from ragassay.reports import terminal
    from ragassay.reports.folder import write_comparison

    pairs = _pairs(runs, baseline)
    found = [
        carry_out(
            new,
            old,
            metrics=metrics,
            n_resamples=n_resamples,
            seed=seed,
            level=level,
            correction=correction,
            interval=interval,
            force=force,
        )
        for new, old in pairs
    ]
    if json:
        show.json({"comparisons": [comparison.to_json() for comparison in found]})
    else:
        out = show.console()
        for comparison in found:
            out.print(terminal.comparison_table(comparison))
    for at, (comparison, (new, old)) in enumerate(zip(found, pairs, strict=True), start=1):
        if output is not None:
            target = output if len(found) == 1 else output.with_stem(f"{output.stem}-{at}")
            with show.status("writing the comparison"):
                write_comparison(comparison, new, old, target)
            if not json:
                show.console().print(f"comparison: {target}", soft_wrap=True, markup=False)
        if json:
            show.warn(comparison.warnings)
    if fail_if_worse and any(d.verdict == "worse" for c in found for d in c.differences):
        return GATE_FAILED
    return OK if any(d.n for c in found for d in c.differences) else INCOMPLETE


def _pairs(runs: list[Path], baseline: str | None) -> list[tuple[Result, Result]]:
    from ragassay.engine.folder import open_run
    from ragassay.engine.systems import by_system

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
    return [(result, results[-1]) for result in results[:-1]]
