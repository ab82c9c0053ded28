"""What a command imports: its time is mostly that of its imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = """
import json, sys
from ragassay.cli.start import main
try:
    main(sys.argv[1:])
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
SAMPLE = {"id": "1", "query": "Who?", "answer": "Ann.", "references": ["Ann"]}


def imported(*words: str) -> set[str]:
    command = [sys.executable, "-c", MODULES, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("words", "most", "unneeded"),
    [
        (["--version"], 90, {"numpy", "pydantic", "yaml"}),
        (["--help"], 90, {"numpy", "pydantic", "yaml"}),
        (["run", "DATA"], 250, {"matplotlib", "ragassay.reports.run_reports"}),
        (["run", "DATA", "-m", "token_f1"], 210, {"ragassay.metrics.chunks.spans"}),
        (["run", "DATA", "--suite", "trecrag"], 225, {"ragassay.metrics.chunks.spans"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_imports_what_it_needs(words, most: int, unneeded, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(SAMPLE), encoding="utf-8")
    modules = imported(*(str(data) if word == "DATA" else word for word in words))
    assert not modules & {*unneeded, "nltk", "scipy", "torch", "polars"}
    assert sum(name.startswith("ragassay") for name in modules) <= most
