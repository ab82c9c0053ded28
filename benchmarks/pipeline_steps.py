"""What a step of a pipeline costs beside a call: ``python -m benchmarks.pipeline_steps``.

One function over 1,000 answers is called directly, as a step of the built-in server, and as a step
of a server in a process of its own (JSON over standard input and output). What a pipeline of one
step takes is taken off one of many, so that starting servers does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path

from ragassay.compat import ultrarag
from ragassay.compat.ultrarag import pipelines

ROWS = 1000
EVALUATION = Path(__file__).resolve().parents[1] / "examples" / "ultrarag" / "evaluation"


def main() -> int:
    """Prints milliseconds a step and their ratio to the plain call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few steps")
    steps = 5 if parser.parse_args().quick else 50
    answers, golds = ["New York"] * ROWS, [["New York", "NYC"]] * ROWS
    ultrarag.evaluate(answers, golds, ["em"])
    began = time.perf_counter()
    for _ in range(steps):
        expected = ultrarag.evaluate(answers, golds, ["em"])
    plain = (time.perf_counter() - began) / steps * 1e3
    print(f"{'a plain call':24}{plain:8.1f} ms")
    for name, where in (
        ("a built-in step", "servers/evaluation"),
        ("a step of a process", str(EVALUATION)),
    ):
        each = step_ms(where, steps, expected)
        print(f"{name:24}{each:8.1f} ms   {each - plain:6.1f} ms more   x {each / plain:.2f}")
    return 0


def step_ms(where: str, steps: int, expected: object) -> float:
    """Milliseconds of a step of a server.

    Args:
        where: the server's address.
        steps: how many.
        expected: what each of them gives.
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ.setdefault("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        record = {"q": "q", "a": "New York", "g": ["New York", "NYC"]}
        Path("data.jsonl").write_text(f"{json.dumps(record)}\n" * ROWS)
        parameters = {
            "data": {
                "benchmark": {"path": "data.jsonl", "key_map": {"pred_ls": "a", "gt_ls": "g"}}
            },
            "score": {"metrics": ["em"], "save_path": ""},
        }
        Path("parameters.json").write_text(json.dumps(parameters))
        took = []
        for n in (1, 1 + steps):
            body = {
                "servers": {"data": "servers/benchmark", "score": where},
                "pipeline": ["data.get_data", *["score.evaluate"] * n],
            }
            Path("pipeline.yaml").write_text(json.dumps(body))
            began = time.perf_counter()
            options = pipelines.Options(parameters=Path("parameters.json"))
            finished = pipelines.run(Path("pipeline.yaml"), options)
            took.append(time.perf_counter() - began)
            if {"eval_res": finished.variables["eval_res"]} != expected:
                raise SystemExit(f"{where} gives something else")
        return (took[1] - took[0]) / steps * 1e3


if __name__ == "__main__":
    sys.exit(main())
