"""Open RAG Eval's YAML files work as they are printed, and every mistake in a file has its line."""

import json
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from llm_server import LLMServer, set_at
from ragassay import InputError, UsageError
from ragassay.base.errors import RagassayWarning
from ragassay.cli.command_line import call
from ragassay.compat.open_rag_eval.published_config import read_config
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.run.config_reading import checked, read_filled

KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv"
DATA = "answers.csv"
ANSWERS = """\
query_id,query,query_run,passage_id,passage,generated_answer
q1,Who wrote Emma?,1,[1],Emma is a novel by Jane Austen.,Jane Austen wrote Emma [1].
q1,Who wrote Emma?,1,[2],Emma appeared in 1815.,
q1,Who wrote Emma?,2,[1],Emma is a novel by Jane Austen.,It was Jane Austen [1].
q1,Who wrote Emma?,3,[2],Emma appeared in 1815.,I cannot say.
q2,When did Emma appear?,1,[1],Emma appeared in 1815.,In 1815 [1].
q2,When did Emma appear?,2,[1],Emma appeared in 1815.,Emma appeared in 1815 [1].
"""

RECORDS = json.dumps(
    [
        {
            "query_id": "q1", "query": "Who wrote Emma?", "query_run": run,
            "retrieved_passages": {"[1]": "Emma is a novel by Jane Austen."},
            "generated_answer": [{"text": said, "citations": ["[1]"]}],
        }
        for run, said in enumerate(["Jane Austen wrote Emma.", "It was Jane Austen."], start=1)
    ]
)  # fmt: skip

PAGE_TREC = """\
evaluator:
  name: "trecrag"
  options:
    k_values: [1, 3, 5]  # K values for precision@K metrics
    run_consistency: false  # Enable consistency evaluation
    metrics_to_run_consistency: []  # Specific metrics for consistency
"""
PAGE_CONSISTENCY = """\
evaluator:
  name: "consistency"
  options:
    metrics:
      - bert_score:
          model_type: "xlm-roberta-large"
          lang: "en"
          rescale_with_baseline: true
      - rouge_score: {}
"""
TOOL = """\
input_queries: "queries.csv"
results_folder: "results/"
generated_answers: "answers.csv"
eval_results_file: "results.csv"
metrics_file: "metrics.png"

evaluator:
  type: "TRECEvaluator"
  model:
    type: "OpenAIModel"
    name: "gpt-4o-mini"
    api_key: ${oc.env:OPENAI_API_KEY}  # Reads from environment variable.
  options:
    k_values: [1, 3]

connector:
  type: "VectaraConnector"
  options:
    api_key: ${oc.env:VECTARA_API_KEY}
    corpus_key: "fiqa"
"""
TOOL_LIST = """\
generated_answers: answers.csv
evaluator:
  - type: TRECEvaluator
    options:
      k_values: [1]
      run_consistency: true
      metrics_to_run_consistency:
        - mean_umbrela_score
        - citation_f1_score
  - type: ConsistencyEvaluator
    options:
      metrics:
        - rouge_score: {}
"""
ROUGE = [f"runs_rouge{variant}.{part}" for variant in "12L" for part in "fpr"]
ROUGE.append("runs_rouge_ore.f")


@pytest.fixture
def desk(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with answers, and no key in the environment."""
    for name in ("OPENAI_API_KEY", "VECTARA_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (here / DATA).write_text(ANSWERS)
    return here


@pytest.fixture
def endpoint(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """Stands in for OpenAI."""
    with LLMServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def written(text: str, name: str = "eval_config.yaml") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(text: str, **flags: Any) -> RunConfig:
    """The configuration of a text and flags; what it notes is not looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RagassayWarning)
        return checked(read_config(written(text), {"data": DATA} | flags), {"data": DATA} | flags)


def summary(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What a run prints as JSON."""
    code = call(["run", *words, "--json"])
    out, err = capsys.readouterr()
    assert code in (0, 3), err
    return dict(json.loads(out))


def test_consistency_that_is_switched_on_names_what_it_looks_at(desk: Path) -> None:
    text = PAGE_TREC.replace("run_consistency: false", "run_consistency: true")
    everything = read(text)
    assert everything.suite == ["trecrag", "consistency"]
    assert everything.consistency_of == []  # the whole suite, over every metric
    some = read(text.replace(": []", ': ["vital_nuggetizer_score", umbrela_MRR]'))
    assert some.consistency_of == ["nuggets.vital", "umbrela_MRR"]
    path = written(PAGE_TREC.replace(": []", ": [umbrela]"))
    with pytest.warns(RagassayWarning, match=r"line 6.*run_consistency is not true"):
        assert checked(read_config(path, {})).consistency_of == []


@pytest.mark.parametrize(("options", "n"), [
    ("run_consistency: false", 2), ("k_values: [1]", 2), ("run_consistency: true", 5),
    ("metrics_to_run_consistency: [citation_f1_score]", 5),
])  # fmt: skip
def test_only_first_runs_are_judged_unless_runs_are_compared(options, n, desk, capsys) -> None:
    """Whatever the order of the file, run 1 is the first."""
    head, *rows = ANSWERS.splitlines()
    (desk / DATA).write_text("\n".join([head, *reversed(rows)]) + "\n")
    config = written(f"evaluator:\n  type: TRECEvaluator\n  options:\n    {options}\n")
    body = summary(capsys, DATA, "--config", str(config), "-o", "out")
    kept = [json.loads(line) for line in (desk / "out" / "samples.jsonl").read_text().splitlines()]
    assert body["n_samples"] == len(kept) == n
    if n == 2:
        assert {one["id"]: one["answer"] for one in kept} == {
            "q1": "Jane Austen wrote Emma [1].",
            "q2": "In 1815 [1].",
        }
        assert "3 further runs" in " ".join(body["warnings"])
        again = summary(capsys, "out/run.yaml", "-o", "again")
        assert again["metrics"] == body["metrics"]


def test_a_consistency_evaluator_has_all_runs_and_says_that_all_are_judged(desk, capsys) -> None:
    text = TOOL_LIST.replace("run_consistency: true", "run_consistency: false")
    file = read_config(written(text))
    assert any("judge all of them" in note for note in file.notes)
    assert file.values["consistency_metrics"] == ROUGE, "no spread of what is judged once"
    told = read_config(written(TOOL_LIST)).notes
    assert not [note for note in told if "judge all of them" in note]
    body = summary(capsys, DATA, "--config", str(written(text)))
    assert body["n_samples"] == 5
    assert body["consistency"]["metrics"]["consistency_rouge_score"]["n_scored"] == 2


@pytest.mark.parametrize("data", [DATA, "answers.json"])
def test_the_pages_trec_block_runs_as_printed(data: str, desk: Path, capsys) -> None:
    written(RECORDS, "answers.json")
    (told,) = [one for one in read_config(written(PAGE_TREC)).notes if "openai:gpt-4o" in one]
    assert "offline rules judge" in told and "line 1" in told
    body = summary(capsys, data, "--config", "eval_config.yaml")
    names = set(body["metrics"])
    assert {"umbrela_P@1", "umbrela_AP@5", "nuggets.vital", "citation.f1", "no_answer"} <= names
    assert "umbrela_P@10" not in names


@pytest.mark.parametrize(("data", "scored"), [(DATA, 2), ("answers.json", 1)])
def test_the_pages_consistency_block_runs_as_printed(data, scored, desk, capsys) -> None:
    written(RECORDS, "answers.json")
    found = summary(capsys, data, "--config", str(written(PAGE_CONSISTENCY)))["consistency"]
    assert set(found["metrics"]) >= {"consistency_bert_score", "consistency_rouge_score"}
    assert found["metrics"]["consistency_rouge_score"]["n_scored"] == scored
    assert found["metrics"]["runs_rouge1.r"]["n_scored"] == scored


def test_the_tools_file_is_suite_judge_data_and_folder(endpoint: LLMServer, desk: Path) -> None:
    (desk / "results").mkdir()
    (desk / "results" / DATA).write_text(ANSWERS)
    file = read_config(written(TOOL))
    assert file.values == {
        "output": "results", "data": f"results/{DATA}", "suite": ["trecrag"], "ks": [1, 3],
        "judge": ["openai:gpt-4o-mini"], "first_runs": True,
    }  # fmt: skip
    told = "\n".join(file.notes)
    for key in ("eval_results_file", "metrics_file", "connector"):
        assert told.count(f": {key}: ") == 1
    assert len(file.notes) == 3


def test_the_tools_file_runs_and_so_does_its_folder(endpoint, desk, capsys, monkeypatch) -> None:
    body = summary(capsys, DATA, "--config", str(written(TOOL)))
    assert "umbrela_P@3" in body["metrics"] and "umbrela_P@5" not in body["metrics"]
    before = (desk / "results" / "scores.jsonl").read_bytes()
    resolved = (desk / "results" / "run.yaml").read_text()
    assert yaml.safe_load(resolved)["judge"] == ["openai:gpt-4o-mini"]
    assert KEY not in resolved
    asked = endpoint.stats()["answered"]
    again = summary(capsys, "results/run.yaml", "-o", "again")
    assert again["metrics"] == body["metrics"]
    assert (desk / "again" / "scores.jsonl").read_bytes() == before
    assert endpoint.stats()["answered"] == asked  # paid for once
    config = read(TOOL_LIST)
    assert config.suite == ["trecrag", "consistency"] and config.ks == [1]
    assert config.consistency_of == ["umbrela", "citation.f1"]
    assert config.consistency_metrics == [*ROUGE, "runs_mean", "runs_variance", "runs_cv"]


@pytest.mark.parametrize(("model", "word"), [
    ("type: OpenAIModel, name: gpt-4o", "openai:gpt-4o"), ("type: OpenAIModel", "openai:gpt-4o"),
    ("type: openai, name: gpt-4o", "openai:gpt-4o"),
    ("type: GeminiModel, name: gemini-2.5-pro", "google:gemini-2.5-pro"),
    ("type: AnthropicModel, name: claude-x", "anthropic:claude-x"),
    ("type: TogetherModel, name: meta/llama", "together:meta/llama"),
    ("type: OpenAIModel, name: mine, base_url: 'http://localhost:8000/v1'", "http://localhost:8000/v1#mine"),
])  # fmt: skip
def test_each_model_type_is_a_judge(model: str, word: str, desk: Path) -> None:
    assert read(f"evaluator: {{type: TRECEvaluator, model: {{{model}}}}}").judge == [word]


def test_options_of_metrics_and_of_the_hallucination_metric_are_ours(desk: Path) -> None:
    text = """\
evaluator:
  type: TRECEvaluator
  options:
    rel: 3
    hallucination_metric: {backend_type: hhem, max_chars: 4096, detection_threshold: 0.5}
"""
    file = read_config(written(text))
    assert file.values["options"] == {"rel": 3, "max_chars": 4096}
    assert checked(file, {"data": DATA}).options == {"rel": 3, "max_chars": 4096}
    config = read(f"{PAGE_TREC}judge: offline\nlimit: 2\n")
    assert config.judge == ["offline"] and config.limit == 2 and config.ks == [1, 3, 5]
    assert read_config(written(f"{PAGE_TREC}judge: offline\n")).notes == []
    for name in ("golden_answer", "goldenAnswer"):
        assert read(f"evaluator: {{name: {name}}}\n").suite == ["golden"]
    assert read("evaluator: {name: TREC}\n").suite == ["trecrag"]
    model = "hallucination_metric: {model_name: vectara/hallucination_evaluation_model}"
    assert "models" not in read_config(written(f"{PAGE_TREC}    {model}\n")).values


SECRETS = {
    "the model's": TOOL.replace("${oc.env:OPENAI_API_KEY}", KEY),
    "as a default": TOOL.replace("OPENAI_API_KEY}", f"OPENAI_API_KEY,{KEY}}}"),
    "the connector's": TOOL.replace("${oc.env:VECTARA_API_KEY}", f'"{KEY}"'),
    "with a prefix": TOOL.replace("${oc.env:OPENAI_API_KEY}", f"Bearer {KEY}"),
    "our own form": f"data: answers.csv\nsuite: qa\napi_key: {KEY}\n",
    "among options": f"data: answers.csv\nsuite: qa\noptions:\n  openai_api_key: {KEY}\n",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_a_key_in_the_file_is_refused_and_not_echoed(text: str, endpoint, desk, capsys) -> None:
    line = next(n for n, one in enumerate(text.splitlines(), 1) if KEY in one)
    assert call(["run", DATA, "--config", str(written(text))]) == 2
    out, err = capsys.readouterr()
    assert f"line {line}, field" in err and "a key must not be in the file" in err
    assert KEY not in out + err and KEY[8:20] not in out + err
    assert endpoint.stats()["requests"] == 0


def test_the_key_comes_from_the_variable_in_the_file(endpoint, desk, monkeypatch, capsys) -> None:
    set_at(endpoint.url, key=KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-that-is-wrong")
    monkeypatch.setenv("TEAM_KEY", KEY)
    path = written(TOOL.replace("OPENAI_API_KEY", "TEAM_KEY"))
    body = summary(capsys, DATA, "--config", str(path))
    assert body["judging"]["calls"] > 0 and not body["judging"]["failures"]
    resolved = (desk / "results" / "run.yaml").read_text()
    assert yaml.safe_load(resolved)["key_variable"] == "TEAM_KEY" and KEY not in resolved
    monkeypatch.delenv("TEAM_KEY")
    assert call(["run", DATA, "--config", str(path)]) == 2
    assert "TEAM_KEY, which is not set" in capsys.readouterr().err


HHEM = "evaluator:\n  name: trecrag\n  options:\n    hallucination_metric:\n      "
LOCAL = "evaluator:\n  name: trecrag\n  model: {type: openai, base_url: 'http://localhost:1/v1'}\n"
EMBED = "evaluator:\n  name: golden_answer\n  embedding_model: {type: OpenAIEmbeddingModel"
PUBLISHED_MISTAKES = [
    (TOOL.replace("input_queries", "input_querys"), 1, "Did you mean 'input_queries'"),
    (TOOL.replace("TRECEvaluator", "TRECEvaluater"), 8, "'type: TRECEvaluator'"),
    (TOOL.replace('  type: "TRECE', '  kind: "TRECE'), 8, "'evaluator.kind': is not a known key"),
    (TOOL.replace("  model:", "  modell:"), 9, "Did you mean 'model'?"),
    (TOOL.replace("OpenAIModel", "OpenAIModle"), 10, "Did you mean 'OpenAIModel'"),
    (TOOL.replace("    name:", "    nmae:"), 11, "Did you mean 'name'?"),
    (TOOL.replace("k_values", "k_valus"), 14, "Did you mean 'k_values'?"),
    (TOOL.replace("[1, 3]", "[1, 0]"), 14, "k_values.1': "),
    (TOOL.replace("[1, 3]", "[]"), 14, "k_values"),
    (TOOL.replace('results_folder: "results/"', "results_folder: [a]"), 2, "not the name of"),
    (f"suite: qa\n{PAGE_TREC}", 1, "is given twice: here and by evaluator in line 2"),
    (f"{PAGE_TREC}ks: [1]\n", 7, "is given twice: here and by evaluator.options.k_values"),
    (PAGE_TREC.replace(": []", ": [umbrla]"), 6, "Did you mean 'umbrela'"),
    (PAGE_TREC.replace("trecrag", "qa"), 2, "write 'suite: [qa]'"),
    (PAGE_TREC.replace('name: "trecrag"', "options: {}"), 3, "is given twice"),
    ("evaluator:\n  options: {}\n", 1, "neither a name nor a type"),
    ("evaluator: []\n", 1, "names no evaluator"),
    ("evaluator:\n  - trecrag\n", 2, "is not a mapping of keys"),
    ("evaluator:\n  name: trecrag\n  type: ConsistencyEvaluator\n", 3, "another evaluator"),
    ("evaluator:\n  - type: GoldenAnswerEvaluator\n    options: {a: 1}\n", 3, "not a known key"),
    (PAGE_CONSISTENCY.replace("bert_score", "bert_scor"), 5, "Did you mean 'bert_score'"),
    (PAGE_CONSISTENCY.replace("lang:", "lng:"), 7, "Did you mean 'lang'?"),
    (PAGE_CONSISTENCY.replace("baseline: true", "baseline: 7"), 8, "not 7"),
    (PAGE_CONSISTENCY.replace("xlm-roberta-large", "./no/such"), 6, "there is no folder ./no/such"),
    (PAGE_CONSISTENCY.replace("{}", "7"), 9, "Write 'rouge_score: {}'"),
    (PAGE_CONSISTENCY.replace("rouge_score: {}", "rouge_score: {stem: true}"), 9, "stem"),
    (f"{HHEM}backend_type: vectara_api\n", 5, "Write hhem"),
    (f"{HHEM}model_name: another/model\n", 5, "/hallucination_evaluation_model nor a folder"),
    (
        "evaluator:\n  name: trecrag\n  model:\n    type: AnthropicModel\n    name: c\n"
        "    base_url: http://localhost:1/v1\n",
        6,
        "ANTHROPIC_BASE_URL",
    ),
    ("evaluator:\n  name: trecrag\n  model:\n    type: GeminiModel\n", 3, "Which model of"),
    (LOCAL, 3, "Which model of the server"),
    (f"{EMBED}}}\n", 3, "as in text-embedding-3-small"),
    (f"{EMBED}, name: m, api_key: '${{oc.env:MINE}}'}}\n", 3, "is read from OPENAI_API_KEY"),
    (TOOL.replace("gpt-4o-mini", "${oc.decode:X}"), 11, "is not a reference"),
    (TOOL.replace("gpt-4o-mini", "${oc.env:NOT_SET}"), 11, "NOT_SET, which is not set"),
]
OWN_MISTAKES = [
    ("suite: qa\nlimt: 5\n", 2, "Did you mean 'limit'?"),
    ("suite: qa\nlevel: 2\n", 2, "less than 1, not 2"),
    ("suite: qa\ninterval:\n  t\nlimit: 2\nlimit: 3\n", 5, "is given twice"),
    ("suite:\n  - qa\n  - trecrg\n", 3, "Did you mean 'trecrag'?"),
    ("metrics:\n  - em\n  - emm\n", 3, "Unknown metric 'emm'"),
    ("suite: qa\nks: [1,\n  0]\n", 3, "at least 1"),
    ("suite: qa\nformat: cvs\n", 2, "Did you mean 'csv'"),
    ("suite: qa\ncolumns:\n  answer: a\n  anwser: b\n", 4, "there is no field 'anwser'"),
    ("suite: qa\nkey_map:\n  q_ls: q\n  nope: b\n", 4, "there is no field 'nope'"),
    ("suite: qa\ncolumns:\n  anwser: a\nkey_map:\n  q_ls: q\n", 3, "there is no field 'anwser'"),
    ("suite: qa\nfail_under: em=1\n", 2, "field 'fail_under': --fail-under 'em=1' is no"),
    ("metrics: em\nfail_under: [em>=0.1,\n f1>=0.1]\n", 3, "is not in what this run"),
    ("suite: qa\njudge:\n  - offline\n  - opnai:gpt\n", 4, "Did you mean 'openai'"),
    ("suite: qa\njudge: ''\n", 2, "a judge's name is empty"),
    ("suite: qa\nprice: cheap\n", 2, "price is two numbers"),
    ("metrics: em\noptions:\n  min_grade: 2\n", 3, "No metric of this run has the parameter"),
    ("metrics: rougeL.f\noptions: {\n stem: 7}\n", 3, "stem must be bool"),
    ("metrics: [rougeL.f, umbrela]\noptions:\n  shots: few\n  stem: 7\n", 4, "stem must be"),
    ("metrics: em\nsuite: qa\nkey_map: 5\n", 3, "is not a mapping"),
    ("suite: qa\nqrels: nowhere.txt\n", 2, "there is no file or folder"),
    ("suite: qa\nconsistency_metrics: [em]\n", 2, "is not a metric of the suite consistency"),
    ("# ${NOT_READ}\nsuite: qa\nlimit: ${NOT_SET}\n", 3, "NOT_SET, which is not set"),
    ("suite: qa\nlimit: [\n", 3, "is not YAML"),
]


@pytest.mark.parametrize(("text", "line", "says"), [*PUBLISHED_MISTAKES, *OWN_MISTAKES])
def test_a_mistake_in_a_file_has_its_line(text: str, line: int, says: str, desk: Path) -> None:
    with pytest.raises(InputError) as caught:
        checked(read_config(written(text), {"data": DATA}), {"data": DATA})
    assert caught.value.line == line, str(caught.value)
    assert str(caught.value).startswith("eval_config.yaml") and says in str(caught.value)


def test_missing_data_is_told_with_the_line_that_names_it(desk: Path) -> None:
    with pytest.raises(InputError, match=r"line 2, field 'data': there is no file"):
        checked(read_config(written("suite: qa\ndata: gone.csv\n")))
    with pytest.raises(InputError, match="line 3, field 'generated_answers'"):
        checked(read_config(written(TOOL.replace("answers.csv", "gone.csv"))), {"judge": "offline"})


def test_evaluators_of_different_models_are_refused_before_any_pay(endpoint, desk, capsys) -> None:
    two = """\
evaluator:
  - type: TRECEvaluator
    model: {type: OpenAIModel, name: gpt-4o}
  - type: TRECEvaluator
    model: {type: OpenAIModel, name: gpt-4o-mini}
"""
    assert call(["run", DATA, "--config", str(written(two))]) == 2
    said = capsys.readouterr().err
    assert "line 5" in said and "openai:gpt-4o in line 3" in said and "--judge" in said
    assert endpoint.stats()["requests"] == 0
    assert read(two, judge=["offline"]).judge == ["offline"]
    assert read(two.replace("gpt-4o-mini", "gpt-4o")).suite == ["trecrag"]
    same = two.replace("-mini}", "}\n    options: {k_values: [7]}")
    with pytest.raises(InputError, match=r"line 4.*with other options than in line 2"):
        read(same)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("where", ["beside", "working directory"])
def test_bert_score_takes_a_folder_and_a_layer(desk, monkeypatch, where, asked) -> None:
    text = PAGE_CONSISTENCY.replace("xlm-roberta-large", "enc")
    if not asked:
        text = text.replace("          rescale_with_baseline: true\n", "")
    path = written(text).absolute()
    root = desk if where == "beside" else desk / "elsewhere"
    (root / "enc").mkdir(parents=True)
    monkeypatch.chdir(root)
    file = read_config(path)
    folder = root / "enc"
    assert (
        file.values["consistency_metrics"][0] == f"runs_bertscore(model={folder},rescale=false).f"
    )
    assert any("there is no baseline for this model" in note for note in file.notes)
    if asked:
        path.write_text(text.replace("baseline: true", "baseline: false"))
        assert not read_config(path).notes
    for layer in (3, 0):
        path.write_text(text.replace('lang: "en"', f"layer: {layer}"))
        (metric, *_) = read_config(path).values["consistency_metrics"]
        assert metric == f"runs_bertscore(model={folder},layer={layer},rescale=false).f"


def test_golden_answers_are_a_suite_with_judge_embedder_and_queries(desk: Path) -> None:
    (desk / "queries.csv").write_text("query_id,query,expected_answer\nq1,Who?,Jane Austen.\n")
    text = (
        "input_queries: queries.csv\n"
        "evaluator:\n"
        "  type: GoldenAnswerEvaluator\n"
        "  model: {type: OpenAIModel, name: gpt-4o-mini}\n"
        "  embedding_model: {type: OpenAIEmbeddingModel, name: text-embedding-3-small}\n"
    )
    values = read_config(written(text)).values
    assert values["suite"] == ["golden"] and values["judge"] == ["openai:gpt-4o-mini"]
    assert values["embedder"] == "openai:text-embedding-3-small"
    assert Path(values["references"]).name == "queries.csv"
    given = read_config(written(text), {"references": "mine.csv", "embedder": "mine"}).values
    assert not {"references", "embedder"} & {*given}


LINES = [*TOOL.splitlines(), *TOOL_LIST.splitlines(), *PAGE_CONSISTENCY.splitlines()]
ODD = (
    *("", "  - ", "5: 6", "  5: [", "a: &a [*a]", "  <<: {name: trecrag}", "? [a, b]"),
    "x: !!set {a}",
)
ODD_VALUES = (
    *("null", "[]", "{}", "5", "1e9", "${X}", "${oc.env:HOME}", "'", "*a", "[[1]]", "2020-01-01"),
)


@given(
    st.lists(st.sampled_from([*LINES, *ODD]), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from(ODD_VALUES)), max_size=3),
)
def test_whatever_a_file_holds_its_mistakes_are_sentences(lines, changes) -> None:
    for at, value in changes:
        if at < len(lines):
            lines[at] = f"{lines[at].partition(':')[0]}: {value}"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RagassayWarning)
        (Path(folder) / "c.yaml").write_text("\n".join(lines))
        (Path(folder) / DATA).write_text(ANSWERS)
        try:
            checked(read_config(Path(folder) / "c.yaml"))
        except InputError as error:
            assert error.path is not None


def test_flags_win_over_the_file(desk: Path, capsys) -> None:
    text = TOOL.replace("results/", "elsewhere/")
    words = ["-o", "mine", "--ks", "2", "--judge", "offline", "--limit", "1", "--config"]
    body = summary(capsys, DATA, *words, str(written(text)))
    assert body["n_samples"] == 1 and "umbrela_P@2" in body["metrics"]
    assert "umbrela_P@1" not in body["metrics"]
    assert (desk / "mine" / "run.yaml").exists() and not (desk / "elsewhere").exists()


def test_two_configurations_or_none_are_refused(desk: Path, capsys) -> None:
    path = str(written(PAGE_TREC))
    assert call(["run", path, "--config", path]) == 2
    assert "are both configurations" in capsys.readouterr().err
    assert call(["run", "--config", path]) == 2
    assert "No data is named" in capsys.readouterr().err
    assert call(["run", DATA, "--step", "idk", "--config", path]) == 2
    assert "Unknown option" in capsys.readouterr().err


def test_an_impossible_flag_is_not_blamed_on_the_file(desk: Path) -> None:
    file = read_config(written("suite: qa\n"), {"data": DATA})
    with pytest.raises(UsageError, match="limit"):
        checked(file, {"data": DATA, "limit": -1})


def test_a_variable_cannot_change_the_structure_of_a_file() -> None:
    text = 'a: ${X}\nb: "${X}"\nc: [${X}, 1]\nd: ${N}\ne: ${L}\nf: ${E}\n'
    environment = {"X": "one\nsuite: [mtrag] # no", "N": "5", "L": "[1, 2]", "E": ""}
    found = read_filled(text, "f", environment=environment)
    value = environment["X"]
    assert found.value == {"a": value, "b": value, "c": [value, 1], "d": 5, "e": [1, 2], "f": None}
    assert found.line(("e", "1")) == 5


def test_the_page_has_the_blocks_of_the_specification(shared: Path) -> None:
    """The blocks above are the published ones."""
    page = (shared / "spec" / "open-rag-eval.md").read_text(encoding="utf-8")
    printed = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert {PAGE_TREC, PAGE_CONSISTENCY} == set(printed)


@pytest.mark.parametrize("text", [
    "evaluation:\n  metrics: [acc]\n", "benchmark:\n  benchmark: {limit: -1}\n",
    "servers: {a: b}\npipeline: [a.c]\n",
])  # fmt: skip
def test_a_file_of_a_pipeline_is_told_what_to_do_with_it(text: str, desk: Path) -> None:
    with pytest.raises(InputError, match=r"ragassay run PIPELINE\.yaml --param FILE"):
        read_config(written(text))
