"""Result files as Open RAG Eval and ragassay write them, small and made up."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragassay.base.score import Score
from reports_examples import Kind, result, samples

Run = Mapping[str, Any] | None
"""Scores of one run of a query by short names; ``None`` where there was no run."""

COLUMN = {
    "umbrela": "retrieval_score_mean_umbrela_score", "ranking": "retrieval_score_precision_metrics",
    "nuggets": "generation_score_autonugget_scores",
    "all": "generation_score_mean_nugget_assignment_score",
    "vital": "generation_score_vital_nuggetizer_score",
    "hhem": "generation_score_hallucination_score", "citations": "generation_score_citation_scores",
    "f1": "generation_score_citation_f1_score", "answered": "generation_score_no_answer_score",
}  # fmt: skip
STRICT = ("Vital Strict", "Weighted Strict")
STATS = ("mean", "median", "std", "max_min", "iqr", "consistency_adjusted_index")


def write(path: Path, heads: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    """A CSV file; values that are not text are written as JSON, missing ones as empty cells."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(heads))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()})
    return path


def ore(path: Path, queries: Mapping[str, Sequence[Run]], *, prefixed: bool = True) -> Path:
    """As Open RAG Eval writes it: ``run_1_`` ... always. Not prefixed: as ``trecrag.csv`` is."""
    n_runs = max(len(runs) for runs in queries.values())
    begins = [f"run_{at}_" if prefixed else "" for at in range(1, n_runs + 1)]
    heads = ["query_id", "query"]
    heads += [f"{begin}{column}" for begin in begins for column in COLUMN.values()]
    rows = []
    for name, runs in queries.items():
        row: dict[str, Any] = {"query_id": name, "query": f"What, is\n{name}?"}
        for begin, run in zip(begins, runs, strict=False):
            row |= {f"{begin}{COLUMN[key]}": value for key, value in (run or {}).items()}
        rows.append(row)
    return write(path, heads, rows)


def full(value: float, answered: bool = True) -> dict[str, Any]:
    """All scores of one run, each made from one number in [0, 1]."""
    return {
        "umbrela": 3 * value,
        "ranking": {"precision@": {"1": 1.0, "3": value}, "AP@": {"1": value}, "MRR": value},
        "nuggets": {"nuggetizer_scores": {"All": value, **dict.fromkeys(STRICT, value / 2)}},
        "all": value, "vital": value**2, "hhem": 1 - value,
        "citations": {"weighted_precision": value, "weighted_recall": value / 4, "f1": 0.4},
        "f1": 0.4, "answered": {"query_answered": "yes" if answered else "no"},
    }  # fmt: skip


def many(n: int, seed: int = 0) -> dict[str, list[Run]]:
    """Queries with one run each."""
    values = np.random.default_rng(seed).beta(2, 1.5, size=n)
    return {f"q{at}": [full(float(value), at % 5 != 0)] for at, value in enumerate(values)}


def stats(values: Sequence[float], *, ours: bool = False) -> dict[str, Any]:
    """A cell of a consistency file."""
    row = np.asarray(values)
    mean, std = float(row.mean()), float(row.std())
    q1, q3 = (float(q) for q in np.percentile(row, [25, 75]))
    numbers = (mean, float(np.median(row)), std, float(np.ptp(row)), q3 - q1, mean / (1 + std))
    found = dict(zip(STATS, numbers, strict=True))
    if ours:
        variance = float(row.var(ddof=1))
        found |= {"variance": variance, "coefficient_of_variation": variance**0.5 / mean}
    return {"values": list(values), "stats": found}


def consistency(path: Path, cells: Mapping[str, Mapping[str, Any]]) -> Path:
    """A consistency file from query -> metric -> cell."""
    names = list(dict.fromkeys(name for row in cells.values() for name in row))
    rows = [
        {"query_id": query, "query": "?"} | {f"consistency_{n}": cell for n, cell in row.items()}
        for query, row in cells.items()
    ]
    return write(path, ["query_id", "query", *(f"consistency_{name}" for name in names)], rows)


def three(path: Path) -> Path:
    """Three queries: one run twice, one with a run that was lost, one with no values."""
    return ore(
        path, {
            "q1": [full(0.2), full(0.6)], "q2": [full(0.9, answered=False), None],
            "q3": [{"answered": {"query_answered": "yes"}, "umbrela": float("nan")}],
        },
    )  # fmt: skip


CELLS = {
    "q1": {"bert_score": [0.9, 0.7, 0.8], "mean_umbrela_score": [3.0, 1.5, 0.0]},
    "q2": {"bert_score": [0.5, 0.5], "mean_umbrela_score": [1.0, 2.0]},
}


def consistent(path: Path, *, ours: bool = False) -> Path:
    """The consistency of two queries."""
    return consistency(
        path, {q: {n: stats(v, ours=ours) for n, v in row.items()} for q, row in CELLS.items()}
    )


def many_metrics(path: Path, *, new: bool = False) -> Path:
    """A run folder with forty-two metrics, of closed ranges and of others; in the new run the first
    has other values, the second differs by rounding alone, the others not at all."""
    kinds = [
        Kind(f"metric-with-a-long-name-{at}", "M", "answer", (0.0, 1.0 if at % 3 else None))
        for at in range(42)
    ]
    found = samples(6)
    scores = {kind.name: [Score(0.3) for _ in found] for kind in kinds}
    if new:
        scores[kinds[0].name] = [Score(0.4) for _ in found]
        scores[kinds[1].name] = [Score(0.1 + 0.2) for _ in found]
    result(found, scores, kinds).save(path)
    return path
