"""A large file of samples through ``qa``: peak memory and throughput.

``python -m benchmarks.memory [--quick]``: 1,000,000 samples (20,000 when quick), and a tenth of
them before, to show how the peak grows with the number of samples: by the scores kept as arrays
(twelve bytes a score) and the ids, not by the texts.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

WORDS = [f"{a}{b}" for a in "bcdfglmnprstv" for b in ("ad", "elo", "ira", "on", "ulet", "ys")]

PROBE = """
import resource, sys
from ragassay.cli.command_line import call
code = call(["run", sys.argv[1], "--suite", "qa", "--json", "-o", sys.argv[2]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)
sys.exit(code)
"""


def main() -> None:
    """Prints one line for each size."""
    n = 20_000 if "--quick" in sys.argv else 1_000_000
    print(f"{'samples':>10} {'file MiB':>9} {'peak MiB':>9} {'seconds':>8} {'samples/s':>10}")
    for size in (n // 10, n):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.jsonl"
            write(path, size)
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", PROBE, str(path), str(Path(folder) / "run")],
                capture_output=True,
                check=True,
            )
            seconds = time.perf_counter() - began
            summary = orjson.loads(done.stdout)
            if summary["n_samples"] != size:
                sys.exit(f"{summary['n_samples']} of {size} samples were scored")
            peak = float(done.stderr.split()[-1])
            mib = path.stat().st_size / 2**20
            rate = size / seconds
            print(f"{size:>10,} {mib:>9.0f} {peak:>9.0f} {seconds:>8.1f} {rate:>10,.0f}")


def write(path: Path, n: int) -> None:
    """Writes ``n`` synthetic samples with an answer and two references."""
    draw = random.Random(0)
    with path.open("wb") as stream:
        for at in range(n):
            reference = " ".join(draw.choices(WORDS, k=8))
            answer = " ".join(draw.choices(WORDS, k=6)) + " " + reference[: draw.randrange(40)]
            record = {
                "id": f"q{at}",
                "query": " ".join(draw.choices(WORDS, k=9)),
                "answer": answer,
                "references": [reference, reference.split()[0]],
                "metadata": {"domain": draw.choice(("law", "health", "sport"))},
            }
            stream.write(orjson.dumps(record) + b"\n")


if __name__ == "__main__":
    main()
