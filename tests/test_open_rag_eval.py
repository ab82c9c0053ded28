"""Open RAG Eval's Python face: what it understands, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay import CitationMetric, InputError, TRECEvaluator, UMBRELAMetric, UsageError

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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("retrieval_result", {"query": "Who?", "retrieved_passages": PASSAGES}),
        ("generation_result", {"generated_answer": PARTS}),
        ("rag_results", [{"retrieval_result": {"retrieved_passages": PASSAGES}}]),
    ],
)
def test_a_nested_field_that_nobody_reads_is_refused_and_named(field: str, value: object) -> None:
    record = {"query": "Who?", field: value}
    for ask in (CitationMetric().compute, UMBRELAMetric().compute, TRECEvaluator().evaluate):
        with pytest.raises(InputError, match=f"'{field}': unknown field") as caught:
            ask(record)
        assert "'passages'" in str(caught.value)
        with pytest.raises(InputError, match="line 2"):
            ask([{"query": "When?", "passages": PASSAGES, "answer": "Then."}, record])


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
