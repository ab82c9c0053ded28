"""In a copy of the package: a format is a row, a note a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ragassay

FORMAT = """
teleprinter:
  title: What a teleprinter keeps (JSON Lines)
  suffixes: [.jsonl]
  signs: [tape.asked tape.typed]
  shapes:
    - span: {id: tape.number, inputs: tape.asked, outputs: tape.typed}
"""
NOTE = "\nloud: >-\n  {n:answer} {n:is/are} loud.\n"
RECORDS = [
    {"tape": {"number": f"t{at}", "asked": "Who?", "typed": text}}
    for at, text in enumerate(("ME", "You"))
]
PROGRAM = """
import json, ragassay
from ragassay.base.note import Note
result = ragassay.evaluate("tapes.jsonl", "answer_words")
print(json.dumps([ragassay.__file__, result.config["format"], result.summary.n_samples,
                  str(Note("loud", {"n": 2}))]))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    package = tmp_path / "ragassay"
    shutil.copytree(
        Path(ragassay.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    return package


def printed(copy: Path, program: str) -> Any:
    """The JSON that a program prints that imports the copy."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy.parent,
        env={**os.environ, "PYTHONPATH": str(copy.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_format_and_a_note_are_one_addition_each(copy: Path) -> None:
    for name, text in (("formats/exports.yaml", FORMAT), ("reports/text/note_words.yaml", NOTE)):
        with (copy / name).open("a") as stream:
            stream.write(text)
    (copy.parent / "tapes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    package, kind, n, sentence = printed(copy, PROGRAM)
    assert Path(package).parent == copy
    assert (kind, n) == ("teleprinter", 2)
    assert sentence == "2 answers are loud."
