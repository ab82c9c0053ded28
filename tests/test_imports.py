"""What a cold start costs, told by the modules that it imports and not by a stopwatch."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "altair", "jinja2", "nltk", "numpy", "orjson", "polars", "pydantic", "rapidfuzz", "sacrebleu",
    "vl_convert", "yaml", "asyncio",
}  # fmt: skip
NEVER = {"torch", "scipy", "pandas", "matplotlib", "langchain", "transformers", "sklearn"}


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stderr.split()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    found = modules_after("import ragassay")
    assert not found & (HEAVY | NEVER | {"rich", "cyclopts"})


def test_help_imports_nothing_heavy() -> None:
    found = modules_after("from ragassay.cli import call\nassert call(['--help']) == 0")
    assert not found & ((HEAVY | NEVER) - {"asyncio"})


@pytest.mark.parametrize("command", ["run", "compare", "trec", "metrics", "demo"])
def test_the_help_of_a_command_imports_no_data_library(command: str) -> None:
    found = modules_after(
        f"from ragassay.cli import call\nassert call([{command!r}, '--help']) == 0"
    )
    assert not found & (NEVER | {"polars", "altair", "nltk", "sacrebleu", "vl_convert"})


def test_evaluating_answers_needs_no_frame_or_chart_library() -> None:
    found = modules_after(
        "import ragassay\n"
        "ragassay.evaluate([{'id': '1', 'answer': 'a b', 'references': ['b']}], ['f1', 'em'])"
    )
    assert not found & (NEVER | {"polars", "altair", "nltk", "sacrebleu", "vl_convert"})
