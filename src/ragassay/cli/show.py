"""What commands print for people and for programs, and their exit codes."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base import printable
from ragassay.cli.command_progress import ProgressBar
from ragassay.cli.global_options import GLOBAL_OPTIONS

if TYPE_CHECKING:
    from rich.console import Console

    from ragassay.cli.command import Given
    from ragassay.engine.results import Result
    from ragassay.engine.results.comparison_result import GateResult
    from ragassay.engine.results.summary import Summary
    from ragassay.engine.run.prepared_run import PreparedRun
    from ragassay.formats import Placement
    from ragassay.reports.model import Report

MAX_WARNINGS = 12

WIDTH = 80
"""Columns of a line that is wrapped."""

OK = 0
GATE_FAILED = 1
USAGE = 2
INCOMPLETE = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
"""The program that reads the output (``head``) ended first: the code of a process that SIGPIPE
ended, so that it is never taken for a failed gate."""


def console(*, stderr: bool = False) -> Console:
    """Where to print; see `ragassay.cli.console`, which loads rich."""
    from ragassay.cli.console import console as new_console

    return new_console(stderr=stderr)


def lines(*texts: object) -> None:
    """Prints texts as they are, one a line, however long."""
    out = console()
    for text in texts:
        out.print(str(text), soft_wrap=True, markup=False)


def wrapped(text: str, indent: str = "  ") -> None:
    """Prints a text in lines of at most 80 columns; words are not cut."""
    lines(
        *textwrap.wrap(
            text,
            WIDTH,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
    )


def result(shown: Result, *, every: bool = False, slices: bool = False) -> None:
    """Prints the table of a run, and below it that of its consistency; with ``every`` also metrics
    beside the headlines of the suites, with ``slices`` the means of each slice."""
    from ragassay.reports.views.summary_view import result_report

    report(result_report(shown, every=every, gates=False, slices=slices))


def report(shown: Report) -> None:
    """Prints a report in the width of the terminal."""
    from ragassay.reports.drawn.terminal import Printed

    console().print(Printed(shown))


def preview(
    job: PreparedRun,
    *,
    as_json: bool,
    every_suite: bool = False,
    placement: Placement | None = None,
) -> bool:
    """Reads the data of a job and prints what it would compute, ask and pay; whether any can be
    scored."""
    from ragassay.engine.plan import preview as previewed
    from ragassay.reports.views.plan_view import can_score, preview_report

    with ProgressBar("reading", job.source.count) as progress:
        plan = previewed(job, progress, every_suite=every_suite)
    if as_json:
        columns = {} if placement is None else {"columns": asdict(placement)}
        json({**plan.to_json(), **columns})
    else:
        report(preview_report(plan))
        if placement is not None and placement.unplaced:
            names = (name or "'' (without a name)" for name in placement.unplaced)
            lines("", f"columns that hold no field: {', '.join(names)}")
        if placement is not None and (perhaps := suggestions(placement)):
            lines(f"perhaps: {perhaps}")
    warn(plan.warnings)
    return can_score(plan)


def suggestions(placement: Placement) -> str:
    """The flags for the columns that may hold fields; empty where there are none."""
    return " ".join(map(column_flag, placement.suggested.items()))


def column_flag(field_and_column: tuple[str, str]) -> str:
    """The flag that says which column holds a field."""
    return f"--columns {shlex.quote('='.join(field_and_column))}"


def result_json(shown: Result) -> dict[str, Any]:
    """The summary of a run; with that of its consistency, where there is one."""
    body = shown.summary.to_json()
    if shown.consistency is not None:
        body["consistency"] = shown.consistency.summary.to_json()
    return body


def json(body: Any) -> None:
    """Strict JSON on standard output."""
    import orjson

    text = orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY)
    sys.stdout.write(printable.in_json(text).decode() + "\n")


_GATE_STYLE = {True: "green", False: "bold red", None: "yellow"}


def gates(results: Iterable[GateResult]) -> None:
    """Prints what each gate found, one a line."""
    out, quiet = console(), GLOBAL_OPTIONS.get().quiet
    for gate in results:
        if quiet and not gate.passed:
            sys.stdout.write(f"{printable.lines(gate.sentence)}\n")
        style = _GATE_STYLE[gate.passed]
        out.print(gate.sentence, style=style, markup=False, highlight=False)


def warn(sentences: Iterable[str]) -> None:
    """Sentences on standard error, each once; the rest is counted."""
    from rich.markup import escape

    listed = list(dict.fromkeys(sentences))
    out = console(stderr=True)
    for sentence in listed[:MAX_WARNINGS]:
        out.print(f"[yellow]note:[/yellow] {escape(sentence)}")
    if len(listed) > MAX_WARNINGS:
        out.print(f"[yellow]note:[/yellow] and {len(listed) - MAX_WARNINGS} more of these.")


@contextmanager
def status(label: str) -> Iterator[None]:
    """A spinner on standard error while something without a count goes on."""
    out = console(stderr=True)
    if not out.is_terminal or not GLOBAL_OPTIONS.get().progress:
        yield
        return
    with out.status(label):
        yield


def finished(
    shown: Result,
    files: Mapping[str, Path],
    given: Given,
    *,
    every: bool = False,
    slices: bool = False,
) -> int:
    """Prints a run with its files and gates, as text or as JSON, and also for GitHub's workflow
    where that is asked for; gives the exit code. ``every`` and ``slices`` are those of `result`.
    With ``--quiet``, standard error says why a run is incomplete.
    """
    from ragassay.engine.results.summary import missing_by_accident
    from ragassay.reports.views.summary_view import result_report

    if given.json:
        json({**result_json(shown), "gates": [one.to_json() for one in shown.gates]})
        warn(shown.summary.warnings)
    else:
        result(shown, every=every, slices=slices)
        lines(*(f"{what}: {path}" for what, path in files.items()))
        if not files:
            text = "Add -o DIR to keep the scores and an HTML report."
            console().print(text, style="dim")
        gates(shown.gates)
    if given.github:
        reports = [result_report(shown, gates=False, slices=True)]
        github(reports, shown.gates, *summaries(shown), as_json=given.json)
    code = exit_code(shown.gates, *summaries(shown))
    if code == INCOMPLETE and GLOBAL_OPTIONS.get().quiet:
        missing = missing_by_accident(*summaries(shown))
        reasons = [f"{missing}: the run is incomplete."] if missing else []
        for sentence in [*reasons, *shown.summary.warnings]:
            sys.stderr.write(f"ragassay: {printable.lines(sentence)}\n")
    return code


def github(
    reports: Iterable[Report], found: Sequence[GateResult], *summaries: Summary, as_json: bool
) -> None:
    """Tells GitHub's workflow what was found: annotations (on standard error where standard output
    is JSON), and the reports in the summary of the step."""
    from ragassay.reports import ci_reports
    from ragassay.reports.drawn.markdown import markdown

    sys.stdout.flush()
    stream = sys.stderr if as_json else sys.stdout
    stream.writelines(f"{one}\n" for one in ci_reports.github_commands(found, summaries))
    text = "\n".join([ci_reports.gate_list(found), *map(markdown, reports)])
    ci_reports.add_to_step_summary(text, os.environ)


def exit_code(gates: Sequence[GateResult], *summaries: Summary, lacking: bool = False) -> int:
    """1 when a gate failed, 3 when a run is incomplete (`is_incomplete`), or anything else is
    ``lacking``; else 0."""
    from ragassay.engine.results.summary import is_incomplete

    if any(gate.passed is False for gate in gates):
        return GATE_FAILED
    lacking |= any(gate.passed is None for gate in gates)
    return INCOMPLETE if lacking or (summaries and is_incomplete(*summaries)) else OK


def numbered(path: Path, at: int, of: int) -> Path:
    """The file of one of several comparisons: numbered from 1 where there are more than one."""
    return path if of == 1 else path.with_stem(f"{path.stem}-{at}")


def summaries(shown: Result) -> list[Summary]:
    """The summary of a run and, where there is one, that of its consistency."""
    return [one.summary for one in (shown, shown.consistency) if one is not None]
