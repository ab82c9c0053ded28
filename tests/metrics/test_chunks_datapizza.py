"""The published datapizza values, number for number (reference/datapizza.md)."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.metrics.chunks import chunks_datapizza
from ragassay.metrics.chunks.chunks_datapizza import (
    bleu_score,
    corpus_bleu_score,
    corpus_rouge_scores,
    f1_at_k_exact,
    f1_at_k_similarity,
    hybrid_log_rank_score_exact,
    hybrid_log_rank_score_similarity,
    log_rank_score,
    precision_at_k_exact,
    precision_at_k_similarity,
    recall_at_k_exact,
    recall_at_k_similarity,
    rouge_score,
)
from ragassay.metrics.core.chunk_matching import cosine_matrix

MODULE = chunks_datapizza.__name__
A, B, C = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


def test_copies_and_the_depth_count_as_published() -> None:
    assert precision_at_k_exact(["A", "A"], ["A"], 2) == 0.5
    assert precision_at_k_similarity([A, A], [A], 2) == 1.0
    assert precision_at_k_exact(["A", "B"], ["A", "B"], 5) == 0.4
    assert precision_at_k_similarity([A, B], [A, B], 5) == 0.4
    assert recall_at_k_exact(["A"], ["A", "A", "B"], 2) == 0.5
    assert recall_at_k_similarity([A], [A, A, B], 2) == pytest.approx(2 / 3)
    for function in (precision_at_k_exact, recall_at_k_exact, f1_at_k_exact):
        assert function([], [], 3) == precision_at_k_similarity([], [], 3) == 0.0
    assert f1_at_k_exact(["A", "X"], ["A", "B", "C"], 2) == pytest.approx(2 / 5)
    assert f1_at_k_exact(["X"], ["A"], 1) == 0.0
    assert f1_at_k_similarity([A, C], [A, B], 2) == 0.5


@pytest.mark.parametrize(
    "call",
    [lambda: precision_at_k_exact(["A"], [], 1), lambda: recall_at_k_exact(["A"], [], 1),
     lambda: precision_at_k_similarity([A], [], 1), lambda: hybrid_log_rank_score_exact([], []),
     lambda: hybrid_log_rank_score_similarity([A], []), lambda: corpus_bleu_score(["A"], []),
     lambda: corpus_rouge_scores(["A"], []), lambda: recall_at_k_similarity([], [], 3),
     lambda: f1_at_k_similarity([], [], 3)],
)  # fmt: skip
def test_no_gold_is_an_error_as_published(call) -> None:
    with pytest.raises(ValueError, match="ground truth"):
        call()


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize(("functions", "chunk"), [
    ((precision_at_k_exact, recall_at_k_exact, f1_at_k_exact), "A"),
    ((precision_at_k_similarity, recall_at_k_similarity, f1_at_k_similarity), A),
])  # fmt: skip
def test_k_below_one_is_refused(functions, chunk, k) -> None:
    for function in functions:
        with pytest.raises(ValueError, match=f"k must be at least 1, not {k}"):
            function([chunk], [chunk], k)


@pytest.mark.parametrize(("n", "gamma", "values"), [
    (5, 1, [1, 0.569323, 0.317394, 0.138647, 0]), (5, 0.1, [1, 0.716737, 0.458138, 0.220250, 0]),
    (5, 10, [1, 0.354289, 0.180163, 0.075287, 0]), (5, 100, [1, 0.230038, 0.115225, 0.047857, 0]),
    (10, 1, [1, 0.698970, 0.522879, 0.397940, 0.301030, 0.221849, 0.154902, 0.096910, 0.045757, 0]),
    (1, 1, [1]),
])  # fmt: skip
def test_log_rank_scores_of_the_reference(n, gamma, values) -> None:
    assert [log_rank_score(rank, n, gamma) for rank in range(1, n + 1)] == pytest.approx(
        values, abs=5e-7
    )


def test_log_rank_at_gamma_zero_is_the_limit() -> None:
    for rank in range(1, 8):
        line = log_rank_score(rank, 7, 0)
        assert line == pytest.approx(1 - (rank - 1) / 6)
        assert line == pytest.approx(log_rank_score(rank, 7, 1e-9), abs=1e-8)


@pytest.mark.parametrize(
    ("rank", "n", "gamma"),
    [(0, 5, 1.0), (6, 5, 1.0), (1, 0, 1.0), (2, 5, -1.0), (2, 5, float("nan")), (2, 5, 1e308)],
)
def test_log_rank_refuses_what_has_no_value(rank, n, gamma) -> None:
    with pytest.raises(ValueError, match="must be"):
        log_rank_score(rank, n, gamma)
    for alpha in (1.5, -0.5):
        with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
            hybrid_log_rank_score_exact(["A"], ["A"], alpha=alpha)


def d(*numbers: int) -> list[str]:
    return [f"d{number}" for number in numbers]


@pytest.mark.parametrize(
    ("retrieved", "gold", "value"),
    [(d(1, 2, 3, 4, 5), d(1, 4, 9), 0.5231078140), (["A", "B"], ["A", "B"], 0.75),
     (d(1, 2, 3, 4, 5), d(1, 2, 3, 4, 5), 0.7025364131),
     (d(*range(1, 11)), d(1, 2), 0.9247425011), (d(1, 2, 3), d(3), 0.5),
     (d(*range(1, 11)), d(3), 0.7614393726), (d(*range(1, 101)), d(3), 0.8807196863),
     ([], ["A"], 0.0)],
)  # fmt: skip
def test_hybrid_scores_of_the_reference_in_both_variants(retrieved, gold, value) -> None:
    assert hybrid_log_rank_score_exact(retrieved, gold) == pytest.approx(value, abs=5e-11)
    axes = {name: row for row, name in zip(np.eye(120), {*retrieved, *gold}, strict=False)}
    vectors = [axes[name] for name in retrieved], [axes[name] for name in gold]
    assert hybrid_log_rank_score_similarity(*vectors) == pytest.approx(value, abs=5e-11)
    other = {"gamma": 0.3, "alpha": 0.2}
    exact = hybrid_log_rank_score_exact(retrieved, gold, **other)
    assert hybrid_log_rank_score_similarity(*vectors, **other) == pytest.approx(exact)


@pytest.mark.parametrize(("retrieved", "gold", "problem"), [
    ([[1.0, float("nan")]], [[1.0, 0.0]], "not finite"),
    ([[1.0, 0.0]], [[1.0, 0.0, 0.0]], "differ in length"),
    ([[1.0, 0.0], [1.0]], [[1.0, 0.0]], "all of one length"),
    ([1.0, 0.0], [[1.0, 0.0]], "rows of numbers"),
])  # fmt: skip
def test_vectors_that_do_not_fit_are_an_error(retrieved, gold, problem) -> None:
    with pytest.raises(ValueError, match=problem):
        precision_at_k_similarity(retrieved, gold, 2)


def test_bleu_scores_of_the_reference() -> None:
    assert bleu_score("the cat sat on the mat", ["the cat is on the mat"]) == pytest.approx(
        0.3799178428, abs=5e-11
    )
    assert bleu_score("Paris", ["Paris"]) == 1.0
    assert bleu_score("Hello World", ["hello world"]) == 0.0
    assert bleu_score("", [""]) == 1.0
    assert bleu_score("", ["a", ""]) == bleu_score("a", []) == 0.0


def test_no_value_exceeds_one() -> None:
    texts = [f"{word} says the same as it did the day before" for word in "abcdefghijklm"]
    assert max(bleu_score(text, [text]) for text in texts) == 1.0
    assert corpus_bleu_score(texts, texts) == 1.0
    for n in range(1, 60):
        values = corpus_rouge_scores(["the same words"], ["the same words"] * n)
        assert all(value == 1.0 for kind in values.values() for value in kind.values())
    rows = np.random.default_rng(1).normal(size=(300, 384))
    assert cosine_matrix(rows, rows).max() <= 1.0 and cosine_matrix(rows, -rows).min() >= -1.0


def test_at_threshold_one_the_published_form_loses_identical_vectors_and_the_corrected_none() -> (
    None
):
    rows = np.random.default_rng(0).normal(size=(40, 384))
    record = {"query": "q", "retrieved_embeddings": rows, "ground_truth_embeddings": rows}
    names = ["precision_at_k_similarity(similarity_threshold=1,k=40)"]
    names += [f"{name}(by=cosine,threshold=1)@40" for name in ("ChunkP", "ChunkR", "hybrid")]
    result = ragassay.evaluate([record], metrics=names)
    published, *corrected = result.scores
    assert [row.value for row in corrected] == [1.0] * 3
    assert 0 < float(published.value) < 1


words = st.lists(st.sampled_from(["the", "cats", "cat", "running", "runs,"]), max_size=12).map(
    " ".join
)


@given(words, words)
def test_rouge_agrees_with_rouge_score(left, right) -> None:
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    peer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    expected = {key: value.fmeasure for key, value in peer.score(right, left).items()}
    assert rouge_score(left, right) == expected
    assert rouge_score(left, right, nested=True) == {
        kind: value._asdict() for kind, value in peer.score(right, left).items()
    }


def test_corpus_bleu_takes_the_best_chunk_and_corpus_rouge_picks_by_recall() -> None:
    retrieved = ["the cat sat on the mat", "no match here at all"]
    gold = ["the cat is on the mat", "no match here at all"]
    expected = (bleu_score(retrieved[0], gold[:1]) + bleu_score(retrieved[1], gold[1:])) / 2
    assert corpus_bleu_score(retrieved, gold) == pytest.approx(expected)
    assert corpus_bleu_score([], gold) == 0.0
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    peer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    long = "a long text that says the cat sat on the mat among many other things besides"
    retrieved, gold = ["the cat sat", long, "dogs bark"], ["the cat sat on the mat", "a dog barks"]
    values = corpus_rouge_scores(retrieved, gold)
    for kind in ("rouge1", "rouge2", "rougeL"):
        best = []
        for g in gold:
            scores = [peer.score(g, r)[kind] for r in retrieved]
            best.append(max(scores, key=lambda s: s.recall))
        assert values[kind] == {
            "precision": pytest.approx(np.mean([b.precision for b in best])),
            "recall": pytest.approx(np.mean([b.recall for b in best])),
            "fmeasure": pytest.approx(np.mean([b.fmeasure for b in best])),
        }
    assert corpus_rouge_scores([], []) == {
        kind: {"precision": 0.0, "recall": 0.0, "fmeasure": 0.0}
        for kind in ("rouge1", "rouge2", "rougeL")
    }


def test_a_text_is_never_taken_for_a_list_of_its_characters() -> None:
    for call in (
        lambda: chunks_datapizza.precision_at_k_exact(["P"], "Paris", 1),
        lambda: chunks_datapizza.recall_at_k_exact("Paris", ["P", "a"], 2),
        lambda: chunks_datapizza.f1_at_k_exact("Paris", ["P"], 2),
        lambda: chunks_datapizza.hybrid_log_rank_score_exact("AB", "AB"),
        lambda: chunks_datapizza.bleu_score("a", "a b c"),
        lambda: chunks_datapizza.corpus_bleu_score("ab", ["a"]),
        lambda: chunks_datapizza.corpus_rouge_scores(["a"], "ab"),
    ):
        with pytest.raises(ValueError, match="not as one text"):
            call()
