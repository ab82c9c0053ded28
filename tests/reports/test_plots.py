"""``ragassay plot``: what is drawn is what the files say."""

from __future__ import annotations

import json
import struct
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plot_files
import ragassay
from plot_reading import drawn, rows, walk, words
from ragassay.cli.command_line import call
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.reports.plots import (
    boxes,
    layouts,
    result_files as sources,
    series,
)
from ragassay.stats.intervals import mean_interval
from ragassay.stats.repeats import spread
from reports_examples import example


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return plot_files.three(tmp_path / "results.csv")


# --- what is drawn


def test_every_run_counts_and_the_interval_keeps_the_runs_of_a_query_together(three: Path) -> None:
    spec = drawn(three)
    (box,) = [row for row in rows(spec, "q1", "mean") if row["mean"] == pytest.approx(1.7)]
    values = [3 * 0.2, 3 * 0.6, 3 * 0.9]
    expected = mean_interval(values, span=(0.0, 3.0), clusters=["q1", "q1", "q2"])
    assert box["mean"] == pytest.approx(expected.mean)
    assert box["median"] == np.median(values) and box["n"] == 3
    assert (box["low"], box["high"]) == pytest.approx((expected.low, expected.high))
    points = sorted(row["value"] for row in rows(spec, "value", "at"))
    assert [v for v in points if v > 1] == pytest.approx(values[1:])
    text = " ".join(words(spec))
    assert "3/4" in text and "3 queries, up to 2 runs each" in text


def test_means_medians_and_intervals_are_the_files_own(tmp_path: Path) -> None:
    queries = plot_files.many(40)
    spec = drawn(plot_files.ore(tmp_path / "a.csv", queries), metrics=["vital_nuggetizer_score"])
    values = [run["vital"] for (run,) in queries.values() if run]
    (box,) = rows(spec, "q1", "mean")
    expected = mean_interval(values, span=(0.0, 1.0))
    assert (box["mean"], box["low"], box["high"]) == pytest.approx(
        (expected.mean, expected.low, expected.high)
    )
    assert [box["q1"], box["median"], box["q3"]] == pytest.approx(
        np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    )
    assert sorted(r["value"] for r in rows(spec, "value", "at")) == pytest.approx(sorted(values))


def test_questions_answered_is_a_share_of_the_judged_answers(three: Path) -> None:
    spec = drawn(three, metrics=["no_answer_score"])
    (bar,) = rows(spec, "one", "mean")
    assert bar["mean"] == 0.75 and bar["n"] == 4
    assert {"75.0 %", "4/4"} <= set(words(spec))
    assert not rows(spec, "value", "at"), "a share has no points"


def test_our_own_file_and_its_run_folder_draw_the_same(tmp_path: Path) -> None:
    passages = [ragassay.Passage("Iron is a heavy metal."), ragassay.Passage("Wool is light.")]
    answers = ["Iron is a heavy metal [1].", "I cannot say.", "Wool is heavy [2]."]
    data = [
        ragassay.Sample(
            id=f"q{at // 2}", repeat=at % 2, query="What is heavy?", passages=tuple(passages),
            answer=ragassay.Answer(text),
        )
        for at, text in enumerate([*answers, *answers])
    ]  # fmt: skip
    result = ragassay.evaluate(data, "trecrag", judge="offline", save=tmp_path / "run")
    from ragassay.reports.run_reports import write_reports

    write_reports(result)
    folder, file = tmp_path / "run", tmp_path / "run" / "trecrag.csv"
    for name in sources.chosen(sources.opened([file], "trec"), None):
        (a,), (b,) = (sources.opened([path], "trec").series for path in (folder, file))
        ours, theirs = a.metric(name), b.metric(name)
        assert ours is not None and theirs is not None
        assert (ours.mean, ours.low, ours.high, ours.n_scored, ours.n_total) == (
            theirs.mean, theirs.low, theirs.high, theirs.n_scored, theirs.n_total,
        )  # fmt: skip
    spec = drawn(folder, file)
    assert any("Judged by offline" in text for text in words(spec))
    assert any("no file has a value: hhem" in text for text in words(spec))
    page = (folder / "report.html").read_text()
    assert page.count('class="points"') >= 5, "the report has the boxes with their points, too"


def test_values_that_are_only_indicative_are_marked(tmp_path: Path) -> None:
    answers = [("Ann wrote it." if at % 3 else "Nobody knows.") for at in range(12)]
    data = [
        {"id": f"q{at}", "query": "Who wrote it?", "answer": said, "references": ["Ann"],
         "passages": ["Ann wrote it in May."]}
        for at, said in enumerate(answers)
    ]  # fmt: skip
    folder = tmp_path / "run"
    result = ragassay.evaluate(data, ["umbrela", "contains_answer", "answer_match"], save=folder)
    entries = result.summary.metrics
    why = judge_agreement(entries["answer_match"])
    assert why is not None and why.indicative
    assert judge_agreement(entries["contains_answer"]) is None

    def dashed(spec: Any) -> list[float]:
        layers = [part for part in walk(spec) if part.get("mark", {}).get("strokeDash")]
        return [row["mean"] for layer in layers for row in layer["data"]["values"]]

    spec = drawn(folder, metrics=["answer_match", "contains_answer"])
    assert dashed(spec) == [entries["answer_match"].mean]
    said = words(spec)
    assert any(text.endswith("· only a hint") or text == "only a hint" for text in said)
    notes = " ".join(spec["title"]["subtitle"])
    assert str(why.note) in notes
    assert "Nothing may be concluded from a dashed interval." in notes
    settled = drawn(folder, metrics=["contains_answer"])
    assert not dashed(settled) and "only a hint" not in " ".join(words(settled))


def test_systems_of_one_file_are_rows(tmp_path: Path) -> None:
    heads = ["system", "query_id", plot_files.COLUMN["vital"]]
    cells = [("b", "q1", "0.5"), ("a", "q1", "1.0"), ("b", "q2", "0.1"), ("a", "q2", "")]
    path = plot_files.write(
        tmp_path / "x.csv", heads, [dict(zip(heads, cell, strict=True)) for cell in cells]
    )
    found = sources.opened([path], "trec")
    assert [one.name for one in found.series] == ["b", "a"]
    assert [one.size("nuggets.vital") for one in found.series] == [2, 1]


def test_many_points_are_thinned_evenly_and_told_and_the_rest_is_of_all(tmp_path: Path) -> None:
    queries = plot_files.many(1_500)
    spec = drawn(plot_files.ore(tmp_path / "a.csv", queries), metrics=["nuggets.all"])
    assert len(rows(spec, "value", "at")) == boxes.MAX_POINTS
    assert "1,500" in " ".join(spec["title"]["subtitle"])
    values = [run["all"] for (run,) in queries.values() if run]
    (box,) = rows(spec, "q1", "mean")
    assert box["mean"] == pytest.approx(np.mean(values)) and box["median"] == np.median(values)


# --- consistency


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "Open RAG Eval's"])
def test_the_index_is_that_of_the_values_of_each_query(tmp_path: Path, ours: bool) -> None:
    path = plot_files.consistent(tmp_path / "c.csv", ours=ours)
    (one,) = sources.opened([path], "consistency").series
    for name in ("bert_score", "mean_umbrela_score"):
        by = 3.0 if name == "mean_umbrela_score" else 1.0
        expected = [spread([v / by for v in row[name]]).cai for row in plot_files.CELLS.values()]
        assert one.result.columns.values(name).tolist() == pytest.approx(expected)


def test_the_picture_of_consistency_has_the_published_names(tmp_path: Path) -> None:
    said = words(drawn(plot_files.consistent(tmp_path / "c.csv"), evaluator="consistency"))
    assert {"Retrieval", "BERTScore"} <= set(said)
    assert any("consistency-adjusted index" in text for text in said)


def test_a_query_without_statistics_counts_as_missing(tmp_path: Path) -> None:
    cells = {
        "q1": {"rouge_score": plot_files.stats([0.2, 0.4])},
        "q2": {"rouge_score": {"values": [0.3], "stats": {}}},
        "q3": {"rouge_score": {}},
        "q4": {"rouge_score": {"values": [], "stats": {"consistency_adjusted_index": None}}},
    }
    path = plot_files.consistency(tmp_path / "c.csv", cells)
    (one,) = sources.opened([path], "consistency").series
    metric = one.metric("rouge_score")
    assert metric is not None and (metric.n_scored, metric.n_total) == (1, 4)


def test_a_run_folder_gives_its_consistency(tmp_path: Path, capsys) -> None:
    data = tmp_path / "d.jsonl"
    lines = [
        {"id": f"q{at}", "repeat": repeat, "query": "Where?", "answer": f"By the river {repeat}."}
        for at in range(3)
        for repeat in range(3)
    ]
    data.write_text("\n".join(map(json.dumps, lines)))
    folder, target = tmp_path / "run", tmp_path / "c.svg"
    assert call(["run", str(data), "-s", "consistency", "-o", str(folder)]) == 0
    command = ["plot", "-e", "consistency", "-o", str(target)]
    assert call([*command, str(folder)]) == 0
    assert "ROUGE-L" in target.read_text()
    first = target.read_bytes()
    assert call([*command, str(folder / "consistency")]) == 0
    assert target.read_bytes() == first, "the folder within the run's is the same"
    assert call(["plot", "-e", "trec", str(folder / "consistency")]) == 2
    assert "Use --evaluator consistency" in " ".join(capsys.readouterr().err.split())
    single = tmp_path / "single"
    assert call(["run", str(data), "-s", "trecrag", "-o", str(single)]) == 0
    capsys.readouterr()
    assert call(["plot", str(single), "-e", "consistency", "-o", str(target)]) == 2
    assert "this run has no consistency.csv" in " ".join(capsys.readouterr().err.split())


# --- the files that are written


def test_a_png_is_a_slide_and_an_svg_has_the_labels(tmp_path: Path, capsys) -> None:
    paths = [plot_files.ore(tmp_path / f"{n}.csv", plot_files.many(8)) for n in ("new", "old")]
    for files in (paths[:1], paths):
        target = tmp_path / "p.png"
        assert call(["plot", *map(str, files), "--evaluator", "trec", "-o", str(target)]) == 0
        head = target.read_bytes()[:24]
        assert head.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", head[16:24])
        assert width >= 2_200 and 1.4 < width / height < 2.2
    target = tmp_path / "p.svg"
    assert (
        call(["plot", *map(str, paths), "--evaluator", "trec", "--output-file", str(target)]) == 0
    )
    texts = {element.text for element in ET.parse(target).iter() if element.text}
    assert {"new", "old", "Questions answered", "Citations (F1)", "mean", "median", "n"} <= texts
    assert f"plot: {target}" in capsys.readouterr().out


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    (tmp_path / "run-a").mkdir()
    paths = [Path("/x/a/results.csv"), Path("/x/b/results.csv"), Path("/x/b/results.csv")]
    assert series.labels(paths) == ["a/results", "b/results", "b/results (2)"]
    generic = [tmp_path / "run-a", tmp_path / "run-b" / "trecrag.csv"]
    assert series.labels(generic) == ["run-a", "run-b"]


# --- what stands beside each other


@pytest.mark.parametrize(
    ("ids", "said_"),
    [
        (("q", "q"), ""),
        (("q", "x"), "No query stands in both files (by id): the means are not of the same"),
        (("q", "q", "x"), "No query stands in all 3 files"),
        (("q", "more"), "Only 4 of 6 queries stand in both files (by id)"),
    ],
)
def test_files_of_different_queries_are_told_apart(
    tmp_path: Path, capsys, ids: tuple[str, ...], said_: str
) -> None:
    paths = []
    for at, begin in enumerate(ids):
        n = 6 if begin == "more" else 4
        queries = plot_files.many(n)
        renamed = {name.replace("q", begin if n == 4 else "q"): v for name, v in queries.items()}
        paths.append(plot_files.ore(tmp_path / f"{at}.csv", renamed))
    target = tmp_path / "p.json"
    assert call(["plot", *map(str, paths), "-e", "trec", "-o", str(target)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    subtitle = " ".join(json.loads(target.read_text())["title"]["subtitle"])
    if said_:
        assert said_ in told and said_ in subtitle
    else:
        assert "stand" not in told and "by id" not in subtitle


def test_panels_stand_in_the_order_asked_for_on_one_scale(tmp_path: Path) -> None:
    wanted = ["MRR", "umbrela", "nuggets.vital", "citation.f1"]
    paths = [plot_files.ore(tmp_path / f"{at}.csv", plot_files.many(8, at)) for at in range(3)]
    for order in (wanted, wanted[::-1]):
        spec = drawn(*paths, metrics=order)
        titles = [layouts.TITLES.get(name, name) for name in sources.chosen(
            sources.opened(paths, "trec"), order)]  # fmt: skip
        assert [text for text in words(spec) if text in titles] == titles


def test_without_the_extra_pictures_are_refused_with_the_command_that_installs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example(12).save(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for line in (
        ["plot", str(tmp_path / "run"), "-e", "trec", "-o", str(tmp_path / "plot.png")],
        ["report", str(tmp_path / "run"), "--format", "svg"],
    ):
        assert call(line) == 2
        assert "pip install 'ragassay[plots]'" in capsys.readouterr().err
    assert call(["report", str(tmp_path / "run"), "--format", "html"]) == 0
