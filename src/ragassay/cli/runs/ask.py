"""``ragassay ask``: ask the system under test."""

from __future__ import annotations

import faulthandler
import gc
import sys
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base import printable
from ragassay.base.errors import RagassayError, UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command, listed
from ragassay.cli.show import GLOBAL_OPTIONS, progress_bar

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run.prepared_run import PreparedRun
    from ragassay.targets.ask_run import AskPlan
    from ragassay.targets.asking.systems_run import SystemsRun


@command("ask")
def ask(given: Given) -> int:
    """Ask a system every query of QUERIES, and write its answers as samples.

    QUERIES is a golden folder, or any file that 'ragassay run' reads; answers in it are ignored.
    Each answer is kept: run the same command again to ask only what is missing. The exit code is 3
    if answers are missing.

    ```sh
    ragassay ask queries.jsonl --target my_rag:answer -o answers.jsonl
    ragassay ask queries.jsonl --target keyword.yaml --target hybrid.yaml -j 4 --repeat 3
    ragassay ask queries.jsonl --target http://localhost:8000/v1#my-model --stream
    ragassay ask --target http://localhost:8000/ask --init
    ragassay ask queries.jsonl --target 'command:python rag.py' --suite rag --save runs/new
    ragassay ask queries.jsonl --target my_rag:answer --rpm 60 --dry-run
    ```
    """
    from ragassay.judges.ledger.ledger_store import DEFAULT
    from ragassay.suites import get
    from ragassay.targets.ask_run import open_asking, plan_asking
    from ragassay.targets.asking.ask_summary import asked_report, failure_lines
    from ragassay.targets.target_factory import AskOptions

    if not given.target:
        raise UsageError(
            "--target is missing: the system to ask. Examples: --target my_rag:answer (function), "
            "--target mapping.yaml (an HTTP endpoint), --target 'command:python rag.py'."
        )
    if given.init:
        return _start_mapping(given.target)
    if given.queries is None:
        raise UsageError("QUERIES is missing: ragassay ask QUERIES --target TARGET.")
    suites = listed("--suite", given.suite) or []
    for name in suites:
        get(name)
    scored = bool(suites or given.save)
    options = given.of(*(field.name for field in fields(AskOptions)))
    options |= {"output": given.output, "limit": given.limit, "ledger": given.ledger or DEFAULT}
    if given.dry_run:
        _show_plans(plan_asking(given.queries, given.target, **options), given.json)
        return show.OK
    if sys.__stderr__ is not None and not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__)  # says where a system's own code killed the process
    gc.freeze()  # what is loaded by now need not be searched for garbage; the process is ours
    with open_asking(given.queries, given.target, tell_drafts=not scored, **options) as asking:
        # What is wrong with the evaluation shows before anything is asked.
        jobs = _jobs(asking, given, suites) if scored else {}
        with asking:
            results, error = _evaluated(asking, jobs)
            with progress_bar("asking", lambda: asking.total) as progress:
                answers = asking.wait(progress)
    summaries = list(answers.summaries.values())
    body: dict[str, object] = {"systems": [summary.to_json() for summary in summaries]}
    if not given.json:
        show.report(asked_report(summaries))
        show.lines(*(f"answers of {name}: {path}" for name, path in answers.files.items()))
    if GLOBAL_OPTIONS.get().quiet and not answers.complete:
        # Whoever silences the rest still sees why the exit code is 3.
        print(printable.lines("\n".join(failure_lines(summaries))), file=sys.stderr)  # noqa: T201
    if error is not None:
        raise error
    codes = [show.OK if answers.complete else show.INCOMPLETE]
    codes += [_reported(result, given.json) for result in results.values()]
    if given.json:
        if jobs:
            body["results"] = {name: show.result_json(result) for name, result in results.items()}
        show.json(body)
    return max(codes)


def _start_mapping(targets: list[str]) -> int:
    """Writes a mapping file for a URL."""
    from ragassay.base import files
    from ragassay.targets.http_api.http_target import lacks_package
    from ragassay.targets.target_factory import starting_mapping

    path = Path("mapping.yaml")
    if len(targets) != 1 or not targets[0].startswith(("http://", "https://")):
        raise UsageError("--init needs one --target with the URL of an endpoint.")
    if path.exists():
        raise UsageError(f"{path} exists. Move it away, or name it: --target {path}.")
    files.write_text(path, starting_mapping(targets[0]))
    show.lines(
        f"{path} is written. Replace its names with those of your endpoint, then:",
        f"ragassay ask QUERIES --target {path}",
        *filter(None, [lacks_package()]),
    )
    return show.OK


def _jobs(asking: SystemsRun, given: Given, suites: list[str]) -> dict[str, PreparedRun]:
    """The evaluation of each system, of samples that are still to come. Passages are found in the
    documents of a golden set, as 'ragassay run --golden' does it."""
    from ragassay.engine.config.run_config import make_config
    from ragassay.engine.run.prepared_run import prepare
    from ragassay.golden.golden_folder import is_golden
    from ragassay.judges.judge_factory import named_judges

    jobs = {}
    for name, path in asking.files.items():
        several = given.save is not None and len(asking.files) > 1
        config = make_config(
            data=str(path),
            suite=suites,
            judge=given.judge,
            golden=given.queries if is_golden(given.queries) else None,
            output=given.save / path.stem if several else given.save,
        )
        jobs[name] = prepare(
            config, asking.arriving[name], judge=named_judges(config.judge),
            expected=asking.expected(),
        )  # fmt: skip
    return jobs


def _evaluated(
    asking: SystemsRun, jobs: dict[str, PreparedRun]
) -> tuple[dict[str, Result], RagassayError | None]:
    """Evaluates the first system while all are asked, then the others. An error of an evaluation
    does not end the asking: it comes with what is done by then.
    """
    results: dict[str, Result] = {}
    for name, job in jobs.items():
        doing = partial(_doing, asking, job)
        try:
            with progress_bar(f"scoring {name}", lambda: asking.total, doing) as progress:
                results[name] = job.run(progress, keep=False)
        except RagassayError as error:
            if not asking.failed:
                show.warn([f"{error} The evaluation ends here; the asking goes on."])
            return results, error
    return results, None


def _doing(asking: SystemsRun, job: PreparedRun) -> str:
    asked = f"{asking.done:,} of {asking.total:,} asked"
    return asked if job.doing is None else f"{asked}, {job.doing()}"


def _reported(result: Result, json: bool) -> int:
    """Writes and prints an evaluation, and gives its exit code."""
    from ragassay.reports.run_reports import write_reports
    from ragassay.reports.views.summary_view import result_report

    if result.folder is not None:
        write_reports(result)
    if not json:
        show.report(result_report(result, gates=False))
        if result.folder is not None:
            show.lines(f"run folder: {result.folder}")
    return show.exit_code(result.gates, *(step.summary for step in result.steps))


def _show_plans(plans: list[AskPlan], json: bool) -> None:
    """What asking would do, a line a system."""
    from ragassay.reports.model import Column, Report, lines, table

    if json:
        show.json({"systems": [asdict(plan) for plan in plans]})
        return
    heads = ("samples", "in the ledger", "to send", "takes at least", "costs about")
    rows = (
        (
            *(plan.system, f"{plan.samples:,}", f"{plan.from_ledger:,}"),
            f"{plan.to_send:,} or fewer" if plan.at_most else f"{plan.to_send:,}",
            "not known" if plan.least_seconds is None else f"{plan.least_seconds / 60:,.1f} min",
            "not known" if plan.dollars is None else printable.dollars(plan.dollars),
        )
        for plan in plans
    )
    below = [
        "Nothing was asked. Time and cost rest on the answers in the ledger, and on --rpm; retries "
        "come on top."
    ]
    asked = table([Column("system", "name"), *map(Column, heads)], rows)
    show.report(Report("", (asked, lines(below, "text"))))
