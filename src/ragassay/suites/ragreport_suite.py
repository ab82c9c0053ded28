"""ragreport: ML cube's RAG evaluation report, under its published names."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.suites import Suite

GROUPS: Mapping[str, str] = {
    "retrieval": "Retrieval Evaluation (User Input - Context)",
    "correctness": "Context Factual Correctness (Context - Response)",
    "response": "Response Evaluation (User Input - Response)",
}
"""The three relationships by the suite's name for them (its steps), with their published titles."""

_METRICS = {
    "relevance": "retrieval",
    "usefulness": "retrieval",
    "utilization": "retrieval",
    "attribution": "retrieval",
    "faithfulness": "correctness",
    "satisfaction": "response",
}

SUITE = Suite(
    name="ragreport",
    title="User input, context and response, each against each other, with explanations",
    source="ML cube Platform, RAG evaluation",
    metrics=tuple(_METRICS),
    aliases={name: f"ragreport_{name}" for name in _METRICS},
    elsewhere={
        "faithfulness": "This faithfulness is the absence of contradiction; for the share of the "
        "answer's claims that the passages support, which the name mostly stands for, write rl_f."
    },
    columns={f"ragreport_{name}": name for name in _METRICS},
    steps=_METRICS,
    groups={name: GROUPS[step] for name, step in _METRICS.items()},
    notes=(
        "Relevance, usefulness, faithfulness and satisfaction run from 1 to 5, utilization from 0 "
        "to 100; attribution lists chunks, the first being 1. A context that seems to hold several "
        "chunks in one text is refused unless --separator or --single-chunk is given.",
        "A metric whose component is missing has the lowest value, as published; the mean without "
        "such values stands beside the mean. ragreport_relevance(missing=unscored), and so on, "
        "leave them unscored.",
        "Faithfulness is the absence of contradiction, as ML cube defines it: a response that the "
        "context neither states nor denies has 5. The share of claims that the context supports, "
        "which others call faithfulness, is another metric: rl_f.",
        "The offline judge has no answer to faithfulness: words do not tell a contradiction. With "
        "it the metric is unscored (unsupported); so are usefulness, utilization and attribution "
        "where the query asks for a reason or a way (why, how).",
        "A high relevance (4 or 5) with a low usefulness (1 or 2) is a context on the topic that "
        "lacks the answer; the explanation says so.",
    ),
)
