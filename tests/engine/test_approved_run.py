"""A run of samples of many kinds, metric by metric and verdict by verdict, as it was approved.

Each line of ``approved/run.txt`` was right, or as published, when it was approved. See `approved`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ragassay
from approved import check, number
from ragassay.examples import path_of
from ragassay.models.weights.weight_files import BY_MODEL

APPROVED = Path(__file__).parent / "approved"
SUITES = ["qa", "retrieval", "chunks", "trecrag", "mtrag", "ragreport", "golden"]

NAMES = ("hybrid", "keyword")


def lines() -> Iterator[str]:
    """A line a metric: what each sample has; and a line a verdict."""
    result = ragassay.evaluate(APPROVED / "samples.jsonl", SUITES)
    by_metric: dict[str, list[str]] = {}
    for row in result.scores:
        if row.reason in BY_MODEL:  # it depends on what is installed
            continue
        value = row.reason if row.value is None else number(row.value)
        by_metric.setdefault(row.metric, []).append(f"{row.sample} {value}")
    for metric, values in by_metric.items():
        yield f"{metric}: {', '.join(values)}"
    for key in dict.fromkeys(one for row in result.scores for one in row.evidence):
        record = result.judge_answers.get(key)
        assert record is not None
        yield " | ".join([key[:8], str(record["question"]), str(record["answer"])])


def compared() -> Iterator[str]:
    """What people read of a comparison of the bundled systems."""
    runs = [ragassay.evaluate(path_of(name), ["qa", "retrieval"]) for name in NAMES]
    yield from str(runs[0].summary).splitlines()
    yield from str(ragassay.compare(*runs)).splitlines()
    yield from str(ragassay.compare(*runs, correction="holm")).splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "made"), [("run", lines), ("comparison", compared)])
def test_all_is_as_it_was_approved(name: str, made, request, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    check(APPROVED / f"{name}.txt", made(), request.config.getoption("--approve"))
