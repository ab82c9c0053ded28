"""What a comparison says below its table: facts, a few lines of them, and how it was made."""

from dataclasses import replace

import numpy as np
import pytest

import ragassay
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.engine.comparison.gates import with_not_worse
from ragassay.reports.text import wording


def kinds(*args, **options) -> dict[str, ragassay.base.note.Note]:
    """The notes of a comparison of arrays, by kind."""
    return {note.kind: note for note in compare_arrays(*args, **options).notes}


def doubtful(how_many: int) -> tuple[np.ndarray, np.ndarray]:
    """One graded metric of 60 queries, of which so many are worse."""
    new, old = np.full((1, 60), 0.5), np.full((1, 60), 0.5)
    new[0, :how_many] -= np.linspace(0.1, 0.4, how_many)
    return new, old


def test_a_finding_on_few_differing_queries_is_indicative_with_one_warning() -> None:
    notes = kinds(["m"], *doubtful(8))
    assert notes["few_differ"].names == ("m",) and notes["few_differ"].severity == "warning"
    clustered = kinds(["m"], *doubtful(8), clusters=np.arange(60))["few_differ"]
    units = [note.counts for note in (notes["few_differ"], clustered)]
    assert units == [{"most": 10, "unit": "queries"}, {"most": 10, "unit": "clusters"}]
    (difference,) = compare_arrays(["m"], *doubtful(8)).differences
    assert difference.verdict == "indicative" and difference.hint == "worse"
    assert wording.verdict(difference) == "only a hint: worse"
    (firm,) = compare_arrays(["m"], *doubtful(12)).differences
    assert firm.verdict == "worse" and "few_differ" not in kinds(["m"], *doubtful(12))


def test_where_no_difference_is_shown_the_note_says_what_these_queries_would_show() -> None:
    g = np.random.default_rng(0)
    old, noise = np.full((3, 60), 0.5), g.normal(0, 0.1, (3, 60))
    new = old + noise * np.array([[1.0], [3.0], [2.0]])
    roles = [("tested", None), ("tested", None), ("exploratory", None)]
    names = ["a", "b", "c"]
    found = compare_arrays(names, new, old, standings=roles)
    a, b, c = (d.detectable for d in found.differences)
    assert [d.verdict for d in found.differences[:2]] == ["no difference shown"] * 2 and a < c < b
    note = {note.kind: note for note in found.notes}["would_find"]
    assert (note.counts, note.names) == ({"least": a, "most": b}, ("a", "b"))
    alone = kinds(names[:1], new[:1], old[:1])  # one metric needs no correction
    assert "correction_none" in alone and "correction_maxt" in {note.kind for note in found.notes}
    one = alone["would_find_one"]
    assert one.names == ("a",) and one.counts["least"] == one.counts["most"]
    new[1] = 0.9 + noise[1] / 9  # what was found needs no such note
    assert not {"would_find", "would_find_one"} & {*kinds(names, new, old)}
    assert "exploratory" not in {note.kind for note in found.notes}
    primary = replace(found, primary=("a", "b")).notes
    assert [note.names for note in primary if note.kind == "exploratory"] == [("c",)]


def test_too_few_queries_are_the_headline_where_they_are_too_few_for_all() -> None:
    new, old = np.ones((2, 30)), np.zeros((2, 30))
    mask = np.ones(new.shape, dtype=bool)
    mask[1, 4:] = False
    some = kinds(["a", "b"], new, old, mask=mask)["too_few_for"]
    assert (some.severity, some.names, some.counts["n"]) == ("note", ("b",), 4)
    mask[0, 3:] = False
    every = kinds(["b", "c"], new, old, mask=mask)["too_few"]
    assert (every.severity, every.names, every.counts["n"]) == ("headline", ("b", "c"), 4)
    mask[1] = False
    assert kinds(["a", "b"], new, old, mask=mask)["without_common_scores"].names == ("b",)


def test_a_hint_has_a_direction_where_the_interval_excludes_zero() -> None:
    """The raw p-value, which UltraRAG publishes, counts ties in full; the interval does not."""
    (found,) = compare_arrays(["m"], *doubtful(12)).differences
    hint = replace(found, standing="indicative", low=0.02, high=0.26, diff=0.14, p_value=0.0546)
    assert hint.hint == "better" and wording.verdict(hint) == "only a hint: better"
    unsure = replace(hint, low=0.0, p_value=0.049)
    assert not replace(hint, p_value=0.05).significant  # UltraRAG's is below 0.05
    assert unsure.hint is None and wording.verdict(unsure) == "no difference shown"
    found = replace(compare_arrays(["m"], *doubtful(12)), differences=(hint, unsure))
    assert found.to_polars()["verdict"].to_list() == ["only a hint", "no difference shown"]
    equal = replace(hint, low=None, high=None, p_value=0.001)  # all differences are equal
    assert equal.hint == "better"


@pytest.mark.parametrize(("worse", "passed"), [(8, None), (30, False), (0, True)])
def test_a_finding_that_is_a_hint_leaves_the_gate_undecided(worse, passed: bool | None) -> None:
    found = with_not_worse(compare_arrays(["m"], *doubtful(worse)))
    kinds = {note["kind"] for note in found.to_json()["notes"]}
    assert found.gates[0].passed is passed and ("few_differ" in kinds) == (passed is None)
