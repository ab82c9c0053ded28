"""Open RAG Eval's commands and Python classes work as its reader types them, or name ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import (
    ConsistencyEvaluator,
    LLMJudgeModel,
    NoAnswerMetric,
    OpenAIModel,
    TRECEvaluator,
    UsageError,
)
from ragassay.cli.command_line import call

ANSWERS = """\
query_id,query,query_run,passage_id,passage,generated_answer
q1,Who wrote Emma?,1,[1],Emma is a novel by Jane Austen.,Jane Austen wrote Emma [1].
q2,When did Emma appear?,1,[1],Emma appeared in 1815.,In 1815 [1].
"""
CONFIG = """\
generated_answers: answers.csv
results_folder: results
evaluator:
  type: TRECEvaluator
  options: {k_values: [1]}
"""
QUERIES = """\
document_source: {type: LocalFileSource, path: docs}
generation: {n_questions: 50, question_types: {directly_answerable: 1}}
output: {base_filename: queries}
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / "eval_config.yaml").write_text(CONFIG)
    (tmp_path / "queries.yaml").write_text(QUERIES)
    (tmp_path / "docs").mkdir()
    return tmp_path


# --- commands


@pytest.mark.parametrize("words", [[], ["--config", "eval_config.yaml"], ["--config=other.yaml"]])
def test_eval_is_run_with_the_configuration_that_the_tool_would_take(
    desk: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (desk / "other.yaml").write_text(CONFIG)
    assert call(["eval", *words]) in (0, 3)
    assert "ragassay run --config" in capsys.readouterr().err
    assert ragassay.open_run(desk / "results").summary.n_samples == 2


def test_generate_queries_is_golden_synthesize(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(4):
        (desk / "docs" / f"{n}.md").write_text(
            f"# Bridge {n}\n\nThe bridge number {n} was built in 18{n}5 by Anna Weber. It crosses "
            f"the river Lahn near the town of Marburg and is {n + 20} metres long.\n"
        )
    words = ["generate-queries", "--config", "queries.yaml", "--num-queries", "2", "--verbose"]
    found = []
    for own in (words, ["golden", "synthesize", "queries.yaml", "--n", "2"]):
        code = call([*own, "--dry-run"])
        told = capsys.readouterr()
        found.append((code, told.out))
    assert found[0] == found[1] and found[0][0] == 0
    assert call(words) in (0, 3)
    assert "ragassay golden synthesize queries.yaml --n 2" in capsys.readouterr().err
    assert (desk / "queries.csv").read_text().startswith("query_id,query")


@pytest.mark.parametrize("words", [[], ["--config", "queries.yaml", "--output", "x.csv"]])
def test_what_generate_queries_cannot_do_names_ours(
    desk: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert call(["generate-queries", *words]) == 2
    told = capsys.readouterr().err
    assert "ragassay golden synthesize" in told and "Traceback" not in told


# --- classes


def test_evaluators_plot_their_metrics(desk: Path) -> None:
    result = TRECEvaluator().evaluate("answers.csv")
    TRECEvaluator().to_csv(result, "results.csv")
    TRECEvaluator.plot_metrics(["results.csv"])
    assert (desk / "metrics_comparison.png").read_bytes().startswith(b"\x89PNG")
    both, named = ["results.csv", "results.csv"], ["generation_score_citation_f1_score"]
    TRECEvaluator.plot_metrics(both, output_file="both.svg", metrics_to_plot=named)
    drawn = (desk / "both.svg").read_text()
    assert "citation" in drawn.casefold() and "umbrela" not in drawn.casefold()
    with pytest.raises(UsageError, match="nonsense"):
        TRECEvaluator.plot_metrics(["results.csv"], metrics_to_plot=["nonsense"])
    records = [{"id": "q", "repeat": n, "query": "Who?", "answer": f"Jane {n}."} for n in range(3)]
    alike = ConsistencyEvaluator({"metrics": ["rouge_score"]})
    alike.to_csv(alike.evaluate(records), "alike.csv")
    ConsistencyEvaluator.plot_metrics(["alike.csv"], "alike.png")
    assert (desk / "alike.png").exists()


class OwnModel(LLMJudgeModel):
    """As the tool's models are written."""

    def __init__(self, model_options: dict[str, Any]) -> None:
        self.model_name = model_options["name"]
        self.asked: list[str] = []

    def call(self, prompt: str, model_kwargs: Any = None) -> str:
        self.asked.append(prompt)
        return json.dumps({"reasoning": "it says so", "answered": "yes"})

    def parse(self, prompt: str, response_format: Any, model_kwargs: Any = None) -> Any:
        raise AssertionError("is not called")


class OnlyParses(LLMJudgeModel):
    def parse(self, prompt: str, response_format: Any, model_kwargs: Any = None) -> Any:
        return response_format()


def test_a_model_of_ones_own_judges_by_its_call(desk: Path) -> None:
    own = OwnModel({"name": "mine"})
    record = {"query": "Who?", "answer": "Jane Austen wrote it."}
    assert NoAnswerMetric(own).compute(record) == {"query_answered": "yes"}
    assert len(own.asked) == 1 and "Jane Austen wrote it." in own.asked[0]
    result = TRECEvaluator(own).evaluate(record)
    assert result.summary.metrics["no_answer"].n_scored == 1
    assert result.summary.judging is not None and "mine" in result.summary.judging.signature


def test_a_model_that_only_parses_is_refused_in_one_sentence(desk: Path) -> None:
    with pytest.raises(UsageError, match=r"OnlyParses has no method call\(prompt"):
        TRECEvaluator(OnlyParses()).evaluate({"query": "Who?", "answer": "Jane."})


def test_the_tools_model_options_are_name_key_and_address() -> None:
    options = {"name": "some-model", "api_key": "sk-secret", "base_url": "http://127.0.0.1:9/v1"}
    assert OpenAIModel(options) == OpenAIModel(  # type: ignore[arg-type]
        "some-model", "sk-secret", "http://127.0.0.1:9/v1"
    )
    with pytest.raises(UsageError, match="no option 'key'"):
        OpenAIModel({"key": "sk-secret"})  # type: ignore[arg-type]
