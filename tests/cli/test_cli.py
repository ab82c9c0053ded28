import io
import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

import ragassay
from json_lines import jsonl
from ragassay.base.errors import RagassayError
from ragassay.base.printable import dollars
from ragassay.cli import show
from ragassay.cli.command_line import call
from ragassay.cli.published_tools import pipeline_command
from ragassay.cli.show import progress_bar

ROWS = [
    {"id": "a", "query": "Who?", "answer": "Ann Lee", "references": ["Ann Lee"], "domain": "x"},
    {"id": "b", "query": "When?", "answer": "in 1966", "references": ["1965"], "domain": "y"},
    {"id": "c", "query": "Where?", "answer": "Rome, Italy", "references": ["Rome"], "domain": "x"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "data.jsonl", *ROWS)


def run(*words: object) -> int:
    return call([str(word) for word in words])


def complaint(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error and "defect" not in error
    return " ".join(error.split())


def test_dry_run_and_validate_say_what_is_there_and_write_nothing(data, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert run("run", data, "-m", "em,P@5", "-o", out, "--dry-run", "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert body["n_samples"] == 3 and body["applicable"] == {"em": 3, "P@5": 0}
    assert not out.exists()
    assert run("validate", data) == 0
    assert "3 samples" in capsys.readouterr().out
    (tmp_path / "RUN.YAML").write_text("data: data.jsonl\nmetrics: [em]\n")
    assert run("run", tmp_path / "RUN.YAML", "--dry-run") == 0, "a configuration in capitals"
    with pytest.raises(RagassayError):
        run("run", tmp_path / "absent.jsonl", "--debug")


def test_compare_prints_the_published_fields(data: Path, tmp_path: Path, capsys) -> None:
    better = tmp_path / "better.jsonl"
    better.write_text(data.read_text().replace("in 1966", "1965"))
    assert run("run", better, "-m", "em,f1", "-o", tmp_path / "new") == 0
    assert run("run", data, "-m", "em,f1", "-o", tmp_path / "old") == 0
    capsys.readouterr()
    words = ("compare", tmp_path / "new", tmp_path / "old", "--json", "--fail-if-drop", "em>0.1")
    assert run(*words) == 3, "too few to tell"
    printed = capsys.readouterr()
    assert "note: gate no drop em>0.1: undecided" in printed.err
    row = json.loads(printed.out)["comparisons"][0]["differences"][0]
    assert row["A_mean"] == pytest.approx(2 / 3) and row["B_mean"] == pytest.approx(1 / 3)
    assert row["Diff(A-B)"] == pytest.approx(1 / 3) and row["significant"] is False
    assert {"p_value", "p_adjusted", "low", "high", "n", "verdict"} <= row.keys()
    for suffix in ("HTM", "md", "json", "svg", "png"):
        page = tmp_path / f"c.{suffix}"
        words = ("compare", tmp_path / "new", tmp_path / "old", "-o", page, "--title", "Release 7")
        assert run(*words) == 0 and page.stat().st_size > 300
        assert suffix not in ("HTM", "md") or "Release 7" in page.read_text(encoding="utf-8")
    out = capsys.readouterr().out
    assert all(word in out for word in ("new", "old", "difference", "verdict"))


def test_one_comparison_of_nothing_among_several_is_incomplete(tmp_path: Path, capsys) -> None:
    for name, references in (("one", ["yes"]), ("other", None), ("old", ["yes"])):
        rows = [{"id": one, "answer": "yes", "references": references} for one in "abc"]
        path = jsonl(tmp_path / f"{name}.jsonl", *rows)
        assert run("run", path, "-m", "em", "-o", tmp_path / name) == (0 if references else 3)
    runs = [tmp_path / name for name in ("one", "other", "old")]
    junit = tmp_path / "junit.xml"
    for words in (runs, (tmp_path, "--baseline", "old")):  # the folder of the runs
        assert run("compare", *words, "--force", "--junit", junit) == 3
        assert 'errors="1"' in junit.read_text()
    assert run("compare", runs[0], runs[2], "--junit", junit) == 0
    assert 'errors="0"' in junit.read_text()


def test_files_of_answers_are_compared_like_their_runs(here: Path, capsys) -> None:
    for name, answers in (("new", ["yes"] * 20), ("old", ["no"] * 30)):
        row = {"system": name, "query": "Who? " * 3_000, "references": ["yes"]}
        rows = [{"id": f"{at}", **row, "reply": one} for at, one in enumerate(answers)]
        jsonl(f"{name}.jsonl", *rows)
        assert run("run", f"{name}.jsonl", "--columns", "answer=reply", "-o", name) == 0
    capsys.readouterr()
    notes = [note for name in ("new", "old") for note in ragassay.open_run(name).summary.notes]
    llm = [note.counts for note in notes if note.kind == "metrics_need_llm"]
    calls, cost = (sum(float(one[what]) for one in llm) for what in ("calls", "cost"))
    costs = f"LLM judge: add --judge openai:gpt-4o-mini (at most {calls:g} calls, {dollars(cost)}"
    files = ("compare", "new.jsonl", "old.jsonl", "--columns", "answer=reply")
    found = []
    for words in (files, ("compare", "new", "old"), (*files, "--suite", "qa", "--primary", "em"),
                  (*files, "-m", "em,f1"), (*files, "--primary", "token_f1.f")):  # fmt: skip
        assert run(*words, "--json") == 0
        printed = capsys.readouterr()
        (one,) = json.loads(printed.out)["comparisons"]
        found.append({d["name"]: d["verdict"] for d in one["differences"]})
        # What a judge would cost is said once, for both files.
        said = " ".join(printed.err.split())
        assert said.count("an LLM judge") == (f"{costs} for 50 samples" in said) == (words is files)
    # What stands in for answer_correctness gives a verdict where it is named.
    assert found[0] == found[1] and found[0]["token_f1.f"] == "indicative"
    assert found[4]["token_f1.f"] == "better"
    assert found[2]["em"] == "better" and len(found[2]) == 17 and [*found[3]] == ["em", "f1"]
    assert run(*files, "--suite", "qa", "-m", "all") == 0
    assert "coverem" in capsys.readouterr().out
    assert [run(*files, "--fail-if-worse", *more) for more in ([], ["-m", "all"])] == [0, 0]
    # A gate's metric is computed, too, and the gate is in the file.
    assert run(*files, "--fail-if-drop", "em>0.2", "-o", "new/pr.md") == 0
    assert ": passed, " in Path("new/pr.md").read_text("utf-8")
    assert {*Path().iterdir()} == {*map(Path, ("new", "old", "new.jsonl", "old.jsonl"))}
    assert "for files of answers" in complaint(capsys, "compare", "new", "old", "--suite", "qa")
    assert "Did you mean 'old.jsonl'" in complaint(capsys, "compare", "new.jsonl", "od.jsonl")
    Path("a.csv").write_text("query,answer\nWo?,Köln", encoding="cp1252")
    Path("b.csv").write_text("query,answer\nWo?,\nWer?,Ich")
    assert run(*shlex.split("compare a.csv b.csv -m answer_words --encoding l1 --ledger l")) == 3
    said = capsys.readouterr().err  # which file a note is about, said once
    assert "note: b.csv: 1 of 2 samples" in said and "b.csv: b.csv: " not in said


def test_a_folder_an_export_is_compared_and_its_files_alone_are_not(here: Path, capsys) -> None:
    """As Langfuse exports: traces and their steps apart, with ids of their own in each export."""
    for side, said in (("new", "Ada did."), ("old", "Bo sang in Rome.")):
        Path(side).mkdir()
        ids = [f"{side}{at // 2}{at}" for at in range(3)]  # two of them ask the same
        step = {"type": "RETRIEVER", "name": "find", "startTime": 1, "output": ["Ada did."]}
        steps = [{"id": f"s{one}", "traceId": one, **step} for one in ids]
        told = {"output": said, "sessionId": "a"}
        traces = [{"id": one, "input": f"Who was {one[3]}?", **told} for one in ids]
        for name, rows in (("steps", steps), ("traces", traces)):
            Path(side, f"{name}.json").write_text(json.dumps(rows))
    files = [f"{side}/{name}.json" for side in ("new", "old") for name in ("steps", "traces")]
    assert ragassay.load("new") == ragassay.load(files[:2]) and len(ragassay.load("new")) == 3
    for words in (files, files[2:], files[1:]):
        assert "Put the files of each export into a folder" in complaint(capsys, "compare", *words)
    assert run("compare", "old", "new", "--fail-if-worse", "--json") == 3  # too few to tell
    (one,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (one["a"], one["b"], one["n_common"]) == ("old", "new", 3)
    assert [one["right"][key] for key in ("A_mean", "B_mean", "n")] == [0.0, 1.0, 3]
    Path("new", "README.md").write_text("Exported on Monday.")
    assert "this is a folder" in complaint(capsys, "run", "new")


def test_a_comparison_of_many_metrics_fits_a_screen(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    runs = [ragassay.examples.path_of(name) for name in ragassay.examples.SYSTEMS]
    for suite in ("rag", "qa", "retrieval", "trecrag", "mtrag"):
        assert run("compare", *runs, "--suite", suite) in (0, 3)
        lines = capsys.readouterr().out.rstrip().splitlines()
        assert max(map(len, lines)) <= 80 and len(lines) <= 30, suite
    monkeypatch.setenv("COLUMNS", "400")
    assert run("compare", *runs) in (0, 3)
    sentence, *notes, more = capsys.readouterr().out.rstrip().rpartition("\n\n")[2].splitlines()
    assert len(notes) == 4 and "more note" in more
    assert "became wrong" in sentence and "Fell most" in notes[0]  # against the headline: second


def test_compare_takes_several_runs_and_several_systems(tmp_path: Path, capsys) -> None:
    rows = [
        {"id": str(n), "system": s, "answer": s, "references": ["one"]}
        for s in ("one", "two", "three")
        for n in range(8)
    ]
    path = jsonl(tmp_path / "mixed.jsonl", *rows)
    assert run("run", path, "-m", "em", "-o", tmp_path / "mixed") == 0
    capsys.readouterr()
    written = ("-o", tmp_path / "c.md")
    assert run("compare", tmp_path / "mixed", "--baseline", "one", "--json", *written) == 0
    assert sorted(path.name for path in tmp_path.glob("*.md")) == ["c-1.md", "c-2.md"]
    found = json.loads(capsys.readouterr().out)["comparisons"]
    assert [(c["a"], c["b"]) for c in found] == [("two", "one"), ("three", "one")]
    assert run("compare", path, "-m", "em") == 0  # of a file, the first system is the baseline
    shown = capsys.readouterr()
    assert "two (new) against one (old)" in shown.out and "three (new) against one" in shown.out
    assert "--baseline NAME" in shown.out and "ragassay compare FILE" not in shown.err
    words = ("compare", tmp_path / "mixed", "--baseline", "four")
    assert "'four'. There are: one, two, three" in complaint(capsys, *words)
    jsonl(path, *({**row, "system": "one"} for row in rows[:8]))
    assert "--columns system=COLUMN" in complaint(capsys, "compare", path)


def test_report_writes_every_format(data: Path, tmp_path: Path, capsys) -> None:
    assert run("run", data, "-m", "em,f1", "-o", tmp_path / "run", "--title", "Release 3") == 0
    assert "<h1>Release 3</h1>" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    formats = "html,markdown,csv,long-csv,jsonl,parquet,png,svg"
    words = ("report", tmp_path / "run", "-o", tmp_path / "out", "--title", "Release 4", "--format")
    assert run(*words, formats) == 0 and len(list((tmp_path / "out").iterdir())) == 8
    assert "<h1>Release 4</h1>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "# Release 4" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Did you mean 'parquet'" in complaint(capsys, *words, "parket")


def test_metrics_lists_all_and_explains_one(capsys) -> None:
    assert run("metrics", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"nDCG", "em", "rougeL"} <= {entry["name"] for entry in listed}
    keys = {"suites", "kind", "needs", "uses", "range", "higher_is_better", "source"}
    assert all(keys <= entry.keys() for entry in listed)
    nuggets = next(entry["parameters"] for entry in listed if entry["name"] == "nuggets")
    assert [one["choices"][:2] for one in nuggets if one["choices"]] == [["all", "all_strict"]]
    for suite in ((), ("--suite", "chunks")):
        assert run("metrics", "--family", "chunks", *suite, "--json") == 0
        assert {one["family"] for one in json.loads(capsys.readouterr().out)} == {"chunks"}
    assert run("metrics", "--long") == 0
    assert "what it measures" in capsys.readouterr().out
    assert run("metrics", "ndcg") == 0 and "Järvelin" in capsys.readouterr().out
    assert run("metrics", "citation.precision", "--json") == 0
    assert json.loads(capsys.readouterr().out)["suites"] == ["trecrag"], "rag has citation.f1"
    assert "Did you mean" in complaint(capsys, "metrics", "nDGC")
    assert "add the suite ragreport" in complaint(capsys, "metrics", "relevance", "-s", "qa")
    assert run("metrics", "answer_match") == 0  # a metric, and the question that it asks
    metric, _, question = capsys.readouterr().out.partition("The question answer_match")
    assert "misleads where" in metric and "placeholders" in question
    assert "Did you mean 'chunks'" in complaint(capsys, "metrics", "--family", "chunk")


def test_what_the_labels_lack_is_given_as_lines_to_add(tmp_path: Path, capsys) -> None:
    labels, out = tmp_path / "labels.jsonl", tmp_path / "out"
    data = {"query": "Who?", "answer": "Ann"}
    label = {"question": "answer_attempted", "data": data, "answer": {"answered": "yes"}}
    labels.write_text(json.dumps(label) + "\n")
    rows = [{"id": name, "query": "Who?", "answer": name} for name in ("Ann", "Bob")]
    ragassay.evaluate(rows, ["answered", "no_answer"], judge=f"replay:{labels}", save=out)
    for name in ("Ann", "Bob"):
        assert run("explain", out, name) == 0
        said, _, lines = capsys.readouterr().out.partition("Lines to add to the file of labels")
        wanted = [{**label, "data": {**data, "answer": "Bob"}, "answer": None}]
        assert [json.loads(line) for line in lines.splitlines()[2:]] == wanted * (name == "Bob")
        assert ("unscored" in said) is (name == "Bob")


def test_ctrl_c_exits_130_and_leaves_no_half_file(tmp_path: Path) -> None:
    number = signal.SIGINT
    path, out = tmp_path / "long.jsonl", tmp_path / "out"
    with path.open("w") as stream:
        for n in range(300_000):
            stream.write(f'{{"id": "{n}", "answer": "a b c", "references": ["a b d"]}}\n')
    command = [sys.executable, "-m", "ragassay", "run", str(path), "-s", "qa", "-o", str(out)]
    before = signal.signal(number, signal.SIG_DFL)  # a suite under nohup hands "ignored" on
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(number, before)
    deadline = time.monotonic() + 60
    while not (out.exists() and any(out.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in error and "Traceback" not in error
    assert list(out.iterdir()) == []


def test_a_warning_of_a_reader_is_one_note_and_no_python_warning(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "qrels"
    folder.mkdir()
    for name in ("test", "dev"):
        (folder / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    (tmp_path / "run.txt").write_text("q Q0 d 1 1.0 tag\n")
    assert run("trec", tmp_path, tmp_path / "run.txt", tmp_path / "run.txt") == 0
    error = capsys.readouterr().err
    assert error.count("test.tsv was read") == 1 and "note: " in error and "Warning" not in error
    show.warn(["[red]odd[/red]"] * 2)
    assert capsys.readouterr().err == "note: [red]odd[/red]\n"
    for n, last in ((12, "note: n11"), (13, "note: and 1 more of these.")):
        show.warn(f"n{at}" for at in range(n))
        assert capsys.readouterr().err.splitlines()[n - 1 :] == [last]


@pytest.fixture
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal is shown, of 120 columns or as many as the test says."""
    stream, width = io.StringIO(), getattr(request, "param", 120)
    made = Console(file=stream, force_terminal=True, width=width, height=20)
    monkeypatch.setattr(show, "console", lambda stderr: made)
    return stream


@pytest.mark.parametrize("terminal", [80, 100, 160], indirect=True)
def test_the_progress_line_is_cropped_and_never_broken(terminal: io.StringIO, request) -> None:
    said = "1,234 questions answered, 64 waiting, 5,678 from the ledger, 12 failed, $12.34"
    with progress_bar("scoring", lambda: 5_000, lambda: said) as done:
        done(1)
        time.sleep(0.3)
    shown = terminal.getvalue()
    width = request.node.callspec.params["terminal"]
    assert "1 samples" in shown and "1,234 quest" in shown and (("…" in shown) == (width < 160))
    assert "\x1b[1A\x1b[2K\x1b[1A\x1b[2K" not in shown, "two lines were taken back"


@pytest.mark.parametrize("hidden", [None, {"progress": False}, {"quiet": True}])
def test_long_work_is_shown_before_the_first_sample_is_done(terminal, hidden) -> None:
    before = show.GLOBAL_OPTIONS.set(show.GlobalOptions(**hidden or {}))
    with progress_bar("scoring", lambda: 30):
        shown = terminal.getvalue()
    show.GLOBAL_OPTIONS.reset(before)
    assert shown == "" if hidden else "scoring" in shown and "0 samples" in shown


def test_long_work_is_told_in_lines_where_there_is_no_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr(show, "EVERY_S", 0.01)
    with progress_bar("scoring", lambda: 30, lambda: "3 of 30 asked"):
        time.sleep(0.3)
    assert "note: scoring: 3 of 30 asked\n" in capsys.readouterr().err
    assert not capsys.readouterr().err, "nothing more once it is done"
    means = {"em": [None], "avg_em": None, "acc": [1.0, None], "avg_acc": 1.0, "rows": 2}
    rows = [[cell.text for cell in row.cells] for row in pipeline_command._table(means).rows]
    assert rows == [["em", "-", "0 of 1"], ["acc", "1.0000", "1 of 2"], ["rows", "2.0000", ""]]


def test_commands_that_are_printed_can_be_copied_whatever_the_names(tmp_path: Path, capsys) -> None:
    records = [{"id": "q", "answer": "a", "system": system} for system in ("it's $1", "b c")]
    ragassay.evaluate(records, ["answer_words"], save=tmp_path / "run")
    said = complaint(capsys, "explain", tmp_path / "run", "q")
    flags = said.partition("id 'q': ")[2].partition(". Say")[0]
    wanted = [["--system", name, "--repeat", "0"] for name in ("it's $1", "b c")]
    assert [shlex.split(one) for one in flags.split("; ")] == wanted
    data = tmp_path / "in.csv"
    data.write_text("query,Ground Truth,ground truth\nq,a,b\n")
    said = complaint(capsys, "validate", data)
    words = shlex.split(said.partition("Say which one is: ")[2].rstrip(".\n"))
    assert words == ["--columns", "references=Ground Truth"]


def test_the_bundled_data_is_copied_and_never_written_over(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "town"
    assert run("demo", "--data", folder) == 0
    names = {"documents", "queries.jsonl", "keyword.jsonl", "hybrid.jsonl"}
    assert {path.name for path in folder.iterdir()} == names
    assert run("demo", "--data", folder) == 0
    (folder / "queries.jsonl").write_text("mine")
    assert run("demo", "--data", folder) == 2
    assert "queries.jsonl already exists" in capsys.readouterr().err
    assert (folder / "queries.jsonl").read_text() == "mine"


def test_first_outputs_fit_80_columns_and_eight_rows(here: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run("demo", "-o", "out $dir's") == 0
    demo = capsys.readouterr().out.splitlines()
    (by_hand,) = [line for line in demo if "by hand:" in line]
    words = shlex.split(by_hand.partition("ragassay ")[2])
    assert words == ["compare", "out $dir's/hybrid", "out $dir's/keyword"]
    assert len([line for line in demo if line.startswith("  ndcg")]) == 1 and len(demo) <= 30
    assert max(len(line) for line in demo if not line.startswith(("  /", "The same"))) <= 80
    data = Path("out $dir's/hybrid/samples.jsonl")
    assert run("run", data, "--suite", "qa", "-o", "qa") == 0
    few = capsys.readouterr().out
    assert run("run", data, "--suite", "qa", "--metrics", "all") == 0
    every = capsys.readouterr().out
    rows = [sum("/72" in line for line in text.splitlines()) for text in (few, every)]
    assert rows == [8, 17]
    assert "9 further metrics, shown with '--metrics all': acc, em, stringem" in few
    assert "further metric" not in every and max(map(len, few.splitlines())) <= 80
    assert len(ragassay.open_run("qa").summary.metrics) == 17
    assert run("report", "qa", "--metrics", "all") == 0
    assert "stringem ↑" in capsys.readouterr().out
