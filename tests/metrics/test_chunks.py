"""The corrected chunk metrics: one-to-one hits, perfect = 1, junk changes nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from hypothesis.extra import numpy as hnp

from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Reason, Score, Unscored
from ragassay.metrics.chunks.chunk_overlap import hybrid_score
from ragassay.metrics.chunks.chunks_datapizza import hybrid_log_rank_score_exact
from ragassay.metrics.core import naming
from ragassay.metrics.core.chunk_matching import credited, likeness, same_chunks
from scored import value

matrices = hnp.arrays(np.bool_, st.tuples(st.integers(0, 8), st.integers(1, 6)))
names = st.lists(st.sampled_from("ABCDEFGH"), max_size=12)
CORRECTED = ("ChunkP@3", "ChunkR@3", "ChunkF1@3", "hybrid@3")

EYE = np.eye(4).tolist()


def sample(retrieved: Any, gold: Any, **more: Any) -> Sample:
    return Sample(
        id="q", passages=tuple(Passage(text=text) for text in retrieved),
        gold=None if gold is None else tuple(GoldPassage(text=text) for text in gold), **more,
    )  # fmt: skip


# -- matching ----------------------------------------------------------------------------------


@given(matrices)
def test_hits_are_a_maximum_matching_at_every_depth(relevant) -> None:
    sparse, graph = pytest.importorskip("scipy.sparse"), pytest.importorskip("scipy.sparse.csgraph")
    hits = credited(relevant)
    for depth in range(1, len(relevant) + 1):
        top = sparse.csr_array(relevant[:depth].astype(int))
        best = (graph.maximum_bipartite_matching(top, perm_type="column") >= 0).sum()
        assert hits[:depth].sum() == best


def test_a_long_augmenting_path_does_not_exhaust_the_stack() -> None:
    n = 3000
    relevant = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    relevant = relevant[:, ::-1].copy()
    assert credited(relevant).sum() == n


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.just(4)),
        elements=st.floats(-1e3, 1e3, allow_subnormal=False),
    )
)
def test_a_vector_is_similar_to_itself_at_threshold_one(matrix) -> None:
    zero = (np.abs(matrix) < 1e-100).all(axis=1)
    for kind in (np.float64, np.float32):
        rows = matrix[~zero].astype(kind)
        rows = rows[(np.abs(rows) > 1e-6).any(axis=1)]
        if len(rows):
            assert likeness(rows, rows, 1.0)[1].diagonal().all()


def test_the_tolerance_follows_the_precision_of_the_vectors() -> None:
    angle = np.arccos(0.8 - 5e-7)
    near = np.array([[np.cos(angle), np.sin(angle)]])
    axis = np.array([[1.0, 0.0]])
    assert not likeness(near, axis, 0.8)[1].any()
    assert likeness(near.astype(np.float32), axis, 0.8)[1].all()


def test_chunks_are_the_same_by_id_or_by_text_directly_or_through_a_third() -> None:
    labels = same_chunks(
        [*(Passage(id="1", text="alpha  beta\n"), Passage(id="2", text="alpha beta")),
         *(Passage(id="2", text="other"), Passage(id="3", text="gamma"), GoldPassage(id="1"))]
    )  # fmt: skip
    assert len({labels[i] for i in (0, 1, 2, 4)}) == 1
    assert labels[3] not in labels[:3]
    spaced = sample(["alpha  beta"], ["alpha beta"])  # as published, strings are compared
    assert (value("ChunkP@1", spaced), value("precision_at_k_exact@1", spaced)) == (1.0, 0.0)
    # Empty texts do not make chunks the same.
    assert len(set(same_chunks([Passage(text=""), Passage(text=" "), Passage(text="")]))) == 3


# -- hybrid ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "n_gold", "expected"),
    [([1, 1], 2, 1.0), ([1, 1, 1, 1, 1], 5, 1.0), ([1, 0, 0, 1, 0], 3, 0.6350867851),
     ([0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 1, 0.7614393726), ([1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 2, 1.0)],
)  # fmt: skip
def test_normalised_hybrid_scores_of_the_reference(hits, n_gold, expected) -> None:
    assert hybrid_score(hits, n_gold, len(hits)) == pytest.approx(expected, abs=5e-11)


@given(
    st.lists(st.booleans(), max_size=10), st.integers(0, 4), st.integers(1, 14), st.floats(0, 1),
    st.floats(0, 1e6),
)  # fmt: skip
@example([False, True], 0, 2, 0.0, 2.0011913545681064)  # numpy's and C's logarithms differ
def test_hybrid_lies_between_zero_and_one_and_junk_below_changes_nothing(
    hits, missed, depth, alpha, gamma
) -> None:
    n_gold = max(1, sum(hits) + missed)
    score = hybrid_score(hits, n_gold, depth, alpha=alpha, gamma=gamma)
    assert 0 <= score <= 1 + 1e-12
    assert hybrid_score([*hits, False, False], n_gold, depth, alpha=alpha, gamma=gamma) == score


def test_the_published_hybrid_rises_with_junk_and_the_corrected_one_does_not() -> None:
    short, long = ["A", "B", "C"], ["A", "B", "C", *"DEFGHIJ"]
    assert hybrid_log_rank_score_exact(long, ["C"]) > hybrid_log_rank_score_exact(short, ["C"])
    assert value("hybrid@10", sample(long, ["C"])) == value("hybrid@10", sample(short, ["C"]))
    assert value("hybrid(gamma=0,alpha=0)@10", sample(long, ["C"])) == pytest.approx(1 - 2 / 9)


# -- metrics over samples ------------------------------------------------------------------------


def test_precision_recall_and_f1_count_the_same_hits() -> None:
    one = sample(["A", "X", "B", "C"], ["A", "B", "Z"])
    assert value("ChunkP@3", one) == pytest.approx(2 / 3)
    assert value("ChunkR@3", one) == pytest.approx(2 / 3)
    assert value("ChunkF1@3", one) == pytest.approx(2 / 3)
    assert value("ChunkP@10", one) == 0.2
    outcome = naming.parse("ChunkP@3").score(one)
    assert outcome.parts == {"hit_ranks": [1, 3], "n_gold": 3}


@given(names, st.lists(st.sampled_from("ABCD"), min_size=1, max_size=5), names)
def test_values_are_bounded_and_junk_raises_none(retrieved, gold, junk) -> None:
    for metric in CORRECTED:
        base = value(metric, sample(retrieved, gold))
        assert 0 <= base <= 1
        padded = [*retrieved, *(f"junk {name}" for name in junk)]
        assert value(metric, sample(padded, gold)) == base


@pytest.mark.parametrize(
    ("metric", "retrieved", "gold", "expected"),
    [
        ("ChunkP@2", ["A", "A", "B"], ["A", "B"], 0.5),  # copies are misses
        ("ChunkR@1", ["A"], ["A", " A ", "B"], 0.5),  # gold named twice counts once
        ("ChunkR@1", ["two  words\n"], ["two words"], 1.0),
        ("ChunkR@1", ["Two words"], ["two words"], 0.0),
        ("recall_at_k_exact@3", [], ["A"], 0.0),
    ],
)
def test_what_counts_as_a_hit(metric, retrieved, gold, expected) -> None:
    assert value(metric, sample(retrieved, gold)) == expected


@pytest.mark.parametrize(("near", "expected"), [(0, (0, 0)), (1, (1 / 2, 0)), (3, (1 / 2, 1))])
def test_vectors_follow_the_grades_and_copies_of_gold(near: int, expected: tuple) -> None:
    texts, grades = ("no", "yes", "yes", "best"), (0, 1, 1, 2)
    gold = tuple(GoldPassage(text=t, grade=grade) for t, grade in zip(texts, grades, strict=True))
    one = embedded([EYE[near]], [EYE[texts.index(text)] for text in texts])
    one = replace(one, passages=(Passage(text=texts[near]),), gold=gold)
    for by in ("", ",by=cosine"):
        assert tuple(value(f"ChunkR(rel={rel}{by})@1", one) for rel in (1, 2)) == expected


def test_gold_by_id_is_found_by_id() -> None:
    one = Sample(
        id="q",
        passages=(Passage(id="7", text="seven"), Passage(id="8", text="eight")),
        gold=(GoldPassage(id="8", document="d", start=0, end=5, text="evidence in eight"),),
    )
    assert value("ChunkR@1", one) == 0.0
    assert value("ChunkR@2", one) == 1.0
    assert value("precision_at_k_exact@2", one) == 0.5


@pytest.mark.parametrize(
    "metric", [*CORRECTED, "precision_at_k_exact@3", "hybrid_log_rank_score_exact"]
)
@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (sample(["A"], None), Reason.NOT_APPLICABLE), (sample(["A"], []), Reason.NOT_APPLICABLE),
        (Sample(id="q", passages=(Passage(id="A"),), gold=(GoldPassage(id="A", grade=0),)),
         Reason.NOT_APPLICABLE),
        (Sample(id="q", gold=(GoldPassage(text="A"),)), Reason.MISSING_INPUT),
        (Sample(id="q", passages=(Passage(id="1"),), gold=(GoldPassage(text="A"),)),
         Reason.MISSING_INPUT),
        (Sample(id="q", passages=(Passage(id="1"), Passage("B")), gold=(GoldPassage(text="A"),)),
         Reason.MISSING_INPUT),
        (Sample(
             id="q",
             passages=(Passage(text="A"),),
             gold=(GoldPassage(document="d", start=0, end=3),),
         ), Reason.MISSING_INPUT),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_unscored_and_never_zero(metric, one, reason) -> None:
    outcome = naming.parse(metric).score(one)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is reason


def embedded(retrieved: Any, gold: Any, **more: Any) -> Sample:
    return sample(
        [f"r{i}" for i in range(len(retrieved))],
        [f"g{i}" for i in range(len(gold))],
        given={"passage_embeddings": retrieved, "gold_embeddings": gold} | more,
    )


def test_one_generic_chunk_recalls_one_and_near_duplicates_do_not_inflate_precision() -> None:
    generic = [[1.0, 1.0, 0.0, 0.0]]
    one = embedded(generic, EYE[:2])
    assert value("ChunkR(by=cosine,threshold=0.7)@1", one) == 0.5
    assert value("recall_at_k_similarity(similarity_threshold=0.7)@1", one) == 1.0
    one = embedded([EYE[0], EYE[0], EYE[0]], [EYE[0]])
    assert value("ChunkP(by=cosine)@3", one) == pytest.approx(1 / 3)
    assert value("precision_at_k_similarity@3", one) == 1.0
    assert value("hybrid(by=cosine)@3", one) == 1.0
    assert value("f1_at_k_similarity@3", one) == 1.0
    assert value("hybrid_log_rank_score_similarity", one) == 1.0


def test_a_score_by_cosine_tells_how_near_each_passage_came_to_the_threshold() -> None:
    slanted = [0.79, 0.6131, 0.0, 0.0]
    one = embedded([EYE[2], slanted, slanted, EYE[0]], EYE[:2])
    found = naming.parse("ChunkP(by=cosine)@3").score(one)
    assert isinstance(found, Score) and found.parts["hit_ranks"] == [] and found.given
    assert naming.parse("f1_at_k_similarity@1").score(one).given  # type: ignore[union-attr]
    assert found.parts["best_cosines"] == pytest.approx([0, 0.79, 0.79], abs=1e-4), "k at most"
    assert found.explanation.endswith("; threshold 0.8, best cosine 0.790")
    (*_, last) = naming.parse("ChunkP(by=cosine)@4").score(one).parts["best_cosines"]  # type: ignore[union-attr]
    assert last == 1
    nothing = naming.parse("ChunkP(by=cosine)@4").score(embedded([], EYE[:1]))
    assert isinstance(nothing, Score) and "best_cosines" not in nothing.parts
    bare = naming.parse("ChunkP(by=cosine)@4").score(sample([], ["g"]))  # which needs no vector
    assert isinstance(bare, Score) and bare.explanation == "nothing was retrieved"


@pytest.mark.parametrize("metric", ["ChunkP(by=cosine)@2", "precision_at_k_similarity@2"])
@pytest.mark.parametrize(
    ("given_values", "reason"),
    [
        ({"passage_embeddings": [EYE[0]]}, Reason.MISSING_INPUT),
        ({"gold_embeddings": [EYE[0]]}, Reason.MISSING_INPUT),
        *(
            ({"passage_embeddings": rows, "gold_embeddings": [EYE[0]]}, reason)
            for rows, reason in (
                ([EYE[0], EYE[1]], Reason.MISSING_INPUT), (3, Reason.MISSING_INPUT),
                ([["x"]], Reason.UNDEFINED), ([[1.0, 0.0]], Reason.UNDEFINED),
                ([[None] * 4], Reason.UNDEFINED), ([[{}] * 4], Reason.UNDEFINED),
                ([[float("nan")] * 4], Reason.UNDEFINED),
            )
        ),
    ],
)  # fmt: skip
def test_cosine_without_sound_vectors_is_unscored(metric, given_values, reason) -> None:
    outcome = naming.parse(metric).score(sample(["A"], ["A"], given=given_values))
    assert isinstance(outcome, Unscored)
    assert outcome.reason is reason
    assert not outcome.reason.incomplete
