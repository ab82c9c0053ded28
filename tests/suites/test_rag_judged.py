"""The default suite's two metrics that only an LLM measures: values, reasons and failures."""

from typing import Any

import pytest

import ragassay
from llm_rule import Request
from llm_server import LLMServer
from ragassay import Reason

QUERY = "What is in the cellar?"
DATA: dict[str, dict[str, Any]] = {
    "several": {
        "query": QUERY, "answer": "Wine. Coal. Ice.",
        "references": [" ", "Coal.", "Wine. Coal. Potatoes. Jam."],
        "history": [{"role": "user", "text": "I bought the old house."}],
    },
    "nothing said": {"query": QUERY, "answer": "Hm", "references": ["Wine."]},
    "nothing to say": {"query": QUERY, "answer": "Wine.", "references": ["Hm"]},
    "blank reference": {"query": QUERY, "answer": "Wine.", "references": [" "]},
    "no query": {"answer": "Wine.", "references": ["Wine."]},
}  # fmt: skip


def rule(request: Request) -> Any:
    """A claim is a word before a full stop, and supported by a text that has it."""
    fences = dict(request.fences)
    if "claims" in request.schema["properties"]:
        return {"claims": [word for word in fences["answer"].split() if word.endswith(".")]}
    if "verdicts" in request.schema["properties"]:
        claims = [line.split()[1] for line in fences["claims"].splitlines()]
        return {
            "verdicts": [
                {"number": at, "reason": "", "supported": claim in fences["passage 1"].split()}
                for at, claim in enumerate(claims, 1)
            ]
        }
    return {"explanation": "no shelf is named", "score": 4}


def outcomes(judge: str, *metrics: str, data: dict[str, Any] = DATA) -> dict[tuple[str, str], Any]:
    """By sample and metric."""
    records = [{"id": key, **record} for key, record in data.items()]
    found = ragassay.evaluate(records, list(metrics), judge=judge)
    return {(row.sample, row.metric): row for row in found.scores}


@pytest.mark.usefixtures("here")
def test_answer_correctness_is_the_f1_of_claims_against_the_closest_reference() -> None:
    names = [f"factual_correctness.{part}" for part in ("f1", "precision", "recall")]
    with LLMServer(rule) as server:
        found = outcomes(f"{server.url}#m", *names)
        suite = ragassay.evaluate([{"id": "s", **DATA["several"]}], judge=f"{server.url}#m")
    f1, precision, recall = ({key: found[key, name] for key in DATA} for name in names)
    # Coal alone: P = 1/3, R = 1, F1 = 1/2. The second: P = 2/3, R = 2/4, F1 = (2/3) / (7/6) = 4/7.
    assert f1["several"].value == pytest.approx(4 / 7)
    assert suite.summary.metrics["answer_correctness"].mean == f1["several"].value
    assert precision["several"].value == pytest.approx(2 / 3) and recall["several"].value == 0.5
    parts = f1["several"].parts
    assert parts["reference"] == 2
    assert parts["answer_claims"] == [("Wine.", True), ("Coal.", True), ("Ice.", False)]
    assert [held for _, held in parts["reference_claims"]] == [True, True, False, False]
    assert (f1["nothing said"].value, recall["nothing said"].value) == (0.0, 0.0)
    assert precision["nothing said"].reason == Reason.NOTHING_CLAIMED
    for key, reason in {
        "nothing to say": Reason.UNDEFINED,
        "blank reference": Reason.NOT_APPLICABLE,
        "no query": Reason.MISSING_INPUT,
    }.items():
        assert (f1[key].value, f1[key].reason) == (None, reason), key


@pytest.mark.usefixtures("here")
def test_answer_relevance_is_a_grade_by_a_judge_who_sees_earlier_turns() -> None:
    asked = {key: DATA[key] for key in ("several", "nothing said", "no query")}
    with LLMServer(rule) as server:
        found = outcomes(f"{server.url}#m", "answer_relevance", data=asked)
        shown = ["\n".join(one["content"] for one in body["messages"]) for body in server.bodies]
    row = found["several", "answer_relevance"]
    # On the scale from 1 to 5 a 4 is three of four steps.
    assert (row.value, row.parts, row.explanation) == (
        4, {"score": 4, "unit": 0.75}, "no shelf is named",
    )  # fmt: skip
    assert found["no query", "answer_relevance"].reason == Reason.MISSING_INPUT
    with_turns, without = sorted(shown, key=lambda text: "earlier turns>" not in text)
    assert "speak to what the query asks?" in without and QUERY in without and "Hm" in without
    assert "I bought the old house." in with_turns and "earlier turns>" not in without


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["answer_relevance", "factual_correctness.f1"])
@pytest.mark.parametrize(("settings", "reason"), [
    ({"faults": {"refusal": 1.0}}, Reason.REFUSED),
    ({"rule": lambda request: {"explanation": "superb", "score": 6}}, Reason.UNPARSABLE),
])  # fmt: skip
def test_a_judge_that_fails_gives_a_reason_and_no_number(name: str, settings, reason) -> None:
    with LLMServer(**settings) as server:
        (row,) = outcomes(f"{server.url}#m", name, data={"x": DATA["several"]}).values()
    assert (row.value, row.reason) == (None, reason)
