import math
from functools import partial
from itertools import combinations

import pytest
from hypothesis import given, strategies as st
from scipy import stats

from ragassay.stats.corrections import adjusted_p

P = st.floats(0, 1)
holm = partial(adjusted_p, name="holm")
benjamini_hochberg = partial(adjusted_p, name="bh")
BOTH = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])


@given(st.lists(P, min_size=1, max_size=6))
def test_holm_is_the_closure_of_bonferroni(p: list[float]) -> None:
    def worst(i: int) -> float:
        sizes = range(1, len(p) + 1)
        families = (f for size in sizes for f in combinations(range(len(p)), size) if i in f)
        return max(min(1.0, len(f) * min(p[j] for j in f)) for f in families)

    assert holm(p) == pytest.approx([worst(i) for i in range(len(p))])


@given(st.lists(P, min_size=1, max_size=30))
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(stats.false_discovery_control(p)))


@BOTH
@given(p=st.lists(P | st.none(), max_size=20))
def test_tests_without_a_p_are_not_counted(adjust, p: list[float | None]) -> None:
    found = adjust(p)
    assert [q is None for q in found] == [raw is None for raw in p]
    assert [q for q in found if q is not None] == adjust([raw for raw in p if raw is not None])


@BOTH
@pytest.mark.parametrize("bad", [-0.01, 1.01, math.nan])
def test_what_is_no_p_value_is_refused(adjust, bad: float) -> None:
    with pytest.raises(ValueError, match="p-value"):
        adjust([0.5, bad])
