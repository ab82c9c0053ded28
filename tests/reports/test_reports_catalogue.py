"""The list of metrics, and what commands print it on."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay import suites
from ragassay.cli import show
from ragassay.cli.command_line import call
from ragassay.cli.show import console
from ragassay.metrics.core import naming
from ragassay.reports.views import catalogue_view as catalogue
from ragassay.reports.views.catalogue_view import worked_example
from ragassay.reports.views.summary_view import summary_report
from reports_examples import example
from terminal_text import shown


def test_the_list_says_everything_about_each_metric_and_fits_100_columns() -> None:
    entries = catalogue.all_entries()
    text = shown(catalogue.entries_report(entries), 100)
    assert max(map(len, text.splitlines())) <= 100
    words = " ".join(text.split())
    for entry in entries:
        for said in (entry["source"], *entry["suites"]):
            assert said in " ".join(re.sub(r"\d to [\d∞][ ↑↓]*", "", words).split()), entry["name"]


def test_every_metric_is_explained_with_an_example_that_is_computed() -> None:
    # Other tests make metrics.
    classes = naming.metric_classes()
    ours = {
        name for name, cls in classes.items() if f"{cls.__module__}".startswith("ragassay.metrics.")
    }
    assert len(ours) > 120
    entries = {one["name"]: one for one in catalogue.all_entries() if one["metric"] in ours}
    worked = {name: dict(worked_example(entry["metric"])) for name, entry in entries.items()}
    for name, entry in entries.items():
        for fact in ("formula", "misleads", "range", "source"):
            assert entry[fact], (name, fact)
        assert entry["needs"] or entry["family"] == "serving", name  # what ask recorded
        assert worked[name]["example"] and worked[name]["gives"], name
    assert worked["RR"]["gives"] == "RR = 0.5000"  # the first relevant passage is the second
    assert worked["token_f1"]["gives"] == "token_f1.f = 0.6667"  # 2 * 0.5 * 1 / (0.5 + 1)
    assert worked["faithfulness"]["judged by"].startswith("offline-lexical/")
    assert worked["bertscore"]["gives"] == "bertscore.f = 0.9123"  # P is (1 + .6 + .96) / 3, R .98
    assert worked["hhem_windows"]["gives"] == "hhem_windows = 0.5000"  # (.95 + .05) / 2
    assert worked["rb_agg"]["gives"] == "rb_agg = 0.7478"  # harmonic mean of .8, .75 and .7
    assert worked["CharIoU"]["gives"] == "CharIoU = 0.3182"  # 70 / (200 + 90 - 70)
    assert worked["runs_cv"]["gives"].endswith(" = 0.4364")  # of 2/3, 1 and 2/5
    assert worked["tokens"]["gives"] == "tokens.total = 322"  # 310 + 12


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_pipe_gets_no_padding_and_only_what_it_can_encode(encoding: str, monkeypatch) -> None:
    written = io.BytesIO()
    pipe = io.TextIOWrapper(written, encoding=encoding)  # standard output that is no terminal
    monkeypatch.setattr(sys, "stdout", pipe)
    show.report(summary_report(example(20).summary))
    show.report(catalogue.entries_report(catalogue.all_entries("retrieval")))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console().width == 120
    console().print("the end →", end="")
    pipe.flush()
    text = written.getvalue().decode(encoding)
    assert "nDCG@10" in text and text.endswith("the end ?" if encoding == "ascii" else "the end →")
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("suite", list(suites.all_suites()))
def test_the_list_of_a_suite_tells_what_to_know_about_its_numbers(suite: str, capsys) -> None:
    assert call(["metrics", "--suite", suite]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(note.split()) in said for note in suites.get(suite).notes)


def test_the_documentation_holds_the_metrics_as_they_are(request: pytest.FixtureRequest) -> None:
    """Their ranges decide intervals and verdicts: a change must be seen."""
    path = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
    page = path.read_text(encoding="utf-8")
    # In a process of its own: other tests make metrics.
    code = "from metric_catalogue import metric_catalogue; print(metric_catalogue())"
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"}
    made = subprocess.run([sys.executable, "-c", code], env=os.environ | paths, capture_output=True)
    assert made.returncode == 0, made.stderr.decode()
    tables = made.stdout.decode().rstrip()
    before, rest = page.split("<!-- metrics -->\n")
    now = f"{before}<!-- metrics -->\n{tables}\n<!-- end -->{rest.split('<!-- end -->')[1]}"
    if request.config.getoption("--approve"):
        path.write_text(now, encoding="utf-8")
        return
    assert now == page, "run pytest tests/reports/test_reports_catalogue.py --approve"
