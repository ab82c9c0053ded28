"""The same values as pytrec_eval and trec_eval, whatever the source of the rankings."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings, strategies as st

from ragassay import GoldPassage, Passage, Sample, Score
from ragassay.engine.run.ranked_runs import evaluate_run
from ragassay.metrics.core.metric import Window
from ragassay.metrics.retrieval import ranking_sources, trec_names
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.metrics.retrieval.rankings import Rankings

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

QUERIES = ["q1", "q10", "q2"]
DOCUMENTS = ["a", "B", "b", "é", "z10", "z9", "zz", "日本", "c", "d", "e", "f"]
NEWER = ("iprec_at_recall", "11pt_avg")
"""pytrec_eval has trec_eval 9's rounding for these; the official outputs have 10's."""

documents = st.sampled_from(DOCUMENTS)
# Scores are small whole numbers: many ties, and exact in the 32 bits that pytrec_eval keeps.
runs = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(documents, st.integers(-3, 3).map(float), min_size=1)
)
# pytrec_eval reads memory of other queries when a query has no grade of at least 0.
grades = st.dictionaries(documents, st.integers(-1, 4), min_size=1).filter(
    lambda found: max(found.values()) >= 0
)
judgements = st.dictionaries(st.sampled_from(QUERIES), grades, min_size=1)


@cache
def measures(rel: int) -> list[tuple[str, RankingMetric]]:
    return [
        (measure.label, measure.metric)
        for measure in trec_names.resolve(["all_trec"], rel=rel)
        if measure.metric is not None and measure.per_query and measure.summary
    ]


def values(rankings: Rankings, rel: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    return {label: metric.values(rankings) for label, metric in measures(rel)}


@given(judgements, runs, st.sampled_from([1, 2]))
@settings(max_examples=200)
def test_every_measure_equals_pytrec_eval(qrels: Qrels, run: Run, rel: int) -> None:
    if not qrels.keys() & run.keys():
        return
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures, relevance_level=rel
    )
    expected = evaluator.evaluate(run)
    rankings = ranking_sources.from_mappings(qrels, run)
    found = values(rankings, rel)
    common = [label for label in found if not label.startswith(NEWER)]
    shared = [label for label in common if label in next(iter(expected.values()))]
    assert len(shared) > 75
    for label in shared:
        for at, query in enumerate(rankings.queries):
            if query in run:
                where = f"{label} of {query}"
                assert found[label][at] == pytest.approx(
                    expected[query][label], rel=1e-12, abs=1e-12
                ), where


def frames(qrels: Qrels, run: Run) -> tuple[pl.DataFrame, pl.DataFrame]:
    def frame(rows: Mapping[str, Mapping[str, float]], name: str, kind: Any) -> pl.DataFrame:
        flat = [(query, d, value) for query, found in rows.items() for d, value in found.items()]
        schema = {"query": pl.String, "document": pl.String, name: kind}
        return pl.DataFrame(flat, schema=schema, orient="row")

    return frame(qrels, "grade", pl.Int64), frame(run, "score", pl.Float64)


@given(judgements, runs.filter(bool), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_frames_arrays_mappings_and_samples_give_the_same_bits(qrels, run, random) -> None:
    if not qrels.keys() & run.keys():
        return
    expected = values(ranking_sources.from_mappings(qrels, run))
    gold_frame, run_frame = frames(qrels, run)
    # Rows in any order, queries interleaved.
    shuffled = random.sample(range(run_frame.height), run_frame.height)
    mixed = random.sample(range(gold_frame.height), gold_frame.height)
    sources = {
        "frames": ranking_sources.from_frames(gold_frame, run_frame),
        "shuffled": ranking_sources.from_frames(gold_frame[mixed], run_frame[shuffled]),
        "arrays": ranking_sources.from_arrays(
            tuple(column.to_numpy() for column in gold_frame),  # type: ignore[arg-type]
            tuple(column.to_list() for column in run_frame),  # type: ignore[arg-type]
        ),
    }
    for name, rankings in sources.items():
        for label, column in values(rankings).items():
            assert column.tolist() == expected[label].tolist(), f"{label} from {name}"
    samples = [
        Sample(
            id=query,
            # Of equal scores a sample keeps the order given: here that of trec_eval.
            passages=tuple(
                Passage(id=d, score=s) for d, s in sorted(run.get(query, {}).items(), reverse=True)
            ),
            gold=tuple(GoldPassage(id=d, grade=grade) for d, grade in qrels[query].items()),
        )
        for query in sorted(qrels)
    ]
    window = Window(samples)
    for label, metric in measures(1):
        found = [o.number if isinstance(o, Score) else None for o in window.outcomes(metric)]
        assert found == expected[label].tolist(), label


@given(
    st.dictionaries(documents, st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.dictionaries(documents, st.integers(0, 2), min_size=1),
)
def test_ranks_are_score_then_document_both_descending_in_double_precision(run, gold) -> None:
    in_order = sorted(run, key=lambda d: (run[d], d.encode()), reverse=True)
    ranks = [rank for rank, document in enumerate(in_order, 1) if document in gold]
    for rankings in (
        ranking_sources.from_mappings({"q": gold}, {"q": run}),
        ranking_sources.from_frames(*frames({"q": gold}, {"q": run})),
    ):
        assert rankings.hit_rank.tolist() == ranks


def test_scores_that_differ_in_the_ninth_digit_do_not_tie() -> None:
    """trec_eval 10 keeps double precision (issue #34): pytrec_eval says 0.5 here."""
    run = {"q": {"a": 0.900000001, "b": 0.9}}
    assert evaluate_run({"q": {"a": 1}}, run, "RR").means == {"RR": 1.0}


def test_geometric_means_are_trec_evals_and_a_query_without_judgements_disturbs_no_other() -> None:
    """pytrec_eval issue #49."""
    qrels: Qrels = {"q1": {"a": 1}, "q2": {}, "q3": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 2.0, "a": 1.0}}
    assert evaluate_run(qrels, run, "RR").values["RR"].tolist() == [1.0, 0.0, 0.5]
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"b": 1.0}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"})
    logs = [found["gm_map"] for found in evaluator.evaluate(run).values()]
    expected = pytrec_eval.compute_aggregated_measure("gm_map", logs)
    assert evaluate_run(qrels, run, "GMAP").means["GMAP"] == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(math.exp(math.log(0.5 * 1e-5) / 3))
