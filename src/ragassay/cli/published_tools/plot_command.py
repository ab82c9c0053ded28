"""``ragassay plot``: result files as a picture for a slide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.plugins import added
from ragassay.cli import show
from ragassay.cli.command import Given, command, listed

if TYPE_CHECKING:
    from ragassay.reports.charts.drawing import Spec
    from ragassay.reports.plots.result_files import Sources


@command("plot")
def plot(given: Given) -> None:
    """Draw result files beside each other: box plots with their points, for slides.

    For each metric a panel, in it for each file a box, every value, the mean with its 95 %
    interval, the median and n; for trec also the share of questions answered. Reads trecrag.csv
    and consistency.csv of a run, the same files of Open RAG Eval, and run folders.

    ```sh
    ragassay plot results.csv --evaluator trec
    ragassay plot results1.csv results2.csv --evaluator trec --output-file comparison.png
    ragassay plot consistency_results.csv --evaluator consistency --statistic cv
    ragassay plot runs/new runs/old --evaluator trec --compare -o difference.svg
    ```
    """
    from ragassay.reports.charts import drawing
    from ragassay.reports.plots import picture, result_files
    from ragassay.reports.plots.layouts import EVALUATORS

    drawing.renderer()  # before any work
    extra, wanted = added("plots"), listed("--metrics-to-plot", given.metrics_to_plot)
    if given.evaluator is not None and given.evaluator in extra:
        with show.status("drawing"):
            drawing.save(extra[given.evaluator](given.files, wanted), given.output_file)
        show.lines(f"plot: {given.output_file}")
        return
    kind = next((one for one in EVALUATORS if one == given.evaluator), None)
    if kind is None:
        every = [*EVALUATORS, *extra]
        problem = "--evaluator is missing: say which evaluator wrote the files."
        if given.evaluator is not None:
            hint = did_you_mean(given.evaluator, every)
            problem = f"No evaluator is called {given.evaluator!r}. {hint}"
        raise UsageError(f"{problem} There are: {', '.join(every)}.")
    if given.statistic is not None and kind != "consistency":
        raise UsageError(
            "--statistic says what is drawn of each query's repeated runs, so it goes with "
            "--evaluator consistency only."
        )
    if given.force and not given.compare:
        raise UsageError("--force goes with --compare only.")
    drawing.check_suffix(given.output_file)
    if given.metrics_to_plot is not None and not wanted:
        raise UsageError("--metrics-to-plot names no metric. Leave it out to draw the main ones.")
    with show.status("reading results"):
        opened = result_files.opened(given.files, kind, given.statistic or "cai")
        metrics = result_files.chosen(opened, wanted)
    shortened = [one.name for one in opened.series if one.name != one.full]
    show.lines(*(f"{name}: {opened.paths[name]}" for name in shortened))
    if given.compare:
        pictures = _differences(opened, metrics, given.output_file, force=given.force)
    else:
        chosen = wanted is not None
        show.warn(picture.remarks(opened, metrics, chosen=chosen))
        drawn = picture.draw(opened, metrics, chosen=chosen)
        pictures = {given.output_file: drawn}
    for target, spec in pictures.items():
        with show.status("drawing"):
            drawing.save(spec, target)
        show.lines(f"plot: {target}")


def _differences(
    opened: Sources, metrics: list[str], target: Path, *, force: bool
) -> dict[Path, Spec]:
    """A picture for each file against the last one."""
    from ragassay.reports.plots import picture

    if len(opened.series) < 2:
        raise UsageError(
            "--compare needs two files or more: ragassay plot NEW OLD --evaluator trec --compare."
        )
    *new, old = opened.series
    pictures: dict[Path, Spec] = {}
    warnings: list[str] = []
    for at, one in enumerate(new, start=1):
        comparison, spec = picture.compared(one, old, metrics, opened.layout, force=force)
        warnings += comparison.warnings
        pictures[show.numbered(target, at, len(new))] = spec
    show.warn(warnings)
    return pictures
