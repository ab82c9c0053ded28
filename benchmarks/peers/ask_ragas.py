"""What ragas says of the records on standard input; run by `benchmarks.peer_values`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from importlib import import_module
from typing import Any

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
warnings.simplefilter("ignore")

BY_SAMPLE = (
    *("RougeScore", "BleuScore", "ExactMatch", "StringPresence", "NonLLMStringSimilarity"),
    *("IDBasedContextPrecision", "IDBasedContextRecall"),
)


def main() -> None:
    """Prints the version and the values by metric."""
    ragas, metrics = import_module("ragas"), import_module("ragas.metrics")
    records = json.load(sys.stdin)
    values: dict[str, list[Any]] = {}
    for name in BY_SAMPLE:
        metric = getattr(metrics, name)()
        values[name] = [asyncio.run(metric.single_turn_ascore(sample(one))) for one in records]
    faithful, precise = metrics.Faithfulness(), metrics.LLMContextPrecisionWithReference()
    statement = import_module("ragas.metrics._faithfulness")
    useful = import_module("ragas.metrics._context_precision").Verification
    values["Faithfulness"] = [
        # Without statements the metric itself gives NaN before it comes to this.
        faithful._compute_score(
            statement.NLIStatementOutput(
                statements=[
                    statement.StatementFaithfulnessAnswer(
                        statement="s", reason="r", verdict=int(said == "yes")
                    )
                    for said in one["claims"]
                ]
            )
        )
        for one in records
    ]
    values["LLMContextPrecisionWithReference"] = [
        precise._calculate_average_precision(
            [useful(reason="r", verdict=int(said == "yes")) for said in one["useful"]]
        )
        for one in records
    ]
    print(json.dumps({"version": ragas.__version__, "values": values}))


def sample(one: dict[str, Any]) -> Any:
    """A record as a sample of ragas."""
    return import_module("ragas").SingleTurnSample(
        user_input=one["query"],
        response=one["answer"],
        reference=one["reference"],
        retrieved_context_ids=one["ids"],
        reference_context_ids=one["gold"],
    )


if __name__ == "__main__":
    main()
