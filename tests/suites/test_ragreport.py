import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ragassay
from json_lines import jsonl
from ragassay import examples
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Reason, Score, Unscored
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.question import Question
from ragassay.judges.replay import Replay
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from ragassay.metrics.rubric.ragreport import ON_TOPIC_ONLY
from ragassay.reports.tables import published_csv
from scripted_judge import Scripted

SIX = ("relevance", "usefulness", "utilization", "attribution", "faithfulness", "satisfaction")
NEEDS = {
    **dict.fromkeys(SIX[:4], ("user input", "context")),
    "faithfulness": ("context", "response"),
    "satisfaction": ("user input", "response"),
}
LOWEST = dict.fromkeys(SIX, 1) | {"utilization": 0, "attribution": []}

QUERY = "How many ECTS does a Computer Science bachelor's degree have?"
CONTEXT = (
    "The main exams in a Bachelor's Degree in Computer Science typically cover programming, data "
    "structures, algorithms, computer architecture, operating systems, databases, and software "
    "engineering."
)
RESPONSE = "A Bachelor's Degree in Computer Science typically has 180 ECTS."
SAMPLE = Sample(id="ects", query=QUERY, passages=(Passage(CONTEXT),), answer=Answer(RESPONSE))

RECORDED = [
    {
        "question": "report_on_context",
        "data": {"query": QUERY, "chunks": [CONTEXT]},
        "answer": {
            "relevance_explanation": "The context talks about a Computer Science degree.",
            "relevance": 5, "usefulness_explanation": "It does not say how many ECTS.",
            "usefulness": 1, "utilization_explanation": "Nothing in it helps.", "utilization": 0,
            "attribution_explanation": "No chunk can be used.", "attribution": [],
        },
    },
    {
        "question": "contradiction", "data": {"chunks": [CONTEXT], "answer": RESPONSE},
        "answer": {"explanation": "Nothing contradicts the context.", "stars": 5},
    },
    {
        "question": "satisfaction", "data": {"query": QUERY, "answer": RESPONSE},
        "answer": {"explanation": "The query is fully addressed.", "stars": 5},
    },
]  # fmt: skip


def told(**said: Any) -> Scripted:
    """A judge that answers each kind of question with what it was told, and declines others."""

    def answer(question: Question[Any]) -> Any:
        found = said.get(question.kind, Reason.REFUSED)
        return found(question) if callable(found) else found

    return Scripted(answer)


def context_report(relevance: int, usefulness: int, utilization: int, chunks: list[int]) -> Any:
    values = {
        "relevance": relevance, "usefulness": usefulness, "utilization": utilization,
        "attribution": chunks,
    }  # fmt: skip
    return values | {f"{name}_explanation": f"about {name}" for name in values}


STARS = {"explanation": "because", "stars": 4}
ALL = {"report_on_context": context_report(4, 3, 55, [1]), "contradiction": STARS}
EVERYTHING = told(**ALL, satisfaction=STARS)


def outcomes(samples: Sample | list[Sample], judge: Judge, **options: Any) -> Any:
    """Published name -> outcome (a list of them for a list of samples)."""
    window = Window(samples if isinstance(samples, list) else [samples], Asker(judge))
    found = {}
    with window.asker:
        for name in SIX:
            metric = dataclasses.replace(naming.parse(f"ragreport_{name}"), **options)
            found[name] = list(window.outcomes(metric))
    return found if isinstance(samples, list) else {name: one[0] for name, one in found.items()}


@pytest.fixture
def recorded(tmp_path: Path) -> Replay:
    return Replay(jsonl(tmp_path / "recorded.jsonl", *RECORDED))


def test_the_specs_worked_example_comes_out_as_published(recorded: Replay) -> None:
    result = ragassay.evaluate([SAMPLE], "ragreport", judge=recorded)
    rows = {row.metric: row for row in result.scores}
    assert list(rows) == list(SIX)
    assert [rows[name].value for name in SIX] == [5, 1, 0, [], 5, 5]
    assert rows["attribution"].parts["chunks"] == []
    assert all(row.explanation and row.evidence for row in rows.values())
    assert rows["relevance"].explanation == "The context talks about a Computer Science degree."
    assert not any(row.status == "assumed" for row in rows.values())


@given(relevance=st.integers(1, 5), usefulness=st.integers(1, 5))
def test_the_note_stands_only_where_relevance_is_high_and_usefulness_low(relevance, usefulness):
    judge = told(report_on_context=context_report(relevance, usefulness, 10, [1]))
    metric = naming.parse("ragreport_usefulness")
    with Asker(judge) as asker, pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        outcome = (window := Window([SAMPLE], asker)).outcomes(metric)[0]
        (remark,) = metric.remarks(window)
    assert isinstance(outcome, Score) and outcome.value == usefulness
    expected = relevance >= 4 and usefulness <= 2
    assert (ON_TOPIC_ONLY in outcome.parts) is expected and remark.n == expected
    assert ("High relevance" in outcome.explanation) is expected


def without(*components: str) -> Sample:
    fields = {"user input": "query", "context": "passages", "response": "answer"}
    return dataclasses.replace(SAMPLE, **dict.fromkeys([fields[c] for c in components]))


@pytest.mark.parametrize("absent", ["user input", "context", "response"])
def test_a_missing_component_costs_only_the_metrics_that_need_it(absent: str) -> None:
    judge = told(**ALL, satisfaction=STARS)
    found = outcomes(without(absent), judge)
    left_out = outcomes(without(absent), EVERYTHING, missing="unscored")
    for name, outcome in found.items():
        assert isinstance(outcome, Score)
        other = left_out[name]
        fits = naming.parse(f"ragreport_{name}").suits(without(absent))
        assert fits is (absent not in NEEDS[name])
        if absent not in NEEDS[name]:
            assert isinstance(other, Score)
        else:
            assert isinstance(other, Unscored) and other.reason is Reason.MISSING_INPUT
            assert f"The {absent} is missing" in other.detail
        if absent in NEEDS[name]:
            assert outcome.value == LOWEST[name] and outcome.assumed
            assert outcome.explanation.startswith(f"The {absent} is missing")
            assert outcome.parts["missing"] == [absent]
        else:
            assert not outcome.assumed and "missing" not in outcome.parts
    expected = {
        "user input": {"contradiction"},
        "context": {"satisfaction"},
        "response": {"report_on_context"},
    }
    assert {question.kind for question in judge.questions} == expected[absent]


@pytest.mark.parametrize(("sample", "says"), [
    (dataclasses.replace(SAMPLE, passages=()), "context (nothing was retrieved)"),
    (dataclasses.replace(SAMPLE, passages=(Passage(id="p1"),)),
     "context (no chunk has a text)"),
    (dataclasses.replace(SAMPLE, passages=(Passage(" \n"),)), "context (no chunk has a text)"),
    (dataclasses.replace(SAMPLE, answer=Answer(" ")), "response (it is empty)"),
    (dataclasses.replace(SAMPLE, query=""), "user input (it is empty)"),
    (dataclasses.replace(SAMPLE, answer=None, failure="API_ERROR"),
     "response (the system failed: API_ERROR)"),
])  # fmt: skip
def test_a_component_without_text_is_missing_and_the_explanation_says_why(sample, says) -> None:
    lowest = [one for one in outcomes(sample, EVERYTHING).values() if one.assumed]
    assert lowest
    assert all(f"The {says} is missing" in outcome.explanation for outcome in lowest)


def test_a_mean_of_missing_parts_is_none_and_a_judge_that_fails_is_no_lowest_value() -> None:
    samples = [dataclasses.replace(SAMPLE, id=f"{n}", passages=None) for n in range(3)]
    result = ragassay.evaluate(samples, "ragreport", judge=EVERYTHING)
    faithfulness = result.summary.metrics["faithfulness"]
    assert (faithfulness.mean, faithfulness.low, faithfulness.minimum) == (None, None, None)
    assert (faithfulness.n_scored, faithfulness.n_assumed, faithfulness.n_total) == (3, 3, 3)
    assert result.summary.metrics["satisfaction"].mean == 4.0
    both = ragassay.evaluate(samples, "trecrag,ragreport", judge=EVERYTHING)
    assert "faithfulness: This faithfulness is the absence of contradiction." in str(both)
    # Each sample keeps its published value.
    rows = [row for row in result.scores if row.metric == "faithfulness"]
    assert [(row.value, row.status) for row in rows] == [(1.0, "assumed")] * 3
    holed = dataclasses.replace(SAMPLE, passages=(Passage("x"), Passage(id="p")))
    scored = [name for name, one in outcomes(holed, EVERYTHING).items() if isinstance(one, Score)]
    assert scored == ["satisfaction"]  # which is about no chunk
    for outcome in outcomes(SAMPLE, told()).values():
        assert isinstance(outcome, Unscored) and outcome.reason is Reason.REFUSED


def test_attribution_numbers_chunks_from_one_in_their_order() -> None:
    passages = tuple(Passage(text) for text in ("a", "b", "", "d"))
    sample = dataclasses.replace(SAMPLE, passages=passages)
    judge = told(report_on_context=context_report(4, 4, 60, [4, 1]))
    with Asker(judge) as asker:
        window = Window([sample], asker)
        (attribution,) = window.outcomes(naming.parse("ragreport_attribution"))
        (share,) = window.outcomes(naming.parse("ragreport_attribution_share"))
    assert isinstance(attribution, Score) and attribution.value == [1, 4]
    assert attribution.parts["chunks"] == [1, 4]
    assert isinstance(share, Score) and share.value == 0.5
    assert len(judge.questions) == 2 and judge.questions[0] == judge.questions[1]


def test_the_table_has_value_and_explanation_of_each_metric(tmp_path: Path) -> None:
    judge = told(report_on_context=ALL["report_on_context"], contradiction=STARS)
    two = (Passage("=HYPERLINK(1)"), Passage("two"))
    silent = dataclasses.replace(without("response"), id="silent", passages=two)
    result = ragassay.evaluate([SAMPLE, silent], "ragreport", judge=judge)
    published_csv.write_ragreport(result, tmp_path / "ragreport.csv")
    with (tmp_path / "ragreport.csv").open(encoding="utf-8", newline="") as stream:
        first, second = csv.DictReader(stream)
    assert [first["id"], first["user_input"], first["response"]] == ["ects", QUERY, RESPONSE]
    assert [first[name] for name in SIX] == ["4", "3", "55", "[1]", "4", ""]
    assert first["relevance_explanation"] == "about relevance"
    assert first["satisfaction_explanation"] == "told to fail: refused"
    assert first["unscored"] == "satisfaction: refused" and first["assumed"] == ""
    assert second["assumed"] == "faithfulness, satisfaction"
    assert (
        second["faithfulness"] == "1"
        and "response is missing" in second["satisfaction_explanation"]
    )
    assert second["context"] == "[1] =HYPERLINK(1)\n\n[2] two"
    assert first["judge"] == "scripted"


def test_the_offline_judge_reports_what_a_signal_stands_behind_and_nothing_else() -> None:
    path = Path(examples.__file__).parent / "town" / "hybrid.jsonl"
    result = ragassay.evaluate(path, "ragreport")
    for name, metric in result.summary.metrics.items():
        assert metric.judge.startswith("offline-lexical")
        if name == "relevance":
            assert metric.n_scored == metric.n_total == 72, metric.unscored
        else:
            assert metric.unscored == {"unsupported": 72}, name
    assert result.summary.incomplete == 0
    relevance = result.summary.metrics["relevance"]
    assert relevance.minimum is not None and relevance.maximum is not None
    assert relevance.minimum < relevance.maximum


@given(
    query=st.none() | st.text(max_size=5),
    answer=st.none() | st.text(max_size=5),
    texts=st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
)
def test_whatever_is_missing_each_metric_has_an_outcome_and_no_judge_a_blank(query, answer, texts):
    passages = None if texts is None else tuple(Passage(text) for text in texts)
    sample = Sample(id="s", query=query, answer=answer, passages=passages)  # type: ignore[arg-type]
    judge = told(**ALL | {"report_on_context": context_report(3, 3, 0, [])}, satisfaction=STARS)
    found = outcomes(sample, judge)
    assert all(isinstance(outcome, Score | Unscored) for outcome in found.values())
    for question in judge.questions:
        for name, value in question.data.items():
            assert any(part.strip() for part in value) if name == "chunks" else value.strip()
