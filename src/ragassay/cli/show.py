"""What every command needs to talk to a person or to a machine; its exit codes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ragassay import printable
from ragassay.cli import interrupt

if TYPE_CHECKING:
    from rich.console import Console

    from ragassay.engine.results import GateResult, Result, Summary
    from ragassay.engine.run import PreparedRun

PATIENCE_S = 2.0
"""Work that takes longer than this shows how far it is."""

EVERY_S = 30.0
"""Between two lines about long work, where there is no terminal."""

MAX_WARNINGS = 12

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
    from ragassay.cli.console import console as made

    return made(stderr=stderr)


def lines(*texts: object) -> None:
    """Prints texts as they are, one a line, however long."""
    out = console()
    for text in texts:
        out.print(str(text), soft_wrap=True, markup=False)


def result(shown: Result) -> None:
    """Prints the table of a run, and below it that of its consistency. A run of the suite
    consistency alone has only that one.
    """
    out = console()
    from ragassay.reports.tables import consistency_table
    from ragassay.reports.text import terminal

    inner = shown.consistency
    if inner is None or shown.summary.metrics:
        out.print(terminal.summary_table(shown.summary))
    elif shown.summary.warnings:
        warn(shown.summary.warnings)
    if inner is not None:
        out.print(consistency_table.terminal_table(inner.summary))


def preview(job: PreparedRun, *, as_json: bool) -> None:
    """Reads the data of a job and prints what it would compute, ask and pay.

    Args:
        job: that is not run.
        as_json: prints JSON in place of tables.
    """
    from ragassay.engine.plan import preview as previewed
    from ragassay.reports.text import preview_table

    with progress("reading", job.source.count) as done:
        found = previewed(job, done)
    if as_json:
        json(found.to_json())
    else:
        console().print(preview_table(found))
    warn(found.warnings)


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
    out = console()
    for gate in results:
        out.print(gate.sentence, style=_GATE_STYLE[gate.passed], markup=False, highlight=False)


def warn(sentences: Iterable[str]) -> None:
    """Sentences on standard error, each once; the rest is counted."""
    listed = list(dict.fromkeys(sentences))
    out = console(stderr=True)
    for sentence in listed[:MAX_WARNINGS]:
        out.print(f"[yellow]note:[/yellow] {_plain(sentence)}")
    if len(listed) > MAX_WARNINGS:
        out.print(f"[yellow]note:[/yellow] and {len(listed) - MAX_WARNINGS} more of these.")


class Shown(Protocol):
    """A bar: called with the number of samples done."""

    def __call__(self, n: int, /) -> None:
        """So many are done."""

    def compared(self, n: int, of: int, /) -> None:
        """Restarts the bar for the queries whose repeated runs are compared, and counts those."""


@contextmanager
def progress(
    label: str,
    total: Callable[[], int | None] = lambda: None,
    doing: Callable[[], str] | None = None,
) -> Iterator[Shown]:
    """A callback that shows a live bar on standard error once the work takes a while. The bar stays
    one line: text that does not fit is cropped.

    Args:
        label: before the bar.
        total: gives the number of all samples; without it the bar is a count. It is called only
            when the bar is shown.
        doing: says in words what goes on between two samples, for work that waits for others. It is
            shown from the start, and from time to time as a line where there is no terminal.
    """
    from rich.progress import (
        BarColumn,
        Progress as Bar,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Doing(ProgressColumn):
        def render(self, task: object) -> Text:
            return Text("" if doing is None else doing())

    out = console(stderr=True)
    # The words take what is left of the line, so the rest is short where there are any.
    rate = ", {task.fields[rate]:,.0f}/s" if doing is None else ""
    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=40 if doing is None else 10),
        TextColumn("{task.completed:,.0f} {task.fields[noun]}" + rate),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        Doing(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        expand=doing is not None,
        console=out,
        transient=True,
        disable=not out.is_terminal,
    )
    task = bar.add_task(label, total=None, rate=0.0, noun="samples")
    begun = time.monotonic()

    starting, ended = threading.Lock(), threading.Event()

    def show() -> None:
        with starting:
            if not bar.live.is_started and not ended.is_set():
                bar.update(task, total=total())
                bar.start()

    class Live:
        def __call__(self, n: int) -> None:
            interrupt.check()
            elapsed = time.monotonic() - begun
            if out.is_terminal and (elapsed > PATIENCE_S or bar.live.is_started):
                show()
                bar.update(task, completed=n, rate=n / max(elapsed, 1e-3))

        def compared(self, n: int, of: int) -> None:
            nonlocal begun, total
            if bar.tasks[0].fields["noun"] != "queries":
                begun, total = time.monotonic(), lambda: of
                bar.reset(task, description="comparing runs", total=of, noun="queries", rate=0.0)
            self(n)

    # The first samples may take long, and whoever waits wants to see that work goes on.
    patient = threading.Timer(PATIENCE_S, show)
    patient.daemon = True
    if doing is not None and out.is_terminal:
        show()
    elif out.is_terminal:
        patient.start()
    elif doing is not None:
        threading.Thread(target=_say, args=(doing, ended), daemon=True).start()
    try:
        yield Live()
    finally:
        patient.cancel()
        with starting:
            ended.set()
        if bar.live.is_started:  # else rich before 14 prints an empty line
            bar.stop()


def _say(doing: Callable[[], str], ended: threading.Event) -> None:
    """A line now and then, for a log that somebody watches."""
    while not ended.wait(EVERY_S):
        console(stderr=True).print(f"note: {_plain(doing())}")


@contextmanager
def status(label: str) -> Iterator[None]:
    """A spinner on standard error while something without a count goes on."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield
        return
    with out.status(label):
        yield


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def exit_code(gates: Sequence[GateResult], *summaries: Summary) -> int:
    """1 when a gate failed, 3 when something went unscored that should not have, else 0.

    ``summaries`` are that of the run and, where there is one, that of its consistency.
    """
    if any(gate.passed is False for gate in gates):
        return GATE_FAILED
    nothing = not any(m.n_scored for summary in summaries for m in summary.metrics.values())
    incomplete = any(summary.incomplete for summary in summaries)
    if incomplete or nothing or any(gate.passed is None for gate in gates):
        return INCOMPLETE
    return OK
