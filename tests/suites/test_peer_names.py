"""Names of other tools' metrics: what they resolve to, what is said, and what the page says."""

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import UsageError, suites
from ragassay.base.errors import RagassayWarning
from ragassay.cli.command_line import call
from ragassay.metrics.core import naming
from ragassay.suites.suite import PeerMetric, peer_metrics

RECORD: dict[str, Any] = {
    "id": "1", "query": "Who wrote Dune?", "answer": "Frank Herbert wrote Dune.",
    "references": ["Frank Herbert"], "passages": ["Dune is a novel that Frank Herbert wrote."],
}  # fmt: skip
SECOND = {**RECORD, "id": "2", "query": "Who is the author of Dune?"}


@pytest.mark.filterwarnings("ignore::ragassay.base.errors.RagassayWarning")
@pytest.mark.parametrize("peer", peer_metrics(), ids=lambda peer: f"{peer.tool}-{peer.names[0]}")
def test_every_name_is_ours_or_is_explained(peer: PeerMetric) -> None:
    for name in peer.names:
        if naming.known(name, suites.general_aliases()):
            continue
        first = suites.peer_of(name, {})  # of several tools the first of the file
        if peer.ours:
            assert first is not None and naming.find(first.ours, suites.general_aliases())
            ours = suites.metrics_by_name(first.ours, ks=[3])
            assert suites.metrics_by_name(name, ks=[3]) == ours
        elif first is None:
            with pytest.raises(UsageError) as caught:
                suites.metrics_by_name(name)
            assert peer.differs in str(caught.value)


@pytest.mark.parametrize(("name", "ours"), [
    ("FaithfulnessMetric", "faithfulness"), ("contextual_recall", "context_recall"),
    ("context-recall", "context_recall"), ("AnswerAccuracy", "answer_match"),
    ("AnswerRelevancyMetric", "answer_relevance"), ("groundedness", "faithfulness"),
    ("hallucination", "faithfulness"), ("correctness", "answer_correctness"),
    ("toxicity", "harmlessness"),
])  # fmt: skip
def test_a_name_that_people_know_is_measured_as_ours_and_what_differs_is_said(name, ours) -> None:
    with pytest.warns(RagassayWarning) as said:
        plan = ragassay.plan([RECORD], [name])
    assert list(plan.applicable) == [ours]
    assert any(name in str(one.message) and ours in str(one.message) for one in said)
    # A class with the suffix is deepeval's.
    assert not name.endswith("Metric") or any("deepeval's " in str(one.message) for one in said)


def test_the_names_work_on_the_command_line_in_yaml_and_in_gates(tmp_path: Path, capsys) -> None:
    data = tmp_path / "a.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in (RECORD, SECOND)))
    gate = ["--fail-under", "groundedness>=0.5", "--trust-offline"]
    assert call(["run", str(data), "-m", "groundedness", *gate, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [*found["metrics"], found["gates"][0]["gate"]] == ["faithfulness", "faithfulness>=0.5"]
    (config := tmp_path / "c.yaml").write_text("data: a.jsonl\nmetrics: [contextual_recall]\n")
    assert call(["run", str(config), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["metrics"]) == ["context_recall"]
    config.write_text(f"{config.read_text()}fail_under: [hallucination<=0.3]\n")
    assert call(["run", str(config)]) == 2
    assert capsys.readouterr().err.count("note: ") == 1


@pytest.mark.parametrize(("gate", "turned"), [("{}<=1", "'{}>="), ("high({})<1", r"'low\({}\)>=")])
def test_a_gate_on_a_name_whose_low_values_are_good_is_refused(gate: str, turned: str) -> None:
    with pytest.raises(UsageError, match=turned.format("faithfulness")):
        ragassay.evaluate([RECORD], "faithfulness", fail_under=[gate.format("hallucination")])


def test_metrics_explains_ours_and_names_a_rubric_where_none_is_near(
    capsys: pytest.CaptureFixture[str],
) -> None:
    precision, recall = ["AP", "umbrela_AP_judged"], ["SetR", "claim_recall"]
    for name, ours in (
        ("faithfulness", ["faithfulness"]), ("groundedness", ["faithfulness"]),
        ("context_precision", precision), ("contextual_recall", recall),
    ):  # fmt: skip
        assert call(["metrics", name, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        entries = said if isinstance(said, list) else [said]
        assert [entry["metric"] for entry in entries] == ours
    for name in ("GEval", "BiasMetric", "context_entity_recall", "noise_sensitivity"):
        assert call(["metrics", name]) == 2
        assert "--rubric" in capsys.readouterr().err


def test_names_with_the_same_definition_are_ours() -> None:
    records = [{"id": "1", "passage_ids": ["a", "b", "c"], "gold_ids": ["a", "d"]}]
    result = ragassay.evaluate(records, ["id_based_context_recall", "IDBasedContextPrecision"])
    means = {name: one.mean for name, one in result.summary.metrics.items()}
    assert means == {"SetR": 0.5, "SetP": pytest.approx(1 / 3)}
    theirs = "ExactMatch,FactualCorrectness.recall,RougeScore,token-f1,ragreport.relevance"
    ours = "exact_match,factual_correctness.recall,rouge_score,token_f1,ragreport_relevance"
    assert suites.metrics_by_name(theirs) == suites.metrics_by_name(ours)


def test_words_of_other_tools_name_what_to_give_instead() -> None:
    with pytest.raises(UsageError, match=r"'llm'\. Did you mean 'judge'\?"):
        ragassay.evaluate([RECORD], llm="gpt-4o-mini")
    dataset = type("EvaluationDataset", (), {"test_cases": [RECORD]})()
    with pytest.raises(UsageError, match=r"is not data\. Give its \.test_cases"):
        ragassay.evaluate(dataset)
    model = type("GPTModel", (), {"__module__": "deepeval.models", "generate": print})()
    with pytest.raises(UsageError, match=r"GPTModel, which .*: judge='openai:gpt-4o-mini'\."):
        ragassay.evaluate([RECORD], judge=model)
    for module, name, ours in (
        ("deepeval.metrics.faithfulness", "FaithfulnessMetric", r"metrics=\['faithfulness'\]"),
        ("ragas.metrics", "Faithfulness", r"metrics=\['faithfulness'\]"),
        ("ragas.metrics", "ResponseRelevancy", r"metrics=\['answer_relevance'\]"),
        ("deepeval.metrics", "GEval", "--rubric"), ("langchain_openai", "ChatOpenAI", "judge="),
    ):  # fmt: skip
        theirs = type(name, (), {"__module__": module})
        for given in ({"suite": [theirs()]}, {"metrics": theirs}):
            with pytest.raises(UsageError, match=f"{name}.* is not a metric.*{ours}"):
                ragassay.evaluate([RECORD], **given)
