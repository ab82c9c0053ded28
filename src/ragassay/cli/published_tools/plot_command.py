"""``ragassay plot``: result files as a picture for a slide."""

from __future__ import annotations

from pathlib import Path

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.packages import added
from ragassay.cli import show
from ragassay.cli.command import Given, command, listed


@command("plot")
def plot(given: Given) -> None:
    """Draw result files side by side: box plots with their points, for slides.

    Each metric has a panel, and each file a box in it, with every value, the mean and its 95 %
    interval, the median and n. For trec, a panel shows the share of questions answered. Reads
    trecrag.csv and consistency.csv of a run, the same files of Open RAG Eval, and run folders.

    ```sh
    ragassay plot results.csv --evaluator trec
    ragassay plot results1.csv results2.csv --evaluator trec --output-file comparison.png
    ragassay plot consistency_results.csv --evaluator consistency
    ```
    """
    from ragassay.reports.charts import picture, result_files, svg
    from ragassay.reports.charts.layouts import EVALUATORS

    svg.renderer_for(given.output_file)  # before any work
    extra, wanted = added("plots"), listed("--metrics-to-plot", given.metrics_to_plot)
    if given.evaluator is not None and given.evaluator in extra:
        with show.status("drawing"):
            svg.save(extra[given.evaluator](given.files, wanted), given.output_file)
        show.lines(f"plot: {given.output_file}")
        return
    of_runs = all(map(Path.is_dir, given.files))
    named = given.evaluator or (of_runs and "trec")
    kind = next((evaluator for evaluator in EVALUATORS if evaluator == named), None)
    if kind is None:
        every = [*EVALUATORS, *extra]
        problem = "--evaluator is missing: say which evaluator wrote the files."
        if given.evaluator is not None:
            hint = did_you_mean(given.evaluator, every)
            problem = f"No evaluator is called {given.evaluator!r}. {hint}"
        raise UsageError(f"{problem} There are: {', '.join(every)}.")
    if given.metrics_to_plot is not None and not wanted:
        raise UsageError("--metrics-to-plot names no metric. Leave it out to draw the main ones.")
    with show.status("reading results"):
        opened = result_files.opened(given.files, kind)
        metrics, missing = result_files.chosen(opened, wanted)
    show.warn(picture.remarks(opened, metrics))
    with show.status("drawing"):
        picture.draw(opened, metrics, missing).save(given.output_file)
    show.lines(f"plot: {given.output_file}")
