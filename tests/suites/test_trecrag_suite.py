"""The suite trecrag from data to Open RAG Eval's files, and its Python face."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Answer, AutoNuggetMetric, CitationMetric, HallucinationMetric, NoAnswerMetric
from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.compat.open_rag_eval.evaluators import TRECEvaluator, UMBRELAMetric
from ragassay.engine.run.rescoring import explain
from ragassay.judges.question import Question
from ragassay.metrics.answer.answer_match import Answered, NoAnswer
from ragassay.reports.run_reports import write_reports
from ragassay.reports.tables.ore_files import ALL_COLUMNS
from ragassay.reports.tables.ore_values import COLUMNS
from ragassay.reports.views.evidence_view import evidence_report
from scripted_judge import Scripted

ORE = "TRECEvaluator-eval_results.csv"


def judge(question: Question[Any]) -> Any:
    """A passage's grade ends its text; its first two words are a vital nugget, held where the
    answer has them; it supports what begins as it does; "cannot" is no answer."""
    data = question.data
    match question.kind:
        case "relevance_grade":
            return {"match": 1, "trust": 1, "grade": int(data["passage"].split()[-1])}
        case "extract_nuggets":
            found = [" ".join(text.split()[:2]) for text in data["passages"]]
            return {"nuggets": [one for one in found if one not in data["known"]]}
        case "nugget_importance":
            return {"labels": ["vital"] * len(data["nuggets"])}
        case "assign_nuggets":
            held = [one in data["answer"] for one in data["nuggets"]]
            return {"labels": ["support" if one else "not_support" for one in held]}
        case "citation_support":
            same = data["statement"].split()[0] == data["passage"].split()[0]
            return {"support": "full" if same else "partial"}
        case "answer_attempted":
            return {"answered": "no" if "cannot" in data["answer"] else "yes"}
    return Reason.UNSUPPORTED


PASSAGES = (Passage("Iron is heavy 3", id="[1]"), Passage("Wool is light 1", id="[2]"))


def sample(name: str = "q1", answer: str = "Iron is heavy [1]. Clouds too [2].", **more) -> Sample:
    base = {"id": name, "query": "What is heavy?", "passages": PASSAGES, "answer": Answer(answer)}
    return Sample(**(base | more))


def evaluated(samples: Any, folder: Path, said: Any = judge, **options: Any) -> ragassay.Result:
    return ragassay.evaluate(samples, "trecrag", judge=Scripted(said), save=folder, **options)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def strict(text: str) -> Any:
    """JSON without the NaN that the tool sometimes writes."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_every_metric_of_the_suite_has_a_value_under_its_published_name(tmp_path: Path) -> None:
    result = evaluated([sample()], tmp_path)
    metrics = result.summary.metrics
    assert next(iter(metrics)) == "umbrela"
    assert metrics["umbrela"].mean == 2.0
    assert metrics["umbrela_P@5"].mean == pytest.approx(1 / 5), "k beyond the list counts"
    assert metrics["nuggets.vital"].mean == 0.5
    assert metrics["citation.f1"].mean == 0.75
    assert metrics["citation_ore.f1"].mean == 0.75
    assert metrics["answered"].mean == 1.0
    assert metrics["no_answer"].labels == {"yes": 1}
    assert metrics["hhem"].unscored == {"needs_extra": 1}
    said = str(evidence_report(explain(result, "q1")))
    assert "nuggets: as above" in said and "pieces of the answer: as above" in said
    assert result.summary.incomplete == 0, "a model that is not on this machine is no accident"


def test_questions_answered_counts_refusals_and_empty_answers_but_no_failures() -> None:
    said = Scripted(judge)
    answers = ["It is iron.", "I cannot say.", "", "  "]
    data = [sample(f"q{at}", answer) for at, answer in enumerate(answers)]
    data.append(Sample(id="q9", query="?", failure="API_ERROR"))
    result = ragassay.evaluate(data, [Answered(), NoAnswer()], judge=said)
    assert result.summary.metrics["answered"].mean == 0.25
    assert result.summary.metrics["answered"].n_scored == 4
    assert result.summary.metrics["no_answer"].labels == {"no": 3, "yes": 1}
    assert said.asked == ["answer_attempted"] * 2, "an empty answer needs no judge"


def test_the_published_file_is_scored_end_to_end_offline(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "open_rag_eval" / "connector_results.csv"
    code = call(["run", str(data), "--suite", "trecrag", "-o", str(tmp_path / "run")])
    assert code == 0
    assert call(["report", str(tmp_path / "run"), "--format", "ore,trecrag"]) == 0
    for name in ("trecrag.csv", ORE):
        rows = table(tmp_path / "run" / name)
        assert [row["query_id"] for row in rows] == [f"query_{at}" for at in range(1, 7)]
        assert rows[5]["run_2_generated_answer"] and not rows[0]["run_2_generated_answer"]
    parts = json.loads(rows[0]["run_1_generated_answer"])
    assert parts[1] == {"text": "They are also big and round", "citations": ["[2]", "[3]"]}


@pytest.fixture
def single(tmp_path: Path) -> Iterator[Path]:
    data = [sample(), sample("q2", "Wool is light [2] and more [7].")]
    result = evaluated(data, tmp_path / "run", ks=[1, 2, 5])
    write_reports(result, formats=["trecrag", "ore"])
    yield tmp_path / "run"


def test_a_single_run_has_the_pages_columns_without_prefix(single: Path) -> None:
    rows = table(single / "trecrag.csv")
    assert list(rows[0]) == ["query_id", "query", *COLUMNS, "unscored", "judge"]
    one = rows[0]
    assert (one["query_id"], one["query"]) == ("q1", "What is heavy?")
    assert strict(one["retrieved_passages"]) == {"[1]": "Iron is heavy 3", "[2]": "Wool is light 1"}
    assert strict(one["generated_answer"]) == [
        {"text": "Iron is heavy", "citations": ["[1]"]},
        {"text": "Clouds too", "citations": ["[2]"]},
    ]
    assert strict(one["retrieval_score_umbrela_scores"]) == {"[1]": 3, "[2]": 1}
    assert strict(one["retrieval_score_precision_metrics"]) == {
        "precision@": {"1": 1.0, "2": 0.5, "5": 0.2}, "AP@": {"1": 1.0, "2": 1.0, "5": 1.0},
        "MRR": 1.0,
    }  # fmt: skip
    assert float(one["retrieval_score_mean_umbrela_score"]) == 2.0
    nuggets = strict(one["generation_score_autonugget_scores"])
    assert list(nuggets) == [
        "nuggetizer_scores", "nuggets", "labels", "assignments", "assignment_scores",
    ]  # fmt: skip
    assert nuggets["nuggets"] == ["Iron is", "Wool is"]
    assert nuggets["nuggetizer_scores"]["Weighted"] == 0.5
    assert strict(one["generation_score_citation_scores"]) == {
        "citation_score_[1]": 1.0, "citation_score_[2]": 0.5, "part_score_1": 1.0,
        "part_score_2": 0.5, "weighted_precision": 0.75, "weighted_recall": 0.75, "f1": 0.75,
    }  # fmt: skip
    assert strict(one["generation_score_no_answer_score"]) == {"query_answered": "yes"}
    assert one["generation_score_hallucination_score"] == ""
    assert one["unscored"] == "hhem: needs_extra"
    assert strict(rows[1]["generation_score_citation_scores"])["citation_score_7"] == 0.0


def test_the_tools_file_is_always_prefixed_and_all_json(single: Path) -> None:
    rows = table(single / ORE)
    assert list(rows[0]) == ["query_id", "query", *(f"run_1_{name}" for name in ALL_COLUMNS)]
    assert len(rows[0]) == 19
    for row in rows:
        for name in ALL_COLUMNS:
            if row[f"run_1_{name}"]:
                strict(row[f"run_1_{name}"])
    one, two = rows
    assert strict(one["run_1_retrieval_score_precision_metrics"]) == {
        "precision@": {"1": 1.0, "2": 0.5}, "AP@": {"1": 1.0, "2": 1.0}, "MRR": 1.0,
    }, "cut-offs beyond the list are left out"  # fmt: skip
    scores = strict(one["run_1_generation_score_autonugget_scores"])["nuggetizer_scores"]
    assert scores["Weighted"] == pytest.approx(1 / 2.5), "divided as if one nugget were okay"
    assert scores["Vital"] == 0.5
    second = {"text": ". Clouds too", "citations": ["[2]"]}
    assert strict(one["run_1_generated_answer"])[1] == second
    cited = strict(two["run_1_generation_score_citation_scores"])
    assert "citation_score_[7]" not in cited and cited["f1"] == 1.0, "invented ones are left out"
    assert one["run_1_generation_score_hallucination_score"] == ""


def test_several_runs_are_prefixed_and_one_that_failed_is_empty_or_dropped(tmp_path: Path) -> None:
    data = [sample(), sample("q2"), sample(repeat=1), sample("q2", repeat=2)]
    result = evaluated([*data, Sample(id="q2", query="?", repeat=1, failure="API_ERROR")], tmp_path)
    write_reports(result, formats=["trecrag", "ore"])
    for name in ("trecrag.csv", ORE):
        rows = {row["query_id"]: row for row in table(tmp_path / name)}
        assert list(rows) == ["q1", "q2"]
        assert rows["q1"]["run_2_retrieval_score_mean_umbrela_score"] == "2.0"
        mean = "retrieval_score_mean_umbrela_score"
        said = [rows["q2"].get(f"run_{at}_{mean}") for at in (1, 2, 3, 4)]
        if name == ORE:
            assert said == ["2.0", "2.0", None, None], "the tool's loader drops what failed"
        else:
            assert said == ["2.0", "", "2.0", None]
            assert "missing_input" in rows["q2"]["run_2_unscored"]
            assert rows["q1"]["run_3_unscored"] == ""


def test_what_the_judge_did_not_answer_is_an_empty_cell_and_never_a_half(tmp_path: Path) -> None:
    refused = {"assign_nuggets": Reason.REFUSED}
    result = evaluated([sample()], tmp_path, lambda one: refused.get(one.kind) or judge(one))
    write_reports(result, formats=["trecrag", "ore"])
    (ours,), (theirs,) = table(tmp_path / "trecrag.csv"), table(tmp_path / ORE)
    for column in (
        "generation_score_autonugget_scores",
        "generation_score_mean_nugget_assignment_score",
        "generation_score_vital_nuggetizer_score",
    ):
        assert ours[column] == theirs[f"run_1_{column}"] == ""
        assert ours["retrieval_score_mean_umbrela_score"] == "2.0"
    assert "nuggets.vital: refused" in ours["unscored"]


def test_no_vital_nugget_is_null_in_our_form_and_0_in_the_tools(tmp_path: Path) -> None:
    def mild(question: Question[Any]) -> Any:
        said = judge(question)
        return {"labels": ["okay", "okay"]} if question.kind == "nugget_importance" else said

    result = evaluated([sample()], tmp_path, mild)
    write_reports(result, formats=["trecrag", "ore"])
    (ours,), (theirs,) = table(tmp_path / "trecrag.csv"), table(tmp_path / ORE)
    assert strict(ours["generation_score_autonugget_scores"])["nuggetizer_scores"]["Vital"] is None
    assert ours["generation_score_vital_nuggetizer_score"] == ""
    assert theirs["run_1_generation_score_vital_nuggetizer_score"] == "0.0"


def test_the_evaluator_is_the_suite(tmp_path: Path) -> None:
    evaluator = TRECEvaluator(Scripted(judge), {"k_values": [1, 2], "rel": 1, "partial": 0.25})
    metrics = evaluator.evaluate(sample()).summary.metrics
    assert metrics["umbrela_P(rel=1)@2"].mean == 1.0
    assert metrics["citation(partial=0.25).f1"].metric == "citation(partial=0.25).f1"
    assert metrics["citation(partial=0.25).f1"].mean == pytest.approx(0.625)
    plain = TRECEvaluator(Scripted(judge)).evaluate([sample()], save=tmp_path).summary
    assert {*plain.metrics} == {*evaluated([sample()], tmp_path / "x").summary.metrics}
    evaluator.to_csv(evaluator.evaluate([sample()]), tmp_path / "out.csv")
    assert table(tmp_path / "out.csv")[0]["retrieval_score_mean_umbrela_score"] == "2.0"


def test_each_metric_computes_the_published_object() -> None:
    said = Scripted(judge)
    record = {
        "id": "q1", "query": "What is heavy?",
        "passages": [{"id": "[1]", "text": "Iron is heavy 3"}], "answer": "Iron is heavy [1].",
    }  # fmt: skip
    assert UMBRELAMetric(said).compute(record, k_values=[1, 2]) == {
        "umbrela_scores": {"[1]": 3}, "mean_umbrela_score": 3.0,
        "retrieval_scores": {
            "precision@": {"1": 1.0, "2": 0.5}, "AP@": {"1": 1.0, "2": 1.0}, "MRR": 1.0,
        },
    }  # fmt: skip
    assert AutoNuggetMetric(said).compute(record)["nuggetizer_scores"]["Vital Strict"] == 1.0
    assert CitationMetric(said).compute(sample())["f1"] == 0.75
    assert CitationMetric(said, partial=0.0).compute(sample())["f1"] == 0.5
    assert NoAnswerMetric(said).compute([record, sample("q2")]) == [{"query_answered": "yes"}] * 2
    told = HallucinationMetric().compute(record)
    assert told["hhem_score"] is None and "needs_extra" in told["unscored"]["hhem"]


def test_consistency_is_a_second_step_of_the_evaluator() -> None:
    """Over all numeric metrics, or over those that are named."""
    runs = [sample(repeat=0), sample(repeat=1, answer="Clouds too [2].")]
    off = TRECEvaluator(Scripted(judge), {"run_consistency": False})
    assert off.evaluate(runs).consistency is None
    named = {"run_consistency": True, "metrics_to_run_consistency": ["citation_f1_score"], "rel": 3}
    found = TRECEvaluator(Scripted(judge), named).evaluate(runs).consistency
    assert found is not None
    looked_at = [name for name in found.summary.metrics if name.endswith(".cv")]
    assert len(looked_at) == 1 and "citation.f1" in looked_at[0]
    every = TRECEvaluator(Scripted(judge), {"run_consistency": True}).evaluate(runs).consistency
    assert every is not None and len(every.summary.metrics) > len(found.summary.metrics)
