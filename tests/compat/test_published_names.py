"""Each name that ML cube's, UltraRAG's and datapizza's pages print works where it is typed."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.cli.command_line import call
from ragassay.engine.run.ranked_runs import evaluate_run
from ragassay.metrics.chunks import chunks_datapizza
from ragassay.metrics.core import naming

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = "q1 Q0 b 1 2.0 run\nq1 Q0 a 2 1.0 run\nq2 Q0 c 1 9.0 run\n"
OTHER = "q1 Q0 a 1 2.0 other\nq2 Q0 c 1 9.0 other\n"

RANKED_TABLE = ("MRR", "MAP", "Recall", "Precision", "NDCG")
RANKED_LIST = ("mrr", "map", "recall", "ndcg", "precision")
ANSWER_TABLE = ("EM", "Acc", "StringEM", "CoverEM", "F1", "Rouge_1", "Rouge_2", "Rouge_L")
ANSWER_LIST = ("acc", "f1", "em", "coverem", "stringem", "rouge-1", "rouge-2", "rouge-l")
AT_KS = ("recall", "precision", "ndcg")

AT_K = tuple(
    f"{what}_at_k_{how}"
    for what in ("precision", "recall", "f1")
    for how in ("exact", "similarity")
)
FUNCTIONS = (
    *AT_K, "hybrid_log_rank_score_exact", "hybrid_log_rank_score_similarity", "bleu_score",
    "rouge_score",
)  # fmt: skip
REPORT = ("Relevance", "Usefulness", "Utilization", "Attribution", "Faithfulness", "Satisfaction")
COMPONENTS = ("User Input", "Context", "Response")

ULTRARAG_ROW = {
    "id": 0, "question": "when was the last time anyone was on the moon",
    "golden_answers": ["14 December 1972 UTC", "December 1972"],
    "pred_answer": "December 14, 1973",
}  # fmt: skip
DATAPIZZA_ROW = {
    "query": "Who wrote Emma?", "answer": "Jane Austen", "prediction": "Emma is by Jane Austen.",
    "retrieved_chunks": ["Emma is by Austen.", "Emma is a novel."],
    "ground_truth_chunks": ["Emma is by Austen."],
    "retrieved_embeddings": [[1.0, 0.0], [0.0, 1.0]], "ground_truth_embeddings": [[1.0, 0.0]],
}  # fmt: skip


def page(shared: Path, name: str) -> str:
    return (shared / "spec" / name).read_text(encoding="utf-8")


def cased(names: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(form for n in names for form in (n, n.upper())))


@pytest.fixture
def runs(here: Path) -> Path:
    for name, text in (("qrels", QRELS), ("a.run", RUN), ("b.run", OTHER)):
        (here / name).write_text(text)
    return here


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert call([*words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_lists_here_are_those_of_the_pages(shared: Path) -> None:
    ultrarag = page(shared, "ultrarag-evaluation.md")
    assert set(re.findall(r"^\| `(\w+)`", ultrarag, re.M)) == {*RANKED_TABLE, *ANSWER_TABLE}
    listed = re.findall(r"^  - ([a-z][\w-]+)$", ultrarag, re.M)
    assert set(listed) == {*RANKED_LIST, *ANSWER_LIST}
    datapizza = page(shared, "datapizza-metrics.md")
    assert set(re.findall(r"^def (\w+)\(", datapizza, re.M)) == set(FUNCTIONS)
    table = page(shared, "mlcube-rag-evaluation.md").split("### Required data")[0]
    assert set(re.findall(r"^\| ([A-Z]\w+) +\| [A-Z]", table, re.M)) - {"Metric", "Component"} == {
        *REPORT,
        *(name for name in COMPONENTS if " " not in name),
    }


@pytest.mark.parametrize("name", cased(ANSWER_TABLE) + list(ANSWER_LIST))
def test_ultrarags_names_for_answers_work_in_any_case(name: str, tmp_path: Path) -> None:
    result = ragassay.evaluate(jsonl(tmp_path / "u.jsonl", ULTRARAG_ROW), metrics=name)
    (shown,) = result.summary.metrics
    assert shown.casefold() == name.casefold()
    canonical = name.casefold().replace("_", "-")
    assert result.summary.metrics[shown].metric == canonical
    assert result.summary.metrics[shown].n_scored == 1


@pytest.mark.parametrize("name", [*cased(RANKED_TABLE), *RANKED_LIST])
def test_ultrarags_names_for_rankings_work_in_run_and_python(name: str, runs: Path, capsys) -> None:
    ranked = name.casefold() in AT_KS  # --ks is refused where it would change nothing
    at = [f"{name}@{k}" for k in (1, 5)] if ranked else [name]
    ks = ["--ks", "1,5"] if ranked else []
    found = printed(capsys, "run", "a.run", "--qrels", "qrels", "-m", name, *ks, "--json")
    assert list(found["metrics"]) == at
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 9.0}}
    qrels = {"q1": {"a": 1}, "q2": {"c": 2}}
    assert list(evaluate_run(qrels, run, name, ks=[1, 5] if ranked else None).means) == at


@pytest.mark.parametrize("name", RANKED_TABLE)
def test_ultrarags_table_works_in_trec_as_printed(name: str, runs: Path, capsys) -> None:
    cuts = (1, 5, 10, 20, 50, 100)
    at = [f"{name}@{k}" for k in cuts] if name.casefold() in AT_KS else [name]
    found = printed(capsys, "trec", "qrels", "a.run", "-m", name, "--json")
    assert list(found["measures"]) == at
    two = printed(capsys, "trec", "qrels", "a.run", "b.run", "-m", name, "--json")
    assert [d["name"] for d in two["comparisons"][0]["differences"]] == at


def test_ultrarags_parameter_file_works_in_trec(runs: Path, capsys) -> None:
    """``recall``, ``map`` and ``ndcg`` are trec_eval's names too, with other cut-offs."""
    named = [word for name in RANKED_LIST for word in ("-m", name)]
    asked = ("trec", "qrels", "a.run", *named, "--ks", "1,5", "--format", "ultrarag")
    found = printed(capsys, *asked)
    assert found == {
        "mrr": 0.75, "map": 0.75, "recall@1": 0.5, "recall@5": 1.0, "P@1": 0.5, "P@5": 0.2,
        "ndcg@1": 0.5, "ndcg@5": pytest.approx((1 + 0.63092975) / 2),
    }  # fmt: skip
    paged = ("-m", "Precision", "--ks", "5", "--format", "ultrarag")
    assert printed(capsys, "trec", "qrels", "a.run", *paged) == {"P@5": 0.2}
    usual = printed(capsys, "trec", "qrels", "a.run", "--format", "ultrarag")
    assert len(usual) == 2 + 3 * 6
    two = printed(capsys, "trec", "qrels", "b.run", "a.run", "--format", "ultrarag", "-m", "map")
    assert two["map"] == {
        "A_mean": 1.0, "B_mean": 0.75, "diff": 0.25, "p_value": 1.0, "significant": False,
    }  # fmt: skip


def test_results_keep_the_name_also_where_they_are_stored_and_run_again(tmp_path: Path) -> None:
    data = jsonl(tmp_path / "u.jsonl", ULTRARAG_ROW)
    first = ragassay.evaluate(data, metrics="Rouge_L,F1", save=tmp_path / "a")
    other = ragassay.evaluate(data, metrics="rouge-l,f1", save=tmp_path / "b")
    assert list(ragassay.open_run(tmp_path / "a").summary.metrics) == ["Rouge_L", "F1"]
    assert call(["run", str(tmp_path / "a" / "run.yaml"), "-o", str(tmp_path / "c")]) == 0
    assert list(ragassay.open_run(tmp_path / "c").summary.metrics) == ["Rouge_L", "F1"]
    assert [d.name for d in first.compare(other).differences] == ["Rouge_L", "F1"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_datapizzas_functions_are_metrics_and_functions(name: str, tmp_path: Path) -> None:
    data = jsonl(tmp_path / "d.jsonl", DATAPIZZA_ROW)
    result = ragassay.evaluate(data, metrics=name)
    assert all(metric.n_scored == 1 for metric in result.summary.metrics.values())
    if name in AT_K:
        assert list(result.summary.metrics)[:2] == [f"{name}@1", f"{name}@5"]
        (at_two,) = ragassay.evaluate(data, metrics=f"{name}(k=2)").summary.metrics
        assert at_two == f"{name}@2"
    assert callable(getattr(chunks_datapizza, name))
    assert call(["metrics", name]) == 0


@pytest.mark.parametrize("short", ["P", "R", "F1"])
def test_datapizzas_titles_and_their_short_forms_are_one_metric(shared: Path, short: str) -> None:
    text = page(shared, "datapizza-metrics.md")
    title = next(one for one in re.findall(r"^### (\S+)@k$", text, re.M) if one[0] == short[0])
    assert f"({short}@k)" in text
    assert naming.parse(f"{title}@5") == naming.parse(f"{short}@5")


@pytest.mark.parametrize("name", [*REPORT, *map(str.lower, REPORT)])
def test_ml_cubes_metrics_work_on_its_columns(name: str, tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(",".join(COMPONENTS) + "\nWho wrote Emma?,Emma is by Austen.,Jane Austen.\n")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = ragassay.evaluate(path, metrics=name)
    is_noted = any("ML cube's, from 1 to 5" in str(one.message) for one in said)
    assert list(result.summary.metrics) == [name] and is_noted == (name == "faithfulness")
    ours = name.lower() == "faithfulness"  # the share of supported claims; its own needs its suite
    assert (result.summary.metrics[name].metric == "faithfulness") == ours
    if ours:
        result = ragassay.evaluate(path, "ragreport", metrics=name)
    (metric,) = result.summary.metrics.values()
    assert metric.metric == f"ragreport_{name.lower()}"


@pytest.mark.parametrize("heads", [COMPONENTS, ("user_input", "Retrieved Context", "response")])
def test_ml_cubes_columns_choose_its_report(heads: tuple[str, ...], tmp_path: Path) -> None:
    row = ("Who wrote Emma?", "Emma is by Austen.", "Jane Austen.")
    path = tmp_path / "rows.csv"
    path.write_text(f"{','.join(heads)}\n{','.join(row)}\n")
    rows = [dict(zip(heads, row, strict=True))]
    for data in (path, jsonl(tmp_path / "rows.jsonl", *rows), rows):
        assert list(ragassay.evaluate(data).summary.metrics) == [name.lower() for name in REPORT]
    labelled = [{**rows[0], "reference": "Jane Austen"}]
    assert "token_f1.f" in ragassay.evaluate(labelled).summary.metrics  # of the suite rag
