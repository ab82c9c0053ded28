"""Samples of a time interval, both ends included (ML cube's from_timestamp and to_timestamp)."""

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ragassay
from json_lines import jsonl
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.engine.config.run_config import make_config
from ragassay.engine.run.source import open_source

DAY = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
TIMES = (DAY - 1, DAY, DAY + 3600, DAY + 86_399.5, DAY + 86_400, None)
RECORDS: list[dict[str, Any]] = [
    {"id": f"q{at}", "answer": "a", "references": ["a"], "timestamp": time}
    for at, time in enumerate(TIMES)
]


def kept(data: Any = RECORDS, **options: Any) -> list[str]:
    return [sample.id for sample in ragassay.evaluate(data, "qa", **options).samples]


def file_of(records: list[dict[str, Any]], folder: Path) -> Path:
    return jsonl(folder / "rows.jsonl", *records)


@pytest.mark.parametrize(("interval", "ids"), [
    ({"from_timestamp": DAY, "to_timestamp": DAY + 3600}, ["q1", "q2"]),
    ({"from_timestamp": DAY + 86_399.5}, ["q3", "q4"]), ({"to_timestamp": str(DAY)}, ["q0", "q1"]),
    ({"from_timestamp": "2024-05-01", "to_timestamp": "2024-05-01"}, ["q1", "q2", "q3"]),
    ({"from_timestamp": "2024-05-01T03:00:00+02:00"}, ["q2", "q3", "q4"]),
    ({"to_timestamp": datetime(2024, 5, 1, tzinfo=UTC)}, ["q0", "q1"]),
    ({"from_timestamp": DAY, "limit": 1}, ["q1"]),
    ({"from_timestamp": DAY, "to_timestamp": DAY}, ["q1"]),
])  # fmt: skip
def test_both_ends_are_included(interval: dict[str, Any], ids: list[str], tmp_path: Path) -> None:
    assert kept(**interval) == kept(file_of(RECORDS, tmp_path), **interval) == ids


def test_what_is_left_out_is_told_and_the_interval_is_recorded(tmp_path: Path, capsys) -> None:
    data = file_of(RECORDS, tmp_path)
    words = ["--from", "2024-05-01", "--to", "2024-05-01T01:00", "-o", str(tmp_path / "run")]
    assert call(["run", str(data), *words]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "3 outside of it (--from, --to) and 1 without a timestamp" in said
    stored = ragassay.open_run(tmp_path / "run")
    assert [sample.id for sample in stored.samples] == ["q1", "q2"]
    assert call(["run", str(tmp_path / "run" / "run.yaml"), "-o", str(tmp_path / "again")]) == 0
    assert ragassay.open_run(tmp_path / "again").summary.n_samples == 2


def test_samples_are_counted_where_that_is_cheap(tmp_path: Path) -> None:
    path, packed = file_of(RECORDS, tmp_path), tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    (other := tmp_path / "other.jsonl").write_bytes(path.read_bytes())
    kinds = (RECORDS, str(path), packed, [str(path), str(other)])
    sources = [open_source(data, make_config()) for data in kinds]
    assert [source.count() for source in sources] == [6, 6, None, 12]
    assert [source.title for source in sources[1::2]] == [
        "rows.jsonl",
        "rows.jsonl and 1 more file",
    ]


@pytest.mark.parametrize(("words", "says"), [
    (["--from", "yesterday"], "--from: 'yesterday' is not a time. Give seconds since"),
    (
        ["--from", "2030-01-01", "--to", "2025-06-30"],
        "--to: the interval ends at 2025-06-30T23:59:59Z and begins later, at "
        "2030-01-01T00:00:00Z.",
    ),
    (["--from", "5", "--to", "-200000000000"], "--to: '-200000000000' is not a time."),
])  # fmt: skip
def test_an_impossible_interval_is_refused(words: list[str], says: str, tmp_path, capsys) -> None:
    assert call(["run", str(file_of(RECORDS[:1], tmp_path)), *words]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    with pytest.raises(UsageError):
        kept(from_timestamp=1, to_timestamp=0)
    with pytest.raises(InputError, match="no sample lies in the time interval: 5 outside"):
        kept(from_timestamp=DAY + 10**6)


@pytest.mark.parametrize("limit", [None, 2, 1])
def test_the_first_run_of_a_query_is_that_of_each_system(limit: int | None, tmp_path: Path) -> None:
    runs = [("a", 1), ("a", 0), ("b", 2), ("b", 1)]
    records = [{"id": "q", "answer": "x", "system": name, "repeat": n} for name, n in runs]
    for data in (records, str(file_of(records, tmp_path))):
        source = open_source(data, make_config(limit=limit), first_runs=True)
        found = [(sample.system, sample.repeat) for sample in source.samples]
        assert found == [("a", 0), ("b", 1)][:limit]
    timed = [{**record, "timestamp": at} for at, record in enumerate(records)]
    for data in (timed, str(file_of(timed, tmp_path))):
        source = open_source(data, make_config(limit=limit, to_timestamp=2), first_runs=True)
        found = [(sample.system, sample.repeat) for sample in source.samples]
        assert found == [("a", 0), ("b", 2)][:limit]  # the first within the interval
