"""How often the intervals hold the truth: of a mean, of its one-sided bounds, of a difference.

``python -m benchmarks.coverage [means] [differences] [--quick] [--worst]``: each row is a shape of
scores, each cell how often the nominal 95 % interval of simulated samples held the true mean, and
how wide it was beside Student's t (both parts where none is named; ``--quick``: a tenth of the
samples; ``--worst``: only the summary by group).
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

from ragassay.stats.intervals import Span, mean_interval, one_sided
from ragassay.stats.paired import compare_pairs

Floats = NDArray[np.floating[Any]]
Draw = Callable[[np.random.Generator, int], Floats]
"""Values of n clusters, shape ``(n, values a cluster)``."""

UNIT: Span = (0.0, 1.0)
LEVEL = 0.95
SAMPLES = 2_000


@dataclass(frozen=True)
class Shape:
    """A distribution of scores: how it is drawn, its true mean, its range."""

    group: str
    name: str
    draw: Draw
    mean: float
    span: Span = UNIT
    sizes: tuple[int, ...] = (5, 10, 20, 50, 100)


def zero_one(p: float) -> Shape:
    """Right or wrong."""
    return Shape("0/1", f"0/1, mean {p:g}", lambda g, n: (g.random((n, 1)) < p) * 1.0, p)


def two_values(share: float, other: float) -> Shape:
    """Full marks for a share, one value a little lower for the rest."""
    return Shape(
        "close to one end",
        f"{share:g} at 1, rest {other:g}",
        lambda g, n: np.where(g.random((n, 1)) < share, 1.0, other),
        share + (1 - share) * other,
        sizes=(20, 50),
    )


def beta(
    total: float, mean: float, group: str = "beta", sizes: tuple[int, ...] = (5, 10, 20, 50)
) -> Shape:
    """Beta-distributed scores with shapes that add up to ``total``."""
    name = f"beta, a+b {total:g}, mean {mean:g}"
    draw: Draw = lambda g, n: g.beta(total * mean, total * (1 - mean), (n, 1))  # noqa: E731
    return Shape(group, name, draw, mean, sizes=sizes)


def mass_at_one(share: float) -> Shape:
    """Full marks for a share, uniform scores for the rest."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        return np.where(g.random((n, 1)) < share, 1.0, g.random((n, 1)))

    return Shape(
        "mass at 1",
        f"{share:g} at 1, rest uniform",
        draw,
        share + (1 - share) / 2,
        sizes=(5, 10, 20, 50),
    )


def in_clusters(g: np.random.Generator, n: int, size: int, icc: float, mean: float) -> Floats:
    """0/1 scores of n clusters, whose chances are beta-distributed with that correlation."""
    total = 1 / icc - 1 if icc else 0.0
    chance = g.beta(total * mean, total * (1 - mean), (n, 1)) if icc else np.full((n, 1), mean)
    return (g.random((n, size)) < chance) * 1.0


def clustered(size: int, icc: float, mean: float, sizes: tuple[int, ...]) -> Shape:
    """0/1 scores in clusters of one size."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        return in_clusters(g, n, size, icc, mean)

    return Shape(
        "clusters", f"clusters of {size}, icc {icc:g}, mean {mean:g}", draw, mean, UNIT, sizes
    )


def unequal(
    group: str, icc: float, mean: float, large: int | None, sizes: tuple[int, ...]
) -> Shape:
    """0/1 scores in clusters of unequal size: a fifth holds 25 scores, the others 2; or one holds
    ``large`` scores, the others 5."""
    most, few = (25, 2) if large is None else (large, 5)

    def draw(g: np.random.Generator, n: int) -> Floats:
        found = in_clusters(g, n, most, icc, mean)
        found[n // 5 if large is None else 1 :, few:] = np.nan  # no score
        return found

    name = f"clusters of {most} and {few}, icc {icc:g}, mean {mean:g}"
    return Shape(group, name, draw, mean, UNIT, sizes)


CLUSTERS = (10, 20, 50)
"""How many."""


def free(name: str, draw: Draw, mean: float) -> Shape:
    """Scores without a range."""
    return Shape(f"{name}, no range", f"{name}, no range", draw, mean, (None, None), (10, 20, 50))


SHAPES = (
    *(zero_one(p) for p in (0.05, 0.1, 0.3, 0.5, 0.99)),
    *(beta(total, 0.2) for total in (2, 5, 20)),
    beta(2, 0.5),
    *(mass_at_one(share) for share in (0.5, 0.9, 0.97)),
    beta(2, 0.95, "skewed", (10, 20, 50)),
    two_values(0.9, 0.98),
    *(
        clustered(size, icc, mean, CLUSTERS)
        for size in (5, 20)
        for icc in (0, 0.3, 0.7)
        for mean in (0.5, 0.95)
    ),
    *(clustered(40, icc, 0.95, CLUSTERS) for icc in (0.3, 0.7)),
    *(clustered(5, icc, mean, (5,)) for icc in (0.3, 0.7) for mean in (0.5, 0.95)),
    *(
        unequal("unequal clusters", icc, mean, None, CLUSTERS)
        for icc in (0, 0.3, 0.7)
        for mean in (0.5, 0.9, 0.95)
    ),
    *(unequal("one large cluster", icc, 0.9, 45, (10,)) for icc in (0, 0.3, 0.7)),
    free("lognormal", lambda g, n: g.lognormal(size=(n, 1)), np.exp(0.5)),
    free("exponential", lambda g, n: g.exponential(size=(n, 1)), 1.0),
    free("normal", lambda g, n: g.normal(size=(n, 1)), 0.0),
)


def labels_of(values: Floats) -> NDArray[np.int64] | None:
    """The cluster of each value; ``None`` where each cluster has one value."""
    n, size = values.shape
    return np.repeat(np.arange(n), size) if size > 1 else None


def open_ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Bounds with infinity where there is none."""
    return (-np.inf if low is None else low, np.inf if high is None else high)


@dataclass(frozen=True)
class Found:
    """The intervals of one sample: Student's t, ours, and ours at the level of one-sided bounds."""

    t: tuple[float, float]
    auto: tuple[float, float]
    single: tuple[float, float]
    crowded: bool


def intervals_of(values: Floats, span: Span) -> Found:
    """The intervals of a sample."""
    scored, clusters = ~np.isnan(values.ravel()), labels_of(values)
    options: dict[str, Any] = {"clusters": None if clusters is None else clusters[scored]}
    t, auto, single = (
        mean_interval(values.ravel()[scored], span=span, method=method, level=level, **options)
        for method, level in (("t", LEVEL), ("auto", LEVEL), ("auto", one_sided(LEVEL)))
    )
    # Of equal values t has no interval, and its formula the mean alone.
    point = (t.mean, t.mean) if t.low is None else (t.low, t.high)
    bounds = (open_ends(*point), open_ends(auto.low, auto.high), open_ends(single.low, single.high))
    return Found(*bounds, crowded=auto.crowded)


@dataclass(frozen=True)
class Cell:
    """What one shape and size came to: shares of samples, the mean width, the same as a share of
    t's, and how many intervals were points."""

    group: str
    name: str
    n: int
    t: float
    auto: float
    one_sided: float
    width: float
    beside_t: float
    crowded: float
    points: int


def measure(at: int, n: int, samples: int) -> Cell:
    """Draws samples of a shape, named by its place, and counts how often each interval held the
    mean."""
    shape = SHAPES[at]
    generator = np.random.default_rng([n, len(shape.name), *shape.name.encode()])
    seen: dict[bytes, Found] = {}  # samples of 0/1 scores repeat
    all_found = []
    for _ in range(samples):
        values = np.sort(shape.draw(generator, n), axis=1)
        values = values[np.lexsort(values.T)]
        if (key := values.tobytes()) not in seen:
            seen[key] = intervals_of(values, shape.span)
        all_found.append(seen[key])
    t, auto, single = (
        np.array([getattr(found, name) for found in all_found]) for name in ("t", "auto", "single")
    )
    bounded = np.isfinite(auto[:, 0])
    widths = np.array([(each[bounded, 1] - each[bounded, 0]).mean() for each in (t, auto)])

    def held(bounds: Floats) -> Any:
        return (bounds[:, 0] <= shape.mean) & (shape.mean <= bounds[:, 1])

    return Cell(
        shape.group,
        shape.name,
        n,
        t=held(t).mean(),
        auto=held(auto).mean(),
        one_sided=min((single[:, 0] <= shape.mean).mean(), (shape.mean <= single[:, 1]).mean()),
        width=widths[1],
        beside_t=widths[1] / widths[0],
        crowded=float(np.mean([found.crowded for found in all_found])),
        points=int((auto[:, 0] == auto[:, 1]).sum()),
    )


def means(samples: int, *, worst_only: bool) -> None:
    """The table of one mean's interval."""
    tasks = [(at, n, samples) for at, shape in enumerate(SHAPES) for n in shape.sizes]
    with ProcessPoolExecutor() as pool:
        cells = list(pool.map(measure, *zip(*tasks, strict=True)))
    columns = "t | auto | one-sided bound | mean width | beside t | sentence"
    if not worst_only:
        print(f"| scores | n | {columns} |\n|---|---|---|---|---|---|---|---|")
        for cell in cells:
            print(_row(cell.name, [cell], f"{cell.beside_t:.2f}"))
        print("\nlowest coverage of each group, mean width, widths where t covers\n")
    print(f"| scores | n | {columns} |\n|---|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(cell.group for cell in cells):
        for n in sorted({cell.n for cell in cells if cell.group == group}):
            row = [cell for cell in cells if cell.group == group and cell.n == n]
            covered = [cell.beside_t for cell in row if cell.t >= LEVEL - 0.005]
            print(_row(group, row, f"{np.mean(covered):.2f}" if covered else "–"))
    below = sum(cell.auto < cell.t - 0.005 for cell in cells)
    print(f"\ncells in which auto covers less than t: {below} of {len(cells)}; intervals of width ")
    print(f"zero: {sum(cell.points for cell in cells)} of {samples * len(cells):,}")


def _row(name: str, cells: Sequence[Cell], beside_t: str) -> str:
    t, auto, bound = (
        f"{min(getattr(cell, one) for cell in cells):.3f}".lstrip("0")
        for one in ("t", "auto", "one_sided")
    )
    width = f"{np.mean([cell.width for cell in cells]):.3f}".lstrip("0")
    crowded = f"{max(cell.crowded for cell in cells):.0%}"
    return f"| {name} | {cells[0].n} | {t} | {auto} | {bound} | {width} | {beside_t} | {crowded} |"


def discordant(share: float, balance: float) -> Shape:
    """Differences of two 0/1 scores: a share differs, of which ``balance`` in A's favour."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        sign = np.where(g.random((n, 1)) < balance, 1.0, -1.0)
        return np.where(g.random((n, 1)) < share, sign, 0.0)

    name = f"0/1 pairs, {share:.0%} differ, {balance:.0%} of these for A"
    return Shape("0/1 pairs", name, draw, share * (2 * balance - 1), UNIT, (20, 50, 100, 200))


def gains(share: float, spread: float) -> Shape:
    """Differences of which a share are gains of 0.3 to 1, the rest normal about 0."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        gained = g.random((n, 1)) < share
        return np.where(gained, g.uniform(0.3, 1, (n, 1)), g.normal(0, spread, (n, 1)))

    name = f"{100 * share:g} % gain .3 to 1, the rest within {f'{spread:g}'.lstrip('0')}"
    return Shape("graded", name, draw, share * 0.65, UNIT, (20, 50, 100))


DIFFERENCES = (
    *(discordant(share, balance) for share in (0.02, 0.1, 0.3) for balance in (0.5, 0.75, 1.0)),
    Shape(
        "graded",
        "normal, sd 0.2",
        lambda g, n: g.normal(0.05, 0.2, (n, 1)),
        0.05,
        UNIT,
        (10, 20, 50),
    ),
    Shape(
        "graded",
        "70 % ties, else normal, sd 0.3",
        lambda g, n: np.where(g.random((n, 1)) < 0.7, 0.0, g.normal(0.1, 0.3, (n, 1))),
        0.03,
        UNIT,
        (20, 50, 100),
    ),
    Shape(
        "graded",
        "skewed: exponential - 1",
        lambda g, n: (g.exponential(size=(n, 1)) - 1) / 10,
        0.0,
        UNIT,
        (20, 50, 100),
    ),
    gains(0.3, 0.02),
    gains(0.15, 0.1),
    Shape(
        "graded",
        "difference of two beta scores (a+b 2, means .6 and .5)",
        lambda g, n: g.beta(1.2, 0.8, (n, 1)) - g.beta(1.0, 1.0, (n, 1)),
        0.1,
        UNIT,
        (20, 50, 100),
    ),
    Shape(
        "clusters",
        "clusters of 5, half of the variance shared",
        lambda g, n: g.normal(0, 0.1, (n, 1)) + g.normal(0, 0.1, (n, 5)),
        0.0,
        UNIT,
        (10, 20, 50),
    ),
)


def difference(at: int, n: int, samples: int) -> str:
    """A row of the table of differences: how often the interval held the truth, and so on."""
    shape = DIFFERENCES[at]
    generator = np.random.default_rng([n, *shape.name.encode()])
    held, bounded, found, doubtful, parted = np.zeros(2), 0, 0, 0, 0
    for _ in range(samples):
        values = shape.draw(generator, n)
        clusters = labels_of(values)
        flat = values.ravel()
        (test,) = compare_pairs(
            flat, np.zeros(flat.size), clusters=clusters, n_resamples=1_000, power=None
        )
        plain = mean_interval(flat, method="t", clusters=clusters)
        ends = [open_ends(test.low, test.high), open_ends(plain.low, plain.high)]
        held += [low <= shape.mean <= high for low, high in ends]
        bounded += test.low is not None
        finds = test.p_adjusted is not None and test.p_adjusted <= 0.05
        found += finds
        doubtful += finds and bool(test.doubt)
        parted += test.low is not None and finds == (ends[0][0] <= 0.0 <= ends[0][1])
    assert not parted, f"verdict and interval disagree {parted} times: {shape.name}, n {n}"
    shares = (held[1], held[0], bounded, found, doubtful)
    return f"| {shape.name} | {n} | {' | '.join(f'{one / samples:.3f}' for one in shares)} |"


def differences(samples: int) -> None:
    """The table of a difference's interval."""
    tasks = [(at, n, samples) for at, shape in enumerate(DIFFERENCES) for n in shape.sizes]
    print("| differences | n | t holds | interval holds | has an interval | found | sentence |")
    print("|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor() as pool:
        for row in pool.map(difference, *zip(*tasks, strict=True)):
            print(row, flush=True)


def main(arguments: Sequence[str] = ()) -> None:
    """Prints the tables that are named, or both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("part", nargs="?", choices=("means", "differences"), help="default: both")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--worst", action="store_true", help="only the summary by group")
    chosen = parser.parse_args(arguments)
    samples = SAMPLES // (10 if chosen.quick else 1)
    if chosen.part != "differences":
        print(f"Means, nominal level {LEVEL}, {samples // 2:,} samples a cell\n")
        means(samples // 2, worst_only=chosen.worst)
    if chosen.part != "means":
        print(f"\nDifferences of two systems, {samples // 2:,} samples a cell\n")
        differences(samples // 2)


if __name__ == "__main__":
    main(sys.argv[1:])
