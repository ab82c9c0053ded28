"""How many functions the reports of a run pass through: a reader who follows them can hold so
many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reports_examples import example

WALK = """
import os, sys
from pathlib import Path
import ragassay
from ragassay.reports.run_reports import write_reports

root, seen = str(Path(ragassay.__file__).parent) + os.sep, set()

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root) and code.co_name[0] != "<":
        seen.add((code.co_filename, code.co_qualname))

result = ragassay.open_run("run")
for folder in ("once", "again"):  # what is read and registered once is no part of the walk
    Path(folder).mkdir()
    sys.setprofile(note if folder == "again" else None)
    write_reports(result, Path(folder))
sys.setprofile(None)
print(len(seen), len({file for file, _ in seen}))
"""


def test_the_reports_of_a_run_pass_through_few_functions(tmp_path: Path) -> None:
    example(12).save(tmp_path / "run")
    command = [sys.executable, "-c", WALK]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    functions, files = map(int, done.stdout.split())
    sys.stdout.write(f"write_reports: {functions} functions in {files} files\n")
    assert functions <= 220 and files <= 40
