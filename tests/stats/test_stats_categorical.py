import numpy as np
import pytest

from ragassay.stats.categorical import (
    agreement_interval,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

# J. Fleiss (1971), the example of ten subjects and fourteen raters that textbooks repeat.
FLEISS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]

# K. Krippendorff (2011), section C: four observers, twelve units; 0 is no label.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def counted(columns: list[list[int]], labels: range) -> np.ndarray:
    return np.array([[row.count(one) for one in labels] for row in zip(*columns, strict=True)])


def test_each_statistic_has_the_values_of_its_textbook_examples() -> None:
    table = {(0, 0): 20, (0, 1): 5, (1, 0): 10, (1, 1): 15}
    pairs = np.array([pair for pair, n in table.items() for _ in range(n)])
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert fleiss_kappa(np.array(FLEISS)) == pytest.approx(0.210, abs=5e-4)
    assert krippendorff_alpha(counted(OBSERVERS, range(1, 6))) == pytest.approx(0.743, abs=5e-4)
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(counted([meg, owen], range(2))) == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("statistic", [fleiss_kappa, krippendorff_alpha])
def test_one_label_throughout_or_single_labels_have_no_value(statistic) -> None:
    assert statistic(np.array([[2, 0], [3, 0]])) is None
    assert statistic(np.array([[1, 0], [0, 1]])) is None
    assert statistic(np.zeros((0, 2), np.int64)) is None
    assert cohen_kappa(np.zeros((4, 2), np.int64)) is None
    assert cohen_kappa(np.zeros((0, 2), np.int64)) is None


def test_the_interval_holds_the_value_is_repeatable_and_narrows_with_data() -> None:
    counts = np.array(FLEISS)
    value = fleiss_kappa(counts)
    low, high = agreement_interval(fleiss_kappa, counts) or (0, 0)
    assert value is not None and low < value < high
    assert agreement_interval(fleiss_kappa, counts) == (low, high)
    many = agreement_interval(fleiss_kappa, np.tile(counts, (20, 1))) or (0, 0)
    assert many[1] - many[0] < (high - low) / 2
    # Four of ten resamples have both of the items that say anything.
    rare = np.array([[2, 0], [0, 2], *[[1, 0]] * 8])
    assert fleiss_kappa(rare) == 1.0 and agreement_interval(fleiss_kappa, rare) is None
