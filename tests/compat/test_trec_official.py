"""trec_eval's own test files: `ragassay trec --format trec_eval` prints the very same lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ragassay.cli.command_line import call

OFFICIAL = [
    ("out.test", "qrels.test results.test"),
    ("out.test", "qrels.test.with-comments results.test"),
    ("out.test.a", "-m all_trec qrels.test results.test"),
    ("out.test.aq", "-mall_trec -q qrels.test results.test"),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc"),
    ("out.test.aqcM", "-m all_trec -qc -M100 qrels.test results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test"),
    (
        "out.test.meas_params",
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
        "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
        "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
    ),
    ("out.comment.test", "qrels.comment.test results.comment.test.gz"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.test prefs.results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test"),
    ("out.test.qrels_prefs", "-m all_prefs -q -R qrels_prefs qrels.test results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.123 results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test"),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file qrels.test results.test"),
]
"""All fifteen lines of trec_eval 10's quicktest: the output, and the words that make it."""


@pytest.mark.parametrize(("output", "words"), OFFICIAL)
def test_every_line_of_the_official_output_is_printed(
    output: str,
    words: str,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = shared / "data" / "trec_eval"
    monkeypatch.chdir(folder)
    assert call(["trec", "--format", "trec_eval", *words.split()]) == 0
    assert capsys.readouterr().out.splitlines() == (folder / output).read_text().splitlines()


def test_a_run_is_read_from_standard_input(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sixteenth use: trec_eval reads a run named '-' there; here it may be gzip, too."""
    folder = shared / "data" / "trec_eval"
    monkeypatch.chdir(folder)
    with (folder / "results.comment.test.gz").open("rb") as stream:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        assert call(["trec", "--format", "trec_eval", "qrels.comment.test", "-"]) == 0
    found = capsys.readouterr().out
    assert found.splitlines() == (folder / "out.comment.test").read_text().splitlines()
