"""Reports for continuous integration, all of the same gates: JUnit XML (a test case for each gate,
and one for completeness), and annotations and the step summary of GitHub Actions."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

from ragassay.base import files, printable
from ragassay.engine.comparison import gates
from ragassay.engine.comparison.gates import worst_queries
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison, GateResult
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import Summary, missing_by_failure
from ragassay.reports.text import wording

_WORST = 5
"""Samples (or queries) that a gate which did not pass names."""

_NO_XML = re.compile("[\ufffe\uffff]")
_LINE_END = re.compile("[\u2028\u2029]")
"""Line ends of Unicode, which some readers of a log take for one."""


_Case = tuple[str, str, bool | None, Sequence[str]]
"""A test case: class, name, whether it passed (``None``: undecided), lines (the message first)."""


def write_junit(result: Result, path: Path) -> None:
    """Writes the gates of a run as JUnit XML.

    A gate that failed is a ``failure``; one that is undecided is an ``error``, as is a run in which
    scores are missing by a failure or nothing was scored. Without that last case, a run without
    gates would be a file without tests, which build servers refuse.
    """
    summary = result.summary
    name = ".".join(filter(None, ("ragassay", summary.suite)))
    cases: list[_Case] = []
    for gate in gates.results_of(result):
        worst = [
            f"{row.sample}{f' ({row.system})' if row.system else ''}: {wording.number(value)}"
            f"{f', {row.explanation}' if row.explanation else ''}"
            for value, row in ([] if gate.passed else worst_rows(result, gate, _WORST))
        ]
        cases.append((name, gate.gate, gate.passed, [gate.sentence, *worst]))
    lack = lack_of([step.summary for step in result.steps])
    cases.append((name, "the run is complete", None if lack else True, [lack, *summary.warnings]))
    _write(path, ", ".join(filter(None, (summary.title, summary.suite))), cases)


def write_junit_of_comparisons(compared: Sequence[Comparison], path: Path) -> None:
    """Writes the gates of comparisons as JUnit XML, as `write_junit` does."""
    cases: list[_Case] = []
    for comparison in compared:
        name = f"ragassay.compare.{comparison.a} against {comparison.b}"
        for gate in comparison.gates:
            worst = [] if gate.passed else worst_queries(comparison, gate, _WORST)
            cases.append((name, gate.gate, gate.passed, [gate.sentence, *worst]))
        missing = f"No metric could be compared: {wording.compared_on(comparison)}."
        decidable = True if comparison.decidable else None
        cases.append((name, "a metric is compared", decidable, [missing, *comparison.warnings]))
    _write(path, ", ".join(f"{item.a} against {item.b}" for item in compared), cases)


def _write(path: Path, name: str, cases: Sequence[_Case]) -> None:
    outcomes = [{True: "", False: "failure", None: "error"}[passed] for _, _, passed, _ in cases]
    counts = {
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "ragassay", **counts})
    suite = _add(root, "testsuite", {"name": name or "ragassay", **counts})
    for (of, of_case, _, lines), outcome in zip(cases, outcomes, strict=True):
        element = _add(suite, "testcase", {"classname": of, "name": of_case, "time": "0"})
        if outcome:
            kind = "gate" if outcome == "failure" else "undecided"
            failure = _add(element, outcome, {"message": lines[0], "type": kind})
            failure.text = _allowed("\n".join(lines))
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    files.write_bytes(path, body + b"\n")


def _add(parent: ElementTree.Element, tag: str, facts: Mapping[str, str]) -> ElementTree.Element:
    plain = {name: printable.one_line(_allowed(text)) for name, text in facts.items()}
    return ElementTree.SubElement(parent, tag, plain)


def _allowed(text: str) -> str:
    """Text of characters that XML has."""
    return _NO_XML.sub("\ufffd", printable.lines(text))


def lack_of(summaries: Sequence[Summary]) -> str:
    """Why a run is incomplete; empty where it is not. What a failed system lacks, gates count."""
    if missing := missing_by_failure(*summaries):
        return f"{missing}."
    if all(summary.is_empty for summary in summaries):
        return "Nothing was scored."
    return ""


def worst_rows(result: Result, gate: GateResult, most: int) -> list[tuple[float, ScoreRow]]:
    """The values of a gate's metric that break its condition, worst first, with their rows."""
    condition = gates.parse(gate.gate)
    values = (
        (float(row.value), row)
        for row in result.scores
        if row.metric == condition.metric
        if isinstance(row.value, int | float) and not condition.holds(float(row.value))
    )
    worst = heapq.nsmallest if condition.at_least else heapq.nlargest
    return worst(most, values, key=itemgetter(0))


def github_commands(
    results: Iterable[GateResult], summaries: Sequence[Summary] = ()
) -> Iterator[str]:
    """Commands of a GitHub workflow, one a line: an error for each gate that did not pass, a notice
    for each that did, an error where scores are missing by a failure or nothing was scored."""
    for gate in results:
        level = "notice" if gate.passed else "error"
        state = {True: "passed", False: "failed", None: "undecided"}[gate.passed]
        yield command(level, f"gate {state}: {gate.gate}", gate.sentence)
    if summaries and (lack := lack_of(summaries)):
        yield command("error", "run incomplete", lack)


def command(level: str, title: str, message: str) -> str:
    """A command; what would end its line, or its title, is written by its code."""
    plain = [_LINE_END.sub(" ", printable.lines(text)).replace("%", "%25")
             for text in (title, message)]  # fmt: skip
    title, message = (text.replace("\r", "%0D").replace("\n", "%0A") for text in plain)
    title = title.replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={title}::{message}"


def gate_list(results: Iterable[GateResult]) -> str:
    """What gates found, as Markdown."""
    from ragassay.reports.drawn.markdown import escape

    marks = {True: "✅", False: "❌", None: "⚠"}
    return "".join(f"- {marks[result.passed]} {escape(result.sentence)}\n" for result in results)


def add_to_step_summary(text: str, environment: Mapping[str, str]) -> bool:
    """Adds Markdown to the summary of the step; whether the environment names its file."""
    place = environment.get("GITHUB_STEP_SUMMARY")
    if not place:
        return False
    try:
        with Path(place).open("ab") as stream:
            stream.write(f"{text.rstrip()}\n\n".encode())
    except OSError as error:
        raise files.cannot_write(Path(place), error) from error
    return True
