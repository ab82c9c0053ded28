"""Bad input gets one sentence that says file, line, field and what to do, and loses nothing."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from json_lines import jsonl
from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.formats import Notes, load, read

LINE = '{"id": "%d", "query": "q%d", "answer": "a"}\n'
UTF_16 = ("utf-16-le", "utf-16-be")


def error(path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        load(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


def test_an_invalid_line_among_ten_thousand_is_named_and_not_skipped(tmp_path: Path) -> None:
    lines = [LINE % (n, n) for n in range(10_000)]
    lines[6788] = '{"id": "6788", "query": "q\n'
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines))
    assert "line 6789: not valid JSON (column" in error(path)
    stream = read(path)
    assert [next(stream).id for _ in range(6788)] == [str(n) for n in range(6788)]
    with pytest.raises(InputError, match="line 6789"):
        next(stream)


ONE = LINE % (1, 1)
TWICE = "an object has the key 'query' twice"
LISTS = {"data": [{"id": 1, "query": "q"}], "results": [{"id": 1, "query": "q"}]}
CUT = "it ends in the middle of a value"

BROKEN: list[tuple[str, str | bytes, str]] = [
    *((file, b"", "the file is empty") for file in ("a.jsonl", "a.csv", "a.parquet", "a")),
    *(
        (file, blanks, "the file is empty: it holds only blank lines")
        for file in ("a.jsonl", "a.csv", "a.parquet", "a")
        for blanks in (" ", "\n\n", "  \r\n\t" * 40_000)
    ),
    ("a.jsonl.gz", gzip.compress(b""), "holds nothing"),
    ("a.jsonl.GZ", gzip.compress(b"garbage"), "line 1: not valid JSON"),
    ("a.json", "[]", "no records"),
    *(("a.csv", f"id,query{end}", "no records") for end in ("\n", "\n\n")),
    *(("a.csv", "id,query\n1,a\n".encode(code), "text in UTF-16") for code in UTF_16),
    *(("a.jsonl", ONE.encode(code), "text in UTF-16") for code in UTF_16),
    ("a.jsonl", ONE + '{"id": 7, "query": "a"}\n' + LINE % (8, 8) + '{"id": "7", "query": "b"}\n',
     "line 4, field 'id': the sample '7', repeat 0, was already given in line 2"),
    *(("a.jsonl", '{"results": [{"id": 1, "query": "q"}]}\n' + later, "line 2")
      for later in ("garbage {{{", "[1]", '{"data": [')),
    ("a.json", json.dumps(LISTS), "several lists of records: 'results', 'data'"),
    ("a.json", json.dumps(LISTS, indent=1), "several lists of records: 'results', 'data'"),
    ("a.json", '[{"id": 1}]\n[{"id": 1}]', "not valid JSON"),
    ("a.json", '[\n {"id": 1}\n]\n[\n {"id": 1}\n]', "not valid JSON"),
    ("a.jsonl", "[" * 100_000, "not valid JSON"),
    ("a.jsonl", '{"id": 1, "query": ' + "[" * 100_000, "not valid JSON"),
    *(
        ("a.jsonl", ONE + record, f"line 2, field 'query': {TWICE}")
        for record in (
            '{"id": 2, "query": "a", "query": "b"}',
            '{"id": 2, "query" : "a", "query" : "a"}',
            '{"id": 2, "query": "a: b", "passages": {"query": "x", "query": "y"}}',
            '{"id": 2, "query": "a", "gold": [{"query": NaN, "query": 1, "id": "g"}]}',
        )
    ),
    ("a.jsonl", '[\n{"id": 2, "query": "a", "query": "b"}]', TWICE),
    *(("a.jsonl", f'{ONE}{{"id": 2, "passages": [{{"text": "t", "score": {token}}}]}}', "finite")
      for token in ("NaN", "Infinity", "-Infinity", "1e999")),
    ("a.jsonl", '{"id": 1, "latency": Infinity}', "field 'latency': the number inf is not finite"),
    ("a.jsonl", ONE + '["a"]\n', "line 2: a list was given where a record is expected"),
    ("a.jsonl", ONE + "null\n", "line 2: nothing was given where a record is expected"),
    ("a.jsonl", '{"id": 1, "references": ["a", null]}', "'references': a reference is null"),
    *(("a.jsonl", f'{ONE}{{"id": 2, "query": "q{end}', f"line 2: not valid JSON (column 21: {CUT})")
      for end in ("", "\n", "\n\n")),
    ("a.jsonl", '[{"id": 1,\n "query":', f"(line 2, column 9: {CUT})"),
    *((name, "\nnot json\n", "line 2: not valid JSON") for name in ("a.jsonl", "a.ndjson")),
    ("a.jsonl.gz", gzip.compress(b"\nnot json\n"), "line 2: not valid JSON"),
    ("a.bin", "just some words\n", "no known format fits: it is neither JSON nor Parquet"),
    ("a.bin", bytes(range(253, 0, -1)), "this is not a text file"),
    ("a.bin", "Grüße\n".encode("latin-1"), "byte 0xfc at position 3 of the file is not UTF-8"),
    ("a.run", "q1 Q0 d1 1 2.0 tag\n", "Give the run, with its qrels"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "content", "said"), BROKEN, ids=[said for *_, said in BROKEN])
def test_a_broken_file_is_an_error_that_says_where(tmp_path, file, content, said) -> None:
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert said in error(path)


@pytest.mark.parametrize(
    ("written", "query"), [("a\\u003a b: c", "a: b: c"), ("cut \\ud83d", "cut \ufffd")]
)
def test_escapes_are_read_as_what_they_stand_for(tmp_path: Path, written: str, query: str) -> None:
    """A colon that is written so is no lost key, and half a character can be written again."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"id": 1, "query": "{written}"}}')
    assert load(path)[0].query == query


def test_the_same_id_of_another_system_or_repeat_is_no_duplicate(tmp_path: Path) -> None:
    rows = [{}, {"system": "B"}, {"repeat": 1}]
    path = jsonl(tmp_path / "a.jsonl", *({"id": 1, "query": "a", **row} for row in rows))
    assert len(load(path)) == 3


def test_a_truncated_gzip_file_is_an_error_whatever_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress("".join(LINE % (n, n) for n in range(10_000)).encode())
    for size in (len(whole) // 2, len(whole) - 4, 12):
        path.write_bytes(whole[:size])
        assert "gzip file is damaged or cut off" in error(path)


def test_a_gzip_file_made_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "' + b"x" * (1 << 26)))
    assert "unpacks to more than 100 times its size" in error(path)


def test_a_run_folder_is_called_one_with_the_commands_that_read_it(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("suites: [qa]\n")
    message = error(tmp_path)
    assert "this is a run folder" in message and "'ragassay report' or 'ragassay comp" in message


@pytest.mark.parametrize("options", [{}, {"format": "csv"}, {"format": "parquet"}])
def test_a_pipe_is_an_error_that_does_not_wait(tmp_path: Path, options: dict[str, str]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert re.search("this is a pipe.*Save it to a file first", error(path, **options))


def test_blanks_before_the_data_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n" * 70_000 + LINE % (1, 1))
    assert [sample.id for sample in load(path, format="jsonl")] == ["1"]


def test_a_missing_file_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(LINE % (1, 1))
    told = r"no such file.*Did you mean 'answers\.jsonl'\?"
    assert re.search(told, error(tmp_path / "answer.jsonl"))
    assert "no such file" in error(tmp_path / "no" / "a.jsonl")


@pytest.mark.parametrize(("file", "lines"), [
    ("a.jsonl", ['{"id": 1, "query": "a"}', '{"id": 2, "query": "caffè"}']),
    ("a.csv", ["id,query", "1,caffè"]),
])  # fmt: skip
def test_a_wrong_encoding_is_named_with_line_and_byte(tmp_path: Path, file: str, lines) -> None:
    path = tmp_path / file
    path.write_bytes("\n".join(lines).encode("latin-1"))
    position = lines[1].index("è") + 1
    told = f"line 2: byte 0xe8 at position {position} of the line is not UTF-8.*Save the file as U"
    assert re.search(told, error(path))


@pytest.mark.parametrize("start", [b"", b"\0"])
def test_a_file_that_is_no_text_is_not_taken_for_an_encoding(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "bin.csv"
    path.write_bytes(start + random.Random(1).randbytes(3000))
    with pytest.raises(InputError, match=r"this is not a text file\. Give JSON lines"):
        load(path, format="csv")


def test_every_line_that_holds_a_list_of_records_is_read(tmp_path: Path) -> None:
    batches = [
        {"batch": batch, "data": [{"id": f"{batch}.{n}", "query": "q"} for n in range(2)]}
        for batch in range(3)
    ]
    notes = Notes()
    path = jsonl(tmp_path / "a.jsonl", *batches)
    found = [sample.id for sample in load(path, notes=notes)]
    assert found == ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]
    (note,) = notes
    assert note.startswith("objects with 'batch' around a list of records: 3.")


def test_nan_is_null_where_python_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": 1, "query": "a", "answer": NaN, "Validity": NaN, "metrics": {"RL_F": [NaN]}}\n'
    )
    (sample,) = load(path)
    assert (sample.answer, sample.metadata) == (None, {"Validity": None})
    assert sample.given == {"RL_F": [None]}


def test_up_to_three_files_without_records_are_all_named(tmp_path: Path) -> None:
    for text in ("[]", '{"data": [], "meta": {"page": 1}}'):
        (path := tmp_path / "a.json").write_text(text)
        with pytest.raises(InputError, match=r"a\.json: there are no records"):
            load([path] * 3)
    with pytest.raises(UsageError, match="No data is named"):
        load([])


@pytest.mark.parametrize(("options", "said"), [
    ({"format": "jsnol"}, "Unknown format 'jsnol'. Did you mean 'jsonl'"),
    ({"passages_from": "steps"}, "'steps' is none of retrieval, tools and span:NAME"),
    ({"limit": 0}, "limit must be at least 1"), ({"limit": -1}, "limit must be at least 1"),
])  # fmt: skip
def test_an_option_that_is_none_is_a_usage_error(tmp_path: Path, options, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(tmp_path / "a.jsonl", **options)


def test_what_is_worth_telling_is_told_once_with_its_count(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"query": "q{n}"}}\n' for n in range(5)))
    with pytest.warns(RagassayWarning, match="records without an id: 5") as caught:
        load(path)
    assert len(caught) == 1
    notes = Notes()
    load(path, notes=notes)
    assert len([*notes]) == 1


def test_detecting_json_lines_imports_no_heavy_library(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(LINE % (1, 1))
    code = (
        "import sys, ragassay.formats as f; f.load(sys.argv[1]); "
        "print([m for m in ('polars', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
