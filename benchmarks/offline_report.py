"""The offline judge's ML cube report against people.

Called by ``python -m benchmarks.offline_judge``. Relevance and usefulness of a single passage are
compared with the annotators' "relevant: yes or no" (passage_relevance_half.jsonl) by the area under
the ROC curve, for each kind of answer that a query asks for; satisfaction with the human labels of
the answers (human_evaluations_half.json) by Spearman's rho.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ragassay import load
from ragassay.judges.offline import answer_to
from ragassay.judges.offline.language import kind_of
from ragassay.judges.questions import ReportOnContext, Satisfaction

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
Floats = NDArray[np.float64]


def report(quick: bool = False) -> None:
    """Prints both."""
    print(
        "\nML cube's report: area under the ROC curve for 'relevant', by kind of answer asked for"
    )
    lines = (DATA / "passage_relevance_half.jsonl").read_text(encoding="utf-8").splitlines()
    rows: dict[str, list[tuple[float, float | None, bool]]] = defaultdict(list)
    for line in lines[:: 5 if quick else 1]:
        record = json.loads(line)
        found = answer_to(ReportOnContext(record["query"], (record["passage"],)))
        assert found is not None
        kind = kind_of(record["query"])
        for name in ("all", kind):
            rows[name].append((found.relevance, found.usefulness, bool(record["relevant"])))
    for name in ("all", "any", "date", "number", "name"):
        relevance, usefulness, relevant = np.array(rows[name], dtype=float).T
        told = ~np.isnan(usefulness)
        print(
            f"  {name:<8}{len(relevant):>5} passages: relevance {auc(relevance, relevant):.3f}, "
            f"usefulness {auc(usefulness[told], relevant[told]):.3f} of {told.sum()} that have one"
        )
    stars, people = [], defaultdict(list)
    for sample in load(DATA / "human_evaluations_half.json"):
        if sample.system == "reference" or sample.answer is None:
            continue
        given = sample.metadata["annotations"]
        said = answer_to(Satisfaction(sample.query or "", sample.answer.text))
        assert said is not None
        stars.append(said.stars)
        for name in ("appropriateness", "completeness"):
            people[name].append(median(map(float, given[name].values())))
    for name, values in people.items():
        print(f"  satisfaction and {name}: rho {spearman(np.array(stars), np.array(values)):.3f}")


def auc(values: Floats, labels: Floats) -> float:
    """Share of pairs of a relevant and another passage in which the first has more; ties half."""
    one, other = values[labels == 1], values[labels == 0]
    if not one.size or not other.size:
        return float("nan")
    above = np.sign(one[:, None] - other[None, :])
    return float((above + 1).mean() / 2)


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's rho with mean ranks for ties."""
    ranks = [(np.sign(v[:, None] - v[None, :]) + 1).sum(1) for v in (x, y)]
    return float(np.corrcoef(*ranks)[0, 1])
