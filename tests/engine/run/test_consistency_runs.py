"""The suite consistency end to end: two steps, two folders, every report."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.base.sample import Sample
from ragassay.cli.command_line import call
from ragassay.engine.config.metric_selection import make_plan
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.result import Result
from ragassay.engine.run.rescoring import explain, rescore
from ragassay.reports.run_reports import write_reports
from ragassay.reports.views import consistency_view
from terminal_text import shown
from unpacked_pages import page_text

DATA: list[dict[str, Any]] = [
    {"id": "a", "repeat": 0, "answer": "Paris", "lang": "en"},
    {"id": "b", "repeat": 0, "answer": "Madrid is the capital of Spain", "lang": "es"},
    {"id": "b", "repeat": 2, "answer": "I do not know.", "lang": "es"},
    {"id": "a", "repeat": 1, "answer": "It is Paris", "lang": "en"},
    {"id": "b", "repeat": 1, "answer": "Barcelona", "lang": "es"},
    {"id": "a", "repeat": 2, "answer": "Paris", "lang": "en"},
]
ASKED = {"a": ("Capital of France?", "Paris"), "b": ("Capital of Spain?", "Madrid")}


def records(**further: Any) -> list[dict[str, Any]]:
    """Two queries with three runs each, in no order."""
    return [
        {
            **{name: value for name, value in one.items() if name != "lang"},
            "query": ASKED[one["id"]][0],
            "references": [ASKED[one["id"]][1]],
            "passages": [{"id": f"[{n + 1}]", "text": f"{one['id']} text {n}"} for n in range(2)],
            "metadata": {"lang": one["lang"], "latency": at},
            **further,
        }
        for at, one in enumerate(DATA)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data.jsonl", records())


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def inner(result: Result) -> Result:
    assert result.consistency is not None
    return result.consistency


def of(result: Result, query: str, metric: str) -> Any:
    return next(r.value for r in result.scores if (r.sample, r.metric) == (query, metric))


def test_runs_are_grouped_in_whatever_order_they_come(data: Path) -> None:
    found = inner(ragassay.evaluate(data, ["em", "f1", "consistency"]))
    first, second = found.samples
    assert [run.repeat for run in first.runs] == [run.repeat for run in second.runs] == [0, 1, 2]
    assert first.given["scores"]["em"] == [1.0, 0.0, 1.0]
    assert of(found, "a", "consistency_em.mean") == pytest.approx(2 / 3)
    assert of(found, "a", "consistency_em.variance") == pytest.approx(1 / 3)
    assert of(found, "a", "consistency_em.flip") == 1.0
    assert found.summary.metrics["consistency_em.flip"].mean == 0.5
    assert found.summary.metrics["consistency_em.mean"].bounds == (0.0, 1.0)


def test_a_group_holds_what_the_runs_share_once(data: Path) -> None:
    first = next(inner(ragassay.evaluate(data, ["em", "consistency"])).samples)
    assert first.metadata == {"lang": "en"}
    assert first.references == ("Paris",) and first.query == "Capital of France?"
    assert [run.metadata for run in first.runs] == [{"latency": n} for n in (0, 3, 5)]
    assert all(run.query is None and run.references == () for run in first.runs)


def test_memory_and_folder_say_the_same(data: Path, tmp_path: Path) -> None:
    here = inner(ragassay.evaluate(data, ["qa", "consistency"]))
    kept = ragassay.evaluate(data, ["qa", "consistency"], save=tmp_path / "run")
    again = inner(ragassay.open_run(tmp_path / "run"))
    assert inner(kept).summary == again.summary
    assert here.summary.metrics == again.summary.metrics
    assert here.summary.variances == again.summary.variances != {}
    assert list(here.samples) == list(again.samples)
    assert [r.to_record() for r in here.scores] == [
        {**r.to_record(), "parts": dict(r.parts)} for r in again.scores
    ]
    assert again.name == "run/consistency"
    saved = ragassay.evaluate(data, ["qa", "consistency"]).save(tmp_path / "saved")
    assert inner(ragassay.open_run(saved)).summary.metrics == again.summary.metrics


def test_the_inner_folder_is_a_run_for_every_command(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        code = call(["run", str(data), "-s", "qa,consistency", "-o", str(tmp_path / name)])
        assert code == 0
    folder = tmp_path / "one" / "consistency"
    assert call(["report", str(folder)]) == 0
    assert call(["rescore", str(folder)]) == 0
    assert "all are equal" in capsys.readouterr().out
    assert call(["explain", str(folder), "a", "consistency_em.cv"]) == 0
    assert "answer, repeat 1: It is Paris" in capsys.readouterr().out
    other = tmp_path / "two" / "consistency"
    assert call(["compare", str(folder), str(other), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (found["a"], found["b"]) == ("one/consistency", "two/consistency")
    assert {d["diff"] for d in found["differences"] if d["n"]} == {0.0}
    assert {d["name"] for d in found["differences"]} >= {"consistency_em.cv", "runs_rouge1.f"}


def test_rescoring_finds_a_score_that_was_changed(data: Path, tmp_path: Path) -> None:
    ragassay.evaluate(data, ["em", "consistency"], save=tmp_path / "run")
    path = tmp_path / "run" / "consistency" / "scores.jsonl"
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if '"consistency_em.mean"' in line)
    lines[at] = json.dumps({**json.loads(lines[at]), "value": 0.9})
    path.write_text("\n".join(lines) + "\n")
    found = rescore(inner(ragassay.open_run(tmp_path / "run")))
    ((before, after),) = found.different
    assert (before.value, after.value) == (0.9, pytest.approx(2 / 3))


def test_run_yaml_says_the_same_again(data: Path, tmp_path: Path) -> None:
    suites = ["qa", "consistency"]
    first = ragassay.evaluate(data, suites, save=tmp_path / "run", consistency_of=["em", "f1"])
    for config in ("run/run.yaml", "run/consistency/run.yaml"):
        assert call(["run", str(tmp_path / config), "-o", str(tmp_path / "again")]) == 0
        again = ragassay.open_run(tmp_path / "again")
        assert inner(again).summary.metrics == inner(first).summary.metrics


def test_the_suite_alone_shows_and_writes_only_itself(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert call(["run", str(data), "--suite", "consistency", "-o", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "ROUGE-L" in out and "passages: overlap" in out and "Nothing was scored" not in out
    result = ragassay.open_run(tmp_path / "run")
    assert result.summary.metrics == {} and result.summary.n_samples == 6
    assert "consistency_rouge_score" in (tmp_path / "run" / "report.html").read_text()
    assert call(["report", str(tmp_path / "run"), "--json"]) == 0
    assert "runs_rbo" in json.loads(capsys.readouterr().out)["consistency"]["metrics"]


def test_queries_that_were_run_once_leave_nothing_to_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = [line for line in records() if line["repeat"] == 0]
    data = written(tmp_path / "once.jsonl", once)
    assert call(["run", str(data), "--suite", "consistency"]) == 3
    assert "once only" in capsys.readouterr().out
    assert call(["run", str(data), "--suite", "qa", "--suite", "consistency"]) == 0
    mixed = written(tmp_path / "mixed.jsonl", records()[:4])  # b twice, a twice
    found = inner(ragassay.evaluate(mixed, ["em", "consistency"]))
    assert found.summary.metrics["consistency_em.mean"].n_scored == 2
    some = written(tmp_path / "some.jsonl", records()[:3])  # b twice, a once
    found = inner(ragassay.evaluate(some, ["em", "consistency"]))
    assert found.summary.metrics["consistency_em.mean"].n_scored == 1
    assert any("1 of 2 queries was run once only" in said for said in found.summary.warnings)


def test_records_that_repeat_a_query_without_saying_so_are_refused(tmp_path: Path) -> None:
    lines = [{k: v for k, v in line.items() if k != "repeat"} for line in records()]
    with pytest.raises(InputError, match=r"(?s)line 3.*already given in line 2.*repeat"):
        ragassay.evaluate(written(tmp_path / "data.jsonl", lines), "consistency")


def test_runs_of_open_rag_eval_are_repeats(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(
        "query_id,query,query_run,passage_id,passage,generated_answer\n"
        "q,why,1,[1],cat,because [1]\nq,why,1,[2],dog,\n"
        "q,why,2,[1],dog,so it is [1]\nq,why,2,[2],cow,\n"
    )
    found = inner(ragassay.evaluate(path, "consistency"))
    assert found.summary.metrics["runs_overlap"].mean == pytest.approx(1 / 3)


def several_systems() -> list[dict[str, Any]]:
    rng = random.Random(1)
    return [
        {
            "id": f"q{query}",
            "system": system,
            "repeat": repeat,
            "query": "?",
            "answer": " ".join(rng.sample(["a1", "b2", "c3", "d4"], 2 if system == "s" else 3)),
            "references": ["a1 b2"],
        }
        for repeat in range(3)
        for query in range(6)
        for system in ("s", "t")
    ]


def test_systems_are_looked_at_apart(tmp_path: Path) -> None:
    data = written(tmp_path / "data.jsonl", several_systems())
    result = ragassay.evaluate(data, ["f1", "consistency"], save=tmp_path / "run")
    found = inner(result)
    assert found.summary.n_samples == 12 and found.summary.n_queries == 6
    assert {run.system for sample in found.samples for run in sample.runs} == {"s", "t"}
    parts = found.summary.variances["f1"]
    assert parts.system is not None and parts.query_system is not None
    from ragassay.reports.tables.published_csv import write_consistency

    write_consistency(result, tmp_path / "consistency.csv")
    rows = list(csv.DictReader((tmp_path / "consistency.csv").open()))
    assert list(rows[0])[:3] == ["system", "query_id", "query"]
    assert {(row["system"], row["query_id"]) for row in rows} == {
        (s, f"q{n}") for s in "st" for n in range(6)
    }
    assert call(["compare", str(tmp_path / "run" / "consistency")]) == 0


def test_the_csv_has_open_rag_evals_columns_as_strict_json(data: Path, tmp_path: Path) -> None:
    metrics = ["umbrela", "nuggets.vital", "citation.f1", "no_answer", "answered"]
    result = ragassay.evaluate(data, [*metrics, "consistency"], save=tmp_path / "run")
    from ragassay.reports.run_reports import write_reports

    assert write_reports(result)["consistency"] == tmp_path / "run" / "consistency.csv"
    rows = list(csv.DictReader((tmp_path / "run" / "consistency.csv").open()))
    heads = list(rows[0])
    assert heads[:4] == ["query_id", "query", "consistency_bert_score", "consistency_rouge_score"]
    for name in ("mean_umbrela_score", "vital_nuggetizer_score", "citation_f1_score", "answered"):
        assert f"consistency_{name}" in heads
    assert "consistency_no_answer" not in heads  # a label has no statistics
    assert heads[-7:] == [
        f"run_{n}_{what}" for n in (1, 2, 3) for what in ("generated_answer", "retrieved_passages")
    ] + ["unscored"]
    row = rows[0]
    rouge = json.loads(row["consistency_rouge_score"], parse_constant=pytest.fail)
    assert len(rouge["values"]) == 3
    assert list(rouge["stats"]) == [
        "mean", "median", "std", "max_min", "iqr", "consistency_adjusted_index", "variance",
        "coefficient_of_variation",
    ]  # fmt: skip
    assert json.loads(row["run_2_generated_answer"])[0]["text"] == "It is Paris"
    assert json.loads(row["run_1_retrieved_passages"]) == {"[1]": "a text 0", "[2]": "a text 1"}
    call(["report", str(tmp_path / "run"), "--format", "consistency", "-o", str(tmp_path / "out")])
    again = tmp_path / "out" / "consistency.csv"
    assert again.read_bytes() == (tmp_path / "run" / "consistency.csv").read_bytes()


@pytest.mark.parametrize("base", [1, 20240101])
def test_run_columns_count_the_runs_whatever_repeat_says(base: int, tmp_path: Path) -> None:
    lines = [line | {"repeat": base + 2 * line["repeat"]} for line in records()]
    data = written(tmp_path / "runs.jsonl", lines)
    chosen = ["-m", "no_answer,answered,umbrela", "-s", "consistency", "-o", str(tmp_path / "run")]
    assert call(["run", str(data), *chosen]) == 0
    for kind, file_name in (
        ("consistency", "consistency.csv"),
        ("trecrag", "trecrag.csv"),
        ("ore", "TRECEvaluator-eval_results.csv"),
    ):
        call(["report", str(tmp_path / "run"), "--format", kind, "-o", str(tmp_path / "out")])
        with (tmp_path / "out" / file_name).open(newline="") as stream:
            rows = {row["query_id"]: row for row in csv.DictReader(stream)}
        numbers = {head.split("_")[1] for head in rows["a"] if head.startswith("run_")}
        assert numbers == {"1", "2", "3"}
        assert "It is Paris" in rows["a"]["run_2_generated_answer"]
        assert "do not know" in rows["b"]["run_3_generated_answer"]


def test_a_run_without_consistency_has_no_table(data: Path, tmp_path: Path) -> None:
    result = ragassay.evaluate(data, "em", save=tmp_path / "run")
    assert result.consistency is None
    from ragassay.reports.tables.published_csv import write_consistency

    with pytest.raises(UsageError, match="--suite consistency"):
        write_consistency(result, tmp_path / "x.csv")


def test_a_new_run_takes_away_an_older_ones_consistency(data: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "run")
    assert call(["run", str(data), "-s", "qa,consistency", "-o", target]) == 0
    assert (tmp_path / "run" / "consistency.csv").exists()
    assert call(["run", str(data), "-s", "qa", "-o", target]) == 0
    assert not (tmp_path / "run" / "consistency.csv").exists()
    assert not (tmp_path / "run" / "consistency").exists()
    assert ragassay.open_run(target).consistency is None


def test_a_run_leaves_a_folder_called_consistency_alone_that_is_not_its_own(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outer = tmp_path / "runs"
    assert call(["run", str(data), "-s", "qa", "-o", str(outer / "consistency")]) == 0
    before = {path: path.read_bytes() for path in (outer / "consistency").iterdir()}
    assert call(["run", str(data), "-s", "qa", "-o", str(outer)]) == 0
    assert ragassay.open_run(outer).consistency is None
    capsys.readouterr()
    assert call(["run", str(data), "-s", "qa,consistency", "-o", str(outer)]) == 2
    assert "holds a run of its own" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (outer / "consistency").iterdir()} == before


def test_a_run_leaves_files_alone_that_are_somebodys(data: Path, tmp_path: Path) -> None:
    run, inner_folder = tmp_path / "run", tmp_path / "run" / "consistency"
    inner_folder.mkdir(parents=True)
    (inner_folder / "scores.csv").write_text("mine")
    assert call(["run", str(data), "-s", "qa", "-o", str(run)]) == 0
    assert (inner_folder / "scores.csv").read_text() == "mine"
    (inner_folder / "scores.csv").unlink()
    assert call(["run", str(data), "-s", "qa,consistency", "-o", str(run)]) == 0
    (inner_folder / "keep.txt").write_text("mine")
    assert call(["run", str(data), "-s", "qa", "-o", str(run)]) == 0
    assert [path.name for path in inner_folder.iterdir()] == ["keep.txt"]


def test_the_reports_of_a_run_show_its_consistency(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(data), "-s", "qa,consistency", "-o", str(tmp_path / "run")]) == 0
    assert "consistency of repeated runs of 2 queries" in capsys.readouterr().out
    page = (tmp_path / "run" / "report.html").read_text()
    assert 'href="consistency/report.html"' in page and "Consistency of repeated runs" in page
    assert "### Consistency of repeated runs" in (tmp_path / "run" / "report.md").read_text()
    own = page_text(tmp_path / "run" / "consistency" / "report.html")
    assert "It is Paris" in own


def test_a_gate_may_stand_on_consistency(data: Path) -> None:
    base = ["run", str(data), "-s", "qa,consistency"]
    assert call([*base, "--fail-under", "consistency_em.flip<=0.6"]) == 0
    assert call([*base, "--fail-under", "consistency_em.flip<=0.4"]) == 1
    assert call([*base, "--fail-under", "consistency_en.flip<=0.4"]) == 2


def test_a_judged_suite_and_its_consistency(data: Path, tmp_path: Path) -> None:
    result = ragassay.evaluate(data, ["trecrag", "consistency"], save=tmp_path / "run")
    found = inner(result)
    metrics = found.summary.metrics
    assert metrics["consistency_no_answer.flip"].mean == metrics["consistency_answered.flip"].mean
    assert of(found, "b", "consistency_answered.flip") == 1.0  # once it says that it cannot tell
    assert "consistency_no_answer.mean" not in metrics
    assert metrics["consistency_umbrela.mean"].bounds == (0.0, 3.0)
    assert metrics["consistency_hhem.mean"].unscored == {"needs_extra": 2}
    assert "|of=umbrela|" in metrics["consistency_umbrela.mean"].signature
    assert "judge=" in metrics["consistency_umbrela.mean"].signature
    assert rescore(found).different == ()
    assert explain(found, "a", "consistency_umbrela.cv").scores[0].verdicts == ()


def test_bertscore_without_its_model_is_unscored_with_the_sentence(data: Path) -> None:
    found = inner(ragassay.evaluate(data, "consistency")).summary
    one = found.metrics["consistency_bert_score"]
    assert one.mean is None and one.unscored == {"needs_extra": 2}
    assert any("consistency_bert_score" in said for said in found.warnings)
    assert found.incomplete == 0


def test_runs_that_ask_for_other_things_are_told(tmp_path: Path) -> None:
    lines = records()
    lines[3]["references"] = ["Lyon"]
    found = inner(ragassay.evaluate(written(tmp_path / "data.jsonl", lines), ["em", "consistency"]))
    assert any("do not ask or expect the same: 1." in said for said in found.summary.warnings)
    assert next(found.samples).runs[1].references == ("Lyon",)


def test_columns_that_tell_the_runs_apart_are_no_slices_of_queries(data: Path) -> None:
    result = ragassay.evaluate(
        data, ["em", "consistency"], slice_by=["latency", "lang"], cluster_by="latency"
    )
    assert {piece.column for piece in inner(result).summary.slices} == {"lang"}
    clustered = ragassay.evaluate(data, ["em", "consistency"], cluster_by="lang")
    assert "clustered by lang" in inner(clustered).summary.averaged_over


def test_samples_in_memory_and_iterators_can_be_looked_at_twice(data: Path) -> None:
    samples = [Sample(id=one["id"], repeat=one["repeat"], answer=one["answer"]) for one in DATA]
    found = inner(ragassay.evaluate(iter(samples), "consistency"))
    assert found.summary.n_samples == 2


def test_texts_wait_on_disk_and_not_in_memory(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run into a folder keeps eight bytes a sample; groups are made one after the other."""
    from ragassay.engine.run import consistency_run, prepared_run

    made: list[int] = []
    asked: list[int] = []
    original = consistency_run.OnDisk.__getitem__

    class Watched(consistency_run.OnDisk):
        def __getitem__(self, at: int) -> Sample:
            asked.append(at)
            return original(self, at)

    monkeypatch.setattr(prepared_run, "OnDisk", Watched)
    monkeypatch.setattr(consistency_run, "_AT_ONCE", 1)
    config = make_config(
        data=str(data), metrics=["em"], suite=["consistency"], output=tmp_path / "run"
    )
    prepared_run.prepare(config).run(compared=lambda n, of: made.append(len(asked)))
    assert made == [3, 6]  # the second query's runs are read when the first's are done
    assert asked == [0, 3, 5, 1, 4, 2]
    assert not list((tmp_path / "run").glob("tmp*"))


def test_what_is_looked_at_can_be_chosen(data: Path) -> None:
    chosen = inner(ragassay.evaluate(data, ["qa", "consistency"], consistency_of=["f1"])).summary
    assert {name for name in chosen.metrics if name.startswith("consistency_") and "." in name} == {
        "consistency_f1.mean", "consistency_f1.variance", "consistency_f1.cv",
    }  # fmt: skip
    added = ragassay.evaluate(data, "consistency", consistency_of=["em"])
    assert list(added.summary.metrics) == ["em"]
    named = ["rouge_score", "runs_cai", "runs_rbo(p=0.5)"]
    other = inner(ragassay.evaluate(data, ["em", "consistency"], consistency_metrics=named)).summary
    assert list(other.metrics) == [
        "consistency_rouge_score", "runs_rbo(p=0.5)", "consistency_em.consistency_adjusted_index",
    ]  # fmt: skip
    single = ragassay.evaluate(data, ["f1", "runs_cv(of=em)"])
    assert list(inner(single).summary.metrics) == ["consistency_em.cv"]
    assert list(single.summary.metrics) == ["f1", "em"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"consistency_metrics": ["em"]}, "--consistency-of em"),
        ({"consistency_of": ["runs_rbo"]}, "looks at runs itself"),
        ({"consistency_of": ["emm"]}, "Unknown metric 'emm'"),
        ({"options": {"persistence": 1}}, "No metric of this run has the parameter"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_plan(make_config(suite=["qa", "consistency"], **options), "jsonl")


def test_options_reach_the_metrics_over_runs_and_show_in_their_names() -> None:
    plan = make_plan(make_config(suite=["consistency"], options={"lang": "de", "p": 0.5}), "jsonl")
    assert plan.consistency is not None
    changed = plan.consistency.metrics["consistency_bert_score(lang=de)"]
    assert str(changed) == "runs_bertscore(lang=de).f"
    assert "consistency_rouge_score" in plan.consistency.metrics
    assert "runs_rbo(p=0.5)" in plan.consistency.metrics


def test_a_dry_run_counts_the_queries_with_repeats(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(data), "-s", "qa,consistency", "--dry-run"]) == 0
    assert "consistency: 2 queries with two runs or more" in capsys.readouterr().out
    assert call(["run", str(data), "-s", "qa", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is None


def test_native_samples_with_runs_come_back_as_they_were() -> None:
    runs = (
        Sample(id="q", answer="x", metadata={"n": 1}),
        Sample(id="q", repeat=1, failure="API_ERROR"),
    )
    sample = Sample(id="q", query="?", runs=runs, given={"scores": {"em": [1.0, None]}})
    record = json.loads(json.dumps(ragassay.formats.to_record(sample)))
    assert list(ragassay.formats.from_records([record])) == [sample]


@pytest.mark.parametrize("runs", [3, [1, 2], "many"])
def test_somebody_elses_runs_stay_what_they_were(runs: Any) -> None:
    (sample,) = ragassay.formats.from_records([{"id": "1", "query": "x", "runs": runs}])
    assert sample.runs == () and sample.metadata == {"runs": runs}
    for nested in ([{"n": 1}], [{"id": "r1", "score": 0.5}]):
        with pytest.warns(RagassayWarning, match="'runs' that are large or nested"):
            (sample,) = ragassay.formats.from_records([{"id": "1", "query": "x", "runs": nested}])
        assert sample.runs == ()


def test_empty_answers_are_counted_in_a_warning(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "repeat": 0, "answer": "Paris [1]."},
        {"id": "a", "repeat": 1, "answer": " "},
        {"id": "a", "repeat": 2, "answer": "[1]"},
        {"id": "b", "repeat": 0, "answer": ""},
    ]
    path = written(tmp_path / "data.jsonl", lines)
    found = inner(ragassay.evaluate(path, "consistency")).summary
    (said,) = [one for one in found.warnings if "empty" in one]
    assert said.startswith("The answer is empty in 2 of 3 runs.") and "raw BERTScore of 0" in said
    assert of(inner(ragassay.evaluate(path, "consistency")), "a", "consistency_rouge_score") == 0.0
    only = ragassay.evaluate(path, ["em", "consistency"], consistency_metrics=["runs_cv"])
    assert not any("empty" in one for one in inner(only).summary.warnings)


def test_a_query_is_explained_in_a_page_and_a_metric_in_full(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    suites = ["-s", "qa", "-s", "retrieval", "-s", "consistency"]
    assert call(["run", str(data), *suites, "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    command = ["explain", str(tmp_path / "run" / "consistency"), "b"]
    assert call(command) == 0
    page = capsys.readouterr().out
    assert len(page.splitlines()) < 60 and "A metric's name shows it whole" in page
    (line,) = [line for line in page.splitlines() if line.split()[:1] == ["consistency_em"]]
    assert line.split()[1:5] == ["mean", "0.0000,", "variance", "0.0000,"] and "–" not in line
    assert call([*command, "--full"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 150
    assert call([*command, "consistency_em.mean"]) == 0
    assert '"values":[0.0,0.0,0.0]' in capsys.readouterr().out
    assert call([*command, "rouge_score"]) == 0, "by an alias of its suite"
    assert "consistency_rouge_score" in capsys.readouterr().out


def test_an_unknown_metric_of_many_is_answered_with_the_nearest(data: Path) -> None:
    found = inner(ragassay.evaluate(data, ["qa", "retrieval", "consistency"]))
    with pytest.raises(UsageError) as caught:
        explain(found, "a", "consistency_f1.varience")
    assert "Did you mean 'consistency_f1.variance'" in str(caught.value)
    assert len(str(caught.value)) < 300 and "'ragassay report RUN' lists them" in str(caught.value)


def half_right(systems: tuple[str, ...]) -> list[dict[str, Any]]:
    """Six queries in four runs of each system: half the queries have nothing in common with their
    references, so that a mean is 0 and a CV is not."""
    rng = random.Random(5)
    words = ["Paris", "Madrid", "Rome", "the", "is", "capital", "of", "France", "old", "river"]
    return [
        {
            "id": f"q{query}",
            "repeat": repeat,
            **({"system": system} if system else {}),
            "query": "Capital of France?",
            "answer": " ".join(rng.sample(words, 3)) if query > 2 else "nothing here",
            "references": ["Paris is the capital of France"],
            "passages": [
                {"id": f"d{rng.randint(0, 9)}{n}", "text": rng.choice(words)} for n in range(3)
            ],
        }
        for query in range(6)
        for system in systems
        for repeat in range(4)
    ]


def test_a_cv_says_how_many_queries_it_runs_over(tmp_path: Path) -> None:
    result = ragassay.evaluate(half_right(("",)), ["f1", "consistency"], save=tmp_path / "run")
    write_reports(result, tmp_path / "run")
    found = inner(result).summary
    cv, mean = found.metrics["consistency_f1.cv"], found.metrics["consistency_f1.mean"]
    assert (cv.n_scored, mean.n_scored) == (3, 6)
    told = f"{cv.mean:.4f} (3/6)"
    page = (tmp_path / "run" / "report.html").read_text()
    assert f">{told}</td>" in page and ">6/6</td>" in page
    assert f"| {told} |" in (tmp_path / "run" / "report.md").read_text()
    text = shown(consistency_view.consistency_report(found), 80)
    assert told in text and "(n/total) beside a number: it runs over these alone" in text
    every = inner(ragassay.evaluate(several_systems(), ["f1", "consistency"])).summary
    assert "(n/total)" not in shown(consistency_view.consistency_report(every), 200)


def test_a_page_of_consistency_says_who_judged_what_it_looks_at(data: Path, tmp_path: Path) -> None:
    result = ragassay.evaluate(data, ["trecrag", "consistency"], save=tmp_path / "run")
    write_reports(result, tmp_path / "run")
    judge = result.summary.metrics["umbrela"].judge
    for page, told in (("", judge), ("consistency/", f"{judge} (the runs looked at)")):
        text = (tmp_path / "run" / f"{page}report.html").read_text()
        assert f"<dt>Judged by</dt><dd>{told}</dd>" in text
    words = ragassay.evaluate(data, ["em", "consistency"], save=tmp_path / "words")
    write_reports(words, tmp_path / "words")
    assert "Judged by" not in (tmp_path / "words" / "consistency" / "report.html").read_text()


def test_percentiles_have_no_consistency_of_their_own() -> None:
    """A query's value of latency_p95 is its latency, so its mean would stand under a wrong name."""
    asked = [
        {**one, "metadata": {"asked": {"latency": 0.5 + at, "attempts": 1}}}
        for at, one in enumerate(records())
    ]
    found = ragassay.evaluate(asked, "serving,consistency")
    assert {"latency", "latency_p95"} <= set(found.summary.metrics)
    names = inner(found).summary.metrics
    assert any(name.startswith("consistency_latency.") for name in names)
    assert not [name for name in names if "_p95" in name or "_p99" in name]


def test_where_each_run_failed_the_reason_is_the_system() -> None:
    """Not the model that one of the metrics needs and that is not on this machine."""
    records = [
        {"id": "a", "query": "Who?", "repeat": at, "failure": "timeout: slow"} for at in range(2)
    ]
    result = ragassay.evaluate(records, ["consistency"])
    assert result.consistency is not None
    (told,) = result.consistency.summary.warnings
    assert told.startswith("The system gave no answer: 1 of 1 sample is a failure (1 timeout")
