"""What commands print for people and for programs, and their exit codes."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base import printable
from ragassay.cli.console import GLOBAL_OPTIONS, console

if TYPE_CHECKING:
    from ragassay.cli.command import Given
    from ragassay.engine.results import Result
    from ragassay.engine.results.comparison_result import GateResult
    from ragassay.engine.results.summary import Summary
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


def report(shown: Report) -> None:
    """Prints a report in the width of the terminal."""
    from ragassay.reports.drawn.terminal import Printed

    console().print(Printed(shown))


def result_json(result: Result) -> dict[str, Any]:
    """The summary of a run; with that of its consistency, where there is one."""
    body = result.summary.to_json()
    if result.consistency is not None:
        body["consistency"] = result.consistency.summary.to_json()
    return body


def json(body: Any) -> None:
    """Strict JSON on standard output."""
    import orjson

    text = orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY)
    sys.stdout.write(printable.in_json(text).decode() + "\n")


_GATE_STYLE = {True: "green", False: "bold red", None: "yellow"}


def gates(results: Iterable[GateResult]) -> None:
    """Prints what each gate found, one a line; with ``--quiet`` those that did not pass."""
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
    if len(listed) > MAX_WARNINGS:
        listed[MAX_WARNINGS:] = [f"and {len(listed) - MAX_WARNINGS} more of these."]
    out = console(stderr=True)
    for sentence in listed:
        out.print(f"[yellow]note:[/yellow] {escape(sentence)}")


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
    result: Result,
    files: Mapping[str, Path],
    given: Given,
    *,
    every: bool = False,
    slices: bool = False,
) -> int:
    """Prints a run with its files and gates, as text or as JSON, and also for GitHub's workflow
    where that is asked for; gives the exit code. With ``every`` also metrics beside the headlines
    of the suites, with ``slices`` the means of each slice. With ``--quiet``, standard error says
    why a run is incomplete.
    """
    from ragassay.engine.results.summary import missing_by_failure
    from ragassay.reports.views.summary_view import result_report, written_report

    summaries = [step.summary for step in result.steps]
    if given.json:
        json({**result_json(result), "gates": [gate.to_json() for gate in result.gates]})
        warn(result.summary.warnings)
    else:
        report(result_report(result, every=every, gates=False, slices=slices))
        if files:
            lines(*(f"{what}: {path}" for what, path in files.items()))
        else:
            console().print("Add -o DIR to keep the scores and an HTML report.", style="dim")
        gates(result.gates)
    if given.github:
        github([written_report(result)], result.gates, *summaries, as_json=given.json)
    code = exit_code(result.gates, *summaries)
    if code == INCOMPLETE and GLOBAL_OPTIONS.get().quiet:
        missing = missing_by_failure(*summaries)
        reasons = [f"{missing}: the run is incomplete."] if missing else []
        for sentence in [*reasons, *result.summary.warnings]:
            sys.stderr.write(f"ragassay: {printable.lines(sentence)}\n")
    return code


def github(
    reports: Iterable[Report], found: Sequence[GateResult], *summaries: Summary, as_json: bool
) -> None:
    """Gives GitHub's workflow what was found: annotations (on standard error where standard output
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
