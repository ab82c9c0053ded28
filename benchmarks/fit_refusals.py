"""Fits the offline judge's classifier of refusals, and says how well it does on other systems.

``python -m benchmarks.fit_refusals PATH [--write]``: PATH is a JSON Lines file of answers with
``conversation``, ``response``, ``system`` and ``idk_eval`` (1 for a full "I don't know"), as
``../shared/data/mtrag/idk_585.jsonl``. ``--write`` puts the weights into the package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.judges.offline import refusal

Floats = NDArray[np.float64]
RIDGE = 1.0
"""Penalty on the squared weights, the constant excepted."""
FILE = Path(refusal.__file__).with_name("data") / "refusals.json"


def rows(path: Path) -> list[dict[str, Any]]:
    """The records of the file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def turns(record: dict[str, Any]) -> str:
    """The conversation of a record, as lines ``speaker: text``."""
    return "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in record["conversation"])


def design(records: Sequence[dict[str, Any]]) -> tuple[Floats, Floats, NDArray[Any]]:
    """Features with a constant, labels 0 or 1, and systems."""
    x = np.array([(1.0, *refusal.features(one["response"], turns(one))) for one in records])
    y = np.array([float(one["idk_eval"] == 1.0) for one in records])
    return x, y, np.array([one["system"] for one in records])


def kinds(record: dict[str, Any]) -> set[str]:
    """The kinds of the parts of an answer."""
    return {kind for kind, _ in refusal.parts(record["response"], turns(record))}


def fitted(x: Floats, y: Floats) -> Floats:
    """Weights by Newton's method; both classes have the same weight together."""
    heavy = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    penalty = RIDGE * np.eye(x.shape[1])
    penalty[0, 0] = 1e-9
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (heavy * (y - p)) - penalty @ weights
        curve = (x * (heavy * p * (1 - p))[:, None]).T @ x + penalty
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def left_out(x: Floats, y: Floats, systems: NDArray[Any]) -> NDArray[np.bool_]:
    """What is said of each system's answers by weights fitted on the other systems."""
    said = np.zeros(len(y), dtype=bool)
    for system in np.unique(systems):
        there = systems == system
        said[there] = x[there] @ fitted(x[~there], y[~there]) > 0
    return said


def balanced(said: NDArray[np.bool_], y: Floats) -> float:
    """Mean of the shares of refusals and of other answers that are told right."""
    return float((said[y == 1].mean() + (~said[y == 0]).mean()) / 2)


def measured(path: Path) -> dict[str, tuple[float, int]]:
    """Balanced accuracy with one system left out in turn, and the number of answers: of all, and
    without small talk alone, which is a full "I don't know" by the question's own definition,
    whatever the label."""
    records = rows(path)
    talk = np.array([kinds(one) <= {"small talk"} for one in records])
    decided = np.array(["refusal" in kinds(one) for one in records])
    x, y, systems = design(records)
    said = talk.copy()
    said[decided] = left_out(x[decided], y[decided], systems[decided])
    return {
        "without small talk": (balanced(said[~talk], y[~talk]), int((~talk).sum())),
        "all": (balanced(said, y), len(y)),
    }


def trained(records: Sequence[dict[str, Any]]) -> list[float]:
    """The weights, fitted on the answers with a phrase of refusal."""
    x, y, _ = design([one for one in records if "refusal" in kinds(one)])
    return [round(float(one), 3) for one in fitted(x, y)]


def main() -> None:
    """Prints balanced accuracies; with ``--write`` also writes the weights."""
    path = Path(sys.argv[1])
    for name, (value, n) in measured(path).items():
        print(f"{name}: balanced accuracy {value:.3f}, {n} answers, one system left out in turn")
    weights = trained(rows(path))
    print("weights:", *weights)
    if "--write" in sys.argv:
        FILE.write_text(json.dumps({"weights": weights}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
