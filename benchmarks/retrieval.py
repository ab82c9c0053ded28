"""Retrieval measures against pytrec_eval (pytrec-eval-terrier), in the same run.

``python -m benchmarks.retrieval [--quick] [--queries N] [--depth N] [--shuffled]``: from files on
disk to MAP, MRR, nDCG@10, P@10 and Recall@100 (each side in a process of its own, start to end,
with its peak memory). 50 judgements a query, half of them for retrieved documents. Scores are exact
in 32 bits, so that pytrec_eval sees no ties that are none.
The targets hold at full size; ``--quick`` takes a tenth of the queries, where starting up weighs
most.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

OURS = ("AP", "RR", "nDCG@10", "P@10", "Recall@100")
THEIRS = ("map", "recip_rank", "ndcg_cut_10", "P_10", "recall_100")
ASKED = ("map", "recip_rank", "ndcg_cut.10", "P.10", "recall.100")
JUDGED = 50
TOLERANCE = 1e-12

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def main() -> int:
    """Prints one line for each comparison; 1 when a target is missed."""
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true")
    options.add_argument("--queries", type=int)
    options.add_argument("--depth", type=int, default=1000)
    options.add_argument("--shuffled", action="store_true")
    options.add_argument("--work", nargs=2)
    given = options.parse_args()
    if given.work:
        work(given.work[0], Path(given.work[1]))
        return 0
    n = given.queries or (1_000 if given.quick else 10_000)
    print(f"{'':<42}{'pytrec_eval':>12}{'ragassay':>10}{'ratio':>8}{'target':>8}")
    with tempfile.TemporaryDirectory() as folder:
        met = from_files(Path(folder), n, given.depth, shuffled=given.shuffled)
    return 0 if met or given.quick else 1


def from_files(folder: Path, n: int, depth: int, *, shuffled: bool) -> bool:
    """Files on disk to measures, each side in its own process."""
    write(folder, n, depth, shuffled=shuffled)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    theirs, ours = (measure(side, folder) for side in ("theirs", "ours"))
    off = difference(folder)
    what = f"{n:,} x {depth:,} from files ({size:,.0f} MB)"
    met = line(f"{what}, s", theirs["seconds"], ours["seconds"], 2.0)
    met &= line("peak memory, MB", theirs["peak"], ours["peak"], 0.7)
    print(f"largest difference of any value of any query: {off:.1e} (at most {TOLERANCE})")
    return met and off <= TOLERANCE


def line(what: str, theirs: float, ours: float, target: float) -> bool:
    """Prints a row; whether the ratio reaches its target."""
    ratio = theirs / ours
    print(f"{what:<42}{theirs:>12,.2f}{ours:>10,.2f}{ratio:>7.2f}x{target:>7.1f}x", flush=True)
    return ratio >= target


def queries(
    n: int, depth: int, *, shuffled: bool
) -> Iterator[tuple[str, list[str], list[float], list[str], list[int]]]:
    """For each query: id, documents and scores of the run, judged documents and grades."""
    draw = np.random.default_rng(0)
    half = JUDGED // 2
    for at in range(n):
        pool = draw.choice(8_000_000, depth + JUDGED - half, replace=False)
        scores = np.sort(draw.choice(1 << 20, depth, replace=False))[::-1] / 16
        if shuffled:
            draw.shuffle(scores)
        judged = np.concatenate([draw.choice(pool[:depth], half, replace=False), pool[depth:]])
        names = [f"D{number:07d}" for number in pool[:depth].tolist()]
        gold = [f"D{number:07d}" for number in judged.tolist()]
        yield f"{at + 100_000}", names, scores.tolist(), gold, draw.integers(0, 4, JUDGED).tolist()


def write(folder: Path, n: int, depth: int, *, shuffled: bool) -> None:
    """A TREC run and qrels."""
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for query, documents, scores, judged, grades in queries(n, depth, shuffled=shuffled):
            run.writelines(
                f"{query} Q0 {document} {rank} {score:.4f} bench\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            )
            qrels.writelines(
                f"{query} 0 {document} {grade}\n"
                for document, grade in zip(judged, grades, strict=True)
            )


def measure(side: str, folder: Path) -> dict[str, float]:
    """Seconds (imports included) and peak memory of one side."""
    command = [sys.executable, "-m", "benchmarks.retrieval", "--work", side, str(folder)]
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "peak": float(json.loads(done.stdout))}


def work(side: str, folder: Path) -> None:
    """One side's whole job; leaves its values by query and prints its peak memory in MB."""
    import resource

    evaluate = {"ours": work_ours, "theirs": work_theirs}[side]
    np.save(folder / f"{side}.npy", evaluate(folder / "qrels", folder / "run"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def work_ours(qrels: Path, run: Path) -> Any:
    """Values, shape ``(n_metrics, n_queries)``."""
    from ragassay.engine.run.ranked_runs import evaluate_run

    return np.array(list(evaluate_run(qrels, run, OURS).values.values()))


def work_theirs(qrels_path: Path, run_path: Path) -> Any:
    """The same by plain Python parsing and pytrec_eval."""
    import pytrec_eval

    qrels: Qrels = {}
    with qrels_path.open() as file:
        for text in file:
            query, _, document, grade = text.split()
            qrels.setdefault(query, {})[document] = int(grade)
    run: Run = {}
    with run_path.open() as file:
        for text in file:
            query, _, document, _, score, _ = text.split()
            run.setdefault(query, {})[document] = float(score)
    found = pytrec_eval.RelevanceEvaluator(qrels, set(ASKED)).evaluate(run)
    return np.array([[found[query][name] for query in sorted(found)] for name in THEIRS])


def difference(folder: Path) -> float:
    """The largest difference of any value."""
    ours, theirs = np.load(folder / "ours.npy"), np.load(folder / "theirs.npy")
    return float(np.abs(ours - theirs).max())


if __name__ == "__main__":
    sys.exit(main())
