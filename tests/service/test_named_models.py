"""Clients choose among the judges that the operator names, and reach no other address."""

import io
import json
import zipfile
from functools import partial
from typing import Any

import pytest

from llm_server import LLMServer
from ragassay.base.errors import UsageError
from ragassay.engine.config.run_config import make_config
from ragassay.engine.run.prepared_run import prepare
from ragassay.service.named_models import NamedModels
from ragassay.service.store.database import Store
from ragassay.service.store.projects import TaskOptions, change_task
from ragassay.service.store.report_files import opened_report
from ragassay.service.store.reports import create_report, get_report, list_reports, preview_report
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import a_task, asking, item

pytestmark = pytest.mark.usefixtures("forked")

HTML = {"Accept": "text/html"}


@pytest.mark.parametrize("options", [
    {"judge": ["http://10.0.0.1/v1#m"]}, {"judge": ["openai:gpt-4o-mini"]},
    {"judge": ["offline", "http://user:PW@10.0.0.1/v1#m"]}, {"judge": "http://10.0.0.1/v1#m"},
    {"judge": ["replay:/etc/passwd"]}, {"judge": ["offline:encoder"]}, {"judge": ["os:system"]},
    {"embedder": "http://10.0.0.1/v1#m"}, {"embedder": "/etc"}, {"metrics": ["os:system"]},
    {"suite": ["os:system"]}, {"suite": ["trecrag"], "nuggets": "/etc/passwd"},
])  # fmt: skip
def test_a_client_names_no_address_file_or_function(store: Store, options: dict[str, Any]) -> None:
    store.models = NamedModels.parse(["fast=http://127.0.0.1:9/v1#m"])
    task = a_task(store, item(1))
    for act in (preview_report, partial(create_report, name="r")):
        with pytest.raises(UsageError) as refused:
            act(store, task.id, start=0.0, end=1e9, options=options)
        assert "PW" not in str(refused.value) and "10.0.0.1" not in str(refused.value)
    if "judge" in options and isinstance(options["judge"], list):
        with pytest.raises(UsageError, match="It has: fast, offline"):
            change_task(store, task.id, TaskOptions(judge=options["judge"]))
    assert list_reports(store, task.id) == []


def test_the_first_judge_judges_where_none_is_named(store: Store, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RAGASSAY_API_KEY", "secret-key")
    with LLMServer() as first, LLMServer() as second:
        monkeypatch.setenv("RAGASSAY_BASE_URL", first.url)
        store.models = NamedModels.parse([f"first={first.url}#m", f"second={second.url}#m"])
        task = a_task(store, item(1))
        asked = {"suite": ["trecrag"], "metrics": ["umbrela"]}
        key = create_report(store, task.id, "r", 0.0, 1e9, asked)[0].id
        worker = Worker(store, WorkerOptions(tmp_path / "work", poll=0.1))
        worker.run(until_idle=True)
        assert first.stats()["requests"] > 0 and second.stats()["requests"] == 0
        named = create_report(store, task.id, "s", 0.0, 1e9, {**asked, "judge": ["second"]})[0]
        kept = json.dumps(named.model_dump())
        assert named.options["judge"] == ["second"] and second.url not in kept
        worker.run(until_idle=True)
        assert second.stats()["requests"] > 0
        assert first.state.keys == {"secret-key"} and "secret-key" not in second.state.keys
        assert get_report(store, key).status == get_report(store, named.id).status == "completed"


@pytest.mark.parametrize("fault", ["auth", "forbidden"])
def test_what_an_endpoint_says_in_refusal_reaches_no_client(store, tmp_path, fault: str) -> None:
    with LLMServer(faults=lambda request: fault) as server:
        store.models = NamedModels.parse([f"first={server.url}#m"])
        task = a_task(store, item(1))
        asked = {"suite": ["trecrag"], "metrics": ["umbrela"]}
        key = create_report(store, task.id, "r", 0.0, 1e9, asked)[0].id
        Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
        report = json.dumps(get_report(store, key).model_dump())
        with opened_report(store, key) as result:
            said = report + "".join(row.explanation for row in result.scores)
            said += repr(result.summary)
    assert server.stats()["requests"] > 0 and "not shown here" in said
    for quoted in ("Incorrect API key", "may not use this model"):
        assert quoted not in said


@pytest.mark.parametrize("fault", [None, "auth"])
def test_what_clients_read_says_the_name_and_not_the_address(store, tmp_path: Any, fault) -> None:
    client = asking(store, views=tmp_path / "views")
    worker = Worker(store, WorkerOptions(tmp_path / "work", poll=0.1))
    with LLMServer(faults=lambda request: fault) as server:
        place = server.url.partition("://")[2].removesuffix("/v1")
        store.models = NamedModels.parse([f"good={server.url}#m"], [f"near={server.url}#e"])
        task = a_task(store, *(item(n) | {"expected": "yes"} for n in range(3)))
        asked: Any = {"suite": ["trecrag"], "metrics": ["umbrela", "answer_similarity"]}
        asked |= {"embedder": "near", "timeout": 2.0}
        shown = {"preview": preview_report(store, task.id, 0.0, 1e9, asked).model_dump_json()}
        names = "rs" if fault is None else "r"
        reports = [create_report(store, task.id, n, 0.0, 1e9, asked)[0].id for n in names]
        worker.run(until_idle=True)
    for key in reports:
        shown[f"report {key}"] = get_report(store, key).model_dump_json()
        shown[f"page {key}"] = client.get(f"/reports/{key}", headers=HTML).text
        for form in ("html", "markdown", "csv"):
            shown[f"{form} {key}"] = client.get(f"/api/v1/reports/{key}/files/{form}").text
        run = client.get(f"/api/v1/reports/{key}/run").content
        with zipfile.ZipFile(io.BytesIO(run)) as archive:
            shown |= {name + key: archive.read(name).decode() for name in archive.namelist()}
    if fault is None:
        sides = {"a": reports[0], "b": reports[1]}
        shown["compared"] = client.get("/compare", params=sides, headers=HTML).text
        assert "good" in shown["compared"]
        headline = get_report(store, reports[0]).headline or {}
        assert [headline[name]["n_scored"] for name in asked["metrics"]] == [3, 3]
    leaks = {name for name, text in shown.items() if place in text or "BASE_URL" in text}
    assert not leaks and not [name for name, text in shown.items() if "--key-file" in text]
    assert "good" in shown["preview"] and "good" in shown[f"run.yaml{reports[0]}"]


def test_a_name_costs_no_paid_answer_and_another_model_is_another_judge(tmp_path: Any) -> None:
    data = [{"query": "q", "answer": "a", "references": ["a"]}]
    signed = []
    with LLMServer() as server:
        for word, named in (
            (f"{server.url}#m", {}), ("good", {"good": f"{server.url}#m"}),
            ("good", {"good": f"{server.url}#n"}),
        ):  # fmt: skip
            config = make_config(
                metrics=["answer_match"], judge=[word], ledger=str(tmp_path / "ledger")
            )
            signed.append(prepare(config, data, named={"judge": named}).run().summary.judging)
        n = server.stats()["requests"]
    assert n == 2 and [one.judge for one in signed[1:]] == ["good", "good"]
    assert len({one.signature for one in signed}) == 3


@pytest.mark.parametrize("judges", [
    ["a=openai:x", "a=openai:y"], ["offline=openai:x"], ["http://127.0.0.1:9/v1#m"],
    ["b=nobody"], ["c=http://user:PW@127.0.0.1/v1#m"],
])  # fmt: skip
def test_an_operator_hears_at_once_what_is_wrong(judges: list[str], monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(UsageError) as refused:
        NamedModels.parse(judges)
    assert "PW" not in str(refused.value)


def test_a_name_may_be_the_word_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    models = NamedModels.parse(["openai:gpt-4o-mini"])
    assert models.chosen({"judge": ["openai:gpt-4o-mini"]}) == {"judge": ["openai:gpt-4o-mini"]}
    assert models.judge_names == ["openai:gpt-4o-mini", "offline"]
    words = ["near=http://127.0.0.1:9/v1#e", "offline=some/model"]
    both = NamedModels.parse(["offline"], words)
    for name, word in (("near", "near"), ("offline", "some/model")):
        chosen = both.chosen({"embedder": f" {name} ", "judge": " offline "})
        assert chosen == {"embedder": word, "judge": ["offline"]}
    with pytest.raises(UsageError, match="Two embedders"):
        NamedModels.parse([], words[:1] * 2)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        NamedModels.parse(["openai:gpt-4o-mini"])
