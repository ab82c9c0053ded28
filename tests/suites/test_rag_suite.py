"""The default suite: the definitions of its metrics, and what traces without references give."""

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.cli.command_line import call
from scripted_judge import Scripted

GOLD = {
    "id": "1", "query": "Who wrote Dune?", "answer": "Frank Herbert wrote Dune [1].",
    "references": ["Frank Herbert wrote Dune."],
    "passages": [{"id": "a", "text": "Frank Herbert wrote Dune."}, {"id": "b", "text": "Rain."}],
    "gold_passages": [{"id": "b", "grade": 1}, {"id": "c", "grade": 1}], "answerable": True,
}  # fmt: skip
REPLIES: dict[str, Any] = {
    "relevance_grade": {"match": 2, "trust": 2, "grade": 2},
    "extract_claims": {"claims": ["one", "two"]},
    "claim_support": {"supported": [True, False]},
}
"""Both passages are relevant, and of two claims the first is supported."""


def means(result: Any) -> dict[str, float | None]:
    return {name: metric.mean for name, metric in result.summary.metrics.items()}


def test_with_gold_the_ranking_is_measured_by_it() -> None:
    result = ragassay.evaluate([GOLD])
    assert result.summary.suite == "rag"
    found = means(result)
    # b is the second of two retrieved, c was not retrieved: AP is (1/2) / 2, recall 1/2.
    assert (found["context_precision"], found["context_recall"]) == (0.25, 0.5)
    # (1 / log2(3)) / (1 + 1 / log2(3))
    assert found["ndcg"] == pytest.approx(0.38685, abs=1e-5)
    assert found["faithfulness"] == found["citation_f1"] == 1.0
    assert found["refusals_right"] == 1.0  # answerable and answered
    # The words of the answer are those of the reference; no LLM compares claims.
    assert found["token_f1.f"] == 1.0 and "answer_correctness" not in found
    assert len(found) <= 8


def test_without_gold_a_judge_grades_passages_and_supports_the_reference() -> None:
    record = {key: GOLD[key] for key in ("id", "query", "answer", "references", "passages")}
    names = ["context_precision", "context_recall", "faithfulness"]
    result = ragassay.evaluate([record], names, judge=Scripted(lambda asked: REPLIES[asked.kind]))
    assert means(result) == {
        "context_precision": 1.0,  # both passages have grade 2
        "context_recall": 0.5,  # of two claims of the reference the passages support the first
        "faithfulness": 0.5,
    }
    assert result.summary.metrics["context_recall"].metric == "claim_recall"

    def by_words(asked: Any) -> dict[str, Any]:
        """Claims end at slashes; a text supports those that it holds."""
        if asked.kind == "extract_claims":
            return {"claims": asked.answer.split("/")}
        return {"supported": [claim in " ".join(asked.passages) for claim in asked.claims]}

    several = [" ", "Rain/ /Bob", "Rain/Ann/Frank", "Snow"]  # of the third two are held
    data = [
        {**record, "references": several}, {**record, "id": "2", "passages": []},
        {**record, "id": "3", "passages": [{"id": "a"}, "Rain"]},
        {**record, "id": "4", "references": [" "]},
    ]  # fmt: skip
    judge = Scripted(by_words)
    found, nothing, *lost = ragassay.evaluate(data, ["claim_recall"], judge=judge).scores
    assert (found.value, nothing.value) == (pytest.approx(2 / 3), 0.0)
    assert found.parts["held"] == (True, False, True) and judge.asked.count("claim_support") == 3
    assert [row.reason for row in lost] == ["missing_input", "not_applicable"]
    assert result.summary.metrics["context_precision"].metric == "umbrela_AP_judged"


def test_refusals_are_right_where_nothing_can_be_answered() -> None:
    refusal = {"query": "Who wrote it?", "answer": "I do not know."}
    right, wrong = {**refusal, "answerable": False}, {**refusal, "answerable": True}
    data = [{**one, "id": str(at)} for at, one in enumerate((right, wrong))]
    assert means(ragassay.evaluate(data))["refusals_right"] == 0.5
    data.append({**refusal, "answer": "Unknown.", "id": "3"})  # a label that nobody owes
    some = ragassay.evaluate(data).summary
    assert some.metrics["refusals_right"].n_scored == 2 and not some.incomplete
    names = ["rb_llm_idk", "answerability_accuracy"]  # nothing is asked where the label is missing
    both = ragassay.evaluate(data, names).summary  # rb_llm_idk lacks a reference for the second
    judging = both.judging
    assert both.metrics["answerability_accuracy"].n_scored == 2
    planned = ragassay.plan(data, names, judge="http://x.test/v1#m").calls
    assert judging and planned and judging.questions == planned.total.calls.high == 1
    found = means(ragassay.evaluate([{**refusal, "id": "1"}]))
    assert found["answered"] == 0.0 and "refusals_right" not in found


def test_a_query_whose_references_decline_counts_as_unanswerable() -> None:
    declining = ["N/A", "I don't know.", "Not in the documents.", "-", "n/a", "No information."]
    answers = ["None", "none", "No.", "42", "Nobody knows its author.", "There is no cure."]
    data = [
        {"id": f"{at}", "query": "Who wrote it?", "answer": "I do not know.", "references": [text]}
        for at, text in enumerate([*declining, *answers])
    ]
    data.append({**data[0], "id": "either", "references": ["N/A", "Ann Lee."]})  # not all decline
    data.append({**data[0], "id": "labelled", "answerable": True})
    result = ragassay.evaluate(data)
    (note,) = (note for note in result.summary.notes if note.kind == "references_decline")
    assert note.counts == {"n": len(declining)}
    assert not any("that say only 'N/A'" in str(one) for one in result.summary.notes)  # said once
    assert result.summary.metrics["refusals_right"].n_scored == len(declining) + 1
    planned = ragassay.plan(data).applicable
    assert planned == {name: found.n_scored for name, found in result.summary.metrics.items()}
    # To decline is right there, and no reference is left that an answer would have to repeat.
    assert result.summary.metrics["token_f1.f"].n_scored == len(answers) + 2
    fine = [one is None for one in ragassay.diagnose(result).classes]
    assert fine == [True] * len(declining) + [False] * (len(answers) + 2)
    # A published suite reads references as they are; a diagnosis understands them.
    named = ragassay.evaluate(data, "token_f1.f")
    assert all(sample.references for sample in named.samples)
    assert [one is None for one in ragassay.diagnose(named).classes] == fine


def test_what_the_offline_judge_is_not_known_to_answer_well_is_left_to_an_llm(monkeypatch) -> None:
    # Calls and costs are named on machines that lack the package for endpoints, too.
    monkeypatch.setattr("ragassay.transport.endpoints.http_chats.find_spec", lambda name: None)
    record = {key: GOLD[key] for key in ("id", "query", "answer", "references", "passages")}
    data = [{**record, "id": f"{at}", "query": f"Who wrote {at}?"} for at in range(10)]
    data += [{"id": f"u{at}", "query": f"Who is {at}?"} for at in range(21)]  # ask nothing
    runs = [ragassay.evaluate(data[:n]).summary for n in (1, 5, 10, 30, 31)]
    notes = [n for run in runs for n in run.notes if n.kind == "metrics_need_llm"]
    note, calls = notes[0], [one.counts["calls"] for one in notes]
    assert [n.counts["bound"] for n in notes] == [*["at most"] * 4, "up to about"]
    names = "context_precision context_recall answer_relevance answer_correctness"
    assert " ".join(note.names) == names and 0 < note.counts["cost"] < 0.01
    assert 4 <= calls[0] < calls[1] < calls[2] == calls[3] and "judge='openai" in str(note)
    assert [*runs[0].metrics] == ["faithfulness", "token_f1.f", "citation_f1", "answered"]
    assert set(note.names) <= means(ragassay.evaluate([record], judge=Scripted(REPLIES))).keys()


Q, A, D = "Who wrote Dune?", "Frank Herbert wrote Dune.", "Frank Herbert wrote Dune in 1965."
TRACES: list[dict[str, Any]] = [
    {"id": "t", "trace_id": "t", "run_type": "chain", "inputs": {"question": Q},
     "outputs": {"answer": A}},
    {"id": "u", "trace_id": "t", "parent_run_id": "t", "run_type": "retriever",
     "inputs": {"query": Q}, "outputs": {"documents": [{"page_content": D}]}},
]  # fmt: skip
"""Of LangSmith; other tools' are read in the tests of formats."""

EXPORT = Path(__file__).parents[1] / "formats" / "exports" / "mlflow-3.17.2-trace.json"


def test_traces_without_references_give_numbers_at_once(tmp_path: Path, capsys) -> None:
    path = str(jsonl(tmp_path / "traces.jsonl", *TRACES))
    assert call(["run", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    scored = {name: one["mean"] for name, one in found["metrics"].items()}
    assert scored == {"faithfulness": 1.0, "answered": 1.0}
    mlflow = means(ragassay.evaluate(EXPORT))
    assert {"faithfulness", "answered"} <= mlflow.keys() and None not in mlflow.values()
