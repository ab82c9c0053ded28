"""The offline judge's relevance of a passage against people.

Called by ``python -m benchmarks.offline_judge``. The score that a grade is cut from, the grade, and
the stars of ML cube's report on a context of one passage (which is not told the earlier turns) are
compared with the annotators' "relevant: yes or no" (passage_relevance_half.jsonl).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.judges.offline import answer_to, grade, score
from ragassay.judges.questions import ReportOnContext

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
Floats = NDArray[np.float64]


def rows() -> list[dict[str, Any]]:
    """The labelled passages."""
    lines = (DATA / "passage_relevance_half.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def values() -> dict[str, tuple[Floats, Floats]]:
    """For each measure of relevance: its value of each labelled passage, and the labels."""
    found: dict[str, list[float]] = {"score": [], "grade": [], "report": []}
    labels = []
    for record in rows():
        query, passage = record["query"], record["passage"]
        earlier = tuple(record["earlier_user_turns"])
        reply = answer_to(ReportOnContext(query, (passage,)))
        assert reply is not None
        found["score"].append(score(query, passage, earlier))
        found["grade"].append(grade(query, passage, earlier))
        found["report"].append(reply.relevance)
        labels.append(float(record["relevant"]))
    return {name: (np.array(one, dtype=float), np.array(labels)) for name, one in found.items()}


def report() -> None:
    """Prints them."""
    print("\narea under the ROC curve for people's 'relevant'")
    for name, (found, labels) in values().items():
        print(f"  {name:<8}{len(labels):>6} passages  {auc(found, labels):.3f}")


def auc(values: Floats, labels: Floats) -> float:
    """Share of pairs of a relevant and another passage in which the first has more; ties half."""
    one, other = values[labels == 1], values[labels == 0]
    if not one.size or not other.size:
        return float("nan")
    above = np.sign(one[:, None] - other[None, :])
    return float((above + 1).mean() / 2)
