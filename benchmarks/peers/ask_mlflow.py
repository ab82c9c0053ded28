"""What MLflow says of the records on standard input; run by `benchmarks.peer_values`.

Its ROUGE and BLEU load their code from a repository each time; nothing here uses the network.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import import_module

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
warnings.simplefilter("ignore")

RANKS = 3


def main() -> None:
    """Prints the version and the values by metric."""
    mlflow, metrics = import_module("mlflow"), import_module("mlflow.metrics")
    records = json.load(sys.stdin)
    series = import_module("pandas").Series
    found, gold = (series([one[key] for one in records]) for key in ("ids", "gold"))
    values = {}
    for name in ("precision_at_k", "recall_at_k", "ndcg_at_k"):
        scores = getattr(metrics, name)(RANKS).eval_fn(found, gold).scores
        values[f"{name}({RANKS})"] = [float(score) for score in scores]
    print(json.dumps({"version": mlflow.__version__, "values": values}))


if __name__ == "__main__":
    main()
