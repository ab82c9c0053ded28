"""What promptfoo says of the records on standard input; run by `benchmarks.peer_values`.

``python ask_promptfoo.py COMMAND...``: the command that starts promptfoo. Its echo provider repeats
the answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ASSERTIONS = ("equals", "icontains", "levenshtein", "rouge-n", "bleu", "gleu")
_QUIET = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION")


def main() -> None:
    """Prints the version and the values by assertion; of levenshtein, the distance."""
    records = json.load(sys.stdin)
    tests = [
        {
            "vars": {"said": one["answer"], "reference": one["reference"]},
            "assert": [asserted(name) for name in ASSERTIONS],
        }
        for one in records
    ]
    command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        config, out = Path(folder) / "promptfooconfig.json", Path(folder) / "results.json"
        config.write_text(
            json.dumps({"prompts": ["{{said}}"], "providers": ["echo"], "tests": tests})
        )
        quiet = {f"PROMPTFOO_{name}": "1" for name in _QUIET} | {"PROMPTFOO_CONFIG_DIR": folder}
        work = [*command, "eval", "-c", str(config), "--no-cache", "-o", str(out)]
        subprocess.run(
            work, env=os.environ | quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # it fails where an assertion does
        results = json.loads(out.read_text())["results"]["results"]
        version = subprocess.run(
            [*command, "--version"], env=os.environ | quiet, capture_output=True, text=True
        ).stdout
    results.sort(key=lambda one: int(one["testIdx"]))
    values: dict[str, list[Any]] = {name: [] for name in ASSERTIONS}
    for one in results:
        for part in one["gradingResult"]["componentResults"]:
            values[part["assertion"]["type"]].append(value(part))
    print(json.dumps({"version": version.split()[-1], "values": values}))


def asserted(name: str) -> dict[str, Any]:
    """An assertion against the reference that shows its value: its threshold is at the end of its
    range."""
    threshold = {"levenshtein": -1, "rouge-n": 0, "bleu": 0, "gleu": 0}
    found: dict[str, Any] = {"type": name, "value": "{{reference}}"}
    return found | ({"threshold": threshold[name]} if name in threshold else {})


def value(part: dict[str, Any]) -> float:
    """The score; the distance stands in the reason only."""
    if part["assertion"]["type"] == "levenshtein":
        return float(part["reason"].split("distance ")[1].split()[0])
    return float(part["score"])


if __name__ == "__main__":
    main()
