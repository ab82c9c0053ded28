"""Each name that Open RAG Eval's page prints works where its reader would type it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay import (
    Answer,
    ConsistencyEvaluator,
    InputError,
    OpenAIModel,
    Passage,
    Sample,
    TRECEvaluator,
    UMBRELAMetric,
    UsageError,
    suites,
)
from ragassay.compat.open_rag_eval.published_config import read_config
from ragassay.engine.run.config_reading import checked
from ragassay.reports.tables.ore_values import COLUMNS
from scripted_judge import Scripted

TREC = suites.get("trecrag")

CLASSES = (
    "TRECEvaluator", "UMBRELAMetric", "AutoNuggetMetric", "AutoNuggetizer", "CitationMetric",
    "HallucinationMetric", "NoAnswerMetric", "LLMJudgeModel",
)  # fmt: skip
METRICS = {
    "UMBRELA": "umbrela",
    "Precision@3": "umbrela_P@3",
    "AP@3": "umbrela_AP@3",
    "MRR": "umbrela_MRR",
    "AutoNuggetizer": "nuggets.all",
    "HHEM": "hhem",
    "ROUGE-1": "rouge-1",
    "ROUGE-2": "rouge-2",
    "ROUGE-L": "rouge-l",
    "BERTScore": "bertscore.f",
    "retrieval_score_umbrela_scores": "umbrela",
    "retrieval_score_mean_umbrela_score": "umbrela",
    "generation_score_vital_nuggetizer_score": "nuggets.vital",
    "generation_score_hallucination_score": "hhem",
    "generation_score_citation_f1_score": "citation.f1",
    "generation_score_no_answer_score": "no_answer",
}
KWARGS = {
    "temperature": 0.0, "top_p": 0.9, "presence_penalty": 0.25, "frequency_penalty": 0.75,
    "seed": 7,
}  # fmt: skip
PASSAGES = (Passage("Iron is heavy.", id="[1]"),)


def sample(answer: str = "Iron is heavy [1].", **more: Any) -> Sample:
    base = {"id": "q1", "query": "What is heavy?", "passages": PASSAGES, "answer": Answer(answer)}
    return Sample(**(base | more))


@pytest.fixture
def page(shared: Path) -> str:
    return (shared / "spec" / "open-rag-eval.md").read_text(encoding="utf-8")


def test_these_are_the_names_that_the_page_prints(page: str) -> None:
    """A name that the page gains must be added here."""
    for name in (*CLASSES, *KWARGS, *(one for one in METRICS if "@" not in one)):
        assert name in page, name
    code = re.findall(r"`([A-Za-z_]\w*)`", page)
    known = {*COLUMNS, *CLASSES, "query_id", "query", "run_1_", "run_2_", "run_consistency"}
    assert set(code) <= known
    classes = {*re.findall(r"\b([A-Za-z]+(?:Metric|Evaluator|Model))\(", page), "AutoNuggetizer"}
    assert classes <= {*CLASSES} <= {*ragassay.__all__}


@pytest.mark.parametrize(("name", "meant"), METRICS.items())
def test_metrics_are_understood_within_the_suite(name: str, meant: str) -> None:
    assert [str(metric) for metric in TREC.resolve([name])] == [meant]


def test_the_pages_python_works(page: str, tmp_path: Path) -> None:
    (block,) = (one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "kwargs" in one)
    found: dict[str, Any] = {}
    exec(block, found)
    metric = UMBRELAMetric(Scripted({}), model_kwargs=found["model_kwargs"])
    assert metric.running["presence_penalty"] == 0.5 and metric.running["judge_seed"] == 42
    evaluator = TRECEvaluator(model=OpenAIModel(), options={"k_values": [1, 3, 5]})
    assert evaluator.model == OpenAIModel("gpt-4o") and TREC.default_model == "gpt-4o"
    result = TRECEvaluator().evaluate(sample())
    TRECEvaluator().to_csv(result, tmp_path / "out.csv")
    head = (tmp_path / "out.csv").read_text().partition("\n")[0].split(",")
    assert {*COLUMNS, "query_id", "query"} <= {*head}


# --- sampling parameters


def test_sampling_parameters_reach_the_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: LLMServer
) -> None:
    monkeypatch.chdir(tmp_path)
    model = OpenAIModel("gpt-test", "sk-test-key-0000000", server.url)
    told = UMBRELAMetric(model, model_kwargs=KWARGS).compute(sample())
    assert told["mean_umbrela_score"] is not None
    (body,) = server.bodies
    assert {name: body[name] for name in KWARGS} == KWARGS


@pytest.mark.parametrize("where", ["top", "model", "options", "own"])
def test_sampling_parameters_stand_in_a_configuration(tmp_path: Path, where: str) -> None:
    kwargs = "{" + ", ".join(f"{name}: {value}" for name, value in KWARGS.items()) + "}"
    text = {
        "top": f"model_kwargs: {kwargs}\nevaluator:\n  name: trecrag\n",
        "model": f"evaluator:\n  name: trecrag\n  model:\n    type: OpenAIModel\n    model_kwargs: "
        f"{kwargs}\n",
        "options": f"evaluator:\n  name: trecrag\n  options:\n    model_kwargs: {kwargs}\n",
        "own": f"suite: trecrag\nmodel_kwargs: {kwargs}\n",
    }[where]
    path = tmp_path / "config.yaml"
    path.write_text(text)
    values = read_config(path).values
    assert {name: values["judge_seed" if name == "seed" else name] for name in KWARGS} == KWARGS
    path.write_text(text.replace("top_p: 0.9", "topp: 0.9"))
    with pytest.raises(InputError, match="Did you mean 'top_p'"):
        read_config(path)
    path.write_text(text.replace("top_p: 0.9", "top_p: 9"))
    with pytest.raises((InputError, UsageError), match=r"not 9"):
        checked(read_config(path))


# --- paths


def test_paths_are_looked_for_beside_the_file_then_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    path = tmp_path / "configs" / "eval.yaml"
    for text in ("evaluator: {name: trecrag}\ngenerated_answers: a.csv\n", "data: a.csv\n"):
        path.write_text(text)
        (tmp_path / "a.csv").write_text("query,answer\nWho?,She.\n")
        monkeypatch.chdir(tmp_path)
        assert Path(read_config(path).values["data"]) == tmp_path / "a.csv"
        (tmp_path / "configs" / "a.csv").write_text("query,answer\nWho?,He.\n")
        assert Path(read_config(path).values["data"]) == tmp_path / "configs" / "a.csv"
        (tmp_path / "configs" / "a.csv").unlink()


# --- the other evaluators


def test_the_consistency_evaluator_compares_runs(tmp_path: Path) -> None:
    runs = [
        sample(f"Iron is {word}.", repeat=at) for at, word in enumerate(("hard", "old", "hard"))
    ]
    evaluator = ConsistencyEvaluator({"metrics": [{"rouge_score": {}}]})
    found = evaluator.evaluate(runs)
    inner = found.consistency
    assert inner is not None
    assert inner.summary.metrics["runs_rouge1.f"].mean == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert "answers: ROUGE-1" in str(found)
    evaluator.to_csv(found, tmp_path / "out.csv")
    assert "consistency_rouge_score" in (tmp_path / "out.csv").read_text()
    with pytest.raises(UsageError, match="'rouge_score'"):
        ConsistencyEvaluator({"metrics": [{"rouge": {}}]})
    with pytest.raises(UsageError, match=r"bert_score\.lang"):
        ConsistencyEvaluator({"metrics": [{"bert_score": {"lang": 3}}]})
    with pytest.raises(UsageError, match="is no metric"):
        ConsistencyEvaluator({"metrics": [3]})


def test_golden_answers_are_joined_by_query_id(tmp_path: Path) -> None:
    answers, queries = tmp_path / "answers.csv", tmp_path / "queries.csv"
    answers.write_text(
        "query_id,query,query_run,passage_id,passage,generated_answer\n"
        "1,What is heavy?,1,[1],Iron is heavy.,Iron is heavy [1].\n"
        "2,What is light?,1,[1],Wool is light.,Wool [1].\n"
    )
    queries.write_text("query_id,query,expected_answer\n1,What is heavy?,Iron is heavy.\n")
    result = ragassay.evaluate(answers, "golden", references=str(queries))
    assert result.summary.metrics["factual_correctness.f1"].n_scored == 1
    queries.write_text("query_id,query\n1,Who?\n")
    with pytest.raises(InputError, match="there is no column 'expected_answer'"):
        ragassay.evaluate(answers, "golden", references=str(queries))


def test_a_model_without_its_key_says_which_argument_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    metric = UMBRELAMetric(OpenAIModel())
    with pytest.raises(UsageError, match="OpenAIModel has no key: give api_key=") as found:
        metric.compute({"query": "a", "passages": ["b"]})
    assert "OPENAI_API_KEY" in str(found.value) and "--key-file" not in str(found.value)
