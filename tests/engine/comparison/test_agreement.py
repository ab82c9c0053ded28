"""How far the offline judge agrees with labels stands in one file, and is told with each metric."""

import dataclasses
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragassay import examples, load
from ragassay.cli.command_line import call
from ragassay.engine.comparison.offline_agreement import agreements, rows, rows_of
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Failure, JudgeAnswer
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.question import Question
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric, Window
from ragassay.metrics.core.naming import uses_of
from ragassay.reports.views import catalogue_view

sys.path.append(str(Path(__file__).resolve().parents[3]))

from benchmarks import agreement


def test_a_row_speaks_for_metrics_that_ask_its_kinds_of_question() -> None:
    for row in rows():
        assert row.metrics and row.kinds and row.source and row.n > 0
        assert row.low <= row.value <= row.high
        for name in row.metrics:
            cls = naming.metric_classes()[name]
            assert issubclass(cls, JudgedMetric)
            assert set(row.kinds) <= {question.kind for question in cls.asks}
    assert rows_of("claim_support", "somebody_s_own") == ()


def test_what_was_not_measured_has_no_rows() -> None:
    unmeasured: dict[str, Any] = {"claim_support": (), "extract_claims": ()}
    assert all(agreements(f"factual_correctness.{part}") == unmeasured for part in ("recall", "f1"))
    found = agreements("rl_f_idk")
    assert found["says_idk"] and found["claim_support"] and not found["says_underspecified"]


def test_the_page_of_a_metric_tells_the_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["metrics", "nuggets"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "asks assign_nuggets, extract_nuggets, nugget_importance, relevance_grade" in said
    assert "nugget_importance, relevance_grade: agreement not measured" in said
    (row,) = rows_of("relevance_grade", "umbrela")
    assert call(["metrics", "umbrela"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"relevance_grade: {row}" in said and row.source in said
    assert call(["metrics", "umbrela", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)
    (told,) = entry["offline_agreement"]["relevance_grade"]["rows"]
    assert (told["value"], told["sufficient"]) == (row.value, row.sufficient)
    assert call(["metrics", "nDCG@10"]) == 0
    assert "offline judge" not in capsys.readouterr().out


def test_the_page_has_the_table_of_the_file() -> None:
    page = agreement.PAGE.read_text(encoding="utf-8")
    assert agreement.on_page(page, rows()) == page
    worse = [replace(row, value=0.123) for row in rows()]
    assert agreement.on_page(page, worse).count("0.123") == len(worse)


class Listening(OfflineJudge):
    """The offline judge, which remembers the kinds that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: set[str] = set()

    async def answer(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure:
        self.kinds.add(question.kind)
        return await super().answer(question, repeat)

    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure:
        self.kinds.add(question.kind)
        return super().known(question, repeat)


def example_of(cls: type[Metric]) -> Metric:
    metric = catalogue_view.example_of(cls, None)
    names = {one.name for one in dataclasses.fields(metric)}
    return dataclasses.replace(metric, given=False) if "given" in names else metric


JUDGED = [
    name
    for name, cls in naming.metric_classes().items()
    if (uses_of(example_of(cls), None) or cls.kind == "judge") and "ragassay." in cls.__module__
]
"""Of the package: those of other tests are known only where these were loaded."""


@pytest.mark.parametrize("name", JUDGED)
def test_a_judged_metric_asks_the_kinds_that_it_declares(name: str) -> None:
    metric = example_of(naming.metric_classes()[name])
    judge = Listening()
    with Asker(judge) as asker:
        Window(list(load(examples.path_of("hybrid")))[:6], asker).outcomes(metric)
    kinds = {use.kind for use in uses_of(metric, None)}
    assert judge.kinds <= kinds
    if isinstance(metric, JudgedMetric) and judge.kinds:
        assert judge.kinds == kinds


@pytest.mark.heavy
@pytest.mark.parametrize("name", [row.name for row in rows()])
def test_the_file_has_what_is_computed(name: str, shared: Path) -> None:
    assert (shared / "data" / "mtrag").is_dir()
    (row,) = (one for one in rows() if one.name == name)
    for key, value in agreement.figures(row, agreement.COMPUTED[name]()).items():
        assert value == pytest.approx(getattr(row, key), abs=agreement.TOLERANCE), key
