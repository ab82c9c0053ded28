"""Shapes of data: column by column, several files, standard input, encodings, sheets, folders."""

import gzip
import io
import json
import re
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pydantic import BaseModel

import ragassay
from json_lines import jsonl
from ragassay import InputError, Sample, UsageError
from ragassay.base.sample import Passage
from ragassay.cli.command_line import call
from ragassay.engine.config.run_config import make_config
from ragassay.engine.run.source import format_of, open_source
from ragassay.formats import Notes, detect, from_records, load, opening, place

ROWS = [
    {"id": "1", "question": "Who wrote Emma?", "contexts": ["By Austen."], "answer": "Austen"},
    {"id": "2", "question": "Wer schrieb „Über“?", "contexts": [], "answer": "Müller"},
]
EXPECTED = list(from_records(ROWS))
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
FRAME = pl.DataFrame([{**row, "contexts": json.dumps(row["contexts"])} for row in ROWS])
TABLE, CELLS = FRAME.write_csv(), [FRAME.columns, *map(list, FRAME.rows())]


def read(path: Any, **options: Any) -> list[Sample]:
    return load(path, notes=Notes(), **options)


def error(path: Any, **options: Any) -> str:
    with pytest.raises((InputError, UsageError)) as caught:
        read(path, **options)
    return str(caught.value)


COLUMNS = {key: [row[key] for row in ROWS] for key in ROWS[0]}
BY_ROW = {key: {str(at): value for at, value in enumerate(COLUMNS[key])} for key in COLUMNS}
SPLIT = {"columns": list(COLUMNS), "index": [0, 1], "data": [[*row.values()] for row in ROWS]}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("content", [COLUMNS, BY_ROW, SPLIT])
def test_json_that_holds_columns_is_read_as_its_rows(tmp_path, content, indent: int | None) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(content, indent=indent))
    assert read(path) == EXPECTED


@pytest.mark.parametrize("name", ["table.json", "table.jsonl"])
def test_columns_of_different_lengths_are_told_with_their_lengths(tmp_path, name: str) -> None:
    ragged = {"question": ["a b?", "c d?"], "answer": ["x"], "contexts": [["p"], ["q"]]}
    path = tmp_path / name
    path.write_text(json.dumps(ragged))
    assert "different lengths: question 2, answer 1, contexts 2" in error(path)
    path.write_text(json.dumps({"id": "1", "references": ["x", "y"], "contexts": ["p"]}))
    assert len(read(path)) == 1


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_beside_what_describes_it_is_read_as_the_records(tmp_path, indent) -> None:
    content = {"description": "All answers.", "items": ROWS, "meta": {"made_by": "our tool"}}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(content, indent=indent))
    notes = Notes()
    assert load(path, notes=notes) == EXPECTED
    assert any("around a list of records" in one for one in notes)


def test_records_of_several_tables_are_numbered_without_a_gap(tmp_path: Path) -> None:
    tables = [{"id": ["1", "2"], "query": ["a", "b"]}, {"id": ["3", "1"], "query": ["c", "d"]}]
    path = jsonl(tmp_path / "tables.jsonl", *tables)
    assert "line 4" in error(path) and "line 1" in error(path)


@pytest.mark.parametrize("record", [
    {"contexts": ["a", "b"], "references": ["c", "d"]},
    {"input": [{"role": "user", "content": "a"}], "contexts": ["b"]},
    {"predictions": ["a"], "contexts": ["b"]},
])  # fmt: skip
def test_a_record_of_lists_is_no_table(tmp_path: Path, record: Any) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(record))
    assert len(read(path)) == 1


@pytest.mark.parametrize("part", [{"text": "T"}, {"text": "T", "lang": "en"}, {"body": "T"}])
def test_a_record_of_objects_with_the_same_keys_is_no_table(tmp_path: Path, part: Any) -> None:
    """As a table its id would be "text"."""
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"input": part, "output": part}))
    key = next(iter(part))
    (one,) = read(path, columns={"query": f"input.{key}", "answer": f"output.{key}"})
    assert (one.query, one.answer_text, one.id[:2]) == ("T", "T", "q-")


LOGGED = {"frage": "Wer?", "antwort": "Ann.", "results": [{"id": "d1"}, {"id": "d2"}]}


@pytest.mark.parametrize(
    "results", [[{"id": "d1"}, {"id": "d2"}], [{"id": "d1", "context": "Emma."}], [{"qid": 1}]]
)
def test_what_was_retrieved_is_no_list_of_records(tmp_path: Path, results: Any) -> None:
    """Each document would be a sample, and the question would be left out."""
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({**LOGGED, "results": results}))
    assert "none is recognised as a query" in error(path)


@pytest.mark.parametrize("name", ["results", "data", "items", "runs"])
def test_a_record_in_which_columns_are_chosen_is_not_taken_for_what_stands_around_records(
    tmp_path: Path, name: str
) -> None:
    found = [{"text": "Emma.", "question": "?"}, {"text": "Persuasion.", "question": "?"}]
    record = {"nr": 1, "frage": "Wer?", name: found, "meta": {"n": 2}}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({**record, "nr": 2}))
    columns = {"id": "nr", "query": "frage", "passages": f"{name}[*].text"}
    samples = read(path, columns=columns)
    assert [(one.id, one.query) for one in samples] == [("1", "Wer?"), ("2", "Wer?")]
    assert [one.text for one in samples[1].passages or ()] == ["Emma.", "Persuasion."]
    # Nothing but the choice says that a title is a question.
    path.write_text(json.dumps({"title": "Wer?", name: found}))
    (one,) = read(path, columns={"query": "title", "passages": f"{name}[*].text"})
    assert one.query == "Wer?" and len(one.passages or ()) == 2
    # Columns of the records within leave the object around them.
    path.write_text(json.dumps({"nr": 1, "data": [{"nr": 2, "frage": "Wer?"}]}))
    (one,) = read(path, columns={"id": "nr", "query": "frage"})
    assert (one.id, one.query) == ("2", "Wer?")


def test_the_number_of_records_is_not_that_of_the_columns(tmp_path: Path) -> None:
    for name, text, n in (("a.jsonl", bytes, 3), ("a.jsonl.gz", gzip.compress, None)):
        (tmp_path / name).write_bytes(text(b'{"query": "a"}\n' * 3))
        assert open_source(tmp_path / name, make_config()).count() == n
    assert open_source({"query": ["a", "b", "c"]}, make_config()).count() is None
    assert open_source([{"query": "a"}, {"query": "b"}], make_config()).count() == 2
    (tmp_path / "a.jsonl").write_text('{"query": "a"}\n{"query": "b"}')  # without an end
    (tmp_path / "b.jsonl").write_text('{"id": "z", "query": "c"}\n')
    config = make_config(data=[str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")])
    assert open_source(config.data, config).count() == 3


def test_columns_in_memory_are_records() -> None:
    assert list(from_records(COLUMNS)) == EXPECTED
    with pytest.raises(InputError, match=r"different lengths: query 2, answer 1"):
        list(from_records({"query": ["a", "b"], "answer": ["c"]}))


class Case(BaseModel):
    input: str
    actual_output: str


@dataclass
class Other:
    input: str
    actual_output: str


@pytest.mark.parametrize("kind", [Case, Other])
def test_objects_of_other_tools_are_records(kind: Any) -> None:
    (one,) = from_records([kind(input="a", actual_output="b")], notes=Notes())
    assert (one.query, one.answer_text) == ("a", "b")


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    for at, row in enumerate(ROWS):
        (tmp_path / f"shard-{at}.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_several_files_and_patterns_are_one_stream(shards: Path) -> None:
    names = [shards / "shard-0.jsonl", shards / "shard-1.jsonl"]
    for given in (names, shards / "shard-*.jsonl", str(shards / "*.jsonl")):
        assert read(given) == EXPECTED
    assert "no file has a name of this pattern" in error(shards / "none-*.jsonl")
    assert ragassay.evaluate(names, ["em"]).summary.n_samples == 2
    (shards / "shard-[0].jsonl").write_text('{"id": "9", "query": "a"}')  # its name, no pattern
    assert [one.id for one in read(shards / "shard-[0].jsonl")] == ["9"]


def test_files_of_several_formats_follow_each_other(shards: Path) -> None:
    pl.DataFrame([{**ROWS[1], "id": "3"}]).write_parquet(shards / "shard-2.parquet")
    assert [one.id for one in read(shards / "shard-*")] == ["1", "2", "3"]
    both = [shards / "shard-2.parquet", shards / "shard-0.jsonl"]
    both[1].write_text('{"id": "4", "query": "Why?", "answer": null, "error": "None"}')
    assert read(both)[1].failure == "None", "only cells of tables say so that there was none"
    assert [detect(each).name for each in (both, both[::-1])] == ["parquet", "jsonl"]


def test_one_sample_in_two_files_is_an_error_that_names_both(shards: Path) -> None:
    first = shards / "shard-0.jsonl"
    (shards / "again.jsonl").write_text(first.read_text())
    said = error([first, shards / "again.jsonl"])
    assert (
        f"{shards / 'again.jsonl'}, line 1" in said
        and f"already given in line 1 of {first}" in said
        and "give the file with --references" in said
    )


def test_judged_queries_count_once_for_several_files(shards: Path) -> None:
    (shards / "qrels").write_text("1 0 a 1\n2 0 b 1\n3 0 c 1\n")
    found = read(shards / "shard-*.jsonl", gold=shards / "qrels")
    assert [one.id for one in found] == ["1", "2", "3"]


class Piped(io.TextIOWrapper):
    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_standard_input_is_read_more_than_once(tmp_path, suffix: str, monkeypatch, capsys) -> None:
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        FRAME.write_parquet(path)
    else:
        path.write_text(TABLE if suffix == "csv" else LINES, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", Piped(path.read_bytes()))
    folder = tmp_path / "run"
    words = ["--metrics", "token_f1.f", "-o", str(folder), "--json"]
    assert call(["run", "-", *words]) == 3  # there are no references
    assert json.loads(capsys.readouterr().out)["n_samples"] == 2
    assert [one.id for one in load(folder / "samples.jsonl")] == ["1", "2"]


def test_an_error_in_standard_input_names_its_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", Piped(b'{"id": 1, "query": "a"}\n{"id": 2, "query": {}}\n'))
    assert call(["validate", "-"]) == 2
    assert "standard input, line 2, field 'query'" in capsys.readouterr().err


def test_only_the_command_line_reads_standard_input(monkeypatch, here) -> None:
    monkeypatch.setattr("ragassay.formats.sources.opening._files", [])
    assert "there is no such file" in error("-")
    monkeypatch.setattr("sys.stdin", None)
    assert call(["validate", "-"]) == 2


@pytest.mark.parametrize(("name", "content"), [("a.csv", TABLE), ("a.jsonl", LINES)])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_a_byte_order_mark_names_the_encoding(tmp_path, name, content, encoding) -> None:
    path = tmp_path / name
    path.write_bytes(f"\ufeff{content}".encode(encoding))
    assert read(path) == EXPECTED


@pytest.mark.parametrize(("name", "content"), [("a.csv", TABLE), ("a.jsonl", LINES)])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be", "UTF8"])
def test_an_encoding_can_be_named(tmp_path: Path, name: str, content: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    assert read(path, encoding=encoding) == EXPECTED
    assert format_of(path, make_config(encoding=encoding)) == detect([path], encoding).name


def test_text_in_another_encoding_is_limited_as_a_line_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes((LINES * 10).encode("utf-16"))
    with opening.pieces_within(1000), pytest.raises(InputError, match="utf-16 is read as a whole"):
        load(path)


def test_a_wrong_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    assert "--encoding cp1252" in error(path)
    assert "not in the encoding ascii" in error(path, encoding="ascii")
    assert "there is no encoding 'cp1522'. Did you mean 'cp1252'" in error(path, encoding="cp1522")
    assert "there is no encoding 'hex'" in error(path, encoding="hex")


def sheet(path: Path, rows: list[list[Any]], more: bool = False) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'excel'")
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    if more:
        book.create_sheet("notes").append(["x"])
        book["notes"].append(["y"])
    book.save(path)
    return path


def test_a_sheet_is_read_row_by_row(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", CELLS, more=True)
    notes = Notes()
    assert load(path, notes=notes) == EXPECTED
    assert any("further sheets ('notes')" in line for line in notes)
    days = [datetime.fromisoformat(one) for one in ("2024-05-01", "2024-05-01T09:30")]
    (timed,) = load(sheet(tmp_path / "b.xlsx", [["id", "query", "day", "at"], [1, "a", *days]]))
    assert timed.metadata == {"day": "2024-05-01", "at": "2024-05-01T09:30:00"}


@pytest.mark.parametrize(("rows", "said"), [
    ([["id", "query", "Query"], [1, "a", "b"]], "'query' and 'Query' could each be query"),
    ([["id", "id"], [1, 2]], "line 1: the header names 'id' more than once"),
    ([["id", "query"], [1, "a"], [2, "b", "c"]], "line 3: a column has a value but no name"),
    ([["id", "query"], [1, True]], "line 2, field 'query': the flag true"),
    ([["id", "query"]], "no sheet holds a header and a row"),
])  # fmt: skip
def test_a_faulty_sheet_is_an_error_that_says_where(tmp_path, rows: list[list[Any]], said) -> None:
    assert said in error(sheet(tmp_path / "a.xlsx", rows))


@pytest.mark.parametrize("size", ["A1", "A1:B2", "A1:C2"])
def test_a_sheet_that_states_too_small_a_size_is_read_to_its_end(tmp_path: Path, size: str) -> None:
    right = sheet(tmp_path / "right.xlsx", CELLS)
    path = tmp_path / "wrong.xlsx"
    with zipfile.ZipFile(right) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            part = re.sub(rb'(?<=<dimension ref=")[^"]*', size.encode(), old.read(name))
            new.writestr(name, part)
    assert load(path, notes=Notes()) == EXPECTED


def arrow(folder: Path, rows: list[dict[str, Any]], per_file: int = 1) -> None:
    """Writes what ``Dataset.save_to_disk`` writes."""
    folder.mkdir(parents=True)
    names = []
    for at in range(0, len(rows), per_file):
        table = pa.Table.from_pylist(rows[at : at + per_file])
        names.append(f"data-{at:05}-of-{len(rows):05}.arrow")
        with pa.ipc.new_stream(folder / names[-1], table.schema) as stream:
            stream.write_table(table)
    state = {"_data_files": [{"filename": name} for name in names], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def test_a_saved_data_set_is_read(tmp_path: Path) -> None:
    arrow(tmp_path / "set", ROWS)
    assert read(tmp_path / "set") == EXPECTED
    arrow(tmp_path / "bare", [{"answer": "A."}, {"answer": "B."}])  # numbered over all its files
    assert [one.id for one in read(tmp_path / "bare")] == ["row-1", "row-2"]


def test_of_splits_the_test_split_is_read_or_one_must_be_named(tmp_path: Path) -> None:
    for name in ("train", "test"):
        arrow(tmp_path / "set" / name, ROWS)
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    notes = Notes()
    assert load(tmp_path / "set", notes=notes) == EXPECTED
    assert any("splits beside 'test' (train)" in line for line in notes)
    for split in ("../other", 3):
        (tmp_path / "set" / "dataset_dict.json").write_text(json.dumps({"splits": [split]}))
        assert "has the splits (none)" in error(tmp_path / "set")
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "dev"]}')
    assert f"Name one of them: {tmp_path / 'set' / 'train'}" in error(tmp_path / "set")


@pytest.mark.parametrize(("state", "said"), [
    ("{}", "names no data files"),
    ('{"_data_files": [{"filename": "../x.arrow"}]}', "names no data files"),
    ('{"_data_files": [{"filename": "x.arrow"}]}', "there is no such file"),
    ('{"_data_files": [{"filename": "state.json"}]}', "not a readable Arrow file"),
])  # fmt: skip
def test_a_damaged_data_set_is_an_error(tmp_path: Path, state: str, said: str) -> None:
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text(state)
    assert said in error(tmp_path)


class FakeDataset:
    """What ``datasets.Dataset`` has, seen from outside."""

    column_names = ("id", "question")
    features = ("id", "question")

    def __iter__(self) -> Any:
        return iter(ROWS)


def test_data_sets_in_memory_are_read_by_their_shape() -> None:
    assert list(from_records(FakeDataset())) == EXPECTED
    assert list(from_records({"train": FakeDataset()})) == EXPECTED
    both = {"train": FakeDataset(), "test": FakeDataset()}
    assert list(from_records(both, notes=Notes())) == EXPECTED
    with pytest.raises(InputError, match=r"has the splits a, b\. Give one: data\['a'\]"):
        list(from_records({"a": FakeDataset(), "b": FakeDataset()}))


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td9\t1\n")
    queries = [{"_id": "q1", "text": "Who?"}, {"id": "q2", "text": "What?"}]
    corpus = [{"_id": "d1", "title": "T", "text": "x"}, {"_id": "d2", "title": "", "text": "y"}]
    for name, rows in (("queries", queries), ("corpus", corpus)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_beir_folder_with_a_run_has_texts_and_judgements(beir: Path) -> None:
    (beir / "bm25.run").write_text("q1 Q0 d2 1 2.0 bm25\nq1 Q0 d1 2 1.0 bm25\n")
    notes = Notes()
    one, two = load(beir, notes=notes)
    assert (one.id, one.query, one.system) == ("q1", "Who?", "bm25")
    assert [(p.id, p.text) for p in one.passages or ()] == [("d2", "y"), ("d1", "T\nx")]
    assert [(g.id, g.text) for g in one.gold or ()] == [("d1", "T\nx")]
    assert two.passages == () and [(g.id, g.text) for g in two.gold or ()] == [("d9", None)]
    assert any("passages that corpus.jsonl lacks: 1" in line for line in notes)
    assert ragassay.evaluate(beir).summary.metrics["RR"].mean == 0.25


def test_a_beir_folder_holds_the_runs_of_several_systems(beir: Path) -> None:
    (beir / "runs").mkdir()
    for name in ("a", "b"):
        (beir / "runs" / name).write_text(f"q1 Q0 d2 1 2.0 {name}\n")
    # What no run retrieved has its text, too.
    assert [(one.id, one.system, [g.text for g in one.gold or ()]) for one in read(beir)] == [
        *(("q1", "a", ["T\nx"]), ("q2", "a", [None]), ("q1", "b", ["T\nx"]), ("q2", "b", [None]))
    ]
    (beir / "runs" / "b").write_text("q1 Q0 d1 1 2.0 a\n")
    assert "was already given" in error(beir)


def test_a_beir_folder_without_a_run_says_what_to_do(beir: Path) -> None:
    assert f"ragassay run RUN --qrels {beir}" in error(beir)
    (beir / "r.run").write_text("q1 Q0 d1 1 2.0 a\n")
    (beir / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"text": "y"}\n')
    assert "corpus.jsonl, line 2, field '_id': there is no id" in error(beir)


def test_a_workbook_made_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(70_000_000))
    assert "unpacks to more than 100 times its size" in error(path)


def test_a_sheet_is_named(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", [["query"], ["Who?"]], more=True)
    told = error(path, sheet="note")
    assert "no sheet 'note' holds a header and a row. Did you mean 'notes'?" in told
    (one,) = load(path, notes=Notes(), sheet="notes", columns={"query": "x"})
    (same,) = open_source(path, make_config(sheet="notes", columns={"query": "x"})).samples
    assert one.query == same.query == "y"


def test_gold_that_holds_a_list_of_answers_names_the_flag(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"query": "Who?", "answer": "A", "gold": {"answers": ["Ann"]}}))
    with pytest.raises(InputError, match=r"'answers' holds a list.*references=gold\.answers"):
        ragassay.load(path)
    (found,) = ragassay.load(path, columns={"references": "gold.answers"}, notes=Notes())
    assert (found.references, found.gold) == (("Ann",), None)


def test_texts_that_programs_write_for_missing_values_are_told_once(tmp_path: Path) -> None:
    """They stay texts: an answer may be "None"."""
    table = tmp_path / "t.csv"
    table.write_text(
        "question,response,reference,contexts\nWho?,Ann,nan,nan\nWhen?,NaN,1965,a\n"
        "Why?,N/A ,None,None\nHow?,none of it,n/a,b\n"
    )
    notes = Notes()
    found = load(table, notes=notes)
    assert [one.answer_text for one in found] == ["Ann", "NaN", "N/A ", "none of it"]
    assert found[0].references == ("nan",)
    told = [one for one in notes if "say only 'nan'" in one]
    assert found[0].passages == (Passage("nan"),)
    assert [one.partition(". ")[0] for one in told] == [
        "references that say only 'nan', 'None' or the like: 3 (first: line 2)",
        "passages that say only 'nan', 'None' or the like: 2 (first: line 2)",
        "answers that say only 'nan', 'None' or the like: 2 (first: line 3)",
    ]
    assert all("leave the cell empty (null in JSON)" in one for one in told)
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"question": "N/A", "answer": null}\n')
    notes = Notes()
    load(lines, notes=notes)
    assert any(one.startswith("queries that say only 'nan'") for one in notes)


@pytest.mark.parametrize(("name", "field"), [
    *((f"{word}_answer", None) for word in ("incorrect", "wrong", "hallucinated", "falsche")),
    *((f"answer {word}", None) for word in ("Reason", "comment", "rating", "description")),
    *(("rejected", None), ("best_answer", "references"), ("gold", "references")),
    *((f"{word}_docs", None) for word in ("relevant", "expected", "wrong", "supporting")),
    *(("bot_answer", "answer"), ("found_contexts", "passages")),
])  # fmt: skip
def test_what_is_expected_or_wrong_is_never_suggested_as_a_systems_output(
    tmp_path: Path, name: str, field: str | None
) -> None:
    path = tmp_path / "s.jsonl"
    value: Any = ["Dune is a novel."] if field == "passages" else "Frank Herbert wrote it."
    path.write_text(json.dumps({"question": "Who wrote Dune?", name: value}))
    found = dict(place(path).suggested)
    found |= dict(place(path).placed) if name == "gold" else {}
    assert found.get(field or "answer") == (name if field and name != "gold" else None)
    assert not {"answer", "passages"} & found.keys() or field in ("answer", "passages")
