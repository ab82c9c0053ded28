"""Scores as CSV, JSON lines and Parquet."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.base.errors import UsageError
from ragassay.base.sample import Answer, Passage, Statement
from ragassay.base.score import Reason, Score, Unscored
from ragassay.engine.results.score_rows import ROW_FIELDS, ScoreRow
from ragassay.reports.run_reports import write_reports
from ragassay.reports.tables import published_csv, tables
from ragassay.reports.tables.ore_files import ALL_COLUMNS
from ragassay.reports.tables.ore_values import RunColumns
from ragassay.reports.tables.tables import _cell, run_numbers
from reports_examples import HOSTILE, Kind, example, hostile, outcomes, result, samples


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_wide_csv_says_what_is_unscored_and_every_line_break_stays_in_its_cell(tmp_path) -> None:
    found = example(10)
    path = tmp_path / "wide.csv"
    tables.write_wide_csv(found, path)
    lines = read_csv(path)
    assert len(lines) == 10
    metrics = ["nDCG@10", "Recall@5", "AP", "f1", "em", "rougeL(stem=false).f", "length.words"]
    texts = ["sample", "system", "repeat", "query", "answer", "reference"]
    assert list(lines[0]) == [*texts, *metrics, "right", "cause", "unscored"]
    frame = found.to_polars().fill_null("")
    for name in ("reference", "cause"):  # every table of samples has the same
        assert [line[name] for line in lines] == frame[name].to_list() and any(frame[name])
    unanswerable = next(line for line in lines if line["f1"] == "")
    assert unanswerable["unscored"].startswith("f1: not_applicable; em: not_applicable")
    assert {line["em"] for line in lines} <= {"true", "false", ""}
    data = [{"id": "1", "query": "Who?", "answer": "Ann"}]
    tables.write_wide_csv(ragassay.evaluate(data, ["answer_words", "answered", "em"]), path)
    (line,) = read_csv(path)
    assert line.pop("judge").startswith("offline-lexical/")
    assert "|".join(line.values()) == "1||0|Who?|Ann||1|true||em: not_applicable"
    import polars as pl

    cells = ["a\rb", "😀\r", "a\r\nb", "a\n", "plain", 'a "quoted" \r one']
    tables.write_lines(tmp_path / "t.csv", ["one", "two"], [[cell, "x"] for cell in cells])
    with (tmp_path / "t.csv").open(newline="") as stream:
        assert list(csv.reader(stream)) == [["one", "two"], *([cell, "x"] for cell in cells)]
    assert pl.read_csv(tmp_path / "t.csv")["one"].to_list() == cells
    assert (tmp_path / "t.csv").read_bytes().startswith(b'one,two\n"a\rb",x\n')


@given(st.text(max_size=12))
def test_no_text_cell_starts_as_a_formula_unless_it_is_a_number(text: str) -> None:
    found = str(_cell(text))
    assert not found.startswith(("=", "@", "\t", "\r"))
    if found.startswith(("+", "-")):
        float(found)


def test_negative_values_stay_numbers_and_hostile_texts_are_tamed(tmp_path: Path) -> None:
    kind = Kind("delta", "A signed value", "x", (None, None))
    found = samples(3)
    table = {"delta": [Score(-0.5), Score(2.0), Unscored(Reason.FAILED, "=1+1")]}
    tables.write_csv(result(found, table, (kind,)), tmp_path / "signed.csv")
    lines = read_csv(tmp_path / "signed.csv")
    assert [line["value"] for line in lines] == ["-0.5", "2.0", ""]
    assert lines[2]["explanation"] == "'=1+1"
    assert [_cell(text) for text in ("-5", "+1.5e3", "-5a")] == ["-5", "+1.5e3", "'-5a"]
    tables.write_wide_csv(hostile(), tmp_path / "hostile.csv")
    heads = list(read_csv(tmp_path / "hostile.csv")[0])
    assert "'=cmd|' /C calc'!A0" in heads


def test_jsonl_is_strict_and_holds_the_contract(tmp_path: Path) -> None:
    found = hostile()
    tables.write_jsonl(found, tmp_path / "scores.jsonl")
    lines = (tmp_path / "scores.jsonl").read_text().splitlines()
    records = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert len(records) == len(list(found.scores))
    assert list(records[0]) == list(ROW_FIELDS)
    assert {record["status"] for record in records} == {"ok", "unscored"}
    unscored = next(record for record in records if record["status"] == "unscored")
    assert unscored["value"] is None and unscored["reason"] == "failed"
    assert records[0]["explanation"] == HOSTILE
    bad = ScoreRow("q", "s", 0, "f1", float("nan"), "ok")
    with pytest.raises(ValueError, match="must be finite"):
        tables.write_jsonl(replace(found, _rows=lambda: iter([bad])), tmp_path / "x.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.jsonl"]


def test_parquet_round_trips_values_labels_and_parts(tmp_path: Path) -> None:
    import polars as pl

    kinds = (Kind("f1", "F1", "x"), Kind("verdict", "A label", "x", (None, None), None))
    found = samples(3)
    table = {
        "f1": [Score(0.25, {"p": 0.5}), Unscored(Reason.NOT_APPLICABLE, "none"), Score(True)],
        "verdict": [Score("yes"), Score("no"), Score("yes")],
    }
    tables.write_parquet(result(found, table, kinds), tmp_path / "scores.parquet")
    frame = pl.read_parquet(tmp_path / "scores.parquet")
    assert frame.columns == [*ROW_FIELDS, "label"]
    f1 = frame.filter(pl.col("metric") == "f1")
    assert f1["value"].to_list() == [0.25, None, 1.0]
    assert f1["reason"].to_list() == [None, "not_applicable", None]
    assert f1["label"].to_list() == [None, None, "true"]
    assert json.loads(f1["parts"][0]) == {"p": 0.5}
    assert frame.filter(pl.col("metric") == "verdict")["label"].to_list() == ["yes", "no", "yes"]


@pytest.mark.parametrize("write", ["csv", "wide_csv", "jsonl", "parquet"])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(write: str, tmp_path) -> None:
    found = example(50)
    path = tmp_path / "scores.out"
    path.write_text("old")

    def rows() -> Any:
        for at, row in enumerate(found.scores):
            if at == 200:
                raise KeyboardInterrupt
            yield row

    with pytest.raises(BaseException):  # noqa: B017 -- polars wraps what its source raises
        getattr(tables, f"write_{write}")(replace(found, _rows=rows), path)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["scores.out"]


def test_lone_surrogates_do_not_stop_a_report(tmp_path: Path) -> None:
    found = samples(1)
    table = outcomes(found)
    table["f1"] = [Score(0.5, {"why \ud800": ["\udfff"]}, "broken \ud800 text")]
    broken = result(found, table)
    tables.write_csv(broken, tmp_path / "scores.csv")
    tables.write_jsonl(broken, tmp_path / "scores.jsonl")
    assert all("broken ? text" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())


def test_citations_go_by_passages_on_the_page_and_as_written_for_the_tool() -> None:
    statement = Statement("It is heavy.", citations=("1",))
    answer = Answer("It is heavy.", (statement,))
    sample = replace(samples(1)[0], passages=(Passage("Iron.", "p1"),), answer=answer)
    for by_tool, wanted in ((False, ["p1"]), (True, ["1"])):
        columns = RunColumns(example(1), by_tool=by_tool).texts(sample)
        assert columns["generated_answer"] == [{"text": "It is heavy.", "citations": wanted}]
        assert columns["retrieved_passages"] == {"p1": "Iron."}
    at = ALL_COLUMNS.index("retrieval_score_token_usage")
    assert ALL_COLUMNS[at - 1] == "retrieval_score_mean_umbrela_score"
    assert ALL_COLUMNS[-5:-3] == (
        "generation_score_no_answer_score", "generation_score_token_usage",
    )  # fmt: skip
    # A run without a value is shown, and is in no statistic of consistency.
    cell = json.loads(published_csv._cell([0.5, None, 1.0]) or "")
    assert cell["values"] == [0.5, None, 1.0]
    assert {name: cell["stats"][name] for name in ("mean", "median", "std", "max_min")} == {
        "mean": 0.75, "median": 0.75, "std": 0.25, "max_min": 0.5,
    }  # fmt: skip
    assert published_csv._cell([None, None]) is None


@pytest.mark.parametrize(("name", "metric", "says"), [
    ("ore", "answered", "2 systems"), ("ore", "em", "'trecrag'"), ("trecrag", "em", "'trecrag'"),
    ("ragreport", "em", "'ragreport'"), ("consistency", "em", "--suite consistency"),
    ("xslx", "em", "mean 'xlsx'"),
])  # fmt: skip
def test_a_report_that_a_run_does_not_give_is_refused(name, metric, says, tmp_path) -> None:
    data = [{"id": "1", "query": "q", "answer": "a", "system": system} for system in "xy"]
    with pytest.raises(UsageError, match=says):
        write_reports(found := ragassay.evaluate(data, metric), tmp_path, [name])
    with pytest.raises(UsageError, match="no folder yet"):
        write_reports(found)
    found = run_numbers([("q", "a", 2), ("q", "b", 0), ("q", "a", 0)])
    assert found == {("q", "a", 0): 1, ("q", "a", 2): 2, ("q", "b", 0): 1}
