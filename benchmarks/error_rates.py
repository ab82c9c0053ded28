"""False and true findings of comparisons: by one metric, and by several.

``python -m benchmarks.error_rates [--quick] [--comparisons N] [one|families]``: comparisons of two
simulated systems, N a cell (2,000 unless given; ``--quick``: a tenth).

*One metric.* A row is how two systems differ. Its cells are how often the difference is found, how
often the finding carries a sentence (so that it is indicative), how often the same data with signs
at random are called different, and how often a comparison at the size called detectable finds it.
The second table asks ``--fail-if-drop`` at the margin: how often a drop is called excluded that is
not.

*Families.* A row is a family of metrics; its cells are how often any metric without a true
difference was called different (the family-wise error, at most 5 %), and which share of the true
differences was found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.stats.paired import PairedResult, compare_pairs

Floats = NDArray[np.floating[Any]]
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


def half_lognormal(generator: np.random.Generator, n: int) -> Floats:
    """Eight metrics, half of them lognormal about their mean: skewed, without a difference."""
    found = generator.normal(0, 0.2, (8, n))
    found[4:] = 0.1 * (generator.lognormal(size=(4, n)) - np.exp(0.5))
    return found


FAMILIES: tuple[tuple[str, Draw, int], ...] = (
    ("8 independent", independent, 1),
    ("8 near-twins", near_twins, 1),
    ("8 on mixed scales, in pairs", mixed_scales, 1),
    ("8 clustered, a fifth missing", clustered, 4),
    ("8, half of them lognormal, n 30", half_lognormal, 1),
)


Pairs = tuple[Floats, Floats, NDArray[np.int64] | None]
"""Scores of the new and the old system, and the conversation of each query."""


@dataclass(frozen=True)
class Difference:
    """How two systems differ in one metric: ``draw(generator, size)`` gives scores whose true mean
    difference is ``-size`` (a gain where ``gains`` is true)."""

    name: str
    draw: Callable[[np.random.Generator, float], Pairs]
    size: float
    gains: bool = False


def lost(
    conversations: int, sizes: Callable[..., NDArray[np.int64]], icc: float, size: float
) -> Difference:
    """Old answers all right, new ones lost at a rate of each conversation."""

    def draw(g: np.random.Generator, rate: float) -> Pairs:
        turns = sizes(g, conversations)
        total = 1 / icc - 1 if icc else 0.0
        rates = g.beta(rate * total, (1 - rate) * total, conversations) if icc else rate
        each = np.repeat(np.broadcast_to(rates, conversations), turns)
        new = (g.random(each.size) >= each) * 1.0
        return new, np.ones(each.size), np.repeat(np.arange(conversations), turns)

    kind = "uneven conversations" if sizes is uneven else f"conversations of {sizes(None, 1)[0]}"
    return Difference(f"{conversations} {kind}, ICC {icc:g}", draw, size)


def uneven(g: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Numbers of turns: geometric with mean 4, at most 25."""
    return np.minimum(g.geometric(0.25, n), 25)


def of_five(_: np.random.Generator | None, n: int) -> NDArray[np.int64]:
    """Five turns each."""
    return np.full(n, 5)


def one_way(n: int, size: float) -> Difference:
    """0/1 scores of queries of which some are lost and none gained."""

    def draw(g: np.random.Generator, rate: float) -> Pairs:
        return (g.random(n) >= rate) * 1.0, np.ones(n), None

    return Difference(f"{n} queries, some lost", draw, size)


def graded(name: str, values: Callable[..., Floats], size: float, gains: bool = True) -> Difference:
    """Differences of graded scores."""

    def draw(g: np.random.Generator, shift: float) -> Pairs:
        found = values(g, shift)
        return found, np.zeros(found.size), None

    return Difference(name, draw, size, gains)


def tied(g: np.random.Generator, rest: Floats) -> Floats:
    """Values of which 60 % are ties."""
    return np.where(g.random(rest.size) < 0.6, 0.0, rest)


SKEWED = (
    graded(
        "60 % ties, rest skewed, n 20",
        lambda g, _: tied(g, g.lognormal(size=20) - np.exp(0.5)),
        0.0,
    ),
    graded("exponential about its mean, n 30", lambda g, _: g.exponential(size=30) - 1, 0.0),
    graded("lognormal about its mean, n 30", lambda g, _: g.lognormal(size=30) - np.exp(0.5), 0.0),
)
"""No difference, by distributions that are not symmetrical."""

ONE = (
    lost(30, uneven, 0.0, 0.1),
    lost(30, uneven, 0.2, 0.1),
    lost(20, of_five, 0.2, 0.1),
    one_way(50, 0.1),
    one_way(200, 0.02),
    graded(
        "60 % ties, rest uniform, n 20",
        lambda g, d: tied(g, g.uniform(-0.35, 0.35, 20) + d / 0.4),
        0.06,
    ),
    graded("normal, sd 0.2, n 20", lambda g, d: g.normal(d, 0.2, 20), 0.1),
    graded("normal, sd 0.2, n 50", lambda g, d: g.normal(d, 0.2, 50), 0.08),
    *SKEWED,
)

MARGINS = (
    lost(30, uneven, 0.2, 0.1),
    lost(20, of_five, 0.2, 0.1),
    one_way(50, 0.1),
    one_way(200, 0.05),
    graded("normal, sd 0.2, n 20", lambda g, d: g.normal(-d, 0.2, 20), 0.05, False),
    graded(
        "5 % lose .6, n 30", lambda g, d: np.where(g.random(30) < d / 0.6, -0.6, 0.0), 0.03, False
    ),
    graded(
        "5 % lose .6, n 200", lambda g, d: np.where(g.random(200) < d / 0.6, -0.6, 0.0), 0.03, False
    ),
)


def compared(pairs: Pairs, seed: int, power: float | None = None) -> PairedResult:
    """One comparison."""
    new, old, clusters = pairs
    # Differences of more than 1 are of scores without a range.
    span = (0, 1) if np.abs(np.subtract(new, old)).max() <= 1 else (None, None)
    (found,) = compare_pairs(
        new, old, clusters=clusters, spans=[span], n_resamples=1_000, seed=seed, power=power
    )
    return found


def is_found(test: PairedResult) -> bool:
    """Whether the comparison finds a difference."""
    return test.p_adjusted is not None and test.p_adjusted <= 0.05


def row_of_one(at: int, comparisons: int) -> str:
    """The row of a difference in the table of one metric."""
    cell, g = ONE[at], np.random.default_rng(at)
    tests = [compared(cell.draw(g, cell.size), seed) for seed in range(comparisons)]
    found = [test for test in tests if is_found(test)]
    said = [test for test in found if test.doubt]
    ten = [test for test in tests if test.n_differ >= 10]
    shares = [
        len(found) / comparisons,
        len(said) / comparisons,
        sum(is_found(test) and bool(test.doubt) for test in ten) / len(ten) if ten else np.nan,
    ]
    mirrored = detectable = np.nan
    if cell not in SKEWED:
        mirrored = _share(
            [
                is_found(compared(flipped(cell.draw(g, cell.size), g), seed))
                for seed in range(comparisons)
            ]
        )
        stated = [
            compared(cell.draw(g, cell.size), seed, 0.8).detectable
            for seed in range(comparisons)  # its median is the size: it must be exact
        ]
        size = float(np.median([one for one in stated if one is not None]))
        detectable = _share(
            [is_found(compared(cell.draw(g, size), seed)) for seed in range(comparisons)]
        )
    shown = (
        f"{share:.3f}".lstrip("0") if np.isfinite(share) else "–"
        for share in (*shares, mirrored, detectable)
    )
    return f"| {cell.name} | {cell.size:g} | {' | '.join(shown)} |"


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


def flipped(pairs: Pairs, g: np.random.Generator) -> Pairs:
    """The pairs with the systems exchanged at random, conversation by conversation: no
    difference."""
    new, old, clusters = pairs
    codes = np.arange(new.size) if clusters is None else clusters
    swap = (g.random(int(codes.max()) + 1) < 0.5)[codes]
    return np.where(swap, old, new), np.where(swap, new, old), clusters


def row_of_margin(at: int, comparisons: int) -> str:
    """How often a drop of exactly the margin is called excluded, and how often the sentence on few
    queries keeps it from being so."""
    cell, g = MARGINS[at], np.random.default_rng(at)
    tests = [compared(cell.draw(g, cell.size), seed) for seed in range(comparisons)]
    excluded = [test.safe_least is not None and test.safe_least >= -cell.size for test in tests]
    kept = [
        test.least is not None and test.least >= -cell.size and not out
        for test, out in zip(tests, excluded, strict=True)
    ]
    return f"| {cell.name} | {cell.size:g} | {np.mean(excluded):.3f} | {np.mean(kept):.3f} |"


def one_metric(comparisons: int) -> None:
    """Both tables of one metric."""
    with ProcessPoolExecutor() as pool:
        print(
            "| difference | true size | found | hint | hint, ten differ | no difference | "
            "detectable |"
        )
        print("|---|---|---|---|---|---|---|")
        for row in pool.map(row_of_one, range(len(ONE)), [comparisons] * len(ONE)):
            print(row, flush=True)
        print("\n| drop | margin | excluded | kept from it, as few differ |\n|---|---|---|---|")
        for row in pool.map(row_of_margin, range(len(MARGINS)), [comparisons] * len(MARGINS)):
            print(row, flush=True)
    print()


def found_by(
    draw: Draw, turns: int, n_true: int, correction: str, comparisons: int, firm: bool = False
) -> tuple[float, float]:
    """The family-wise error and the power of one correction, the first rows truly different;
    ``firm`` counts findings without a sentence alone."""
    false = true = 0
    for at in range(comparisons):
        generator = np.random.default_rng(at)
        values = draw(generator, 30 if draw is half_lognormal else QUERIES)
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
            power=None,
        )
        findings = [is_found(result) and not (firm and result.doubt) for result in results]
        false += any(findings[n_true:])
        true += sum(findings[:n_true])
    return false / comparisons, true / (comparisons * n_true) if n_true else np.nan


def families(comparisons: int) -> list[str]:
    """The table of families; gives what is wrong in it."""
    print("| metrics | true differences | " + " | ".join(CORRECTIONS) + " | maxt, firm |")
    print("|---|---|" + "---|" * (len(CORRECTIONS) + 1))
    wrong = []
    for name, draw, turns in FAMILIES:
        for n_true in (0,) if draw is half_lognormal else (0, 3):
            with ProcessPoolExecutor() as pool:
                runs = {
                    (c, firm): pool.submit(found_by, draw, turns, n_true, c, comparisons, firm)
                    for c, firm in (*((c, False) for c in CORRECTIONS), ("maxt", True))
                }
                cells = {key: run.result() for key, run in runs.items()}
            spelled = (
                f"{error:.3f}" + (f" / {power:.3f}" if n_true else "")
                for error, power in cells.values()
            )
            print(f"| {name} | {n_true} | " + " | ".join(spelled) + " |", flush=True)
            noise = 3 * np.sqrt(0.05 * 0.95 / comparisons)
            if cells["maxt", True][0] > (0.08 if draw is half_lognormal else 0.05) + noise:
                wrong.append(f"{name}: max-T errs in {cells['maxt', True][0]:.3f}")
            if n_true and cells["maxt", False][1] < cells["holm", False][1] - noise / 3:
                wrong.append(f"{name}: max-T finds less than Holm")
    return wrong


def main(arguments: Sequence[str] = ()) -> None:
    """Prints the tables; fails where max-T errs too often or finds less than Holm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.error_rates")
    parser.add_argument("part", nargs="?", choices=("one", "families"), help="default: both")
    parser.add_argument("--quick", action="store_true", help="a tenth of the comparisons")
    parser.add_argument("--comparisons", type=int, default=COMPARISONS, help="a cell")
    chosen = parser.parse_args(arguments)
    comparisons = chosen.comparisons // (10 if chosen.quick else 1)
    print(f"{comparisons:,} comparisons a cell; level 5 %\n")
    if chosen.part != "families":
        one_metric(comparisons)
    if chosen.part != "one" and (wrong := families(comparisons)):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
