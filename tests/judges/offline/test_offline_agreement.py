"""How far the offline judge agrees with labels stands in one file, and is told with each metric."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Sample, examples, load
from ragassay.cli import call
from ragassay.engine.comparison.standing import agreements
from ragassay.judges.asking import Asker
from ragassay.judges.offline import ANSWERS, OfflineJudge
from ragassay.judges.offline.agreement import Agreement, agreement_of, figures
from ragassay.judges.question import Question
from ragassay.judges.verdict import Failure, Verdict
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric, uses_of
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.window import Window
from ragassay.reports.text import catalogue, worked_examples


def kinds_of(metric: Metric, local: Mapping[str, str] | None = None) -> set[str]:
    """The kinds of question that a metric's value rests on."""
    return {use.kind for use in uses_of(metric, local)}


def answered_kinds() -> set[str]:
    return {cls.kind for cls in ANSWERS}


def test_every_kind_with_an_offline_rule_has_its_agreement() -> None:
    assert set(figures()) == answered_kinds()
    for kind, listed in figures().items():
        for found in listed:
            assert found.kind == kind and found.measure is not None
            assert found.source and found.against and found.of and found.n > 0
            assert found.value is not None and -1 <= found.value <= 1
    assert agreement_of("rubric_grade", "coherence") is None


def test_a_figure_counts_only_for_the_metrics_that_it_was_measured_on() -> None:
    for kind, listed in figures().items():
        for found in listed:
            assert found.metrics
            for name in found.metrics:
                cls = naming.metric_classes()[name]
                assert issubclass(cls, JudgedMetric)
                assert kind in {question.kind for question in cls.asks}
        other = agreement_of(kind, "somebody_s_own")
        assert other is not None and other.measure is None and not other.sufficient
        assert str(other) == "agreement not measured"


def test_claims_beside_a_reference_were_never_measured() -> None:
    for part in ("precision", "recall", "f1"):
        found = agreements(f"factual_correctness.{part}")
        assert set(found) == {"claim_support", "extract_claims"}
        assert all(one is not None and one.value is None for one in found.values())
    passages = agreements("rl_f")["claim_support"]
    assert passages is not None and passages.sufficient
    records = [
        {"query_id": f"q{at}", "query": "Where?", "answer": said, "references": ["It is in Oslo."]}
        for at, said in enumerate(["It is in Oslo.", "Oslo is the place."] * 10)
    ]
    worse = [{**one, "answer": "The place is the capital of Norway."} for one in records]
    runs = [ragassay.evaluate(one, suite=["golden"]) for one in (records, worse)]
    found = {one.name: one for one in ragassay.compare(*runs).differences}
    assert found["factual_correctness.f1"].verdict == "indicative"
    assert found["factual_correctness.f1"].why == "offline judge, agreement not measured"


def test_each_part_of_the_context_report_has_its_own_figure() -> None:
    said = {
        name: agreements(f"ragreport_{name}")["report_on_context"]
        for name in ("relevance", "usefulness", "utilization", "attribution", "attribution_share")
    }
    assert said["relevance"] and said["relevance"].n == 1674
    assert said["usefulness"] and said["usefulness"].n == 1561
    for name in ("utilization", "attribution", "attribution_share"):
        assert str(said[name]) == "agreement not measured"


def test_explain_tells_the_figure_of_each_metric(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "data.jsonl"
    one = {"query_id": "q", "query": "How tall is the tower?", "answer": "It is 330 metres tall."}
    path.write_text(json.dumps({**one, "passages": ["The tower is 330 metres tall."]}) + "\n")
    assert call(["run", str(path), "--suite", "ragreport", "-o", f"{tmp_path}/run"]) == 0
    capsys.readouterr()
    assert call(["explain", f"{tmp_path}/run", "q"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    about = "offline judge, report on context: "
    assert said.count(f"{about}AUC") == 2
    assert said.count(f"{about}agreement not measured") == 2


def test_held_out_labels_come_before_others() -> None:
    for listed in figures().values():
        assert [one.held_out for one in listed] == sorted(
            (one.held_out for one in listed), reverse=True
        )
    found = agreement_of("claim_support", "rl_f")
    assert found is not None and found.held_out


def test_a_figure_says_what_it_is() -> None:
    found = Agreement("k", "AUC", 0.71, 2345, "passages", "people", "somewhere")
    assert str(found) == "AUC .71 against people (n = 2,345 passages)"
    assert str(Agreement("k", "Spearman", -0.004, 9, "answers", "people")).startswith(
        "Spearman -.00"
    )


@pytest.mark.parametrize(
    ("measure", "value", "held_out", "enough"),
    [
        ("AUC", 0.80, True, True),
        ("AUC", 0.79, True, False),
        ("AUC", 0.95, False, False),
        ("balanced accuracy", 0.80, True, True),
        ("balanced accuracy", 0.70, True, False),
        ("Spearman", 0.60, True, True),
        ("Spearman", 0.59, True, False),
        ("Spearman", 0.60, False, False),
        (None, None, True, False),
    ],
)
def test_what_is_sufficient(measure: Any, value: Any, held_out: bool, enough: bool) -> None:
    assert Agreement("k", measure, value, 100, held_out=held_out).sufficient is enough


class Listening(OfflineJudge):
    """The offline judge, which remembers the kinds that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: set[str] = set()

    async def answer(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        self.kinds.add(question.kind)
        return await super().answer(question, repeat)

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        self.kinds.add(question.kind)
        return super().known(question, repeat)


def example_of(cls: type[Metric]) -> Metric:
    metric = worked_examples.example_of(cls, None)
    names = {one.name for one in dataclasses.fields(metric)}
    return dataclasses.replace(metric, given=False) if "given" in names else metric


def bundled() -> Iterator[Sample]:
    yield from list(load(examples.path_of("hybrid")))[:6]


JUDGED = [
    name
    for name, cls in naming.metric_classes().items()
    if (kinds_of(example_of(cls)) or cls.kind == "judge") and "ragassay." in cls.__module__
]
"""Of the package: those of other tests are known only where these were loaded."""


@pytest.mark.parametrize("name", JUDGED)
def test_a_judged_metric_asks_the_kinds_that_it_declares(name: str) -> None:
    metric = example_of(naming.metric_classes()[name])
    judge = Listening()
    with Asker(judge) as asker:
        window = Window(list(bundled()), asker)
        window.outcomes(metric)
    assert judge.kinds <= kinds_of(metric)
    if isinstance(metric, JudgedMetric) and judge.kinds:
        assert judge.kinds == kinds_of(metric)


def test_a_metric_rests_on_what_its_inputs_rest_on() -> None:
    assert kinds_of(naming.parse("rl_f")) == {"extract_claims", "claim_support"}
    assert kinds_of(naming.parse("rl_f_idk")) == kinds_of(naming.parse("rl_f")) | {
        "says_idk",
        "says_underspecified",
    }
    assert kinds_of(naming.parse("nDCG@10")) == frozenset()
    assert kinds_of(naming.parse("runs_mean(of=umbrela)")) == {"relevance_grade"}
    assert kinds_of(naming.parse("runs_mean(of=score)"), {"score": "umbrela"}) == {
        "relevance_grade"
    }
    assert kinds_of(naming.parse("runs_mean(of=whatever)")) == frozenset()


def test_the_page_of_a_metric_tells_the_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["metrics", "nuggets"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rests on assign_nuggets, extract_nuggets, nugget_importance, relevance_grade" in said
    assert "assign_nuggets: agreement not measured" in said
    found = agreement_of("relevance_grade", "umbrela")
    assert f"relevance_grade: {found}" in said
    assert found is not None and " ".join(found.source.split()) in said
    assert call(["metrics", "umbrela", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)
    assert entry["offline_agreement"]["relevance_grade"]["value"] == found.value
    assert call(["metrics", "nDCG@10"]) == 0
    assert "offline judge" not in capsys.readouterr().out


def test_a_rubric_rests_on_what_the_offline_judge_does_not_answer() -> None:
    rubrics = [name for name, cls in naming.metric_classes().items() if cls.family == "rubric"]
    for name in rubrics:
        (entry,) = catalogue.entries_named(name)
        assert entry["offline_agreement"]["rubric_grade"]["said"] == catalogue.NO_ANSWER
        assert not entry["offline_agreement"]["rubric_grade"]["sufficient"]


def test_the_page_has_each_figure_of_the_file() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "offline-judge.md").read_text()
    for kind, listed in figures().items():
        for one in listed:
            users = ", ".join(f"`{name}`" for name in one.metrics)
            figure = f"{one.measure} {one.value:.3f} | {one.n:,} {one.of} | {one.against}"
            said = f"| `{kind}` | {users} | {figure} |"
            assert said in page
        if not listed:
            assert f"| `{kind}` | all | not measured" in page


def test_figures_are_read_by_kind_and_the_held_out_ones_come_first() -> None:
    read = figures.__wrapped__()
    assert read == figures() and "answer_match" in read
    for kind, listed in read.items():
        assert all(one.kind == kind for one in listed)
        assert [one.held_out for one in listed] == sorted(
            (one.held_out for one in listed), reverse=True
        )
        assert all(isinstance(one.metrics, tuple) for one in listed)
