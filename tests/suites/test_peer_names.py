"""Names of other tools' metrics: what they resolve to, and what the page says of them."""

from __future__ import annotations

import pytest

import ragassay
from ragassay import UsageError, suites
from ragassay.cli.command_line import call
from ragassay.metrics.core import naming
from ragassay.suites.suite import PeerMetric, peer_metrics


@pytest.mark.parametrize("one", peer_metrics(), ids=lambda one: f"{one.tool}-{one.names[0]}")
def test_every_entry_names_a_metric_of_ours(one: PeerMetric) -> None:
    if one.ours:
        assert naming.find(one.ours)
    for name in one.names:
        if one.same:
            assert not naming.known(name)  # a name of our own would win, and mean something else
            assert [*map(str, suites.metrics_by_name(name).values())] == [one.ours]
        elif not naming.known(name):
            with pytest.raises(UsageError) as caught:
                suites.metrics_by_name(name)
            assert one.tool in str(caught.value) and one.differs in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("context_precision", "umbrela_AP_judged"),
        ("context_recall", "Recall"),
        ("context-recall", "Recall"),
        ("faithfulness", "faithfulness"),
        ("FaithfulnessMetric", "faithfulness"),
        ("answer_relevancy", "answer_relevance"),
        ("answer_correctness", "factual_correctness.f1"),
        ("hallucination", "hhem"),
        ("GEval", "--rubric"),
        ("toxicity", "harmlessness"),
        ("BiasMetric", "--rubric"),
        ("context_entity_recall", "--rubric"),
    ],
)
def test_a_name_that_people_know_leads_to_ours(
    name: str, nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        ragassay.evaluate([{"id": "1", "query": "a"}], [name])
    assert nearest in str(caught.value) and "docs/coming-from.md" in str(caught.value)
    assert call(["run", "nothing.jsonl", "--metrics", name]) == 2
    assert call(["metrics", "hallucination"]) == 2
    assert "hhem" in capsys.readouterr().err


def test_names_with_the_same_definition_are_ours() -> None:
    records = [{"id": "1", "passage_ids": ["a", "b", "c"], "gold_ids": ["a", "d"]}]
    result = ragassay.evaluate(records, ["id_based_context_recall", "IDBasedContextPrecision"])
    assert {name: one.mean for name, one in result.summary.metrics.items()} == {
        "id_based_context_recall": 0.5,
        "IDBasedContextPrecision": pytest.approx(1 / 3),
    }
