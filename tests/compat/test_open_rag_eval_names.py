"""Each name that Open RAG Eval's page prints works where its reader would type it."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay import (
    Answer,
    AutoNuggetMetric,
    CitationMetric,
    ConsistencyEvaluator,
    HallucinationMetric,
    InputError,
    LLMJudgeModel,
    NoAnswerMetric,
    OpenAIModel,
    Passage,
    Sample,
    TRECEvaluator,
    UMBRELAMetric,
    UsageError,
    suites,
)
from ragassay.base.errors import RagassayWarning
from ragassay.cli.command_line import call
from ragassay.compat.open_rag_eval import judge_models as models
from ragassay.compat.open_rag_eval.judge_models import judge_keywords
from ragassay.compat.open_rag_eval.published_config import read_config
from ragassay.engine.run.config_reading import checked
from ragassay.models.classifiers.hhem import HHEM
from ragassay.reports.run_reports import write_reports
from ragassay.reports.tables.ore_values import COLUMNS
from scripted_judge import Scripted

TREC = suites.get("trecrag")

CLASSES = (
    "TRECEvaluator", "UMBRELAMetric", "AutoNuggetMetric", "AutoNuggetizer", "CitationMetric",
    "HallucinationMetric", "NoAnswerMetric", "LLMJudgeModel",
)  # fmt: skip
METRICS = {
    "UMBRELA": "umbrela", "Precision@3": "umbrela_P@3", "AP@3": "umbrela_AP@3",
    "MRR": "umbrela_MRR", "AutoNuggetizer": "nuggets.all", "HHEM": "hhem", "ROUGE-1": "rouge-1",
    "ROUGE-2": "rouge-2", "ROUGE-L": "rouge-l", "BERTScore": "bertscore.f",
    "retrieval_score_umbrela_scores": "umbrela", "retrieval_score_mean_umbrela_score": "umbrela",
    "generation_score_vital_nuggetizer_score": "nuggets.vital",
    "generation_score_hallucination_score": "hhem",
    "generation_score_citation_f1_score": "citation.f1",
    "generation_score_no_answer_score": "no_answer",
}  # fmt: skip
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


def test_sampling_parameters_reach_the_endpoint(here, monkeypatch, server: LLMServer) -> None:
    model = OpenAIModel("gpt-test", "sk-test-key-0000000", server.url)
    told = UMBRELAMetric(model, model_kwargs=KWARGS).compute(sample())
    assert told["mean_umbrela_score"] is not None
    (body,) = server.bodies
    assert {name: body[name] for name in KWARGS} == KWARGS
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    keyed = judge_keywords(OpenAIModel("gpt-test", "sk-given"))
    assert keyed["environment"]["OPENAI_API_KEY"] == "sk-given" and "PATH" in keyed["environment"]
    assert "sk-given" not in repr(OpenAIModel("gpt-test", "sk-given"))
    with pytest.raises(UsageError, match="api_key"):
        judge_keywords(OpenAIModel("gpt-test", "sk-of\ntwo lines"))
    kinds = (models.AnthropicModel, models.GeminiModel, models.TogetherModel)
    assert [kind("m").word for kind in kinds] == ["anthropic:m", "google:m", "together:m"]
    whole = TRECEvaluator(Scripted({}), {"model_kwargs": {"top_p": 0.5, "seed": 7}})
    for part in (whole.retrieval_metric, whole.generation_metric, whole.citation_metric):
        assert part.running == whole.no_answer_metric.running == {"top_p": 0.5, "judge_seed": 7}


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


def test_paths_are_looked_for_beside_the_file_then_where_one_works(here) -> None:
    (here / "configs").mkdir()
    path = here / "configs" / "eval.yaml"
    evaluator = "evaluator: {name: trecrag}\n"
    names = ("generated_answers", "input_results")
    for text in (*(f"{evaluator}{name}: a.csv\n" for name in names), "data: a.csv\n"):
        path.write_text(text)
        (here / "a.csv").write_text("query,answer\nWho?,She.\n")
        assert Path(read_config(path).values["data"]) == here / "a.csv"
        (here / "configs" / "a.csv").write_text("query,answer\nWho?,He.\n")
        assert Path(read_config(path).values["data"]) == here / "configs" / "a.csv"
        (here / "configs" / "a.csv").unlink()


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
    first, *others = ConsistencyEvaluator().metrics  # both
    assert first.startswith("runs_bertscore") and tuple(others) == evaluator.metrics
    with pytest.raises(UsageError, match="'rouge_score'"):
        ConsistencyEvaluator({"metrics": [{"rouge": {}}]})
    with pytest.raises(UsageError, match=r"bert_score\.lang"):
        ConsistencyEvaluator({"metrics": [{"bert_score": {"lang": 3}}]})
    with pytest.raises(UsageError, match="is not a metric"):
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


def test_a_model_without_its_key_says_which_argument_takes_it(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    metric = UMBRELAMetric(OpenAIModel())
    with pytest.raises(UsageError, match="OpenAIModel has no key: give api_key=") as found:
        metric.compute({"query": "a", "passages": ["b"]})
    assert "OPENAI_API_KEY" in str(found.value) and "--key-file" not in str(found.value)
    local = "http://127.0.0.1:9/v1"  # a server of one's own may need none
    assert judge_keywords(OpenAIModel("m", base_url=local)) == {"judge": f"{local}#m"}


PARTS = [{"text": "Frank Herbert wrote Dune.", "citations": ["[1]"]}]
FLAT = {"[1]": "Dune is a novel by Frank Herbert.", "[2]": "Dunes are hills of sand."}


@pytest.mark.parametrize(
    "record",
    [
        {"query": "Who wrote Dune?", "passages": FLAT, "answer": PARTS},
        {"query": "Who wrote Dune?", "retrieved_passages": FLAT, "generated_answer": PARTS},
    ],
    ids=["our names", "their names"],
)
def test_a_flat_record_is_understood_under_both_names(record: dict[str, Any]) -> None:
    told = CitationMetric().compute(record)
    assert told["f1"] == 1.0 and "unscored" not in told
    graded = UMBRELAMetric().compute(record, k_values=[1, 2])
    assert list(graded["umbrela_scores"]) == ["[1]", "[2]"]
    scores = graded["retrieval_scores"]
    assert [[*map(str, scores[name])] for name in ("precision@", "AP@")] == [["1", "2"]] * 2
    assert TRECEvaluator().evaluate(record).summary.metrics["citation.f1"].mean == 1.0


def test_metadata_and_extra_scalars_are_no_unknown_fields() -> None:
    record = {"query": "Who?", "answer": "She.", "metadata": {"domain": {"a": 1}}, "topic": "x"}
    assert TRECEvaluator().evaluate(record).summary.metrics["answered"].mean == 1.0
    nested = {"inputs": {"question": "Who?"}, "answer": "She."}
    assert TRECEvaluator().evaluate(nested).summary.n_samples == 1


@pytest.mark.parametrize("values", ["x", [], [0], [True], [1.5], 5, "135"])
def test_impossible_cut_offs_are_refused_when_the_evaluator_is_made(values: object) -> None:
    with pytest.raises(UsageError, match="k_values"):
        TRECEvaluator(options={"k_values": values})
    with pytest.raises(UsageError, match="k_values"):
        UMBRELAMetric().compute({"query": "Who?", "passages": FLAT}, k_values=values)  # type: ignore[arg-type]


def test_impossible_values_of_other_options_are_refused_when_the_evaluator_is_made() -> None:
    for options in ({"rel": "x"}, {"shots": "many"}):
        with pytest.raises(UsageError, match=next(iter(options))):
            TRECEvaluator(options=options)
        with pytest.raises(UsageError, match=next(iter(options))):
            UMBRELAMetric(**options)
    options = {"shots": "few", "iterations": 3, "partial": 0.4}
    whole = TRECEvaluator(options={**options, "hallucination_metric": {"max_chars": 9}})
    for part, own in (
        (whole.retrieval_metric, {"shots": "few"}), (whole.generation_metric, {"iterations": 3}),
        (whole.citation_metric, {"partial": 0.4}), (whole.hallucination_metric, {"max_chars": 9}),
    ):  # fmt: skip
        assert own.items() <= part.parameters.items()
    assert TRECEvaluator().k_values == (1, 3, 5)
    chosen = TRECEvaluator(options={"k_values": [2]})
    assert chosen.k_values == (2,)
    found = chosen.evaluate({"query": "Who?", "passages": FLAT}, ks=[3]).summary.metrics
    assert "umbrela_P@3" in found and "umbrela_P@2" not in found
    with pytest.warns(RagassayWarning, match="run_consistency is not true"):
        TRECEvaluator(options={"run_consistency": False, "metrics_to_run_consistency": ["umbrela"]})


def test_the_tools_own_options_are_read_as_in_its_files(tmp_path: Path) -> None:
    for options, said in (
        ({"hallucination_metric": {"modelname": "x"}}, "modelname: is not a known key"),
        ({"hallucination_metric": {"backend_type": "other"}}, "backend 'other'"),
        ({"hallucination_metric": {"max_chars": 0}}, "hallucination_metric.max_chars"),
        ({"hallucination_metric": 3}, "hallucination_metric"),
        ({"run_consistency": "perhaps"}, "run_consistency"),
        ({"metrics_to_run_consistency": 3}, "metrics_to_run_consistency"),
        ({"hallucination_metric": {"model_name": str(tmp_path / "none")}}, "nor a folder"),
    ):
        with pytest.raises(UsageError, match=said):
            TRECEvaluator(options=options)
    off = TRECEvaluator(options={"run_consistency": "no", "hallucination_metric": {"api_key": "k"}})
    assert off.evaluate({"query": "Who?", "answer": "She."}).consistency is None


def test_hhems_folder_stands_beside_the_folders_of_other_models(tmp_path: Path) -> None:
    for name in ("hhem", "xlm"):
        (tmp_path / name).mkdir()
    evaluator = TRECEvaluator(options={"hallucination_metric": {"model_name": tmp_path / "hhem"}})
    others = {"xlm-roberta-large": str(tmp_path / "xlm")}
    with pytest.warns(RagassayWarning, match="xlm-roberta-large is not used"):
        result = evaluator.evaluate({"query": "Who?", "answer": "She."}, models=others)
    assert result.config["models"] == {HHEM.name: str(tmp_path / "hhem")} | others
    for part in (evaluator.hallucination_metric, HallucinationMetric(tmp_path / "hhem")):
        assert part.running == {"models": {HHEM.name: str(tmp_path / "hhem")}}
    brought = {"answer": "She.", "passages": ["She."], "metrics": {"hhem_score": 0.25}}
    assert HallucinationMetric().compute(brought) == {"hhem_score": 0.25}
    assert HallucinationMetric(given=False).compute(brought)["hhem_score"] is None


ANSWERS = """\
query_id,query,query_run,passage_id,passage,generated_answer
q1,Who wrote Emma?,1,[1],Emma is a novel by Jane Austen.,Jane Austen wrote Emma [1].
q2,When did Emma appear?,1,[1],Emma appeared in 1815.,In 1815 [1].
"""


@pytest.fixture
def desk(here: Path) -> Path:
    (here / "answers.csv").write_text(ANSWERS)
    return here


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
    two = [sample(), Sample(id="q2", query="Who?")]
    answered, lacking = NoAnswerMetric(own).compute(two)
    assert answered == NoAnswerMetric(own).compute(sample()) == {"query_answered": "yes"}
    assert lacking["query_answered"] is None and [*lacking["unscored"]] == ["no_answer"]
    found = AutoNuggetMetric(own).compute(record)
    assert found["nuggetizer_scores"] is None and len(found["unscored"]) == 6
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
def test_eval_is_run_with_the_configuration_that_the_tool_would_take(desk, capsys, words) -> None:
    (desk / "eval_config.yaml").write_text(CONFIG)
    assert call(["eval", *words]) in (0, 3)
    assert "ragassay run --config" in capsys.readouterr().err
    assert ragassay.open_run(desk / "results").summary.n_samples == 2


def test_generate_queries_is_golden_synthesize(desk: Path, capsys) -> None:
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


def test_rouge_cells_hold_precision_recall_and_f1_of_each_pair(tmp_path: Path) -> None:
    runs = [sample(said, repeat=at) for at, said in enumerate(("a b", "a b c d"))]
    result = ragassay.evaluate(runs, "consistency", save=tmp_path)
    write_reports(result, formats=["consistency"])
    with (tmp_path / "consistency.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    for column in ("rouge_score", "rouge1_score", "rouge2_score"):
        cell = json.loads(row[f"consistency_{column}"])
        assert cell["recall"] == [1.0]
        assert cell["precision"] == [pytest.approx(1 / 3 if "2" in column else 1 / 2)]
        assert cell["f1"] == cell["values"]


def test_golden_answers_are_plotted_from_a_run_and_from_a_table(tmp_path: Path) -> None:
    data = [sample(id=f"q{at}", references=("Iron is heavy.",)) for at in range(3)]
    ragassay.evaluate(data, "golden", save=tmp_path / "run")
    table = tmp_path / "golden.csv"
    table.write_text(
        "query_id,query,run_1_semantic_similarity,run_1_factual_correctness_f1\n"
        "q1,Who?,0.75,0.5\nq2,When?,0.25,\n"
    )
    for source in (tmp_path / "run", table):
        target = tmp_path / "plot.svg"
        command = ["plot", str(source), "--evaluator", "golden_answer", "-o", str(target)]
        assert call(command) == 0
        assert "Factual F1" in target.read_text()
    assert "Semantic similarity" in target.read_text()
    assert call(["plot", str(table), "--evaluator", "trec", "-o", str(target)]) == 2


def test_the_docs_say_of_each_column_what_it_holds() -> None:
    """`trecrag.csv` has the tool's columns with the page's formulas."""
    docs = Path(__file__).parents[2] / "docs" / "open-rag-eval.md"
    text = docs.read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"| `{column}` |" in text, column
