"""What the verdicts of a sample's scores took in tokens, in Open RAG Eval's columns."""

from __future__ import annotations

from typing import Any

from ragassay.engine.results import Record, Result
from ragassay.metrics.answer import Answered, NoAnswer
from ragassay.metrics.citation import CitationOre
from ragassay.metrics.nuggets import Nuggets, NuggetsOre
from ragassay.metrics.relevance import Umbrela
from ragassay.reports.tables.ore_values import OreValues
from ragassay.reports.tables.rows_by_sample import Rows

STEPS = {
    "relevance_grade": "umbrela_tokens",
    "extract_nuggets": "autonugget_tokens",
    "nugget_importance": "autonugget_tokens",
    "assign_nuggets": "autonugget_tokens",
    "citation_support": "citation_tokens",
    "answer_attempted": "no_answer_tokens",
}
"""Where the tool counts what a kind of question took."""

_ASKING = (Umbrela, NuggetsOre, Nuggets, CitationOre, NoAnswer, Answered)
"""The metrics whose questions the tool asks, too."""

_USAGE = ("input_tokens", "output_tokens", "total_tokens")

RETRIEVAL, GENERATION = "retrieval_score_token_usage", "generation_score_token_usage"
TOTALS = ("total_input_tokens", "total_output_tokens", "total_tokens")
"""The columns of one run that hold tokens."""


def tokens_of(rows: Rows, values: OreValues, result: Result) -> dict[str, Any]:
    """The tokens of the verdicts that a sample's scores rest on, as they were when first given; 0
    for judges without tokens (rules, people).

    Args:
        rows: scores of a sample, by metric.
        values: names the metrics.
        result: of a run.

    Returns:
        Columns by name.
    """
    steps = {name: dict.fromkeys(_USAGE, 0) for name in dict.fromkeys(STEPS.values())}
    asked = dict.fromkeys(
        name
        for shown, metric in values.metrics.items()
        if isinstance(metric, _ASKING) and shown in rows
        for name in rows[shown].evidence
    )
    for name in asked:
        record = result.verdicts.get(name)
        step = None if record is None else STEPS.get(record["question"])
        if record is not None and step is not None:
            for key, n in zip(_USAGE, _counted(record), strict=True):
                steps[step][key] += n
    totals = {
        total: sum(step[key] for step in steps.values())
        for total, key in zip(TOTALS, _USAGE, strict=True)
    }
    return {RETRIEVAL: steps["umbrela_tokens"], GENERATION: steps | totals, **totals}


def _counted(record: Record) -> tuple[int, int, int]:
    """Input, output and all tokens of a verdict, of a panel's those of its votes."""
    answers = record.get("votes") or [record]
    came, went = (sum(one.get(key, 0) for one in answers) for key in _USAGE[:2])
    return came, went, came + went
