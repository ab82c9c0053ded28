"""The offline judge's "I don't know" and report keep their marks on data with labels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragassay.judges.offline.rules import answer_to
from ragassay.judges.questions.context_report import Satisfaction

sys.path.append(str(Path(__file__).resolve().parents[3]))

from benchmarks import offline_idk as benchmark


@pytest.fixture(scope="module")
def verdicts(shared: Path) -> list[benchmark.Verdict]:
    assert (shared / "data" / "mtrag" / "idk_585.jsonl").is_file()
    return benchmark.verdicts()


PARTS = {
    "idk_585, part that nobody looked at": lambda one: not one.looked_at,
    "idk_585, all 65 queries": lambda one: True,
    "idk_585, all but small talk alone": lambda one: not one.talk,
    "idk_585, part that was looked at": lambda one: one.looked_at,
}


@pytest.mark.parametrize("part", PARTS)
def test_the_page_prints_the_balanced_accuracy_of_this_version(
    part: str, verdicts: list[benchmark.Verdict]
) -> None:
    rows = [one for one in verdicts if PARTS[part](one)]
    page = Path(__file__).resolve().parents[3] / "docs" / "offline-judge.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith(f"| {part}")]
    cells = [cell.strip() for cell in line.split("|")[2:5]]
    assert int(cells[0]) == len(rows)
    before, now = (float(cell.split()[0]) for cell in cells[1:])
    assert benchmark.balanced_accuracy(rows) == pytest.approx(now, abs=0.0006)
    assert now >= max(before, 0.94)


def test_no_query_is_in_both_parts(verdicts: list[benchmark.Verdict]) -> None:
    parts = [{one.query for one in verdicts if one.looked_at is side} for side in (True, False)]
    assert not parts[0] & parts[1]
    assert [len(part) for part in parts] == [38, 27]


def test_small_talk_satisfies_small_talk_and_no_query() -> None:
    for query, stars in (("Thank you!", 5), ("When was the bridge opened?", 1)):
        found = answer_to(Satisfaction(query, "You're welcome! Stay safe!"))
        assert found is not None and found.stars == stars
