"""Agreement of reviewers, from their reviews to the numbers and the list of disagreements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.review.review_agreement import item_agreement
from reviewed_set import small, version

# Cohen's textbook table: both accept 20, ann alone 5, bob alone 10, both reject 15.
TABLE = {
    ("accept", "accept"): 20,
    ("accept", "reject"): 5,
    ("reject", "accept"): 10,
    ("reject", "reject"): 15,
}


@pytest.fixture
def reviewed(tmp_path: Path):
    store = small(tmp_path / "g", 52)
    store.change_settings(overlap=1.0)
    rows = [pair for pair, n in TABLE.items() for _ in range(n)]
    for number, pair in enumerate(rows):
        for name, decision in zip(("ann", "bob"), pair, strict=True):
            store.review(f"i{number}", name, decision, version(store, f"i{number}"))
    store.review("i50", "ann", "accept", version(store, "i50"))
    return store


def test_kappa_and_alpha_of_reviews_are_those_of_their_table(reviewed, capsys) -> None:
    by_name = {one.name: one for one in item_agreement(reviewed).measures[""]}
    cohen, alpha = by_name["cohen kappa"], by_name["krippendorff alpha"]
    assert cohen.value == pytest.approx(0.4) and cohen.people == ("ann", "bob")
    assert cohen.n_items == alpha.n_items == 50 and alpha.share == pytest.approx(0.7)
    # 55 of 100 labels are accept: De = 2 * 55 * 45 / (100 * 99).
    assert alpha.value == pytest.approx(1 - 0.3 * 9_900 / (2 * 55 * 45))
    assert alpha.interval is not None
    assert alpha.interval[0] < alpha.value < alpha.interval[1]  # type: ignore[operator]
    assert call(["golden", "agreement", str(reviewed.folder)]) == 0
    told = capsys.readouterr().out
    assert "cohen kappa: 0.400 [" in told and "15 disagreements, 15 to settle" in told
    lines = (reviewed.folder / "adjudication.jsonl").read_text().splitlines()
    assert len(lines) == 15
    first = json.loads(lines[0])
    assert [one["decision"] for one in first["reviews"]] == ["accept", "reject"]


def test_settled_items_stay_listed_and_count_as_settled(reviewed, capsys) -> None:
    reviewed.review("i20", "eve", "accept", version(reviewed, "i20"))
    assert call(["golden", "agreement", str(reviewed.folder)]) == 0
    assert "15 disagreements, 14 to settle" in capsys.readouterr().out
    assert call(["golden", "agreement", str(reviewed.folder), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in body["agreement"]} == {
        "krippendorff alpha", "fleiss kappa", "cohen kappa",
    }  # fmt: skip
    (settled,) = [one for one in body["disagreements"] if one["status"] != "draft"]
    assert settled["settled_by"] == "eve"


def test_without_second_reviews_it_is_incomplete_and_says_what_to_do(tmp_path, capsys) -> None:
    store = small(tmp_path / "g")
    store.review("i0", "ann", "accept", version(store, "i0"))
    store.review("i1", "ann", "accept", version(store, "i1"), seconds=90.0)
    assert call(["golden", "agreement", str(store.folder)]) == 3
    told = capsys.readouterr().out
    assert "--overlap 0.2" in told and "time spent on reviews: ann: 1.5 minutes for 1" in told
