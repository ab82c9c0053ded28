"""Reports over a part of a task's records, and the comparison of two of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from ragassay.errors import RagassayError
from ragassay.service import create_app
from ragassay.service.store import Store, create_report, get_report, preview_report
from ragassay.service.worker import Worker, WorkerOptions
from stored_records import a_task, add, item

API = "/api/v1"


@pytest.mark.usefixtures("forked")
def test_two_systems_of_one_task_are_compared_by_reports_over_their_records(
    store: Store, tmp_path: Path
) -> None:
    client = TestClient(create_app(store), "http://localhost", client=("127.0.0.1", 5))
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
