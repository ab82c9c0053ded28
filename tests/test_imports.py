"""What a cold start costs, told by the modules that it imports and not by a stopwatch."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ragassay

HEAVY = {
    "altair", "jinja2", "numpy", "orjson", "polars", "pydantic", "rapidfuzz", "sacrebleu",
    "vl_convert", "yaml", "asyncio",
}  # fmt: skip
NEVER = {
    "torch", "scipy", "nltk", "pandas", "matplotlib", "langchain", "transformers", "sklearn",
}  # fmt: skip


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stderr.split()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    found = modules_after("import ragassay")
    assert not found & (HEAVY | NEVER | {"rich", "cyclopts"})


def test_a_client_of_the_service_imports_no_server_and_no_engine() -> None:
    pytest.importorskip("httpx2", reason="needs the extra 'client'")
    found = modules_after("from ragassay import Client\nClient('http://localhost')")
    assert not found & (NEVER | {"fastapi", "sqlalchemy", "uvicorn", "numpy", "polars"})


def test_the_process_of_a_report_imports_no_database_and_no_server() -> None:
    pytest.importorskip("sqlalchemy", reason="needs the extra 'service'")
    found = modules_after("import ragassay.service.worker.report_process")
    assert not found & (NEVER | {"fastapi", "sqlalchemy", "uvicorn", "polars", "vl_convert"})


def test_help_imports_nothing_heavy() -> None:
    found = modules_after(
        "from ragassay.cli.command_line import call\nassert call(['--help']) == 0"
    )
    assert not found & ((HEAVY | NEVER) - {"asyncio"})


def test_the_help_of_a_command_imports_no_data_library() -> None:
    found = modules_after(
        "from ragassay.cli.command_line import call\n"
        "for command in ('run', 'compare', 'trec', 'metrics', 'demo'):\n"
        "    assert call([command, '--help']) == 0"
    )
    assert not found & (NEVER | {"polars", "altair", "sacrebleu", "vl_convert"})


def test_evaluating_answers_needs_no_frame_or_chart_library() -> None:
    found = modules_after(
        "import ragassay\n"
        "ragassay.evaluate([{'id': '1', 'answer': 'a b', 'references': ['b']}], ['f1', 'em'])"
    )
    assert not found & (NEVER | {"polars", "altair", "sacrebleu", "vl_convert"})


def test_what_docs_name_in_the_package_is_reached_without_a_further_import() -> None:
    source = Path(ragassay.__file__).parent
    inside = {one.stem for one in source.iterdir() if one.is_dir() or one.suffix == ".py"}
    pages = [*(source.parents[1] / "docs").rglob("*.md"), source.parents[1] / "README.md"]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = {name for text in texts for name in re.findall(r"\bragassay\.(\w+)", text)} & inside
    assert {"formats", "judges", "metrics"} <= named
    lines = ["import ragassay", "ragassay.formats.schema()"]
    lines += [f"ragassay.{name}" for name in sorted(named | {"stats", "suites"} - {"cli"})]
    modules_after("\n".join(lines))
    assert not modules_after("import ragassay") & (HEAVY | NEVER)
    with pytest.raises(AttributeError, match="attribute format"):
        ragassay.format  # noqa: B018


def test_runs_import_no_scientific_library_that_happens_to_be_installed(tmp_path: Path) -> None:
    """scipy's BLAS spins for ever where memory is limited; nltk imports it."""
    pytest.importorskip("scipy")
    found = modules_after(
        "from ragassay.cli.command_line import call\n"
        "from ragassay.examples import path_of\n"
        f"new, old = {str(tmp_path / 'new')!r}, {str(tmp_path / 'old')!r}\n"
        "for name, to in (('hybrid', new), ('keyword', old)):\n"
        "    words = ['-s', 'qa,trecrag,mtrag,ragreport,retrieval', '-n', '8', '--quiet']\n"
        "    call(['run', str(path_of(name)), '-o', to, *words])\n"
        "call(['compare', new, old, '--quiet'])\n"
        "call(['diagnose', new, '--quiet'])\n"
        "call(['report', new, '--format', 'html', '--quiet'])"
    )
    assert (tmp_path / "new" / "summary.json").is_file() and not found & NEVER
