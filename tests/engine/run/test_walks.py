"""How many functions one sample passes through: a reader who follows it can hold so many."""

import json
import subprocess
import sys
from pathlib import Path

from llm_server import LLMServer
from reports_examples import example

SAMPLE = {
    "id": "q1", "query": "Who wrote Emma?", "passages": ["Emma is a novel by Jane Austen."],
    "answer": "Jane Austen wrote it.", "references": ["Jane Austen"],
}  # fmt: skip
WALK = """
import os, sys, tempfile, threading
from pathlib import Path
import ragassay
from ragassay.cli.command_line import call
from ragassay.reports.run_reports import write_reports

root, seen, counts = str(Path(ragassay.__file__).parent) + os.sep, set(), False
result = ragassay.open_run("run") if sys.argv[1] == "reports" else None

def act():
    if result is None:
        assert call(sys.argv[1:]) == 0
    else:
        write_reports(result, Path(tempfile.mkdtemp()))

def note(frame, event, argument):
    code = frame.f_code
    own = counts and event == "call" and code.co_filename.startswith(root)
    if own and not code.co_name.startswith("<"):
        seen.add((code.co_filename, code.co_qualname))

threading.setprofile(note)  # of the thread that asks the judge
act()  # what is read and registered once is no part of the walk
counts = True
sys.setprofile(note)
act()
sys.setprofile(None)
sys.stderr.write(f"WALK {len(seen)} {len({file for file, _ in seen})}")
"""


def walk(folder: Path, *words: str) -> tuple[int, int]:
    """How many functions of ragassay a command (or writing the ``reports`` of a run) enters that
    ran once before, in how many files."""
    (folder / "one.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    command = [sys.executable, "-c", WALK, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    functions, files = map(int, done.stderr.rpartition("WALK ")[2].split())
    sys.stdout.write(f"{' '.join(words)}: {functions} functions in {files} files\n")
    return functions, files


def test_a_sample_of_qa_passes_through_few_functions(tmp_path: Path) -> None:
    functions, files = walk(tmp_path, "run", "one.jsonl", "--suite", "qa")
    assert functions <= 220 and files <= 40


def test_a_judged_sample_passes_through_few_functions(tmp_path: Path, server: LLMServer) -> None:
    asked = ["run", "one.jsonl", "-m", "umbrela", "--judge", f"{server.url}#model", "--refresh"]
    functions, files = walk(tmp_path, *asked)
    assert functions <= 300 and files <= 55


def test_the_reports_of_a_run_pass_through_few_functions(tmp_path: Path) -> None:
    example(12).save(tmp_path / "run")
    functions, files = walk(tmp_path, "reports")
    assert functions <= 220 and files <= 40
