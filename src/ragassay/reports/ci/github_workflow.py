"""GitHub Actions: annotations of a workflow's run, and the summary of its step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ragassay.base import printable
from ragassay.base.files import cannot_write
from ragassay.engine.results.comparison_result import GateResult
from ragassay.engine.results.summary import Summary
from ragassay.reports.ci.junit_xml import lack_of

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file of the step's summary (Markdown)."""

_LINE_END = re.compile("[\u2028\u2029]")
"""Line ends of Unicode, which some readers of a log take for one."""


def commands(results: Iterable[GateResult], summaries: Sequence[Summary] = ()) -> Iterator[str]:
    """Workflow commands, one a line: an error for each gate that did not pass, a notice for each
    that did, an error where scores are missing by accident or nothing was scored."""
    for gate in results:
        level = "notice" if gate.passed else "error"
        state = {True: "passed", False: "failed", None: "undecided"}[gate.passed]
        yield _command(level, f"gate {state}: {gate.gate}", gate.sentence)
    if summaries and (lack := lack_of(summaries)):
        yield _command("error", "run incomplete", lack)


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_escaped(title, ':,')}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """Text as a workflow command takes it: what would end a line, or a property, by its code."""
    plain = _LINE_END.sub(" ", printable.lines(text)).replace("%", "%25")
    plain = plain.replace("\r", "%0D").replace("\n", "%0A")
    for mark in more:
        plain = plain.replace(mark, f"%{ord(mark):02X}")
    return plain


def gate_list(results: Iterable[GateResult]) -> str:
    """What gates found, as Markdown."""
    from ragassay.reports.drawn.markdown import escape

    marks = {True: "✅", False: "❌", None: "⚠"}
    return "".join(f"- {marks[one.passed]} {escape(one.sentence)}\n" for one in results)


def add_to_step_summary(text: str, environment: Mapping[str, str]) -> bool:
    """Adds Markdown to the summary of the step, where the environment names its file; whether it
    does."""
    place = environment.get(STEP_SUMMARY)
    if not place:
        return False
    path = Path(place)
    try:
        with path.open("ab") as stream:
            stream.write(f"{text.rstrip()}\n\n".encode())
    except OSError as error:
        raise cannot_write(path, error) from error
    return True
