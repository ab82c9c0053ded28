"""Runs every benchmark: ``python -m benchmarks [--quick]``."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "retrieval",
    "rouge",
    "coverage",
    "error_rates",
    "memory",
    "judging",
    "offline_judge",
    "agreement",
    "bertscore",
    "peer_values",
    "side_by_side",
)


def main() -> int:
    """Runs each benchmark in its own process, so that none warms another up."""
    failed = []
    for name in BENCHMARKS:
        print(f"\n=== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nFailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
