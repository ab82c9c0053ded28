"""``ragassay report``, ``compare``, ``explain``, ``diagnose``, ``rescore``: of run folders."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.base.printable import grouped, plural
from ragassay.cli import show
from ragassay.cli.command import Given, command, configured, listed
from ragassay.cli.runs.run import judges_of
from ragassay.cli.show import progress_bar

if TYPE_CHECKING:
    from ragassay.engine.results import Result


@command("report")
def report(given: Given) -> int:
    """Show the summary of a run folder and write its reports.

    ```sh
    ragassay report runs/new
    ragassay report runs/new --format html,markdown,csv,long-csv,jsonl,parquet,png,svg -o out/
    ragassay report runs/new --format junit --fail-under 'em>=0.4'
    ```
    """
    from ragassay.engine.comparison import gates
    from ragassay.engine.results import open_run
    from ragassay.reports.run_reports import write_reports

    result = open_run(given.folder)
    result = replace(
        result, gates=gates.results_of(result, given.fail_under, trust_offline=given.trust_offline)
    )
    formats = listed("--format", given.format)
    with show.status("writing reports"):
        written = write_reports(result, given.output or given.folder, formats, given.title)
    code = show.finished(result, written, given, every=given.metrics == "all")
    return code if given.fail_under else show.OK


@command("explain")
def explain(given: Given) -> None:
    """Show why a sample has its scores: the answers of judges, the prompts, the raw replies.

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


@command("diagnose")
def diagnose(given: Given) -> None:
    """Show why the samples of a run fail, or which faults a change moved.

    The scores of the run put each failing sample into one class: not retrieved, ranked too low,
    refused without a known retrieval fault, wrong or invented, cited wrongly, right but incomplete,
    retrieved but ignored, answered an unanswerable question. Scores that the run lacks are computed
    here, offline. Each class has its count, its interval, its cost in the headline metric,
    examples, and what to try. docs/diagnose.md has the rules.

    With a second, older run it shows how samples moved between classes.

    ```sh
    ragassay diagnose runs/new
    ragassay diagnose runs/new runs/old
    ragassay diagnose runs/new --headline token_f1.f --below 0.4
    ```
    """
    from ragassay.engine.diagnosis.decision_table import Thresholds
    from ragassay.engine.diagnosis.moved_classes import diagnose as carry_out
    from ragassay.engine.results import open_run
    from ragassay.reports.views.diagnosis_view import diagnosis_report, moved_report

    if given.examples < 0:
        raise UsageError(f"--examples is {given.examples}; give 0 or more.")
    options: dict[str, Any] = {
        **given.of("headline", "below", "headline_only"),
        "thresholds": Thresholds(**given.of(*(field.name for field in fields(Thresholds)))),
        "n_examples": given.examples,
    }
    old = None if given.old is None else open_run(given.old)
    found: Any = carry_out(open_run(given.run), old, **options)
    if given.json:
        show.json(found.to_json())
    else:
        show.report(diagnosis_report(found) if given.old is None else moved_report(found))


@command("rescore")
def rescore(given: Given) -> int:
    """Compute every score of a run again from the stored answers of judges, and compare.

    Exit code 0: all are equal; 3: some are not.

    ```sh
    ragassay rescore runs/new
    ```
    """
    from ragassay.engine.results import open_run
    from ragassay.engine.run import rescoring

    with show.status("computing every score again"):
        rescored = rescoring.rescore(open_run(given.folder))
    if given.json:
        show.json(rescored.to_json())
    else:
        scores = plural(rescored.n_scores, "score")
        answers = plural(rescored.n_answers, "answer")
        n_different = len(rescored.different)
        same = f"{n_different:,} differ" if n_different else "all are equal"
        show.lines(f"{scores} computed again from {answers}: {same}.")
        if rescored.unmeasured:
            show.wrapped(
                f"{rescored.unmeasured:,} left as they are, because they rest on a model that is "
                "not here ('ragassay models'), or on vectors of an endpoint.",
                "",
            )
        sentences = islice(rescoring.differing(rescored.different), SHOWN)
        show.lines(*(f"  {sentence}" for sentence in sentences))
        if n_different > SHOWN:
            show.lines(f"... and {n_different - SHOWN:,} more (--json lists them).")
    return show.INCOMPLETE if rescored.different else show.OK


SHOWN = 10
_OF_DATA = ("columns", "format", "passages_from", "encoding", "sheet", "separator", "single_chunk")


@command("compare", names=("suite", *_OF_DATA, "references", "judge", "ledger", "budget"))
def compare(given: Given) -> int:
    """Compare run folders or files of answers, query by query: NEW first, OLD (the baseline) last.

    Prints both means of each metric, their difference and a verdict; then whether more answers are
    right, which failures moved, and what got better and worse. --full adds all other metrics,
    intervals, p-values and the method. With more than two runs, each is compared with the last. A
    file with several systems, or a folder of their runs, compares those with the first of them.

    Files and folders of exports are evaluated first, as 'ragassay run' does; nothing is kept.

    A verdict is "only a hint" if few queries differ, or if the offline judge is not known to agree
    with people.

    ```sh
    ragassay compare new.jsonl old.jsonl
    ragassay compare runs/new runs/old
    ragassay compare runs/new runs/old -o comparison.html --fail-if-worse
    ragassay compare runs/three-systems --baseline reference
    ragassay compare runs/new runs/old --primary em --fail-if-drop 'token_f1.f>0.02'
    ragassay compare runs/new runs/old --fail-if-worse --junit junit.xml
    ragassay compare runs/new runs/old --where type=short
    ```
    """
    notes: list[str] = []
    try:
        return _compare(given, notes)
    finally:
        show.warn(notes)


def _compare(given: Given, notes: list[str]) -> int:
    """Compares the runs; ``notes`` takes sentences about the files, which are shown last."""
    from ragassay.engine.comparison.compare_runs import compare as carry_out
    from ragassay.engine.comparison.gates import with_not_worse
    from ragassay.engine.diagnosis.moved_classes import with_change
    from ragassay.reports import ci_reports
    from ragassay.reports.run_reports import check_comparison, write_comparison
    from ragassay.reports.views.comparison_view import comparison_report

    if given.output is not None:
        check_comparison(given.output)
    names = ("trust_offline", "unpaired", "force", "n_resamples", "seed", "level", "correction")
    options = given.of("metrics", "primary", *names) | {"fail_if_drop": given.fail_if_drop or ()}
    if every := listed("--metrics", given.metrics) == ["all"]:
        options.pop("metrics")
    comparisons = [carry_out(*pair, **options) for pair in _pairs(given, notes)]
    steps = [with_change, with_not_worse] if given.fail_if_worse else [with_change]
    # Who names metrics gates these alone.
    named = given.primary or (given.metrics and not every)
    for step in reversed(steps) if named else steps:
        comparisons = [*map(step, comparisons)]
    gates = [gate for comparison in comparisons for gate in comparison.gates]
    if given.json:
        show.json({"comparisons": [comparison.to_json() for comparison in comparisons]})
        notes += (text for comparison in comparisons for text in comparison.warnings)
        notes += (gate.sentence for gate in gates if not gate.passed)
    else:
        for comparison in comparisons:
            show.report(comparison_report(comparison, full=given.full or every))
    written: list[str] = []
    for at, comparison in enumerate(comparisons if given.output else (), start=1):
        number = f"-{at}" * (len(comparisons) > 1)
        target = given.output.with_stem(f"{given.output.stem}{number}")
        with show.status("writing the comparison"):
            write_comparison(comparison, target, given.title)
        written.append(f"comparison: {target}")
    if given.junit is not None:
        ci_reports.write_junit_of_comparisons(comparisons, given.junit)
        written.append(f"junit: {given.junit}")
    if not given.json:
        show.lines(*written)
        show.gates(gates)
    if given.github:
        reports = [comparison_report(comparison, broken=True) for comparison in comparisons]
        show.github(reports, gates, as_json=given.json)
    return show.exit_code(gates, lacking=not all(found.decidable for found in comparisons))


def _pairs(given: Given, notes: list[str]) -> list[tuple[Result, Result]]:
    """The runs to compare, each with the baseline."""
    from ragassay import formats
    from ragassay.engine.comparison.derived_runs import by_system, subset_of, with_baseline
    from ragassay.engine.results import open_run
    from ragassay.engine.results.folders.run_folder import RUN

    runs = given.runs
    if len(runs) == 1 and not (runs[0] / RUN).exists():
        # The runs of several systems, as 'ragassay ask --save' keeps them.
        runs = sorted(path.parent for path in runs[0].glob(f"*/{RUN}")) or runs
    files = [run for run in runs if run.is_file()]
    data = [*files, *(run for run in runs if run.is_dir() and formats.files_of(run) != [run])]
    if given.run_options and not data:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given.run_options)
        raise UsageError(f"{flags}: for files of answers, not for run folders.")
    if formats.share_traces(files, columns=given.run_options.get("columns")):
        raise UsageError(
            f"Some of {', '.join(map(str, files))} hold parts of the same traces. Put the files of "
            "each export into a folder of its own: ragassay compare NEW_FOLDER OLD_FOLDER."
        )
    folders = {run: open_run(run) for run in runs if run not in data}
    results = [folders[run] if run in folders else _evaluated(run, given) for run in runs]
    of_files = [
        (note, run)
        for run, result in zip(runs, results, strict=True)
        if result.folder is None
        for note in result.summary.notes
        if note.kind != "mixed_systems"
    ]
    # What a judge would cost is said once, for all files.
    costs: list[Any] = [note.counts for note, _ in of_files if note.kind == "metrics_need_llm"]
    total = {name: sum(counts[name] for counts in costs) for name in ("n", "calls", "cost")}
    by_text = grouped(
        (str(replace(note, counts={**note.counts, **total}) if note.counts in costs else note), run)
        for note, run in of_files
    )
    notes += (
        text
        if len(of) == len(runs) or text.startswith(f"{of[0]}: ")
        else f"{', '.join(map(str, of))}: {text}"
        for text, of in by_text.items()
    )
    if len(given.runs) == 1:
        results = results if len(results) > 1 else by_system(results[0])
        if len(results) < 2:
            column = " Or name the column of the system: --columns system=COLUMN." * (not folders)
            way = "Name two runs: ragassay compare NEW OLD."
            raise UsageError(f"{runs[0]} holds one system only. {way}{column}")
    if given.baseline is not None or len(given.runs) == 1:
        results = with_baseline(results, given.baseline)
    results = [subset_of(result, given.where or ()) for result in results]
    return [(result, results[-1]) for result in results[:-1]]


def _evaluated(file: Path, given: Given) -> Result:
    """A file or folder of answers, evaluated with the options of the command line."""
    from ragassay.engine.comparison.gates import computed
    from ragassay.engine.run.prepared_run import prepare

    dropped = (text.partition(">")[0].strip() for text in given.fail_if_drop or ())
    metrics = listed("--metrics", given.metrics)
    if not metrics and "suite" not in given.run_options:
        metrics = listed("--primary", given.primary)
    options = {**given.run_options, **({"metrics": metrics} if metrics else {})}
    config = configured(file, None, options)
    judge = judges_of(config, given)
    gated = computed(dropped, judge=bool(config.judge or judge))
    job = prepare(config, objects=gated, judge=judge)
    with progress_bar(f"scoring {file.name}", job.source.count, job.doing) as progress:
        return job.run(progress)
