import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, GoldPassage, Passage, Sample, Statement
from ragassay.formats import Notes, detect, from_records, load, to_record

ROWS: list[dict[str, Any]] = [
    {"id": 1, "question": "a", "contexts": ["x", "y"], "answer": "b", "ground_truths": ["c"]},
    {"id": 2, "question": "d", "contexts": [], "answer": None, "ground_truths": ["e", "f"]},
]
SAMPLES = [
    Sample(
        id="1", query="a", passages=(Passage("x"), Passage("y")), answer=Answer("b"),
        references=("c",),
    ),
    Sample(id="2", query="d", passages=(), references=("e", "f")),
]  # fmt: skip


def written(tmp_path: Path, content: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_tables_are_read_whatever_stands_between_cells(tmp_path, delimiter, ending) -> None:
    rows = [["id", "query", "answer"], ["1", "line\none", f"with {delimiter}"], ["2", "b", ""]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=ending).writerows(rows)
    name = "a.tsv" if delimiter == "\t" else "a.csv"
    path = written(tmp_path, buffer.getvalue(), name)
    assert detect(path).name == name[2:]
    assert load(path) == [
        Sample(id="1", query="line\none", answer=Answer(f"with {delimiter}")),
        Sample(id="2", query="b"),
    ]


def test_a_long_cell_is_read_whole(tmp_path: Path) -> None:
    assert load(written(tmp_path, f"id,query\n1,{'x' * 300_000}\n"))[0].query == "x" * 300_000


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;\r"])
def test_the_delimiter_that_excel_names_is_taken(tmp_path: Path, first: str) -> None:
    path = written(tmp_path, f"{first}\nid;query, or so;answer\n1;a;b\n")
    assert detect(path).name == "csv"
    (sample,) = load(path, columns={"query": "query, or so"})
    assert (sample.query, sample.answer) == ("a", Answer("b"))
    for rows, line in (("2\n", 3), ("1;a\n2\n", 4)):
        with pytest.raises(InputError, match=f"line {line}: the row has 1 cells"):
            load(written(tmp_path, f"{first}\nid;query\n{rows}"))


LIST = "line 2, field 'contexts': the cell begins like a list"


@pytest.mark.parametrize(("content", "problem"), [
    ("id,query\n1,a\n2,b,c\n", "line 3: the row has 3 cells, the header 2"),
    ("id,query\n1\n", "line 2: the row has 1 cells, the header 2"),
    ('id,query\n1,"a\n2,b\n', "line 2: this is not a valid table"),
    ('id,query\n1,"a"b\n', "line 2: this is not a valid table"),
    ("id,query,id\n1,a,2\n", "line 1: the header names 'id' more than once"),
    ('id,query,timestamp\n1,"a\nb\nc",1\n\n2,d,noon\n', "line 6, field 'timestamp'"),
    ('id,query,gold\n1,a,"{""g"": 1, ""g"": 2}"\n',
     "line 2, field 'gold': an object has the key 'g' twice"),
    *((f'id,query,contexts\n1,a,"{cell}"\n', LIST)
      for cell in ("['a' 'b']", "['a'\n 'b']", "['a', ", "[{'text': 'a'")),
    *((f'id,question,contexts\n1,Who?,"{cell}"\n', "field 'contexts'")
      for cell in ("[None, 'a']", "[nan, 'a']", '[null, ""a""]')),
])  # fmt: skip
def test_a_broken_table_is_an_error_with_its_line(tmp_path, content: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load(written(tmp_path, content))


@pytest.mark.parametrize("column", ["contexts", "retrieved_ids", "gold", "gold_ids"])
@pytest.mark.parametrize("cell", [
    *("['a x' 'b'\n 'c']", "[1 2 3]", "[ 1\n 10]", "array(['a'], dtype=object)"),
    *("[array(['a'])]", "[np.str_('a'), np.str_('b')]", "[np.int64(1)]", "('a', 'b')"),
])  # fmt: skip
def test_what_numpy_or_python_prints_is_not_one_passage(tmp_path, cell: str, column: str) -> None:
    path = written(tmp_path, f'id,query,{column}\n1,a,"{cell}"\n')
    with pytest.raises(InputError, match=rf"line 2, field '{column}': .*\.tolist\(\)"):
        load(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_stands_in_a_cell_comes_out_of_it(tmp_path: Path, texts: list[str]) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(
            [["id", "answer"], *([str(n), text] for n, text in enumerate(texts))]
        )
    assert [s.answer.text for s in load(path) if s.answer] == texts


def test_frames_tables_and_lists_give_the_same_samples() -> None:
    frames = pd.DataFrame(ROWS), pl.DataFrame(ROWS), pl.DataFrame(ROWS).lazy()
    for records in (ROWS, SAMPLES, *frames, pa.Table.from_pylist(ROWS)):
        assert list(from_records(records)) == SAMPLES


def test_a_parquet_file_gives_the_same_samples_and_a_damaged_one_is_an_error(tmp_path) -> None:
    path = tmp_path / "data"
    pl.DataFrame(ROWS).write_parquet(path)
    assert detect(path).name == "parquet"
    assert load(path) == SAMPLES
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        load(path)


def test_a_parquet_file_is_read_in_slices_and_its_rows_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a[1].parquet"
    ids = [*range(10_000), 4]
    pl.DataFrame({"id": ids, "query": ["q"] * len(ids)}).write_parquet(path, row_group_size=777)
    with pytest.raises(InputError, match=r"line 10001.*'4'.*already given in line 5"):
        load(path)
    assert [s.id for s in load(path, limit=9_000)] == [str(n) for n in range(9_000)]


def test_fields_that_some_structs_of_a_parquet_file_lack_are_not_given(tmp_path: Path) -> None:
    records = [
        {"id": "1", "query": "q", "gold": [{"id": "a", "grade": 2}, {"id": "b"}]},
        {"id": "2", "query": "r", "answer": {"text": "x"}},
        {"id": "3", "query": "s", "answer": {"statements": [{"text": "y", "citations": ["a"]}]}},
    ]
    path = tmp_path / "a.parquet"
    pl.DataFrame(records, infer_schema_length=None).write_parquet(path)
    first, second, third = load(path)
    assert first.gold == (GoldPassage("a", grade=2), GoldPassage("b"))
    assert (first.answer, second.answer) == (None, Answer("x"))
    assert third.answer is not None and third.answer.text == "y"


def test_a_column_that_stands_twice_in_a_frame_is_an_error() -> None:
    names = ["id", "query", "query"]
    table = pa.table([pa.array(["1"]), pa.array(["a"]), pa.array(["b"])], names=names)
    for records in (pd.DataFrame([["1", "a", "b"]], columns=names), table):
        with pytest.raises(InputError, match="more than one column 'query'"):
            list(from_records(records))


def test_the_index_of_pandas_in_csv_is_no_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame({"query": ["Who?", "When?"], "topic": ["a", "b"]}).to_csv(path)
    assert path.read_text().startswith(",query")
    assert [one.metadata for one in load(path, notes=Notes())] == [{"topic": "a"}, {"topic": "b"}]
    path.write_text(",query\nkept,Who?\n")
    assert [one.metadata for one in load(path, notes=Notes())] == [{"": "kept"}]


def test_a_named_index_of_pandas_is_a_column() -> None:
    frame = pd.DataFrame({"id": [1, 2], "query": ["a", "b"]})
    expected = [Sample(id="1", query="a"), Sample(id="2", query="b")]
    assert list(from_records(frame)) == list(from_records(frame.set_index("id"))) == expected
    with pytest.raises(InputError, match="more than one column 'id'"):
        list(from_records(frame.set_index("id", drop=False)))


def test_every_missing_value_of_pandas_is_none() -> None:
    frame = pd.DataFrame(
        {"id": [1, 2], "query": ["a", "b"], "answer": ["x", float("nan")],
         "domain": pd.array(["law", pd.NA], dtype="string"),
         "turn": pd.array([1, None], dtype="Int64"), "size": pd.cut([1, 9], [0, 5]),
         "timestamp": [pd.Timestamp("2023-11-14T22:13:20Z"), pd.NaT]}
    )  # fmt: skip
    first, second = from_records(frame)
    held = {"domain": "law", "turn": 1, "size": "(0.0, 5.0]"}
    assert (first.timestamp, first.metadata) == (1700000000.0, held)
    assert (second.answer, second.timestamp) == (None, None)
    assert second.metadata == {"domain": None, "turn": None, "size": None}


def test_numpy_values_and_dates_become_plain_ones() -> None:
    record = {
        "id": np.int64(7), "query": "q", "passages": np.array(["a", "b"]),
        "timestamp": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), "n": np.float32(0.5),
    }  # fmt: skip
    (sample,) = from_records([record])
    assert (sample.id, sample.timestamp, sample.metadata) == ("7", 1700000000.0, {"n": 0.5})
    assert sample.passages == (Passage("a"), Passage("b"))


@pytest.mark.parametrize("records", ["a.jsonl", {"question": "a"}, 3, [3], ["a"]])
def test_what_is_no_list_of_records_is_an_error(records: object) -> None:
    with pytest.raises(InputError, match=r"load|Give a list of dicts"):
        list(from_records(records))


def test_texts_in_columns_of_bytes_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"id": [b"1"], "query": ["Who?"], "contexts": [["Émile.".encode()]]})
    frame.write_parquet(path)
    assert load(path) == [Sample(id="1", query="Who?", passages=(Passage("Émile."),))]
    pl.DataFrame({"id": ["1"], "query": [b"\xff\xfe"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"2 bytes that are not text in UTF-8") as caught:
        load(path)
    assert (caught.value.line, caught.value.field) == (1, "query")


@pytest.mark.parametrize("spell", [json.dumps, repr])
def test_an_answer_with_statements_survives_a_table(tmp_path: Path, spell: Any) -> None:
    """As ragassay writes it; an answer that is any other JSON is what the system said."""
    sample = Sample(id="1", query="Who?", answer=Answer("Ann.", (Statement("Ann.", ("p1",)),)))
    frame = pd.DataFrame([{**to_record(sample), "answer": spell(to_record(sample)["answer"])}])
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert load(tmp_path / "a.csv") == [sample]
    said = '{"text": "Ann.", "sure": true}'
    frame.assign(answer=said).to_csv(tmp_path / "a.csv", index=False)
    assert load(tmp_path / "a.csv")[0].answer == Answer(said)


@pytest.mark.parametrize("cell", ["None", "nan", "null", "False", "FALSE"])
def test_a_cell_that_says_there_was_no_error_is_no_failure(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"id,question,answer,error\n1,Who?,Ann,{cell}\n2,When?,,timeout\n")
    assert [one.failure for one in load(path)] == [None, "timeout"]
