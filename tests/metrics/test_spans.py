"""Spans of documents: overlap, matches and characters."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Reason, Unscored
from ragassay.metrics.chunks.spans import Span, covered, overlaps
from ragassay.metrics.core import naming
from scored import parse, value

ALL = (
    *("SpanP@3", "SpanR@3", "SpanF1@3", "SpanHit@3"),
    *("CharP", "CharR", "CharF1", "CharIoU", "CharNDCG"),
)


def sample(retrieved: Any, gold: Any) -> Sample:
    return Sample(
        id="q",
        passages=tuple(Passage(document=d, start=s, end=e) for d, s, e in retrieved),
        gold=tuple(GoldPassage(document=d, start=s, end=e) for d, s, e in gold),
    )


@st.composite
def spans(draw: Any, least: int = 0) -> list[tuple[str, int, int]]:
    one = st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 15)).map(
        lambda t: (t[0], t[1], t[1] + t[2])
    )
    return draw(st.lists(one, min_size=least, max_size=5))  # type: ignore[no-any-return]


def characters(found: list[tuple[str, int, int]]) -> set[tuple[str, int]]:
    return {(d, at) for d, start, end in found for at in range(start, end)}


@given(spans(1), spans(1))
def test_overlaps_agree_with_sets_of_characters(retrieved, gold) -> None:
    contained = overlaps([Span(*r) for r in retrieved], [Span(*g) for g in gold])
    union = overlaps([Span(*r) for r in retrieved], [Span(*g) for g in gold], "iou")
    for i, r in enumerate(retrieved):
        for j, g in enumerate(gold):
            a, b = characters([r]), characters([g])
            assert contained[i, j] == len(a & b) / len(b)
            assert union[i, j] == len(a & b) / len(a | b)


@given(spans())
def test_covered_counts_each_character_once(found) -> None:
    assert covered(Span(*s) for s in found) == len(characters(found))


TOPS = st.sampled_from([("", None), ("@1", 1), ("@2", 2)])
"""What stands behind a name, and how many passages it then looks at."""


@given(spans(), spans(1), TOPS)
def test_character_metrics_agree_with_sets_of_characters(retrieved, gold, top) -> None:
    one, (at, k) = sample(retrieved, gold), top
    r, g = characters(retrieved[:k]), characters(gold)
    p, q = (len(r & g) / len(r) if r else 0.0), len(r & g) / len(g)
    assert (value(f"CharP{at}", one), value(f"CharR{at}", one)) == (p, q)
    assert value(f"CharF1{at}", one) == pytest.approx(2 * p * q / (p + q) if p + q else 0.0)
    assert value(f"CharIoU{at}", one) == len(r & g) / len(r | g)


@given(spans(), spans(1), TOPS)
def test_evidence_density_looks_at_passages_that_hold_evidence(retrieved, gold, top) -> None:
    g, (at, k) = characters(gold), top
    holding = [one for one in retrieved[:k] if characters([one]) & g]
    outcome = parse(f"EvidenceDensity{at}").score(sample(retrieved, gold))
    if holding:
        assert outcome.value == len(characters(holding) & g) / len(characters(holding))
        assert outcome.parts["passages"] == len(holding)
    else:
        assert outcome.reason == Reason.NOTHING_RETRIEVED


def test_ndcg_over_characters_by_hand() -> None:
    gold = [("d", 100, 150)]
    whole, none, half = ("d", 90, 190), ("d", 0, 100), ("d", 125, 225)
    assert value("CharNDCG", sample([whole, none], gold)) == 1.0
    # 0 + 50 / log2(3) of an ideal of 50 + 0
    assert value("CharNDCG", sample([none, whole], gold)) == pytest.approx(0.6309297535714575)
    # 25 + 25 / log2(3), for the second passage adds what the first lacks
    assert value("CharNDCG", sample([half, whole], gold)) == pytest.approx(0.8154648767857288)
    assert value("CharNDCG@1", sample([none, whole], gold)) == 0.0
    # Of the first passage alone, which has as many as its size allows.
    assert value("CharNDCG@1", sample([("d", 100, 110), whole], gold)) == 1.0
    # The ideal begins with the largest passage, which holds all of it.
    assert value("CharNDCG", sample([("d", 0, 10), whole], gold)) == pytest.approx(0.6309297535)


@pytest.mark.parametrize(
    ("metric", "retrieved", "gold", "expected"),
    [
        # One passage may hold several gold spans, but is one hit.
        ("SpanR@2", [(0, 100), (200, 300)], [(5, 10), (50, 60)], 1.0),
        ("SpanP@2", [(0, 100), (200, 300)], [(5, 10), (50, 60)], 0.5),
        ("SpanF1@2", [(0, 100), (200, 300)], [(5, 10), (50, 60)], 2 / 3),
        ("SpanR@1", [(0, 20)], [(0, 10), (0, 10), (50, 60)], 0.5),
        ("SpanHit@1", [(0, 18)], [(10, 20)], 0.0),
        ("SpanHit(threshold=0.8)@1", [(0, 18)], [(10, 20)], 1.0),
        ("SpanR@1", [(0, 18)], [(10, 20)], 1.0), ("SpanR(by=iou)@1", [(0, 18)], [(10, 20)], 0.0),
        ("SpanR(by=iou,threshold=0.4)@1", [(0, 18)], [(10, 20)], 1.0),
        *((name, [], [(0, 5)], 0.0) for name in ALL),
    ],
)  # fmt: skip
def test_values_of_spans_by_hand(metric, retrieved, gold, expected) -> None:
    one = sample([("d", *span) for span in retrieved], [("d", *span) for span in gold])
    assert value(metric, one) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("passages", "gold", "reason"),
    [
        ((), None, Reason.NOT_APPLICABLE), ((), (), Reason.NOT_APPLICABLE),
        ((), (GoldPassage(id="a"),), Reason.NOT_APPLICABLE),
        ((), (GoldPassage(id="a", document="d", start=0, end=4, grade=0),), Reason.NOT_APPLICABLE),
        ((), (GoldPassage(id="a"), GoldPassage(document="d", start=0, end=4)),
         Reason.MISSING_INPUT),
        ((), (GoldPassage(document="d", start=4, end=4),), Reason.UNDEFINED),
        ((Passage(text="x"),), (GoldPassage(document="d", start=0, end=4),), Reason.MISSING_INPUT),
        (None, (GoldPassage(document="d", start=0, end=4),), Reason.MISSING_INPUT),
        ((), (GoldPassage(id="a", start=0, end=4),), Reason.NOT_APPLICABLE),
        ((), (GoldPassage(document="d", end=4),), Reason.NOT_APPLICABLE),
        ((), (GoldPassage(document="d", start=0),), Reason.NOT_APPLICABLE),
    ],
)  # fmt: skip
def test_without_spans_there_is_no_score(metric, passages, gold, reason) -> None:
    outcome = naming.parse(metric).score(Sample(id="q", passages=passages, gold=gold))
    assert isinstance(outcome, Unscored)
    assert outcome.reason is reason


def test_a_score_says_what_it_is_made_of() -> None:
    spans = [("d", 0, 9), ("d", 10, 20), ("d", 15, 40)]
    one = sample(spans, [("d", 10, 20), ("d", 50, 60), ("d", 18, 22)])
    for name, parts in (
        ("SpanR@3", {"hit_ranks": [2, 3], "found": [0, 2], "n_gold": 3}),
        ("CharF1", {"common": 12, "retrieved": 39, "gold": 22}),
        ("CharNDCG", {"gains": [0, 10, 2], "gold": 22}),
        ("EvidenceDensity", {"characters": 30, "passages": 2}),
    ):
        assert parse(name).score(one).parts == parts, name


def test_gold_below_the_smallest_relevant_grade_is_none() -> None:
    gold = [GoldPassage(document="d", start=at, end=at + 10, grade=at // 20) for at in (0, 20, 40)]
    one = Sample(id="q", passages=(Passage(document="d", start=0, end=30),), gold=tuple(gold))
    for name, found in (("CharR", 0.5), ("CharR(rel=2)", 0), ("SpanR@1", 0.5), ("CharP", 1 / 3)):
        assert value(name, one) == pytest.approx(found)


def test_a_document_is_known_by_its_path() -> None:
    gold = [("pool", 0, 10)]
    for name in ("pool", "pool.md", "docs/pool.md", "/srv/docs/pool.md"):
        assert value("CharR", sample([(name, 0, 5)], gold)) == 0.5
    # Two spellings of one document.
    assert value("CharR", sample([("pool.md", 0, 5), ("docs/pool.md", 0, 6)], gold)) == 0.6
    assert value("CharR", sample([("a/pool.md", 0, 5)], [("b/pool.md", 0, 10)])) == 0.0


@pytest.mark.parametrize(
    ("retrieved", "gold"),
    [(["pool.md"], ["a/pool.md", "b/pool.md"]), (["a/pool.md", "b/pool.md"], ["pool.md"])],
)
def test_an_ambiguous_name_of_a_document_is_not_scored(retrieved, gold) -> None:
    one = sample([(name, 0, 5) for name in retrieved], [(name, 0, 5) for name in gold])
    found = parse("CharR").score(one)
    assert isinstance(found, Unscored) and found.reason is Reason.UNDEFINED
    assert "may be any of" in found.detail and "a/pool.md, b/pool.md" in found.detail
