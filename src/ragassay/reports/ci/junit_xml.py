"""JUnit XML: a test case for each gate, and one for the completeness of the run or comparison."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

from ragassay.base import files, printable
from ragassay.engine.comparison import gates
from ragassay.engine.comparison.comparison_gates import metrics_of, worst_queries
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison, Difference, GateResult
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import Summary, missing_by_accident
from ragassay.reports.text import wording

WORST = 5
"""Samples (or queries) that a gate which did not pass names."""

COMPLETE = "no score is missing by accident"
"""The test case about completeness: without it, a run without gates would be a file without tests,
which build servers refuse. What a failed system leaves unscored is no accident of the scoring:
gates count it."""

COMPARED = "a metric is compared"
"""The test case of a comparison that says whether there was anything to decide by."""

_NO_XML = re.compile("[\ufffe\uffff]")
_OUTCOMES = {True: "", False: "failure", None: "error"}

_Case = tuple[str, Mapping[str, object], str, Sequence[str]]
"""A test case: its name, figures, outcome (empty where it passed), and lines, of which the first is
the message."""


def write_junit(result: Result, path: Path) -> None:
    """Writes the gates of a run as JUnit XML.

    A gate that failed is a ``failure``; one that is undecided is an ``error``, as is a run in which
    scores are missing by accident or nothing was scored.
    """
    summary = result.summary
    metrics = gates.summaries_of(result)
    cases = []
    for gate in gates.results_of(result):
        one = metrics.get(gate.metrics[0])
        figures = {"mean": one and one.mean, "scored": one and wording.coverage(one)}
        cases.append(_gate_case(gate, figures, () if gate.passed else _worst_lines(result, gate)))
    summaries = [step.summary for step in result.steps]
    cases.append(_state_case(COMPLETE, lack_of(summaries), summary.warnings))
    facts = {
        "data": summary.title,
        "system": summary.system,
        "samples": summary.n_samples,
        "queries": summary.n_queries,
        "judge": "" if summary.judging is None else summary.judging.judge,
    }
    name = ", ".join(filter(None, (summary.title, summary.suite)))
    class_name = ".".join(filter(None, ("ragassay", summary.suite)))
    _write(path, name, facts, [(class_name, case) for case in cases])


def write_junit_of_comparisons(compared: Sequence[Comparison], path: Path) -> None:
    """Writes the gates of comparisons as JUnit XML, as `write_junit` does."""
    cases = []
    for one in compared:
        of_gates = [
            _gate_case(gate, _compared_figures(gate, metrics_of(one, gate)),
                       () if gate.passed else worst_queries(one, gate, WORST))
            for gate in one.gates
        ]  # fmt: skip
        common = wording.compared_on(one)
        missing = "" if one.decidable else f"No metric could be compared: {common}."
        state = _state_case(COMPARED, missing, one.warnings)
        name = f"ragassay.compare.{one.a} against {one.b}"
        cases += [(name, case) for case in (*of_gates, state)]
    names = [f"{one.a} against {one.b}" for one in compared]
    facts = {"correction": compared[0].correction, "level": compared[0].level}
    _write(path, ", ".join(names), facts, cases)


def _gate_case(gate: GateResult, figures: Mapping[str, object], worst: Iterable[str]) -> _Case:
    facts = {"value": gate.value, "low": gate.low, "high": gate.high, **figures}
    return gate.gate, facts, _OUTCOMES[gate.passed], [gate.sentence, *worst]


def _state_case(name: str, missing: str, warnings: Iterable[str]) -> _Case:
    return name, {}, "error" if missing else "", [missing, *warnings]


def _write(
    path: Path, name: str, facts: Mapping[str, object], cases: Sequence[tuple[str, _Case]]
) -> None:
    outcomes = [case[2] for _, case in cases]
    counts = {
        "name": name or "ragassay",
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": "0",
    }
    root = ElementTree.Element("testsuites", _plain({**counts, "name": "ragassay"}))
    suite = ElementTree.SubElement(root, "testsuite", _plain(counts))
    _add_properties(suite, facts)
    for class_name, (title, numbers, outcome, lines) in cases:
        attributes = {"classname": class_name, "name": title, "time": "0"}
        element = ElementTree.SubElement(suite, "testcase", _plain(attributes))
        if numbers:
            _add_properties(element, numbers)
        if outcome:
            kind = "gate" if outcome == "failure" else "undecided"
            failure = _plain({"message": lines[0], "type": kind})
            ElementTree.SubElement(element, outcome, failure).text = _allowed("\n".join(lines))
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    files.write_bytes(path, body + b"\n")


def lack_of(summaries: Sequence[Summary]) -> str:
    """Why a run is incomplete; empty where it is not."""
    if missing := missing_by_accident(*summaries):
        return f"{missing}."
    if not any(metric.n_scored for one in summaries for metric in one.metrics.values()):
        return "Nothing was scored."
    return ""


def _compared_figures(gate: GateResult, differences: Sequence[Difference]) -> dict[str, object]:
    """The figures of the one metric that a gate is on; those of the drop come first where the gate
    limits one."""
    if len(differences) != 1:
        return {}
    d = differences[0]
    low, high = gate.drop_bounds
    drop = {"value": gate.drop, "limit": gate.limit, "low": low, "high": high}
    return {
        **(drop if gate.limit is not None else {}),
        "a_mean": d.a_mean,
        "b_mean": d.b_mean,
        "difference": d.diff,
        "interval": wording.bounds(d.low, d.high, sign=True),
        "p_adjusted": d.p_adjusted,
        "n": d.n,
        "verdict": d.verdict,
    }


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


def _worst_lines(result: Result, gate: GateResult) -> list[str]:
    return [
        f"{row.sample}{f' ({row.system})' if row.system else ''}: {wording.number(value)}"
        f"{f', {row.explanation}' if row.explanation else ''}"
        for value, row in worst_rows(result, gate, WORST)
    ]


def _add_properties(parent: ElementTree.Element, facts: Mapping[str, object]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in facts.items():
        if value not in (None, ""):
            shown = {"name": name, "value": str(value)}
            ElementTree.SubElement(properties, "property", _plain(shown))


def _plain(attributes: dict[str, str]) -> dict[str, str]:
    return {name: printable.one_line(_allowed(text)) for name, text in attributes.items()}


def _allowed(text: str) -> str:
    """Text of characters that XML has."""
    return _NO_XML.sub("\ufffd", printable.lines(text))
