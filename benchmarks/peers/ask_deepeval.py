"""What deepeval says of the records on standard input; run by `benchmarks.peer_values`."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"


def main() -> None:
    """Prints the version and the values by metric."""
    metrics = import_module("deepeval.metrics")
    records = json.load(sys.stdin)
    made = {
        "ExactMatchMetric": ({}, ""),
        "FaithfulnessMetric": ({}, "claims"),
        "FaithfulnessMetric(penalize_ambiguous_claims)": (
            {"penalize_ambiguous_claims": True},
            "claims",
        ),
        "ContextualPrecisionMetric": ({}, "useful"),
        "ContextualRecallMetric": ({}, "reference_claims"),
        "HallucinationMetric": ({}, "agrees"),
    }
    values = {
        name: [
            measured(getattr(metrics, name.partition("(")[0]), more, one, key) for one in records
        ]
        for name, (more, key) in made.items()
    }
    version = import_module("importlib.metadata").version("deepeval")
    print(json.dumps({"version": version, "values": values}))


def measured(kind: Any, more: dict[str, Any], one: dict[str, Any], key: str) -> float:
    """The score that a metric makes of a record and its recorded verdicts."""
    passages = [f"passage {name}" for name in one["ids"]]
    case = import_module("deepeval.test_case").LLMTestCase(
        input=one["query"],
        actual_output=one["answer"],
        expected_output=one["reference"],
        retrieval_context=passages,
        context=[f"context {n}" for n in range(len(one["agrees"]))],
    )
    if not key:
        metric = kind(**more)
    else:
        judge = recorded(one[key])
        metric = kind(model=judge, async_mode=False, include_reason=False, **more)
    metric.measure(case)
    return float(metric.score)


def recorded(verdicts: list[str]) -> Any:
    """A model that gives these verdicts to whatever it is asked."""
    base = import_module("deepeval.models").DeepEvalBaseLLM
    words = {"claims": [f"claim {n}" for n in range(len(verdicts))], "truths": ["a truth"]}

    class Recorded(base):  # type: ignore[misc, valid-type]
        def load_model(self) -> None:
            return None

        def get_model_name(self) -> str:
            return "recorded verdicts"

        def generate(self, prompt: str, schema: Any = None) -> Any:
            fields = schema.model_fields
            if "verdicts" in fields:
                reply = [
                    {"verdict": one, "reason": "r", "statement": "s", "expected_output": "o"}
                    for one in verdicts
                ]
                return schema.model_validate({"verdicts": reply})
            return schema.model_validate({name: words.get(name, "r") for name in fields})

        async def a_generate(self, prompt: str, schema: Any = None) -> Any:
            return self.generate(prompt, schema)

    return Recorded()


if __name__ == "__main__":
    main()
