"""What commands show: consoles, bars of progress, what is printed for people and for programs; and
how a command ends: exit codes, and signals that interrupt it."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from ragassay.base import printable

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

EVERY_S = 30.0
"""Between two lines about long work, where there is no terminal."""


@dataclass(frozen=True)
class GlobalOptions:
    """Whether only errors, gates that did not pass and data are printed; whether bars are shown;
    whether an error is shown with its traceback, and as an annotation of GitHub."""

    quiet: bool = False
    progress: bool = True
    debug: bool = False
    github: bool = False


GLOBAL_OPTIONS: ContextVar[GlobalOptions] = ContextVar("global_options", default=GlobalOptions())  # noqa: B039


class HarmlessConsole(Console):
    """A console on which text cannot command the terminal; only rich's own styles do."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, with visible marks in place of control characters."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control is None and not text.isprintable():
                segment = Segment(printable.lines(text), segment.style)
            yield segment

    def print(self, *objects: Any, **options: Any) -> None:
        """Where there is no terminal, without blanks at the ends of a table's lines, which disturb
        grep, and with question marks for characters that the encoding lacks."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
        self.file.write(text.encode(self.encoding, "replace").decode(self.encoding))
        self.file.flush()


def console(*, stderr: bool = False) -> Console:
    """A console that writes plain text when it is not a terminal, at a width that tables fit."""
    quiet = GLOBAL_OPTIONS.get().quiet
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 120
    return HarmlessConsole(stderr=stderr, width=width, highlight=False, quiet=quiet)


@contextmanager
def progress_bar(
    label: str,
    total: Callable[[], int | None] = lambda: None,
    doing: Callable[[], str] | None = None,
) -> Iterator[Callable[[int], None]]:
    """A live bar of one line on standard error; gives what is called with the number of samples
    done, which raises `KeyboardInterrupt` where the command was interrupted. Without a ``total``
    the bar is a count. ``doing`` says what goes on between two samples; where there is no terminal,
    now and then as a line."""
    begun, ended = time.monotonic(), threading.Event()
    options, out = GLOBAL_OPTIONS.get(), console(stderr=True)
    bar = telling = None
    if options.progress and not options.quiet:
        if out.is_terminal:
            bar = _rich_bar(out, doing)
            bar.add_task(label, total=total(), rate=0.0)
            bar.start()
        elif doing is not None:
            telling = threading.Thread(target=_tell, args=(out, label, doing, ended), daemon=True)
            telling.start()

    def advance(n: int) -> None:
        check()
        if bar is not None:
            seconds = max(time.monotonic() - begun, 1e-3)
            bar.update(bar.task_ids[0], completed=n, rate=n / seconds)

    try:
        yield advance
    finally:
        ended.set()
        if telling is not None:
            telling.join()  # its last line may be half written
        if bar is not None:
            bar.stop()


def _tell(out: Console, label: str, doing: Callable[[], str], ended: threading.Event) -> None:
    while not ended.wait(EVERY_S):
        out.print(f"note: {label}: {doing()}", markup=False)


def _rich_bar(out: Console, doing: Callable[[], str] | None) -> Any:
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    class Doing(progress.ProgressColumn):
        def render(self, task: object) -> Text:
            return Text("" if doing is None else doing())

    # The words take what is left of the line, so the rest is short where there are any.
    rate = ", {task.fields[rate]:,.0f}/s" if doing is None else ""
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=40 if doing is None else 10),
        progress.TextColumn("{task.completed:,.0f} samples" + rate),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
        Doing(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        expand=doing is not None,
        console=out,
        transient=True,
    )


def lines(*texts: object) -> None:
    """Prints texts as they are, one a line, however long."""
    out = console()
    for text in texts:
        out.print(str(text), soft_wrap=True, markup=False)


def wrapped(text: str, indent: str = "  ") -> None:
    """Prints a text in lines of at most 80 columns; words are not cut."""
    kept: Any = {"break_long_words": False, "break_on_hyphens": False, "replace_whitespace": False}
    lines(*textwrap.wrap(text, WIDTH, subsequent_indent=indent, **kept))


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
    from ragassay.base.json_data import dumps

    sys.stdout.write(printable.in_json(dumps(body, indent=True)).decode() + "\n")


def gates(results: Iterable[GateResult]) -> None:
    """Prints what each gate found, one a line; with ``--quiet`` those that did not pass."""
    out, quiet = console(), GLOBAL_OPTIONS.get().quiet
    for gate in results:
        if quiet and not gate.passed:
            sys.stdout.write(f"{printable.lines(gate.sentence)}\n")
        style = {True: "green", False: "bold red", None: "yellow"}[gate.passed]
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
    result: Result, files: Mapping[str, Path], given: Given, *, every: bool = False
) -> int:
    """Prints a run with its files and gates, as text or as JSON, and also for GitHub's workflow
    where that is asked for; gives the exit code. With ``every`` also metrics beside the headlines
    of the suites. With ``--quiet``, standard error says why a run is incomplete.
    """
    from ragassay.engine.results.summary import missing_by_failure
    from ragassay.reports.drawn.terminal import Printed
    from ragassay.reports.views.summary_view import result_report, written_report

    out = console()
    summaries = [step.summary for step in result.steps]
    if given.json:
        json({**result_json(result), "gates": [asdict(gate) for gate in result.gates]})
        warn(result.summary.warnings)
    else:
        out.print(Printed(result_report(result, every=every, gates=False)))
        if files:
            lines(*(f"{what}: {path}" for what, path in files.items()))
        elif not all(summary.is_empty for summary in summaries):
            out.print("Add -o DIR to keep the scores and an HTML report.", style="dim")
        if result.gates:
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
    stream.writelines(f"{line}\n" for line in ci_reports.github_commands(found, summaries))
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


_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_received = threading.Event()


@contextmanager
def remembered() -> Iterator[None]:
    """Remembers signals that end a command (Ctrl-C, SIGTERM, SIGHUP) while the block runs, because
    Python drops a ``KeyboardInterrupt`` where nothing can be raised: long work calls `check` now
    and then. A signal that another program handles or ignores (``nohup``) is left alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received.clear()
    before = {}
    for number in _ENDING:
        handler = signal.getsignal(number)
        ours = getattr(handler, "__module__", "") == "ragassay.cli.start"  # of the imports before
        if ours or handler in (signal.default_int_handler, signal.SIG_DFL):
            before[number] = handler
            signal.signal(number, _receive)
    unraisable, sys.unraisablehook = sys.unraisablehook, _drop
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def is_received() -> bool:
    """Whether there was such a signal since they are remembered."""
    return _received.is_set()


def check() -> None:
    """Raises ``KeyboardInterrupt`` after such a signal, if it was dropped then; on the main thread
    only."""
    if _received.is_set() and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def _drop(lost: sys.UnraisableHookArgs) -> None:
    """Replaces the traceback that Python shows for an exception that it drops."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)


def _receive(number: int, frame: FrameType | None) -> None:
    _received.set()
    signal.default_int_handler(number, frame)
