"""One sample, and the scores that a test asks of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import RagassayError, RagassayWarning, UsageError
from ragassay.base.sample import Sample
from ragassay.engine import evaluate, explain
from ragassay.engine.comparison import gates

if TYPE_CHECKING:
    from ragassay.engine.results.comparison_result import GateResult
    from ragassay.engine.results.result import Result
    from ragassay.judges import Judge

_MARGIN = 8  # columns that pytest puts before each line of an error


def assert_score(
    sample: Sample | Mapping[str, Any],
    *conditions: str,
    judge: str | Judge | None = None,
    **options: Any,
) -> Result:
    """Asserts that the scores of one sample fulfil conditions.

    A condition that cannot be decided is not fulfilled: where the sample lacks what the metric
    needs, where the judge gave no answer, or where the offline judge would decide whose agreement
    with people is not known (``trust_offline=True`` lets it decide).

    Args:
        sample: a `Sample`, or a mapping with the keys that a line of a file has.
        conditions: of the form METRIC>=VALUE, as ``faithfulness>=0.8`` (also ``>``, ``<=``,
            ``<``).
        judge: who answers the questions of judged metrics: as for `ragassay.evaluate`.
        options: further options of `ragassay.evaluate`.

    Returns:
        The evaluation of the sample.

    Raises:
        AssertionError: a condition is not fulfilled; the text has value, explanation and evidence.
        UsageError: no condition, or one that names an unknown metric or a bound.
        InputError: the mapping is no sample.
    """
    __tracebackhide__ = True
    if not conditions or not all(isinstance(condition, str) for condition in conditions):
        raise UsageError(
            "Give at least one condition, each as a text of its own: "
            "assert_score(sample, 'em>=1', 'token_f1.f>=0.6')."
        )
    parsed = [gates.parse(condition, "condition") for condition in conditions]
    for gate in parsed:
        if gate.which != "mean":
            instead = f"{gate.metric}{gate.op}{gate.threshold:g}"
            raise UsageError(
                f"condition '{gate}': one sample has no interval. Write '{instead}'; the fixture "
                "rag_eval gates the bounds of all samples of a session."
            )
    if "metrics" not in options and "suite" not in options:
        options["metrics"] = list(dict.fromkeys(gate.metric for gate in parsed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RagassayWarning)
            result = evaluate([sample], judge=judge, fail_under=[*map(str, parsed)], **options)
    except RagassayError as error:
        # Raised here, so that pytest shows the line of the test and not those of the package.
        raise error.with_traceback(None) from None
    unfulfilled = [gate_result for gate_result in result.gates if gate_result.passed is not True]
    if unfulfilled:
        raise AssertionError(_failure(result, unfulfilled))
    return result


def _failure(result: Result, unfulfilled: list[GateResult]) -> str:
    """What a failed assertion says: each condition with the score, then the evidence."""
    (sample,) = result.samples
    rows = {row.metric: row for row in result.scores}
    lines, metrics = [], []
    for gate in unfulfilled:
        text, metric = gate.gate, gate.metrics[0]
        metrics.append(metric)
        row = rows[metric]
        if row.value is None:
            problem = f"{metric} is unscored ({row.reason}): {row.explanation}".rstrip(": ")
            lines.append(f"{text} cannot be decided: {problem}")
            continue
        value = row.value if isinstance(row.value, str | list) else gate.rounded(row.value)
        if gate.passed is None:
            lines.append(f"{text} cannot be decided: {metric} is {value}; {gate.why}")
        else:
            lines.append(f"{text} does not hold: {metric} is {value}")
    return "\n".join([*lines, evidence_of(result, sample, metrics)])


def evidence_of(result: Result, sample: Sample, metrics: list[str]) -> str:
    """The scores of a sample with their explanations and answers, as plain text."""
    from ragassay.base import printable
    from ragassay.reports import text_of
    from ragassay.reports.views.evidence_view import evidence_report

    explanation = explain(result, sample.id, system=sample.system, repeat=sample.repeat)
    scores = tuple(score for score in explanation.scores if score.row.metric in metrics)
    report = evidence_report(replace(explanation, scores=scores))
    lines = text_of(report, margin=_MARGIN).splitlines()
    return printable.lines("\n".join(line for line in lines if "--full shows" not in line))
