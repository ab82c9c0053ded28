"""Reports over a part of a task's records, and the comparison of two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.base.errors import RagassayError
from ragassay.service.store.database import Store
from ragassay.service.store.reports import create_report, get_report, preview_report
from ragassay.service.worker.worker import Worker, WorkerOptions
from stored_records import a_task, add, asking, item

pytestmark = pytest.mark.usefixtures("forked")

API = "/api/v1"


def test_two_systems_of_one_task_are_compared_by_reports_over_their_records(
    store: Store, tmp_path: Path
) -> None:
    client = asking(store)
    task = a_task(store)
    for system, answer in (("v1", "no"), ("v2", "yes")):
        add(
            store, task,
            [item(n) | {"system": system, "response": answer, "expected": "yes"} for n in range(4)],
        )  # fmt: skip
    keys = {}
    for system in ("v1", "v2"):
        asked = {"metrics": ["exact_match"], "where": [f"system={system}"]}
        assert preview_report(store, task.id, 0.0, 1e9, asked).metrics == {"exact_match": 4}
        keys[system] = create_report(store, task.id, system, 0.0, 1e9, asked)[0].id
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    means = {}
    for system, key in keys.items():
        headline = get_report(store, key).headline or {}
        means[system] = headline["exact_match"]["mean"], headline["exact_match"]["n_total"]
    assert means == {"v1": (0.0, 4), "v2": (1.0, 4)}
    places = {"new": keys["v2"], "old": keys["v1"]}
    found = client.get(f"{API}/comparisons", params=places).json()
    (row,) = found["differences"]
    assert (row["name"], row["diff"], found["n_common"]) == ("exact_match", 1.0, 4)
    with pytest.raises(RagassayError, match="is no condition"):
        create_report(store, task.id, "x", 0.0, 1e9, {"where": ["system"]})
    with pytest.raises(RagassayError, match="v9"):
        create_report(store, task.id, "x", 0.0, 1e9, {"where": ["system=v9"]})


def test_two_intervals_of_one_task_are_compared_by_their_means(
    store: Store, tmp_path: Path
) -> None:
    client = asking(store, views=tmp_path / "views")
    task = a_task(store)
    for week, n_right in ((0, 19), (100, 8)):
        add(
            store, task,
            [
                item(week + n) | {"response": "yes" if n < n_right else "no", "expected": "yes"}
                for n in range(20)
            ],
        )  # fmt: skip
    keys = [
        create_report(store, task.id, "r", 1000.0 + at, 1050.0 + at, {"metrics": ["em"]})[0].id
        for at in (0, 100)
    ]
    Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
    places = {"new": keys[1], "old": keys[0]}
    refused = client.get(f"{API}/comparisons", params=places)
    assert refused.status_code == 422 and "unpaired" in refused.json()["detail"]
    found = client.get(f"{API}/comparisons", params={**places, "unpaired": True}).json()
    (row,) = found["differences"]
    assert (row["a_mean"], row["b_mean"], row["verdict"]) == (0.4, 0.95, "worse")
    assert found["unpaired"] and (found["only_a"], found["only_b"]) == (20, 20)
    html = {"Accept": "text/html"}
    sides = {"a": keys[1], "b": keys[0]}
    refused = client.get("/compare", params=sides, headers=html)
    assert refused.status_code == 422 and "--unpaired" not in refused.text
    assert f"/compare?a={keys[1]}&amp;b={keys[0]}&amp;unpaired=true" in refused.text
    page = client.get("/compare", params={**sides, "unpaired": True}, headers=html)
    assert page.status_code == 200 and "different queries" in page.text
    assert "&amp;unpaired=true" in page.text


def test_only_reports_that_can_be_compared_are_offered_for_it(store: Store, tmp_path: Path) -> None:
    client = asking(store, views=tmp_path / "views")
    task = a_task(store)
    for system in ("v1", "v2"):
        add(store, task, [item(n) | {"system": system, "expected": "yes"} for n in range(3)])

    def made(metric: str, *where: str) -> str:
        asked = {"metrics": [metric], "where": list(where)}
        key = create_report(store, task.id, "r", 0.0, 1e9, asked)[0].id
        Worker(store, WorkerOptions(tmp_path / "work", poll=0.1)).run(until_idle=True)
        return key

    html = {"Accept": "text/html"}
    both, mixed = made("em"), made("em")
    refused = client.get("/compare", params={"a": mixed, "b": both}, headers=html)
    assert refused.status_code == 422 and "where: system=v1" in refused.text
    made("em", "system=v1")
    made("nDCG@10", "system=v2")  # nothing is scored
    made("em", "system=v2")
    listed = client.get(f"/tasks/{task.id}", headers=html).text
    assert listed.count('name="a"') == 2 and f'value="{mixed}"' not in listed
