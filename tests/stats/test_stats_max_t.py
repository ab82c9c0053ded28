import numpy as np
import pytest

from ragassay.stats.corrections import adjusted_p, max_t
from ragassay.stats.sign_flip import sign_flips


def step_down(sums: np.ndarray, observed: np.ndarray) -> list[float]:
    """The textbook's loop over patterns and rows."""
    order = sorted(range(len(observed)), key=lambda row: -observed[row])
    adjusted, running = [0.0] * len(observed), 0.0
    for at, row in enumerate(order):
        left = order[at:]
        share = np.mean([max(each[r] for r in left) >= observed[row] - 1e-12 for each in sums])
        running = max(running, float(share))
        adjusted[row] = running
    return adjusted


def test_adjusted_p_values_are_the_textbooks() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal([[0.2], [0.1], [0.0], [10.0]], [[0.2], [0.2], [0.2], [40.0]], (4, 10))
    flips = sign_flips(d)
    statistic = np.abs(flips.sums) / flips.spread
    found, _ = max_t(flips, range(4))
    assert found == pytest.approx(step_down(statistic, statistic[0]))


def test_a_twin_costs_nothing() -> None:
    row = np.random.default_rng(3).normal(0.08, 0.2, 40)
    flips = sign_flips(np.vstack([row, row, row * 100]))
    found, levels = max_t(flips, range(3))
    assert found == [pytest.approx(flips.p_values[0])] * 3
    assert levels[0] == pytest.approx(0.05, abs=0.001)
    assert adjusted_p(flips.p_values.tolist(), "holm")[0] == pytest.approx(3 * flips.p_values[0])


def test_a_yes_or_no_metric_counts_ties_half_whatever_stands_before_it() -> None:
    """A graded metric with the same statistic does not hand its whole ties on."""
    assert sign_flips([[1.0, -1.0]], halves=[True]).deciding.tolist() == [1.0]  # the mean is 0
    lost = np.where(np.arange(50) < 5, -1.0, 0.0)
    rows, halves = np.vstack([lost, lost, lost]), [True, False, True]
    alone = max_t(sign_flips(lost, halves=[True]), [0])[0][0]
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]):
        flips = sign_flips(rows[order], halves=[halves[at] for at in order])
        by_row = dict(zip(order, max_t(flips, range(3))[0], strict=True))
        assert by_row[0] == by_row[2] == pytest.approx(alone)
        assert by_row[1] == pytest.approx(2 * alone)
