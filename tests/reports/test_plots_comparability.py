"""Pictures say which of the scores in them were not computed alike, and what they compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import plot_files
import ragassay
from plot_reading import drawn, words
from ragassay.cli.command_line import call
from ragassay.reports.charts import result_files as sources
from ragassay.reports.charts.picture import differences_in_computation
from ragassay.reports.run_reports import write_reports


def run(folder: Path, suite: list[str] | str = "consistency", **options: Any) -> Path:
    """A run folder of three queries, each run three times, with all its tables."""
    texts = ("The mill stands by the river [1].", "By the river [1].", "The ferry is blue.")
    data = [
        ragassay.Sample(
            id=f"q{at}", repeat=repeat, query="Where is the mill?",
            passages=(ragassay.Passage("The mill stands by the river."),),
            answer=ragassay.Answer(texts[(at + repeat) % 3]),
        )
        for at in range(3)
        for repeat in range(3)
    ]  # fmt: skip
    write_reports(ragassay.evaluate(data, suite, judge="offline", save=folder, **options))
    return folder


def plotted(capsys: pytest.CaptureFixture[str], target: Path, *argv: object) -> tuple[str, str]:
    """What the terminal and what the picture say."""
    assert call(["plot", *map(str, argv), "-o", str(target)]) == 0
    return " ".join(capsys.readouterr().err.split()), " ".join(words(target))


def test_runs_with_other_parameters_are_told_apart_in_the_picture(tmp_path: Path, capsys) -> None:
    a, b = run(tmp_path / "a"), run(tmp_path / "b", options={"p": 0.5})
    asked = [a, b, "-e", "consistency", "--metrics-to-plot", "retrieval_rbo", "retrieval_overlap"]
    for told in plotted(capsys, tmp_path / "p.svg", *asked):
        assert "Not computed alike: retrieval_rbo (" in told
        assert "p=0.5" in told and " in a;" in told and " in b)" in told
        assert "retrieval_overlap" not in told.partition("mean median")[0]
    said = words(tmp_path / "p.svg")
    assert sum("not comparable" in text for text in said) == 1, "the panel of that metric"
    for told in plotted(capsys, tmp_path / "q.svg", a, a, "-e", "consistency"):
        assert "alike" not in told


def test_the_two_citation_formulas_are_told_apart(tmp_path: Path, capsys) -> None:
    queries = plot_files.many(6)
    tool = plot_files.ore(tmp_path / "tool.csv", queries)
    page = plot_files.ore(tmp_path / "page.csv", queries, prefixed=False)
    for told in plotted(capsys, tmp_path / "p.svg", tool, page, "-e", "trec"):
        how = "formula=Open RAG Eval itself in tool; formula=Open RAG Eval's page in page"
        assert f"Not computed alike: citation.f1 ({how})." in told
    many = [plot_files.ore(tmp_path / f"{at}.csv", queries) for at in range(5)]
    for told in plotted(capsys, tmp_path / "m.svg", *many, page, "-e", "trec"):
        assert "Open RAG Eval itself in 0, 1, 2 and 2 more; " in told, "it must leave room"
    other = plot_files.ore(tmp_path / "other.csv", queries)
    for told in plotted(capsys, tmp_path / "q.svg", tool, other, "-e", "trec"):
        assert "alike" not in told


def test_a_run_folder_beside_its_own_file_is_alike_and_beside_the_tools_not(
    tmp_path: Path, capsys
) -> None:
    folder = run(tmp_path / "run", "trecrag")
    assert call(["report", str(folder), "--format", "ore", "-o", str(tmp_path / "ore")]) == 0
    capsys.readouterr()
    (tool,) = (tmp_path / "ore").glob("TREC*.csv")
    own, theirs = (
        sources.opened([folder, path], "trec").series for path in (folder / "trecrag.csv", tool)
    )
    metrics = list(own[1].result.summary.metrics)
    assert differences_in_computation(own, metrics) == []
    (sentence,) = differences_in_computation(theirs, ["umbrela", "hhem", "answered", "citation.f1"])
    assert sentence.startswith("Not computed alike: citation.f1 (formula=")
    assert f"No judge is named in {theirs[1].name}." in " ".join(words(drawn(folder, tool)))


def test_runs_with_nuggets_of_their_own_are_told_apart(tmp_path: Path) -> None:
    folders = [run(tmp_path / name, "trecrag") for name in ("a", "b")]
    series = sources.opened(folders, "trec").series
    (sentence,) = differences_in_computation(series, ["umbrela", "nuggets.all"])
    assert sentence == "Not computed alike: nuggets.all (each file has nuggets of its own)."
    assert "not comparable" in " ".join(words(drawn(*folders)))
