"""Metrics of ragas, deepeval, MLflow and promptfoo beside ours, on the same records.

``python -m benchmarks.peer_values [--ragas PYTHON] [--deepeval PYTHON] [--mlflow PYTHON]
[--promptfoo COMMAND]``: the interpreters that have the packages (this one where left out; their
requirements exclude each other), and the command that starts promptfoo. What is not installed is
skipped, and said. Nothing uses the network: judged metrics are given the same recorded answers
(``benchmarks/peers/records.json``), so that what is compared is what they make of them.

docs/coming-from.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ragassay
from ragassay.judges import Question

HERE = Path(__file__).resolve().parent
TOOLS = ("ragas", "deepeval", "mlflow", "promptfoo")


class Pair(NamedTuple):
    """A metric of another tool, and ours that is the same or comes nearest (empty: none does)."""

    tool: str
    theirs: str
    ours: str


PAIRS = (
    Pair("ragas", "RougeScore", "rougeL.f"),
    Pair("ragas", "BleuScore", "BLEU"),
    Pair("ragas", "ExactMatch", "exact_match"),
    Pair("ragas", "StringPresence", "contains_answer"),
    Pair("ragas", "NonLLMStringSimilarity", "rougeL.f"),
    Pair("ragas", "IDBasedContextPrecision", "SetP"),
    Pair("ragas", "IDBasedContextRecall", "SetR"),
    Pair("ragas", "Faithfulness", "rl_f"),
    Pair("ragas", "LLMContextPrecisionWithReference", "umbrela_AP_judged"),
    Pair("deepeval", "ExactMatchMetric", "exact_match"),
    Pair("deepeval", "FaithfulnessMetric", "rl_f"),
    Pair("deepeval", "FaithfulnessMetric(penalize_ambiguous_claims)", "rl_f"),
    Pair("deepeval", "ContextualPrecisionMetric", "umbrela_AP_judged"),
    Pair("deepeval", "ContextualRecallMetric", "SetR"),
    Pair("deepeval", "HallucinationMetric", ""),
    Pair("mlflow", "precision_at_k(3)", "P@3"),
    Pair("mlflow", "precision_at_k(3)", "SetP"),
    Pair("mlflow", "recall_at_k(3)", "Recall@3"),
    Pair("mlflow", "ndcg_at_k(3)", "nDCG@3"),
    Pair("promptfoo", "equals", "exact_match"),
    Pair("promptfoo", "icontains", "contains_answer"),
    Pair("promptfoo", "rouge-n", "rouge1.f"),
    Pair("promptfoo", "bleu", "BLEU"),
    Pair("promptfoo", "gleu", "BLEU"),
    Pair("promptfoo", "levenshtein", "rougeL.f"),
)


def main() -> None:
    """Prints the values of each pair, and whether they are the same."""
    parser = argparse.ArgumentParser()
    for tool in TOOLS:
        parser.add_argument(f"--{tool}", default="promptfoo" if tool == "promptfoo" else None)
    parser.add_argument("--quick", action="store_true", help="changes nothing: it takes seconds")
    chosen = vars(parser.parse_args())
    text = (HERE / "peers" / "records.json").read_text(encoding="utf-8")
    ours = own_values(json.loads(text), {pair.ours for pair in PAIRS} - {""})
    for tool in TOOLS:
        told = asked(tool, chosen[tool], text)
        if told is None:
            print(f"{tool}: not installed here, skipped (--{tool} names where it is)")
            continue
        print(f"{tool} {told['version']}")
        for pair in PAIRS:
            if pair.tool == tool:
                theirs, own = told["values"][pair.theirs], ours.get(pair.ours, [])
                beside = "the same" if own and same(theirs, own) else shown(own)
                print(f"  {pair.theirs:<46} {shown(theirs)}   {pair.ours:<18} {beside}".rstrip())


def asked(tool: str, where: str | None, records: str) -> dict[str, Any] | None:
    """What a tool says of the records; ``None`` where it is not installed."""
    script = [str(HERE / "peers" / f"ask_{tool}.py")]
    if tool == "promptfoo":
        command = shlex.split(where or "")
        there, work = [*command, "--version"], [sys.executable, *script, *command]
    else:
        python = where or sys.executable
        there, work = [python, "-c", f"import {tool}"], [python, *script]
    try:
        if subprocess.run(there, capture_output=True).returncode:
            return None
    except OSError:
        return None
    done = subprocess.run(work, input=records, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tool}: {done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def own_values(
    records: Sequence[Mapping[str, Any]], names: set[str]
) -> dict[str, list[float | None]]:
    """Our values of each metric, judged ones by the recorded answers; ``None`` is unscored."""
    sys.path.insert(0, str(HERE.parent / "tests" / "support"))
    from scripted_judge import Scripted  # type: ignore[import-not-found]

    data = [
        {
            **{key: one[key] for key in ("id", "query", "answer")},
            "references": [one["reference"]],
            "passages": [{"id": name, "text": f"passage {name}"} for name in one["ids"]],
            "gold_passages": [{"id": name, "grade": 1} for name in one["gold"]],
        }
        for one in records
    ]
    useful = {
        f"passage {name}": said == "yes"
        for one in records
        for name, said in zip(one["ids"], one["useful"], strict=True)
    }
    claims = {one["answer"]: one["claims"] for one in records}
    texts = {
        f"{answer} {n}": said for answer, all_ in claims.items() for n, said in enumerate(all_)
    }

    def reply(question: Question[Any]) -> Mapping[str, Any]:
        asks: Any = question
        if question.kind == "extract_claims":
            return {"claims": [f"{asks.answer} {n}" for n in range(len(claims[asks.answer]))]}
        if question.kind == "claim_support":
            return {"supported": [texts[claim] == "yes" for claim in asks.claims]}
        return dict.fromkeys(("match", "trust", "grade"), 3 * useful[asks.passage])

    result = ragassay.evaluate(data, sorted(names), judge=Scripted(reply))
    values: dict[str, list[float | None]] = {name: [] for name in names}
    for row in result.scores:
        values[row.metric].append(row.value if isinstance(row.value, int | float) else None)
    return values


def same(theirs: Sequence[float], ours: Sequence[float | None]) -> bool:
    """Whether all values agree to four digits; an unscored one is like nothing."""
    pairs = zip(theirs, ours, strict=True)
    return all(own is not None and abs(other - own) < 5e-5 for other, own in pairs)


def shown(values: Sequence[float | None]) -> str:
    """The values of the records, ``-`` for unscored."""
    return " ".join("     -" if value is None else f"{value:6.4g}" for value in values)


if __name__ == "__main__":
    main()
