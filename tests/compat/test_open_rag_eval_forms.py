"""Open RAG Eval's commands and Python classes work as its reader types them, or name ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import LLMJudgeModel, NoAnswerMetric, TRECEvaluator, UsageError
from ragassay.cli.command_line import call

ANSWERS = """\
query_id,query,query_run,passage_id,passage,generated_answer
q1,Who wrote Emma?,1,[1],Emma is a novel by Jane Austen.,Jane Austen wrote Emma [1].
q2,When did Emma appear?,1,[1],Emma appeared in 1815.,In 1815 [1].
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    return tmp_path


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


@pytest.mark.parametrize("words", [[], ["--config=eval_config.yaml"]])
def test_eval_is_run_with_the_configuration_that_the_tool_would_take(
    desk: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (desk / "eval_config.yaml").write_text(CONFIG)
    assert call(["eval", *words]) in (0, 3)
    assert "ragassay run --config" in capsys.readouterr().err
    assert ragassay.open_run(desk / "results").summary.n_samples == 2


def test_generate_queries_is_golden_synthesize(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk / "queries.yaml").write_text(QUERIES)
    (desk / "docs").mkdir()
    for n in range(4):
        (desk / "docs" / f"{n}.md").write_text(
            f"# Bridge {n}\n\nThe bridge number {n} was built in 18{n}5 by Anna Weber. It crosses "
            f"the river Lahn near the town of Marburg and is {n + 20} metres long.\n"
        )
    words = ["generate-queries", "--config", "queries.yaml", "--num-queries", "2", "--verbose"]
    found = []
    for own in (words, ["golden", "synthesize", "queries.yaml", "--n", "2"]):
        found.append((call([*own, "--dry-run"]), capsys.readouterr().out))
    assert found[0] == found[1] and found[0][0] == 0
