"""The tools and the default parameters of UltraRAG's servers ``benchmark`` and ``evaluation``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FLOWS: Mapping[str, Mapping[str, str]] = {
    "benchmark": {"get_data": "benchmark->q_ls,gt_ls"},
    "evaluation": {
        "evaluate": "pred_ls,gt_ls,metrics,save_path->eval_res",
        "evaluate_trec": "run_path,qrels_path,ir_metrics,ks,save_path->eval_res",
        "evaluate_trec_pvalue": (
            "run_new_path,run_old_path,qrels_path,ir_metrics,ks,n_resamples,save_path->eval_res"
        ),
    },
}
"""For each server its tools, with what they take and give."""

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "benchmark": {
        "benchmark": {
            "name": "nq",
            "path": "data/sample_nq_10.jsonl",
            "key_map": {"q_ls": "question", "gt_ls": "golden_answers"},
            "shuffle": False,
            "seed": 42,
            "limit": -1,
        }
    },
    "evaluation": {
        "save_path": "output/evaluate_results.json",
        "metrics": ["acc", "f1", "em", "coverem", "stringem", "rouge-1", "rouge-2", "rouge-l"],
        "qrels_path": "data/qrels.txt",
        "run_path": "data/run_a.txt",
        "ks": [1, 5, 10, 20, 50, 100],
        "ir_metrics": ["mrr", "map", "recall", "ndcg", "precision"],
        "run_new_path": "data/run_a.txt",
        "run_old_path": "data/run_b.txt",
        "n_resamples": 10_000,
    },
}
"""For each server its parameters, with the values that its ``parameter.yaml`` has."""
