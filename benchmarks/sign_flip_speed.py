"""Speed of the paired sign-flip test beside that of a plain Python loop over the same work.

``python -m benchmarks.sign_flip_speed [--quick]``: 20 metrics on 1,000 queries, 10,000 resamples,
both in this process. The loop draws one set of signs a resample for all metrics and sums with
C-level ``map`` and ``operator.mul``: as fast as Python without numpy gets. ``--quick`` runs a tenth
of the loop's resamples and scales its time.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from operator import mul

import numpy as np

from ragassay.stats.sign_flip import sign_flips

N_METRICS, N_QUERIES, N_RESAMPLES, TARGET = 20, 1_000, 10_000, 50


def main() -> None:
    """Prints both times, their ratio and the largest difference between the p-values."""
    share = 10 if "--quick" in sys.argv else 1
    rng = np.random.default_rng(0)
    # True differences from none to plain, so that p-values of every size are compared.
    centre = np.linspace(0.0, 0.02, N_METRICS)[:, None]
    differences = rng.normal(centre, 0.2, (N_METRICS, N_QUERIES))

    ours_times = []
    for _ in range(5):
        began = time.perf_counter()
        ours = sign_flips(differences, n_resamples=N_RESAMPLES).p_values
        ours_times.append(time.perf_counter() - began)
    rows = differences.tolist()
    began = time.perf_counter()
    loop = plain_loop(rows, N_RESAMPLES // share)
    loop_time = (time.perf_counter() - began) * share

    note = f" (a tenth of the resamples, times {share})" if share > 1 else ""
    print(f"{N_METRICS} metrics x {N_QUERIES:,} queries x {N_RESAMPLES:,} resamples")
    best = min(ours_times)
    print(f"plain Python loop  {loop_time:9.3f} s{note}")
    print(f"ragassay           {best:9.3f} s (best of 5; first call {ours_times[0]:.3f} s)")
    print(f"ratio              {loop_time / best:9.0f} x (target: at least {TARGET} x)")

    apart = np.abs(ours - np.array(loop))
    noise = np.sqrt(ours * (1 - ours) * (1 + share) / N_RESAMPLES) + 2 * share / N_RESAMPLES
    print(f"largest difference of two p-values: {apart.max():.4f}")
    if (apart > 5 * noise).any():
        sys.exit("the p-values differ by more than chance allows")


def plain_loop(rows: Sequence[Sequence[float]], n_resamples: int) -> list[float]:
    """The same test without numpy."""
    draw = random.Random(0)
    observed = [abs(sum(row)) for row in rows]
    hits = [0] * len(rows)
    for _ in range(n_resamples):
        signs = draw.choices((-1.0, 1.0), k=len(rows[0]))
        for at, row in enumerate(rows):
            if abs(sum(map(mul, signs, row))) >= observed[at] - 1e-12:
                hits[at] += 1
    return [(count + 1) / (n_resamples + 1) for count in hits]


if __name__ == "__main__":
    main()
