"""Charts and ``ragassay plot``: what was computed or what files say is drawn, and legible."""

import re
import struct
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import plot_files
import ragassay
from json_lines import jsonl
from plot_reading import drawn, labels, marks, overlaps, words
from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.cli.command_line import call
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.comparison.offline_agreement import judge_agreement
from ragassay.engine.results import open_run
from ragassay.engine.results.summary import MetricSummary
from ragassay.reports.charts import boxes, layouts, result_files as sources, svg, svg as figures
from ragassay.reports.charts.boxes import BoxPanel, boxplots, overview, values_of
from ragassay.reports.charts.svg import Point, trend
from ragassay.reports.text import wording
from ragassay.stats.intervals import mean_interval
from ragassay.stats.repeats import spread
from reports_examples import Kind, example, hostile, outcomes, pair, result, samples
from scripted_judge import Scripted


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return plot_files.three(tmp_path / "results.csv")


def read(path: Path, evaluator: layouts.Evaluator = "trec") -> ragassay.Result:
    (one,) = sources.opened([path], evaluator).series
    return one


def test_every_run_counts_and_the_interval_keeps_the_runs_of_a_query_together(three: Path) -> None:
    metric = read(three).summary.metrics["umbrela"]
    values = [3 * 0.2, 3 * 0.6, 3 * 0.9]
    expected = mean_interval(values, span=(0.0, 3.0), clusters=["q1", "q1", "q2"])
    assert metric is not None and metric.mean == pytest.approx(expected.mean)
    assert metric.median == np.median(values) and metric.n_scored == 3
    assert (metric.low, metric.high) == pytest.approx((expected.low, expected.high))
    assert values_of(read(three), "umbrela").tolist() == pytest.approx(values)
    text = " ".join(words(drawn(three)))
    assert "1.700" in text and "3/4" in text and "3 queries, up to 2 runs each" in text


def test_box_points_mean_and_interval_are_drawn_where_their_values_lie(tmp_path, three) -> None:
    queries = plot_files.many(40)
    path = plot_files.ore(tmp_path / "a.csv", queries)
    shown = drawn(path, metrics=["vital_nuggetizer_score"])
    values = sorted(run["vital"] for (run,) in queries.values() if run)
    expected = mean_interval(values, span=(0.0, 1.0))
    grid = [float(one.get("x1", "")) for one in marks(shown, "grid")]
    left, width = grid[0], grid[-1] - grid[0]  # from 0 to 1

    def places(kind: str, *names: str) -> list[float]:
        (one,) = marks(shown, kind)
        return [(float(one.get(name, "")) - left) / width for name in names]

    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    (box,) = marks(shown, "box")
    assert places("box", "x") == pytest.approx([q1], abs=1e-3)
    assert float(box.get("width", "")) / width == pytest.approx(q3 - q1, abs=1e-3)
    assert places("median", "x1") == pytest.approx([median], abs=1e-3)
    ends = [expected.low, expected.high]
    assert places("mean-interval", "x1", "x2") == pytest.approx(ends, abs=1e-3)
    (points,) = marks(shown, "points")
    drawn_at = [float(x) for x in re.findall(r"M([\d.]+)", points.get("d", ""))]
    assert [(x - left) / width for x in drawn_at] == pytest.approx(values, abs=1e-3)
    assert {f"{expected.mean:.3f}", f"{median:.3f}", "40/40"} <= set(words(shown))
    shown = drawn(three, metrics=["no_answer_score"])
    assert {"75 %", "4/4"} <= set(words(shown))
    assert not marks(shown, "points"), "a share has no points"


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
    for name in sources.chosen(sources.opened([file], "trec"), None)[0]:
        ours, theirs = (read(one).summary.metrics[name] for one in (folder, file))
        assert (ours.mean, ours.low, ours.high, ours.n_scored, ours.n_total) == (
            theirs.mean, theirs.low, theirs.high, theirs.n_scored, theirs.n_total,
        )  # fmt: skip
    said = words(drawn(folder, file))
    assert any("Judged by offline" in text for text in said)
    assert any("no file has a value: hhem" in text for text in said)
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
    metrics = ["umbrela", "contains_answer", "answer_match"]
    result = ragassay.evaluate(data, metrics, save=folder)
    entries = result.summary.metrics
    why = judge_agreement(entries["answer_match"])
    assert why is not None and why.indicative
    assert judge_agreement(entries["contains_answer"]) is None
    shown = drawn(folder, metrics=metrics[1:])
    assert len(marks(shown, "dashed")) == 1
    assert sum(text.endswith("only a hint") for text in words(shown)) == 1
    assert svg.DASHED in shown.notes
    llm = Scripted({"answer_attempted": {"answered": "yes"}})
    ragassay.evaluate(data, ["answered"], judge=llm, save=tmp_path / "judged")
    for place, name in (folder, "contains_answer"), (tmp_path / "judged", "answered"):
        settled = drawn(place, metrics=[name])
        assert not marks(settled, "dashed") and "only a hint" not in " ".join(words(settled))


def test_systems_of_one_file_are_rows(tmp_path: Path) -> None:
    heads = ["system", "query_id", *map(plot_files.COLUMN.get, ("vital", "answered")), "unscored"]
    yes, why = '{"query_answered": "Yes"}', "nuggets.vital: needs_extra"
    cells = [("b", "q1", "0.5", "", ""), ("", "q1", "1.0", yes, ""), ("b", "q2", "0.1", "", ""),
             ("", "q2", "nan", "None", why)]  # fmt: skip
    rows = [dict(zip(heads, cell, strict=True)) for cell in cells]
    path = plot_files.write(tmp_path / "x.csv", heads, rows)
    found = sources.opened([path], "trec")
    assert [one.name for one in found.series] == ["b", "(no name)"]
    assert [values_of(one, "nuggets.vital").size for one in found.series] == [2, 1]
    metrics = found.series[1].summary.metrics
    assert metrics["answered"].mean == 1.0
    assert metrics["nuggets.vital"].unscored == {"needs_extra": 1}
    rows = [row | {"query_id": "z"} for row in rows[:2]]
    other = plot_files.write(tmp_path / "y.csv", heads, rows)
    names = [one.name for one in sources.opened([path, other], "trec").series]
    assert names == ["x · b", "x · (no name)", "y · b", "y · (no name)"]
    assert "No query is in all 4 rows" in " ".join(drawn(path, other).notes)


def test_a_run_of_which_only_facts_are_told_is_none_and_all_judges_are_named(tmp_path) -> None:
    vital = plot_files.COLUMN["vital"]
    heads = ["query_id", f"run_1_{vital}", "run_1_judge", f"run_2_{vital}", "run_2_judge"]
    rows = [("q1", "0.5", "b", "", "a"), ("q2", "1.0", "c", "0.0", "c")]
    rows = [(*row, "hhem: needs_extra") for row in rows]
    cells = [dict(zip([*heads, "run_3_unscored"], row, strict=True)) for row in rows]
    path = plot_files.write(tmp_path / "x.csv", [*heads, "run_3_unscored"], cells)
    metric = read(path).summary.metrics["nuggets.vital"]
    assert (metric.judge, metric.n_scored, metric.n_total) == ("b, c", 3, 3)
    titles = [layouts.LAYOUTS["trec"].title([name]) for name in ("umbrela_P@7", "em")]
    assert titles == ["TREC RAG scores", "Scores"]


def test_many_points_are_thinned_evenly_and_told_and_the_rest_is_of_all(tmp_path: Path) -> None:
    queries = plot_files.many(1_500)
    shown = drawn(plot_files.ore(tmp_path / "a.csv", queries), metrics=["nuggets.all"])
    (points,) = marks(shown, "points")
    assert points.get("d", "").count("M") == boxes.MAX_POINTS
    assert "1,500" in " ".join(shown.notes)
    values = [run["all"] for (run,) in queries.values() if run]
    assert {f"{np.mean(values):.3f}", f"{np.median(values):.3f}"} <= set(words(shown))


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "Open RAG Eval's"])
def test_the_index_is_that_of_the_values_of_each_query(tmp_path: Path, ours: bool) -> None:
    path = plot_files.consistent(tmp_path / "c.csv", ours=ours)
    one = read(path, "consistency")
    for name in ("bert_score", "mean_umbrela_score"):
        by = 3.0 if name == "mean_umbrela_score" else 1.0
        expected = [spread([v / by for v in row[name]]).cai for row in plot_files.CELLS.values()]
        assert one.columns.values(name).tolist() == pytest.approx(expected)
    said = words(drawn(path, evaluator="consistency"))
    assert {"Retrieval", "mean_umbrela_score of grade / 3 ↑", "BERTScore"} <= set(said)
    assert any("consistency-adjusted index" in text for text in said)


def test_a_query_without_statistics_counts_as_missing(tmp_path: Path) -> None:
    cells = {
        "q1": {"rouge_score": plot_files.stats([0.2, 0.4])},
        "q2": {"rouge_score": {"values": [0.3], "stats": {}}}, "q3": {"rouge_score": {}},
        "q4": {"rouge_score": {"values": [], "stats": {"consistency_adjusted_index": None}}},
    }  # fmt: skip
    path = plot_files.consistency(tmp_path / "c.csv", cells)
    metric = read(path, "consistency").summary.metrics["rouge_score"]
    assert metric is not None and (metric.n_scored, metric.n_total) == (1, 4)
    pairs = plot_files.consistency(tmp_path / "p.csv", {"q2": cells["q2"]})
    assert "two runs make one pair" in " ".join(drawn(pairs, evaluator="consistency").notes)


def test_a_run_folder_gives_its_consistency(tmp_path: Path, capsys) -> None:
    lines = [
        {"id": f"q{at}", "repeat": repeat, "query": "Where?", "answer": f"By the river {repeat}."}
        for at in range(3)
        for repeat in range(3)
    ]
    data = jsonl(tmp_path / "d.jsonl", *lines)
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
    assert call(["plot", *map(str, paths), "-e", "trec", "--output-file", str(target)]) == 0
    texts = {element.text for element in ET.parse(target).iter() if element.text}
    assert {"new", "old", "Questions answered", "Citations (F1)", "mean", "median", "n"} <= texts
    assert f"plot: {target}" in capsys.readouterr().out
    (tmp_path / "run-a").mkdir()  # files of one name are told apart by their folders
    paths = [Path("/x/a/r.v1.csv.gz"), *[Path("/x/b/r.v1.csv")] * 2]
    assert sources.labels(paths) == ["a/r.v1", "b/r.v1", "b/r.v1 (2)"]
    generic = [tmp_path / "run-a", tmp_path / "run-b" / "trecrag.csv"]
    assert sources.labels(generic) == ["run-a", "run-b"]


@pytest.mark.parametrize(("ids", "said_"), [
    (("q", "q"), ""),
    (("q", "x"), "No query is in both files (by id). The means cover"),
    (("q", "q", "x"), "No query is in all 3 files"),
    (("q", "more"), "Only 4 of 6 queries are in both files (by id)"),
])  # fmt: skip
def test_files_of_different_queries_are_told_apart(tmp_path: Path, capsys, ids, said_: str) -> None:
    paths = []
    for at, begin in enumerate(ids):
        n = 6 if begin == "more" else 4
        queries = plot_files.many(n)
        renamed = {name.replace("q", begin if n == 4 else "q"): v for name, v in queries.items()}
        paths.append(plot_files.ore(tmp_path / f"{at}.csv", renamed))
    target = tmp_path / "p.svg"
    assert call(["plot", *map(str, paths), "-e", "trec", "-o", str(target)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    for text in (told, " ".join(words(target))):
        assert said_ in text and ("by id" in text) is bool(said_)
    assert ("4 to 6 queries." in text) is ("more" in ids)


def test_panels_stand_in_the_order_asked_for_on_one_scale(tmp_path: Path) -> None:
    wanted = ["MRR", "umbrela", "nuggets.vital", "citation.f1"]
    paths = [plot_files.ore(tmp_path / f"{at}.csv", plot_files.many(8, at)) for at in range(3)]
    for order in (wanted, wanted[::-1]):
        names, _ = sources.chosen(sources.opened(paths, "trec"), order)
        titles = [layouts.TITLES.get(name, name) for name in names]
        said = words(drawn(*paths, metrics=order))
        assert [text for text in said if text in titles] == titles


def test_a_missing_extra_is_told_with_its_command(tmp_path: Path, capsys, monkeypatch) -> None:
    example(12).save(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for line in (
        ["plot", str(tmp_path / "run"), "-e", "trec", "-o", str(tmp_path / "plot.png")],
        ["report", str(tmp_path / "run"), "--format", "png"],
    ):
        assert call(line) == 2
        assert "pip install 'ragassay[plots]'" in capsys.readouterr().err
    assert call(["report", str(tmp_path / "run"), "--format", "svg"]) == 0, "it needs no package"


def test_no_heading_runs_into_the_next_panel(tmp_path: Path) -> None:
    names = (*layouts.CONSISTENCY_TITLES, *(f"another-one-with-a-name-{n}" for n in range(6)))
    cells = {
        f"q{at}": {name: plot_files.stats([0.1 * at, 0.2, 0.4]) for name in names}
        for at in range(5)
    }
    paths = [plot_files.consistency(tmp_path / f"{name}.csv", cells) for name in ("new", "old")]
    for files in (paths[:1], paths):
        for wanted in (None, list(cells["q0"])):
            found = labels(drawn(*files, evaluator="consistency", metrics=wanted))
            assert "mean_nugget_assignment_score ↑" in {text for text, *_ in found}
            assert overlaps(found) == []


@pytest.mark.parametrize("n_files", [1, 2])
def test_intervals_have_numbers_and_notes_take_three_lines_below(tmp_path, n_files: int) -> None:
    queries = plot_files.many(40)
    paths = [plot_files.ore(tmp_path / f"{at}.csv", queries) for at in range(n_files)]
    shown = drawn(*paths, metrics=["nuggets.all"])
    texts = labels(replace(shown, notes=(*shown.notes, "word " * 200)))
    for series in sources.opened(paths, "trec").series:
        found = series.summary.metrics["nuggets.all"]
        assert f"[{found.low:.3f}, {found.high:.3f}]" in {text for text, *_ in texts}
    assert overlaps(texts) == []
    scale = max(top for text, *_, top, _ in texts if text == "0.2")
    below = [text for text, *_, top, _ in texts if top > scale + 10]
    assert len(below) == svg.NOTE_LINES and below[-1].endswith("…")
    assert drawn(*paths, metrics=["nuggets.all"]).panels[0].size[1] > 0.7 * svg.HEIGHT
    answered = drawn(*paths, metrics=["answered"])
    (panel,) = answered.panels
    edge = svg.MARGIN + panel.size[0] - boxes._BESIDE
    shares = [left for text, left, right, *_ in labels(answered) if text.endswith(" %")]
    assert len(shares) == n_files and min(shares) > edge + 20, "beside the mark at 100 %"


@pytest.mark.parametrize(("n_metrics", "across"), [(2, 2), (4, 2), (5, 3), (12, 4)])
def test_why_there_is_no_value_is_said_within_its_panel(n_metrics: int, across: int) -> None:
    reasons = [Reason.NEEDS_EXTRA] * 15 + [Reason.MISSING_INPUT, Reason.CONTEXT_TOO_LONG]
    outcomes: list[Outcome] = [Unscored(reason, "") for reason in reasons]
    names = [f"metric-{at}" for at in range(n_metrics)]
    kinds = tuple(Kind(name, "", "answer") for name in names)
    run = result(samples(len(reasons)), dict.fromkeys(names, outcomes), kinds)
    systems = ("new", "a-system-with-a-longer-name", *(f"system-{at}" for at in range(6)))
    series = tuple(replace(run, called=name) for name in systems)
    panels = [BoxPanel(name, name, "↑", series) for name in names]
    chart = boxes.boxes(panels, "title", [], "value")
    found = labels(chart)
    assert chart.columns == across, "they fill the picture"
    told = [text for text in found if text[0].startswith("no value: needs extra")]
    assert len(told) == n_metrics * len(series)
    assert overlaps(found) == []
    lefts = {round(left) for text, left, *_ in found if text in names}
    assert {round(left - 6) for _, left, *_ in told} == lefts


def test_a_text_is_wrapped_to_its_room_and_a_scale_has_a_few_round_numbers() -> None:
    text = "no value: needs extra (15), missing input (1), undefined (1)"
    chars = svg.CHAR * 10
    assert svg.wrapped(text, 100 * chars, 10, 1) == [text]
    two = svg.wrapped(text, 32 * chars, 10, 2)
    assert " ".join(two) == text and max(map(len, two)) <= 32
    (cut,) = svg.wrapped(text, 32 * chars, 10, 1)
    assert cut.startswith("no value: needs extra (15)") and cut.endswith("…") and len(cut) <= 32
    assert svg.wrapped("x" * 40, 10 * chars, 10, 3) == ["x" * 9 + "…"]
    assert svg.ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert svg.ticks(-0.262, 0.262) == [-0.2, -0.1, 0, 0.1, 0.2]
    assert svg.ticks(12, 1_890) == [500, 1000, 1500]
    assert svg.ticks(3, 3) == [3]


def test_compare_writes_the_same_picture_of_two_runs(tmp_path: Path) -> None:
    found, a, b = pair(30)
    replace(found, runs=(a, b)).save(tmp_path / "d.svg")
    said = words(tmp_path / "d.svg")
    assert {d.name for d in found.differences} <= {*said}
    assert {d.verdict for d in found.differences} <= {text.rpartition(" · ")[2] for text in said}
    for d in found.differences:
        assert d.diff is not None and any(text.startswith(f"{d.diff:+.3f} · ") for text in said)
    shown = overview(found, a)
    (zero, *_), dots = marks(shown, "zero"), marks(shown, "dot")
    right = [float(dot.get("cx", "")) > float(zero.get("x1", "")) for dot in dots]
    assert right == [d.diff is not None and d.diff > 0 for d in found.differences]
    assert {wording.p_value(d.p_adjusted) for d in found.differences} <= {
        text.rpartition("p ")[2] for text in said
    }
    first = replace(found.differences[0], wins=3, losses=2, ties=1)
    welch = words(overview(replace(found, unpaired=True, differences=(first,), n_tested=1), a))
    assert "new higher on 3, lower on 2, 1 equal" in welch
    assert "Verdicts: Welch's test, 5 % level." in " ".join(welch)
    assert "No metric is tested." in " ".join(words(overview(replace(found, n_tested=0), a)))
    # A difference from which nothing follows is dashed and says so.
    assert not marks(overview(found, a), "dashed")
    first, *others = found.differences
    hinted = replace(found, differences=(replace(first, standing="indicative"), *others))
    shown = overview(hinted, a)
    assert len(marks(shown, "dashed")) == 1 and svg.DASHED in shown.notes


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The picture of two runs compared on 42 metrics, and their names."""
    place = tmp_path_factory.mktemp("many")
    folders = [plot_files.many_metrics(place / name, new=name == "new") for name in ("new", "old")]
    new, old = map(open_run, folders)
    return overview(compare(new, old), new), list(new.summary.metrics)


def test_labels_of_many_metrics_never_overlap_and_those_of_one_scale_share_an_axis(many) -> None:
    texts = labels(many[0])
    assert len(texts) > 42 * 5
    assert overlaps(texts) == []
    shown, order = many
    drawn_order = [text for text in words(shown) if text in order]
    closed = [name for at, name in enumerate(order) if at % 3]
    assert [name for name in drawn_order if name in closed] == closed, "in the order given"
    at = drawn_order.index(closed[0])
    assert drawn_order[at : at + len(closed)] == closed


VALUES = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=60)


@given(VALUES)
def test_box_statistics_are_tukeys(numbers: list[float]) -> None:
    values = np.array(numbers)
    box = figures.box_of(values)
    assert box is not None
    assert [box.q1, box.median, box.q3] == np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    assert values.min() <= box.low <= box.q1 <= box.median <= box.q3 <= box.high <= values.max()
    reach = 1.5 * (box.q3 - box.q1)
    inside = values[(values >= box.q1 - reach) & (values <= box.q3 + reach)]
    assert [box.low, box.high] == [min(inside.min(), box.q1), max(inside.max(), box.q3)]


@given(VALUES, st.integers(min_value=2, max_value=20))
def test_thinning_keeps_the_ends_and_is_deterministic(numbers: list[float], limit: int) -> None:
    values = np.array(numbers)
    found = figures.thinned(values, limit)
    assert found.size == min(limit, values.size)
    assert (found[0], found[-1]) == (values.min(), values.max())
    assert found.tolist() == figures.thinned(values[::-1], limit).tolist()
    assert set(found.tolist()) <= set(numbers)


def test_a_sum_is_no_mean_and_a_name_no_markup() -> None:
    kind = Kind("num_rel", "A count", "x", (0.0, None), True, "sum")
    said = words(boxplots(result(samples(2), {"num_rel": [Score(3), Score(4)]}, (kind,))))
    assert "sum" in said and "mean" not in said
    svg = boxplots(hostile()).svg()
    assert any("a.b[0]'\"" in text for text in words(boxplots(hostile())))
    assert not {"script", "img"} & {one.tag.rpartition("}")[2] for one in ET.fromstring(svg).iter()}
    assert "url(" not in svg and "href" not in svg


def test_what_cannot_be_drawn_is_one_sentence(tmp_path: Path) -> None:
    found = samples(3)
    nothing = result(found, {"x": [Score("label")] * 3}, (Kind("x", "X", "x", (None, None)),))
    with pytest.raises(UsageError, match="no metric has a number"):
        boxplots(nothing)
    with pytest.raises(UsageError, match=r"Use \.png or \.svg"):
        boxplots(result(found, outcomes(found))).save(tmp_path / "x.jpg")
    assert list(tmp_path.iterdir()) == []


SHOWN = np.array([0.964, 0.97, 0.98, 0.99, 1.0])


def metric(low: float | None, high: float | None) -> MetricSummary:
    return MetricSummary(
        "m", "", "f", 0.981, 0.96, 0.99, 0.95, "t", 5, 5,
        bounds=(low, high), minimum=0.964, maximum=1.0,
    )  # fmt: skip


def test_points_median_and_mean_lie_above_the_box_on_a_scale_from_zero() -> None:
    svg = str(figures.distribution(metric(0.0, 1.0), SHOWN))
    drawn = ("box", "points", "median", "mean-interval", "mean")  # what is later lies above
    places = [svg.index(f'class="{shape}"') for shape in drawn]
    assert places == sorted(places)
    dots = re.search(r'class="points" d="([^"]+)"', svg)
    assert dots is not None and dots[1].count("M") == SHOWN.size
    assert figures.scale_of(metric(None, 1.0)) == (0.0, 1.0)
    assert figures.scale_of(metric(None, None)) == (0.964, 1.0)
    below = MetricSummary("m", "", "f", 0.1, None, None, 0.95, "t", 2, 2,
                          bounds=(None, 1.0), minimum=-0.4, maximum=0.6)  # fmt: skip
    assert figures.scale_of(below) == (-0.4, 1.0)


FIRST = Point("one", "/reports/1", 0.5, (0.4, 0.6), "v1", "s", "2026-11-01")


def heights(figure: str) -> list[float]:
    """The places of the points, from above."""
    return [float(y) for y in re.findall(r'class="point" cx="[\d.]+" cy="([\d.]+)"', figure)]


def test_a_line_with_its_band_breaks_where_numbers_do_not_compare() -> None:
    points = [FIRST, replace(FIRST, mean=0.55), replace(FIRST, mean=0.9, interval=None)]
    whole = trend("m", points)
    assert whole.count('class="trend"') == 2 and whole.count("<polygon") == 1
    first, second, third = heights(whole)
    assert first > second > third and "0.5500 [0.4000, 0.6000]" in whole
    corners = re.search(r'points="([^"]*)"', whole)
    assert corners is not None and len(corners[1].split()) == 4, "two points have an interval"
    broken = trend("m", [points[0], replace(points[1], signature="t"), points[2]])
    assert broken.count('class="trend"') == 0 and broken.count("<polygon") == 3
    low, high = heights(trend("m", [replace(FIRST, interval=None)] * 2))
    assert low == high, "equal means without intervals have a scale"


def test_each_version_is_marked_once_and_each_point_leads_to_its_report() -> None:
    other = Point('"<b>', "/reports/2?a=1&b", 0.7, None, "v2", "s")
    figure = trend("m", [FIRST, FIRST, other, other, replace(FIRST, day="2026-11-30")])
    assert re.findall(r">(2026[-\d]*)</text>", figure) == ["2026-11-01", "2026-11-30"]
    assert figure.count("zero dashed") == 3
    assert re.findall(">(v.)</text>", figure) == ["v1", "v2", "v1"]
    assert figure.count('href="/reports/1"') == 3 and 'href="/reports/2?a=1&amp;b"' in figure
    assert "<b>" not in figure


@pytest.mark.parametrize(("width", "form", "shown"), [
    (150, ".0%", ["0", "40%", "80%"]), (400, ".0%", ["0", "20%", "40%", "60%", "80%", "100%"]),
    (150, "g", ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
])  # fmt: skip
def test_numbers_of_a_scale_do_not_overlap(width: float, form: str, shown: list[str]) -> None:
    drawn = svg.grid(svg.axis(0, 1, 0, width), svg.ticks(0, 1), 10, form)
    assert re.findall(r">([^<>]+)</text>", drawn) == shown
