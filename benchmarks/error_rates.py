"""False and true findings over several metrics: step-down max-T beside Holm.

``python -m benchmarks.error_rates [--quick] [--comparisons N]``: comparisons of two simulated
systems by several metrics, N a cell (2,000 unless told; ``--quick``: a tenth). A row is a family of
metrics; its cells are how often any metric without a true difference was called different (the
family-wise error, at most 5 %), and which share of the true differences was found. All comparisons
share their sign patterns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.stats import compare_pairs

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

COMPARISONS = 2_000
QUERIES = 40
EFFECT = 0.09
"""A true difference of 0.45 standard deviations: raw power about 80 % at 40 queries."""

CORRECTIONS = ("maxt", "holm", "bh", "none")


def independent(generator: np.random.Generator, n: int) -> Floats:
    """Eight metrics that have nothing to do with each other."""
    return generator.normal(0, 0.2, (8, n))


def near_twins(generator: np.random.Generator, n: int) -> Floats:
    """Eight metrics that measure nearly the same (correlation .98)."""
    return generator.normal(0, 0.2, (1, n)) + generator.normal(0, 0.03, (8, n))


def mixed_scales(generator: np.random.Generator, n: int) -> Floats:
    """Eight metrics in pairs of twins, half of them from 0 to 100, of different tails."""
    pairs = np.repeat(generator.normal(0, 0.2, (4, n)), 2, axis=0)
    found = pairs + generator.normal(0, 0.06, (8, n))
    found[1] = (generator.exponential(size=n) - generator.exponential(size=n)) * 0.14
    found[3] = generator.choice([-1.0, 0.0, 1.0], size=n, p=[0.15, 0.7, 0.15])
    return np.asarray(found * np.array([1, 1, 1, 1, 100, 100, 100, 100])[:, None])


def clustered(generator: np.random.Generator, n: int) -> Floats:
    """Eight metrics over n conversations of up to four turns; a fifth of the scores is missing."""
    shared = generator.normal(0, 0.15, (8, n, 1)) + generator.normal(0, 0.15, (8, n, 4))
    return np.asarray(shared.reshape(8, 4 * n))


FAMILIES: tuple[tuple[str, Draw, int], ...] = (
    ("8 independent", independent, 1),
    ("8 near-twins", near_twins, 1),
    ("8 on mixed scales, in pairs", mixed_scales, 1),
    ("8 clustered, a fifth missing", clustered, 4),
)


def found_by(
    draw: Draw, turns: int, n_true: int, correction: str, comparisons: int
) -> tuple[float, float]:
    """The family-wise error and the power of one correction, the first rows truly different."""
    false = true = 0
    for at in range(comparisons):
        generator = np.random.default_rng(at)
        values = draw(generator, QUERIES)
        deviation = 100.0 * (values.std(axis=1) > 5) + (values.std(axis=1) <= 5)
        values[:n_true] += (EFFECT * deviation)[:n_true, None]
        mask = np.ones(values.shape, dtype=np.bool_)
        if turns > 1:
            mask = generator.random(values.shape) < 0.8
        results = compare_pairs(
            values,
            np.zeros(values.shape),
            mask=mask,
            clusters=None if turns == 1 else np.repeat(np.arange(QUERIES), turns),
            correction=correction,
            n_resamples=1_000,
            seed=at,  # one set of patterns for all would have a chance error that stays
        )
        findings = [
            result.p_adjusted is not None and result.p_adjusted <= 0.05 for result in results
        ]
        false += any(findings[n_true:])
        true += sum(findings[:n_true])
    return false / comparisons, true / (comparisons * n_true) if n_true else np.nan


def main(arguments: Sequence[str] = ()) -> None:
    """Prints the table; fails where max-T errs too often or finds less than Holm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--comparisons", type=int, default=COMPARISONS)
    chosen = parser.parse_args(arguments)
    comparisons = chosen.comparisons // (10 if chosen.quick else 1)
    print(f"{comparisons:,} comparisons of {QUERIES} queries; level 5 %; error / share found\n")
    print("| metrics | true differences | " + " | ".join(CORRECTIONS) + " |")
    print("|---|---|" + "---|" * len(CORRECTIONS))
    wrong = []
    for name, draw, turns in FAMILIES:
        for n_true in (0, 3):
            cells = {c: found_by(draw, turns, n_true, c, comparisons) for c in CORRECTIONS}
            spelled = (
                f"{error:.3f}" + (f" / {power:.3f}" if n_true else "")
                for error, power in cells.values()
            )
            print(f"| {name} | {n_true} | " + " | ".join(spelled) + " |", flush=True)
            noise = 3 * np.sqrt(0.05 * 0.95 / comparisons)
            if cells["maxt"][0] > 0.05 + noise:
                wrong.append(f"{name}: max-T errs in {cells['maxt'][0]:.3f} of the comparisons")
            if n_true and cells["maxt"][1] < cells["holm"][1] - noise / 3:
                wrong.append(f"{name}: max-T finds less than Holm")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
