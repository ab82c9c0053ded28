"""Open RAG Eval's Python face: what it understands, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragassay import CitationMetric, HallucinationMetric, TRECEvaluator, UMBRELAMetric, UsageError
from ragassay.base.errors import RagassayWarning
from ragassay.models.classifiers.hhem import HHEM

PARTS = [{"text": "Frank Herbert wrote Dune.", "citations": ["[1]"]}]
PASSAGES = {"[1]": "Dune is a novel by Frank Herbert.", "[2]": "Dunes are hills of sand."}


@pytest.mark.parametrize(
    "record",
    [
        {"query": "Who wrote Dune?", "passages": PASSAGES, "answer": PARTS},
        {"query": "Who wrote Dune?", "retrieved_passages": PASSAGES, "generated_answer": PARTS},
    ],
    ids=["our names", "their names"],
)
def test_a_flat_record_is_understood_under_both_names(record: dict[str, Any]) -> None:
    told = CitationMetric().compute(record)
    assert told["f1"] == 1.0 and "unscored" not in told
    assert list(UMBRELAMetric().compute(record)["umbrela_scores"]) == ["[1]", "[2]"]
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
        UMBRELAMetric().compute({"query": "Who?", "passages": PASSAGES}, k_values=values)  # type: ignore[arg-type]


def test_impossible_values_of_other_options_are_refused_when_the_evaluator_is_made() -> None:
    for options in ({"rel": "x"}, {"shots": "many"}):
        with pytest.raises(UsageError, match=next(iter(options))):
            TRECEvaluator(options=options)
        with pytest.raises(UsageError, match=next(iter(options))):
            UMBRELAMetric(**options)
    assert TRECEvaluator().k_values == (1, 3, 5)
    assert TRECEvaluator(options={"k_values": [2]}).k_values == (2,)


def test_the_tools_own_options_are_read_as_in_its_files(tmp_path: Path) -> None:
    for options, said in (
        ({"hallucination_metric": {"modelname": "x"}}, "modelname: is not a key"),
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
    part = HallucinationMetric(tmp_path / "hhem")
    assert part.running["models"] == {HHEM.name: str(tmp_path / "hhem")}
