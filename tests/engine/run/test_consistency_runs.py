"""The suite consistency end to end: two steps, two folders, every report."""

import csv
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.engine.config.metric_selection import select_metrics
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.result import Result
from ragassay.engine.run.rescoring import explain, rescore
from ragassay.reports.run_reports import write_reports
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.stats.repeats import variance_components

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
            "query": ASKED[one["id"]][0], "references": [ASKED[one["id"]][1]],
            "passages": [{"id": f"[{n + 1}]", "text": f"{one['id']} text {n}"} for n in range(2)],
            "metadata": {"lang": one["lang"], "latency": at}, **further,
        }
        for at, one in enumerate(DATA)
    ]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "data.jsonl", *records())


def inner(result: Result) -> Result:
    assert result.consistency is not None
    return result.consistency


def of(result: Result, query: str, metric: str) -> Any:
    return next(r.value for r in result.scores if (r.sample, r.metric) == (query, metric))


def test_runs_are_grouped_in_whatever_order_they_come(data: Path) -> None:
    found = inner(ragassay.evaluate(data, ["em", "f1", "consistency"], first_runs=True))
    first, second = found.samples
    assert [run.repeat for run in first.runs] == [run.repeat for run in second.runs] == [0, 1, 2]
    assert first.given["scores"]["em"] == [1.0, 0.0, 1.0]
    # What all runs have in common is the query's.
    assert (first.metadata, first.runs[0].query) == ({"lang": "en"}, None)
    assert [run.metadata for run in first.runs] == [{"latency": at} for at in (0, 3, 5)]
    assert of(found, "a", "consistency_em.mean") == pytest.approx(2 / 3)
    assert of(found, "a", "consistency_em.variance") == pytest.approx(1 / 3)
    assert of(found, "a", "consistency_em.flip") == 1.0
    assert "(1/2)" in str(consistency_report(found.summary))  # the other mean is 0, without a CV
    assert found.summary.metrics["consistency_em.flip"].mean == 0.5
    assert found.summary.metrics["consistency_em.mean"].bounds == (0.0, 1.0)
    talks = inner(ragassay.evaluate(records(conversation="c"), ["em", "consistency"]))
    assert talks.config["cluster_by"] == "conversation"


def test_memory_and_folder_say_the_same(data: Path, tmp_path: Path) -> None:
    here = inner(ragassay.evaluate(data, ["qa", "consistency"]))
    kept = ragassay.evaluate(data, ["qa", "consistency"], save=tmp_path / "run")
    again = inner(ragassay.open_run(tmp_path / "run"))
    assert inner(kept).summary == again.summary
    assert here.summary.metrics == again.summary.metrics
    assert here.summary.variances == again.summary.variances != {}
    assert list(here.samples) == list(again.samples)
    kept_rows = [{**row.to_record(), "parts": dict(row.parts)} for row in again.scores]
    assert [row.to_record() for row in here.scores] == kept_rows
    assert again.name == "run/consistency"
    saved = ragassay.evaluate(data, ["qa", "consistency"]).save(tmp_path / "saved")
    assert inner(ragassay.open_run(saved)).summary.metrics == again.summary.metrics


def test_the_inner_folder_is_a_run_for_every_command(data: Path, tmp_path: Path, capsys) -> None:
    for name in ("one", "two"):
        assert call(["run", str(data), "-s", "qa,consistency", "-o", str(tmp_path / name)]) == 0
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


def test_queries_that_were_run_once_leave_nothing_to_say(tmp_path: Path, capsys) -> None:
    once = [line for line in records() if line["repeat"] == 0]
    data = jsonl(tmp_path / "once.jsonl", *once)
    assert call(["run", str(data), "--suite", "consistency"]) == 3
    assert "needs two runs" in " ".join(capsys.readouterr().out.split())
    assert call(["run", str(data), "--suite", "qa", "--suite", "consistency"]) == 0
    mixed = jsonl(tmp_path / "mixed.jsonl", *records()[:4])  # b twice, a twice
    found = inner(ragassay.evaluate(mixed, ["em", "consistency"]))
    assert found.summary.metrics["consistency_em.mean"].n_scored == 2
    some = jsonl(tmp_path / "some.jsonl", *records()[:3])  # b twice, a once
    found = inner(ragassay.evaluate(some, ["em", "consistency"]))
    assert found.summary.metrics["consistency_em.mean"].n_scored == 1
    assert any("1 of 2 queries was run only once" in said for said in found.summary.warnings)
    systems = [{**one, "id": "b", "system": one["id"]} for one in records()[:3]]  # of one query
    found = inner(ragassay.evaluate(systems, ["em", "consistency"]))
    assert [n.counts["total"] for n in found.summary.notes if n.kind == "run_once"] == [2]


def test_records_that_repeat_a_query_without_saying_so_are_refused(tmp_path: Path) -> None:
    lines = [{k: v for k, v in line.items() if k != "repeat"} for line in records()]
    with pytest.raises(InputError, match=r"(?s)line 3.*already given in line 2.*repeat"):
        ragassay.evaluate(jsonl(tmp_path / "data.jsonl", *lines), "consistency")


def several_systems() -> list[dict[str, Any]]:
    rng = random.Random(1)
    return [
        {
            "id": f"q{query}", "system": system, "repeat": repeat, "query": "?",
            "answer": " ".join(rng.sample(["a1", "b2", "c3", "d4"], 2 if system == "s" else 3)),
            "references": ["a1 b2"],
        }
        for repeat in range(3)
        for query in range(6)
        for system in ("s", "t")
    ]  # fmt: skip


def test_systems_are_looked_at_apart(tmp_path: Path) -> None:
    data = jsonl(tmp_path / "data.jsonl", *several_systems())
    result = ragassay.evaluate(data, ["f1", "consistency"], save=tmp_path / "run")
    found = inner(result)
    assert found.summary.n_samples == 12 and found.summary.n_queries == 6
    bounds = {part.metrics["consistency_f1.mean"].bounds for part in found.summary.slices}
    assert bounds == {(0.0, 1.0)}
    assert {run.system for sample in found.samples for run in sample.runs} == {"s", "t"}
    values, columns = result.columns.values("f1"), result.columns
    queries, systems = ([identity[at] for identity in columns.identities] for at in (0, 1))
    expected = variance_components(values, queries, systems)
    assert found.summary.variances == {"f1": expected} and expected.query != expected.system
    from ragassay.reports.tables.published_csv import write_consistency

    write_consistency(result, tmp_path / "consistency.csv")
    rows = list(csv.DictReader((tmp_path / "consistency.csv").open()))
    assert list(rows[0])[:3] == ["system", "query_id", "query"]
    every = {(system, f"q{n}") for system in "st" for n in range(6)}
    assert {(row["system"], row["query_id"]) for row in rows} == every
    assert call(["compare", str(tmp_path / "run" / "consistency")]) == 0


def test_the_csv_has_open_rag_evals_columns_as_strict_json(data: Path, tmp_path: Path) -> None:
    metrics = ["umbrela", "nuggets.vital", "citation.f1", "no_answer", "answered"]
    jsonl(data, *records()[:4], records()[5])  # the second query has two runs
    result = ragassay.evaluate(data, [*metrics, "consistency"], save=tmp_path / "run")
    assert write_reports(result)["consistency"] == tmp_path / "run" / "consistency.csv"
    rows = list(csv.DictReader((tmp_path / "run" / "consistency.csv").open()))
    heads = list(rows[0])
    assert heads[:4] == ["query_id", "query", "consistency_bert_score", "consistency_rouge_score"]
    for name in ("mean_umbrela_score", "vital_nuggetizer_score", "citation_f1_score", "answered"):
        assert f"consistency_{name}" in heads
    assert "consistency_no_answer" not in heads  # a label has no statistics
    whats = ("generated_answer", "retrieved_passages")
    assert heads[-7:] == [*(f"run_{n}_{what}" for n in (1, 2, 3) for what in whats), "unscored"]
    row = rows[0]
    rouge = json.loads(row["consistency_rouge_score"], parse_constant=pytest.fail)
    assert len(rouge["values"]) == 3 and rouge["precision"] != rouge["recall"]
    for part in ("precision", "recall"):
        mean = of(inner(result), "a", f"runs_rougeL.{part[0]}")
        assert sum(rouge[part]) / 3 == pytest.approx(mean)
    assert list(rouge["stats"]) == [
        "mean", "median", "std", "max_min", "iqr", "consistency_adjusted_index", "variance",
        "coefficient_of_variation",
    ]  # fmt: skip
    assert json.loads(row["run_2_generated_answer"])[0]["text"] == "It is Paris"
    assert json.loads(row["run_1_retrieved_passages"]) == {"[1]": "a text 0", "[2]": "a text 1"}
    call(["report", str(tmp_path / "run"), "--format", "consistency", "-o", str(tmp_path / "out")])
    again = tmp_path / "out" / "consistency.csv"
    assert again.read_bytes() == (tmp_path / "run" / "consistency.csv").read_bytes()


def test_a_new_run_takes_away_an_older_ones_consistency(data: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "run")
    assert call(["run", str(data), "-s", "qa,consistency", "-o", target]) == 0
    assert (tmp_path / "run" / "consistency.csv").exists()
    assert ragassay.open_run(target).consistency.name == "run/consistency"
    whole = shutil.copytree(tmp_path / "run", tmp_path / "half")
    (whole / "consistency" / "summary.json").unlink()  # killed while it took its files away
    for folder in (tmp_path / "run", whole):
        assert call(["run", str(data), "-s", "qa", "-o", str(folder)]) == 0
        assert not (folder / "consistency.csv").exists()
        assert not (folder / "consistency").exists()
        assert ragassay.open_run(folder).consistency is None


def test_a_run_leaves_a_folder_called_consistency_alone_that_is_not_its_own(data, tmp_path, capsys):
    outer = tmp_path / "runs"
    assert call(["run", str(data), "-s", "qa", "-o", str(outer / "consistency")]) == 0
    before = {path: path.read_bytes() for path in (outer / "consistency").iterdir()}
    assert call(["run", str(data), "-s", "qa", "-o", str(outer)]) == 0
    assert ragassay.open_run(outer).consistency is None
    capsys.readouterr()
    assert call(["run", str(data), "-s", "qa,consistency", "-o", str(outer)]) == 2
    assert "holds a run of its own" in capsys.readouterr().err
    with pytest.raises(UsageError, match="holds a run of its own"):
        ragassay.evaluate(data, "qa,consistency").save(outer)
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
    assert explain(found, "a", "consistency_umbrela.cv").scores[0].judge_answers == ()


def test_runs_that_ask_for_other_things_are_told(tmp_path: Path) -> None:
    lines = records()
    lines[3]["references"] = ["Lyon"]
    found = inner(ragassay.evaluate(jsonl(tmp_path / "data.jsonl", *lines), ["em", "consistency"]))
    assert any("1 query differ in what they ask" in said for said in found.summary.warnings)
    assert next(found.samples).runs[1].references == ("Lyon",)


def test_what_is_looked_at_can_be_chosen(data: Path) -> None:
    chosen = inner(ragassay.evaluate(data, ["qa", "consistency"], consistency_of=["f1"])).summary
    assert {name for name in chosen.metrics if name.startswith("consistency_") and "." in name} == {
        "consistency_f1.mean", "consistency_f1.variance", "consistency_f1.cv",
    }  # fmt: skip
    asked = inner(ragassay.evaluate(data, ["em", "f1"], consistency_of=["em"])).summary.metrics
    assert "consistency_em.flip" in asked and "consistency_f1.mean" not in asked
    added = ragassay.evaluate(data, "consistency", consistency_of=["em"])
    assert list(added.summary.metrics) == ["em"]
    named = ["rouge_score", "runs_cai", "runs_rbo(p=0.5)"]
    other = inner(ragassay.evaluate(data, ["em", "consistency"], consistency_metrics=named)).summary
    assert list(other.metrics) == [
        "consistency_rouge_score", "runs_rbo(p=0.5)", "consistency_em.consistency_adjusted_index",
    ]  # fmt: skip
    of = {"consistency_of": ["em"], "consistency_metrics": ["runs_median", "runs_range"]}
    middle = inner(ragassay.evaluate(data, ["em", "consistency"], **of)).summary.metrics
    assert {name: (one.bounds, one.higher_is_better) for name, one in middle.items()} == {
        "consistency_em.median": ((0.0, 1.0), True), "consistency_em.max_min": ((0.0, None), False),
    }  # fmt: skip
    single = ragassay.evaluate(data, ["f1", "runs_cv(of=em)"])
    assert list(inner(single).summary.metrics) == ["consistency_em.cv"]
    assert list(single.summary.metrics) == ["f1", "em"]


@pytest.mark.parametrize(("options", "message"), [
    ({"consistency_metrics": ["em"]}, "--consistency-of em"),
    ({"consistency_of": ["runs_rbo"]}, "compares runs itself"),
    ({"consistency_of": ["emm"]}, "Unknown metric 'emm'"),
    ({"options": {"persistence": 1}}, "No metric of this run has the parameter"),
])  # fmt: skip
def test_what_cannot_be_meant_is_a_usage_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_metrics(make_config(suite=["qa", "consistency"], **options), "jsonl")


def test_a_dry_run_counts_the_queries_with_repeats(data: Path, capsys) -> None:
    jsonl(data, *records()[:3])  # two runs, and one
    assert call(["run", str(data), "-s", "qa,consistency", "--dry-run"]) == 0
    assert "consistency: 1 query with two runs or more" in capsys.readouterr().out
    assert call(["run", str(data), "-s", "qa", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is None
    systems = [{**records()[0], "system": name} for name in "st"]  # a run of each
    assert ragassay.plan(systems, ["em", "consistency"]).repeated == 0


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
    lost = {"id": "a", "query": "Who?", "failure": "timeout: slow"}
    records = [lost | {"repeat": at} for at in range(2)]
    (told,) = inner(ragassay.evaluate(records, ["consistency"])).summary.warnings
    assert told.startswith("The system gave no answer: 1 of 1 sample is a failure (1 with timeout")
    mixed = [*records, {"id": "a", "query": "Who?", "repeat": 2, "answer": "Ann"}]
    assert inner(ragassay.evaluate(mixed, ["consistency"])).summary.failures == {}
