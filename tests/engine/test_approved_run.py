"""A run of samples of many kinds, score by score and verdict by verdict, as it was approved.

Each line of ``approved/run.txt`` was right, or as published, when it was approved. Where a change
of code changes a line, ``pytest tests/engine/test_approved_run.py --approve`` writes the file anew:
its difference in git shows what the change does to numbers, explanations and the words of the
offline judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ragassay
from ragassay.examples import path_of
from ragassay.models.weights import BY_MODEL

APPROVED = Path(__file__).parent / "approved"
SUITES = ["qa", "retrieval", "chunks", "trecrag", "mtrag", "ragreport", "golden"]

NAMES = ("hybrid", "keyword")


def number(value: object) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def lines() -> Iterator[str]:
    result = ragassay.evaluate(APPROVED / "samples.jsonl", SUITES)
    for row in result.scores:
        if row.reason in BY_MODEL:  # it depends on what is installed
            continue
        parts = ", ".join(f"{name} {number(value)}" for name, value in row.parts.items())
        value = row.reason if row.value is None else number(row.value)
        yield " | ".join([row.sample, row.metric, str(value), parts, row.explanation])
    verdicts = {one: None for row in result.scores for one in row.evidence}
    for key in verdicts:
        record = result.verdicts.get(key)
        assert record is not None
        yield " | ".join([key[:8], str(record["question"]), str(record["answer"])])


def compared() -> Iterator[str]:
    """What people read of a comparison of the bundled systems."""
    runs = [ragassay.evaluate(path_of(name), ["qa", "retrieval"]) for name in NAMES]
    yield from str(runs[0].summary).splitlines()
    yield from str(ragassay.compare(*runs)).splitlines()
    yield from str(ragassay.compare(*runs, interval="bca", correction="holm")).splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "made"), [("run", lines), ("comparison", compared)])
def test_all_is_as_it_was_approved(
    name: str, made: Callable[[], Iterator[str]], request: pytest.FixtureRequest
) -> None:
    path = APPROVED / f"{name}.txt"
    now = "".join(f"{' '.join(line.split())}\n" for line in made())
    now = re.sub(r"version:[\d.]+", "version:*", now)  # of sacrebleu
    if request.config.getoption("--approve"):
        path.write_text(now, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8").splitlines()
    different = [pair for pair in zip(before, now.splitlines(), strict=False) if len({*pair}) > 1]
    assert not different and len(before) == now.count("\n"), different[:10]
