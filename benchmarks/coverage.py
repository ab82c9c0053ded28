"""How often the intervals hold the truth: of a mean, of its one-sided bounds, of a difference.

``python -m benchmarks.coverage [--quick] [--worst]``: each row is a shape of scores, each cell how
often the nominal 95 % interval of simulated samples held the true mean, and how wide it was beside
Student's t (``--quick``: a tenth of the samples; ``--worst``: only the summary by group).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.stats import Span, compare_pairs, mean_interval, one_sided

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


def beta(total: float, mean: float) -> Shape:
    """Beta-distributed scores with shapes that add up to ``total``."""
    name = f"beta, a+b {total:g}, mean {mean:g}"
    return Shape("beta", name, lambda g, n: g.beta(total * mean, total * (1 - mean), (n, 1)), mean)


def mass_at_one(share: float) -> Shape:
    """Full marks for a share, uniform scores for the rest."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        return np.where(g.random((n, 1)) < share, 1.0, g.random((n, 1)))

    return Shape("mass at 1", f"{share:g} at 1, rest uniform", draw, share + (1 - share) / 2)


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


def unequal(icc: float, mean: float) -> Shape:
    """0/1 scores in clusters of which a fifth holds 25 scores each, the others 2."""

    def draw(g: np.random.Generator, n: int) -> Floats:
        found = in_clusters(g, n, 25, icc, mean)
        found[n // 5 :, 2:] = np.nan  # no score
        return found

    name = f"clusters of 25 and 2, icc {icc:g}, mean {mean:g}"
    return Shape("unequal clusters", name, draw, mean, UNIT, CLUSTERS)


CLUSTERS = (10, 20, 50)
"""How many."""

FREE: Span = (None, None)
SHAPES = (
    *(zero_one(p) for p in (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)),
    *(beta(total, mean) for total in (2, 5, 20) for mean in (0.2, 0.5, 0.8)),
    *(mass_at_one(share) for share in (0.5, 0.7, 0.9, 0.95, 0.97)),
    *(
        clustered(size, icc, mean, CLUSTERS)
        for size in (5, 20)
        for icc in (0, 0.3, 0.7)
        for mean in (0.5, 0.8, 0.95)
    ),
    *(unequal(icc, mean) for icc in (0, 0.3, 0.7) for mean in (0.5, 0.8, 0.95)),
    *(clustered(40, icc, 0.95, CLUSTERS) for icc in (0.3, 0.7)),
    *(clustered(5, icc, mean, (5,)) for icc in (0.3, 0.7) for mean in (0.5, 0.95)),
    Shape("other", "lognormal, no range", lambda g, n: g.lognormal(size=(n, 1)), np.exp(0.5), FREE),
    Shape("other", "exponential, no range", lambda g, n: g.exponential(size=(n, 1)), 1.0, FREE),
    Shape("other", "normal, no range", lambda g, n: g.normal(size=(n, 1)), 0.0, FREE),
    Shape("other", "beta, a+b 2, mean 0.02", lambda g, n: g.beta(0.04, 1.96, (n, 1)), 0.02),
    Shape("other", "0/1, mean 0.01", lambda g, n: (g.random((n, 1)) < 0.01) * 1.0, 0.01),
)


def labels_of(values: Floats) -> NDArray[np.int64] | None:
    """The cluster of each value; ``None`` where each cluster has one value."""
    n, size = values.shape
    return np.repeat(np.arange(n), size) if size > 1 else None


def open_ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Bounds with infinity where there is none."""
    return (-np.inf if low is None else low, np.inf if high is None else high)


@dataclass(frozen=True)
class Cell:
    """What one shape and size came to: shares of samples, and widths as shares of t's."""

    shape: Shape
    n: int
    t: float
    auto: float
    least: float
    most: float
    width: float
    points: int


def measure(shape: Shape, n: int, samples: int) -> Cell:
    """Draws samples and counts how often each interval held the mean."""
    generator = np.random.default_rng([n, len(shape.name), *shape.name.encode()])
    held = {"t": 0, "auto": 0, "least": 0, "most": 0}
    widths, points = np.zeros(2), 0
    for _ in range(samples):
        values = shape.draw(generator, n)
        clusters = labels_of(values)
        scored = ~np.isnan(values.ravel())
        flat = values.ravel()[scored]
        clusters = None if clusters is None else clusters[scored]

        def bounds(
            method: str,
            level: float = LEVEL,
            flat: Floats = flat,
            clusters: NDArray[np.int64] | None = clusters,
        ) -> tuple[float, float]:
            found = mean_interval(
                flat, span=shape.span, method=method, level=level, clusters=clusters
            )
            low, high = found.low, found.high
            if method == "t" and low is None:  # equal values: the formula's point
                low = high = found.mean
            return open_ends(low, high)

        t, auto, single = bounds("t"), bounds("auto"), bounds("auto", one_sided(LEVEL))
        truth = shape.mean
        held["t"] += t[0] <= truth <= t[1]
        held["auto"] += auto[0] <= truth <= auto[1]
        held["least"] += single[0] <= truth
        held["most"] += truth <= single[1]
        points += auto[0] == auto[1]
        if np.isfinite(auto[0]):
            widths += (t[1] - t[0], auto[1] - auto[0])
    share = {name: count / samples for name, count in held.items()}
    return Cell(shape, n, **share, width=float(widths[1] / widths[0]), points=points)


def means(samples: int, *, worst_only: bool) -> None:
    """The table of one mean's interval."""
    cells = [measure(shape, n, samples) for shape in SHAPES for n in shape.sizes]
    if not worst_only:
        print("| scores | n | t | auto | low bound | high bound | width beside t |")
        print("|---|---|---|---|---|---|---|")
        for cell in cells:
            print(
                f"| {cell.shape.name} | {cell.n} | {cell.t:.3f} | {cell.auto:.3f} | "
                f"{cell.least:.3f} | {cell.most:.3f} | {cell.width:.2f} |"
            )
        print()
    print(
        "| scores | n | lowest, t | lowest, auto | lowest bound | width beside t, where t covers |"
    )
    print("|---|---|---|---|---|---|")
    for group in dict.fromkeys(cell.shape.group for cell in cells):
        for n in sorted({cell.n for cell in cells if cell.shape.group == group}):
            row = [cell for cell in cells if cell.shape.group == group and cell.n == n]
            wide = [cell.width for cell in row if cell.t >= LEVEL - 0.005]
            width = f"{np.mean(wide):.2f}, at most {max(wide):.2f}" if wide else "t never covers"
            print(
                f"| {group} | {n} | {min(c.t for c in row):.3f} | {min(c.auto for c in row):.3f} | "
                f"{min(min(c.least, c.most) for c in row):.3f} | {width} |"
            )
    below = sum(cell.auto < cell.t - 0.005 for cell in cells)
    print(f"\ncells in which auto covers less than t: {below} of {len(cells)}; intervals of width ")
    print(f"zero: {sum(cell.points for cell in cells)} of {samples * len(cells):,}")


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


def differences(samples: int) -> None:
    """The table of a difference's interval."""
    print("| differences | n | t | auto | width beside t | found by p | |")
    print("|---|---|---|---|---|---|---|")
    for shape in DIFFERENCES:
        for n in shape.sizes:
            generator = np.random.default_rng([n, *shape.name.encode()])
            held, widths, found, parted = np.zeros(2), np.zeros(2), 0, 0
            for _ in range(samples):
                values = shape.draw(generator, n)
                clusters = labels_of(values)
                flat = values.ravel()
                ends = []
                for kind, correction in (("t", "none"), ("auto", "maxt")):
                    (result,) = compare_pairs(
                        flat, np.zeros(flat.size), clusters=clusters, spans=[shape.span],
                        interval=kind, correction=correction, n_resamples=1_000,
                    )  # fmt: skip
                    low, high = result.low, result.high
                    if kind == "t" and low is None:  # equal differences: the formula's point
                        low = high = result.diff
                    ends.append(open_ends(low, high))
                held += [low <= shape.mean <= high for low, high in ends]
                if np.isfinite(ends[1][0]):
                    widths += [high - low for low, high in ends]
                discovery = (result.p_adjusted or 0.0) <= 0.05
                found += discovery
                parted += discovery == (ends[1][0] <= 0.0 <= ends[1][1])
            t, auto = held / samples
            ratio = widths[1] / widths[0] if widths[0] else np.nan
            note = f"verdict and interval disagree {parted} times" if parted else ""
            print(
                f"| {shape.name} | {n} | {t:.3f} | {auto:.3f} | {ratio:.2f} | "
                f"{found / samples:.3f} | {note} |"
            )


def main(arguments: Sequence[str] = ()) -> None:
    """Prints both tables."""
    share = 10 if "--quick" in arguments else 1
    print(
        f"Nominal level {LEVEL}, {SAMPLES // share:,} samples a cell: how often the mean was held\n"
    )
    means(SAMPLES // share, worst_only="--worst" in arguments)
    print(f"\nDifferences of two systems, {SAMPLES // share // 2:,} samples a cell\n")
    differences(SAMPLES // share // 2)


if __name__ == "__main__":
    main(sys.argv[1:])
