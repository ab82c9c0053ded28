"""What a report would hold and cost, before it is asked for; the search in its samples."""

from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.service.named_models import NamedModels
from ragassay.service.store.database import Store
from ragassay.service.store.jobs import list_jobs
from ragassay.service.store.records import read_samples
from ragassay.service.store.reports import preview_report
from ragassay.service.store.store_errors import NotThere
from ragassay.service.views.report_view import RUN, ReportView, RowQuery, build_view
from stored_records import a_task, add, item


def test_a_preview_counts_records_metrics_and_calls(store: Store, tmp_path: Path) -> None:
    task = a_task(store, *(item(n) for n in range(5)))
    add(store, task, [{"id": "bare", "timestamp": 1000.0, "user_input": "Only a query?"}])
    found = preview_report(store, task.id, 1000.0, 1003.0)
    assert (found.n_records, found.n_looked_at, found.parts["answer"]) == (5, 5, 4)
    assert found.metrics["relevance"] > 0 and found.judge is not None
    assert found.calls is not None and found.calls.high == 0  # the offline judge costs nothing
    store.models = NamedModels.parse(["far=http://127.0.0.1:9/v1#m"])
    options: dict[str, Any] = {
        "judge": ["far"], "suite": ["trecrag"], "metrics": ["umbrela"],
        "price": "1,2", "budget": "3 calls",
    }  # fmt: skip
    found = preview_report(store, task.id, 0.0, 1e9, options)
    # Two chunks a record; the bare one has none.
    assert found.calls is not None and (found.calls.low, found.calls.high) == (10, 10)
    assert found.cost is not None and found.cost.high > 0 and found.budget == "does not fit"
    assert found.metrics == {"umbrela": 5} and found.seconds is not None
    assert list_jobs(store) == []


def test_a_preview_says_why_a_metric_counts_few_records_and_what_no_rule_answers(store) -> None:
    task = a_task(store, *(item(n) for n in range(3)))
    add(store, task, [{"id": "bare", "timestamp": 1000.0, "user_input": "Only a query?"}])
    found = preview_report(store, task.id, 0.0, 1e9, {"suite": ["trecrag", "qa"]})
    assert found.metrics["umbrela"] == 3 and found.metrics["em"] == 0 and "hhem" in found.absent
    assert found.lacking["umbrela"] == {"the sample has no retrieved passages": 1}
    assert found.lacking["em"]["the sample has no reference answer"] == 3
    usual = preview_report(store, task.id, 0.0, 1e9)
    assert usual.judge.startswith("offline-lexical/")
    assert usual.lacking["faithfulness"] == {"an LLM judge is needed": 4}


def test_of_many_records_the_first_are_looked_at(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.service.store.reports.MOST_LOOKED_AT", 4)
    task = a_task(store, *(item(n) for n in range(12)))
    store.models = NamedModels.parse(["far=http://127.0.0.1:9/v1#m"])
    options = {"judge": "far", "suite": "trecrag", "metrics": "umbrela"}
    found = preview_report(store, task.id, 0.0, 1e9, options)
    assert (found.n_records, found.n_looked_at, found.metrics) == (12, 4, {"umbrela": 4})
    assert found.calls is not None and found.calls.low == 24 and found.held is not None
    some = preview_report(store, task.id, 0.0, 1e9, {**options, "where": ["id!=none"]})
    assert (some.n_records, some.n_looked_at) == (12, 4)


def test_a_task_says_judge_and_budget_of_its_reports_unless_they_do(store: Store) -> None:
    models = [f"{name}=http://127.0.0.1:9/v1#{name}" for name in ("first", "second")]
    store.models = NamedModels.parse(models)
    bare = a_task(store, item(1))
    own = a_task(store, item(1), name="own", judge=["second"], budget="1 calls")
    for task, more, judge, budget in (
        (bare, {}, "first", None), (own, {}, "second", "does not fit"),
        (own, {"judge": ["first"]}, "first", "does not fit"),
        (own, {"budget": "9 calls"}, "second", "fits"),
    ):  # fmt: skip
        asked = {"suite": ["trecrag"], "metrics": ["umbrela"], **more}
        found = preview_report(store, task.id, 0.0, 1e9, asked)
        assert (found.judge, found.budget) == (judge, budget)


def test_an_interval_without_records_holds_nothing_and_an_impossible_one_is_refused(store) -> None:
    task = a_task(store)
    assert preview_report(store, task.id, 0.0, 1.0).n_records == 0
    assert next(read_samples(store, task.id), None) is None
    with pytest.raises(UsageError, match="no option 'output'"):
        preview_report(store, task.id, 0.0, 1.0, {"output": "/etc"})
    with pytest.raises(NotThere):
        preview_report(store, "nowhere", 0.0, 1.0)


PASSAGE = "The library lends up to thirty books at once, for three weeks each."


def test_a_search_looks_at_all_that_is_shown_and_unscored_samples_come_last(tmp_path: Path) -> None:
    data = [
        {
            "id": f"q-{n}", "query": f"{'QUERY' if n == 1 else 'query'} {n}?",
            "history": [{"speaker": "user", "text": f"earlier {n}"}],
            "answer": f"ANSWER number {2 - n}" + " so" * n, "metrics": {"own": "elephants"},
            "passages": [{"id": f"doc-{n % 2}", "text": PASSAGE + " Ä" * (n % 2)}],
            "references": [f"reference {n}"], "metadata": {"topic": f"topic {n}"},
        }
        for n in range(3)
    ]  # fmt: skip
    data.append({"id": "Q-03", "query": "nothing?"})
    metrics = ["em", "answer_words"]
    ragassay.evaluate(data, metrics=metrics, output=str(tmp_path / RUN))
    build_view(tmp_path, "r", {"report": "r"})
    view = ReportView(tmp_path)

    def found(text: str = "", **wanted: Any) -> list[str]:
        rows = view.find(RowQuery(words=text.split(), **wanted))["rows"]
        return [row["id"] for row in rows]

    for text in ("q-1", "query 1", "EARLIER 1", "answer 1", "doc-1", "ä", "reference 1", "topic 1"):
        assert found(text) == ["q-1"], text
    assert found("thirty books") == found("LIBRAR") == ["q-0", "q-1", "q-2"]
    assert found("missing_input") == found(kind="0") == found(kind="any") == ["Q-03"]
    assert found("thirty elephants") == [] and len(found("")) == 4
    for sort, down, names in (
        ("m0", True, "q-0 q-1 q-2 Q-03"), ("m1", False, "q-0 q-1 q-2 Q-03"),
        ("m1", True, "q-2 q-1 q-0 Q-03"), ("id", True, "Q-03 q-2 q-1 q-0"),
        ("query", False, "Q-03 q-0 q-1 q-2"), ("answer", True, "q-0 q-1 q-2 Q-03"),
    ):  # fmt: skip
        assert found(sort=sort, down=down) == names.split(), "unscored samples come last"
