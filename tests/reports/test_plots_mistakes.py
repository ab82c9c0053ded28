"""``ragassay plot``: mistakes have a sentence, and scores computed differently are named."""

from pathlib import Path
from typing import Any

import pytest

import plot_files
import ragassay
from plot_reading import drawn, words
from ragassay.base.errors import InputError
from ragassay.cli.command_line import call
from ragassay.reports.charts import result_files as sources
from ragassay.reports.charts.picture import differences_in_computation
from ragassay.reports.run_reports import write_reports


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return plot_files.three(tmp_path / "results.csv")


def said(capsys, *argv: str) -> str:
    assert call(["plot", *argv]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_evaluator_must_be_named_and_the_choices_are_listed(three: Path, capsys) -> None:
    missing = said(capsys, str(three))
    assert "--evaluator" in missing and "trec" in missing and "consistency" in missing
    wrong = said(capsys, str(three), "--evaluator", "golden")
    assert "trec" in wrong and "consistency" in wrong


def test_of_many_metrics_only_the_nearest_are_listed(three: Path, tmp_path: Path, capsys) -> None:
    folder = str(plot_files.many_metrics(tmp_path / "run"))
    for name, wanted in (("metric-with-long-name-7", "metric-with-a-long-name-7"), ("zzz", "42")):
        text = said(capsys, folder, "-e", "trec", "--metrics-to-plot", name)
        assert wanted in text and folder in text
        assert text.count("metric-with-a-long-name-") <= 5
    text = said(capsys, str(three), "-e", "trec", "--metrics-to-plot", "vital_nugetizer", "MRR")
    assert "'vital_nugetizer' is not in the files" in text and "nuggets.vital" in text
    text = said(capsys, str(three), "-e", "trec", "--metrics-to-plot", "umbrella")
    assert "Did you mean 'umbrela'" in text
    assert "names no metric" in said(capsys, str(three), "-e", "trec", "--metrics-to-plot")


@pytest.mark.parametrize(("spelled", "name"), [
    ("retrieval_score_mean_umbrela_score", "umbrela"),
    ("run_1_generation_score_vital_nuggetizer_score", "nuggets.vital"),
    ("vital_nuggetizer_score", "nuggets.vital"), ("Vital Strict", "nuggets.vital_strict"),
    ("precision@3", "umbrela_P@3"), ("AP@1", "umbrela_AP@1"), ("MRR", "umbrela_MRR"),
    ("weighted_recall", "citation.recall"), ("generation_score_no_answer_score", "answered"),
    ("CITATION.F1", "citation.f1"), ("Weighted Strict", "nuggets.weighted_strict"),
    ("no_answer", "answered"),
])  # fmt: skip
def test_a_metric_goes_by_its_published_names_and_ours(three, spelled: str, name: str) -> None:
    assert sources.chosen(sources.opened([three], "trec"), [spelled])[0] == [name]


@pytest.mark.parametrize("name", ["x.jpg", "x.pdf", "x"])
def test_another_ending_is_refused_before_anything_is_read(name: str, capsys) -> None:
    assert "Use .png or .svg" in said(capsys, "nowhere.csv", "-e", "trec", "-o", name)


def test_files_of_another_kind_are_named_with_what_to_do(tmp_path: Path, capsys) -> None:
    trec = str(plot_files.ore(tmp_path / "t.csv", plot_files.many(3)))
    runs = str(plot_files.consistent(tmp_path / "c.csv"))
    assert "use --evaluator consistency" in said(capsys, runs, "-e", "trec")
    assert "use --evaluator trec" in said(capsys, trec, "-e", "consistency")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    text = said(capsys, str(other), "-e", "trec")
    assert "other.csv, line 1" in text and "Found: a, b" in text
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "blank.csv").write_text(",\n1,2\n")
    (tmp_path / "head.csv").write_text(Path(trec).read_text().splitlines()[0] + "\n")
    (tmp_path / "folder").mkdir()
    for name, problem in (
        ("none.csv", "no such file"), ("empty.csv", "empty"), ("head.csv", "no row"),
        ("old.png", "picture"), ("folder", "not a finished run folder"), ("blank.csv", "no header"),
    ):  # fmt: skip
        assert problem in said(capsys, str(tmp_path / name), "-e", "trec")


@pytest.mark.parametrize(("column", "cell", "problem"), [
    ("vital", '"high"', "the text 'high', where a number"), ("vital", "1.4", "outside 0 to 1"),
    ("umbrela", "3.5", "outside 0 to 3"), ("vital", "true", "the flag true"),
    ("vital", "{broken", "not valid JSON"),
    ("answered", '{"query_answered": "maybe"}', "neither yes nor no"),
    ("ranking", "[1]", "where an object"), ("ranking", '{"precision@": 3}', "where an object"),
    ("ranking", '{"MRR": "one"}', "'MRR' is the text"),
    ("ranking", '{"precision@": {"3": 7}}', "outside 0 to 1"),
])  # fmt: skip
def test_a_wrong_cell_is_named_by_line_and_column(tmp_path, column, cell: str, problem) -> None:
    heads = ["query_id", "query", f"run_1_{plot_files.COLUMN[column]}"]
    good = {"query_id": "q1", "query": "line\nbreak"}
    bad = {"query_id": "q2", "query": "?", heads[2]: cell}
    path = plot_files.write(tmp_path / "x.csv", heads, [good, bad])
    with pytest.raises(InputError, match="line 4, field 'run_1_") as caught:
        sources.opened([path], "trec")
    assert problem in str(caught.value)


def test_wrong_statistics_and_queries_that_stand_twice_or_lack_an_id_are_named(tmp_path) -> None:
    for cell, problem in (
        ({"values": [1], "stats": 3}, "'stats' is the number 3"),
        ({"stats": {"consistency_adjusted_index": "x"}}, "the text 'x'"),
        ({"values": ["x", 1]}, "the text 'x'"),
        ({"stats": {"consistency_adjusted_index": 7}}, "is 7, outside 0 to 1"),
        ({"stats": {"consistency_adjusted_index": -1e308}}, "outside 0 to 1"),
    ):
        path = plot_files.consistency(tmp_path / "c.csv", {"q": {"rouge_score": cell}})
        with pytest.raises(InputError, match="line 2, field 'consistency_rouge_score'") as caught:
            sources.opened([path], "consistency")
        assert problem in str(caught.value)
    heads = ["query_id", plot_files.COLUMN["vital"]]
    path = tmp_path / "x.csv"
    plot_files.write(path, heads, [{"query_id": "q", heads[1]: "1"}] * 2)
    with pytest.raises(InputError, match="is in line 2, too"):
        sources.opened([path], "trec")
    plot_files.write(path, heads, [{heads[1]: "1"}])
    with pytest.raises(InputError, match="has no id"):
        sources.opened([path], "trec")


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
        assert "Computed differently: retrieval_rbo (" in told
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
        assert f"Computed differently: citation.f1 ({how})." in told
    many = [plot_files.ore(tmp_path / f"{at}.csv", queries) for at in range(5)]
    for told in plotted(capsys, tmp_path / "m.svg", *many, page, "-e", "trec"):
        assert "Open RAG Eval itself in 0, 1, 2 and 2 more; " in told, "it must leave room"
    other = plot_files.ore(tmp_path / "other.csv", queries)
    for told in plotted(capsys, tmp_path / "q.svg", tool, other, "-e", "trec"):
        assert "alike" not in told


def test_a_run_folder_is_like_its_own_file_and_unlike_the_tools(tmp_path: Path, capsys) -> None:
    folder = run(tmp_path / "run", "trecrag")
    assert call(["report", str(folder), "--format", "ore", "-o", str(tmp_path / "ore")]) == 0
    capsys.readouterr()
    (tool,) = (tmp_path / "ore").glob("TREC*.csv")
    pairs = ([folder, path] for path in (folder / "trecrag.csv", tool))
    own, theirs = (sources.opened(pair, "trec").series for pair in pairs)
    metrics = list(own[1].summary.metrics)
    assert differences_in_computation(own, metrics) == []
    (sentence,) = differences_in_computation(theirs, ["umbrela", "hhem", "answered", "citation.f1"])
    assert sentence.startswith("Computed differently: citation.f1 (formula=")
    assert f"No judge is named in {theirs[1].name}." in " ".join(words(drawn(folder, tool)))


def test_runs_with_nuggets_of_their_own_are_told_apart(tmp_path: Path) -> None:
    folders = [run(tmp_path / name, "trecrag") for name in ("a", "b")]
    series = sources.opened(folders, "trec").series
    (sentence,) = differences_in_computation(series, ["umbrela", "nuggets.all"])
    assert sentence == "Computed differently: nuggets.all (each file has its own nuggets)."
    assert "not comparable" in " ".join(words(drawn(*folders)))
