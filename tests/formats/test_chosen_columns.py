"""``columns``: names, paths into nested records, several candidates."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import ragassay
from json_lines import jsonl
from ragassay import InputError, Sample, UsageError
from ragassay.base.errors import did_you_mean
from ragassay.formats import Notes, from_records, load

RECORDS = [
    {"qid": "1", "inputs": {"question": "Who?"},
     "outputs": {"choices": [{"message": {"content": "I."}}]},
     "hits": [{"body": {"text": "x"}, "key": "a"}, {"body": {"text": "y"}, "key": "b"}]},
    {"qid": "2", "inputs": {"question": "What?"}, "outputs": {"text": "That."}, "hits": []},
]  # fmt: skip
COLUMNS = {
    "answer": ["outputs.choices[0].message.content", "outputs.text"],
    "passages": "hits[*].body.text",
    "passage_ids": "hits[*].key",
}


def samples(records: Any, columns: Any) -> list[Sample]:
    return list(from_records(records, columns=columns, notes=Notes()))


def test_paths_and_candidates_are_read_from_every_record() -> None:
    one, two = samples(RECORDS, COLUMNS)
    assert (one.query, one.answer_text, two.answer_text) == ("Who?", "I.", "That.")
    assert [(p.text, p.id) for p in one.passages or ()] == [("x", "a"), ("y", "b")]
    assert two.passages == ()
    joined = {**COLUMNS, "answer": "outputs.choices[0].message.content|outputs.text"}
    assert samples(RECORDS, joined) == [one, two]


def test_every_record_format_takes_paths(tmp_path: Path) -> None:
    expected = samples(RECORDS, COLUMNS)
    lines, rows, frame = tmp_path / "a.jsonl", tmp_path / "a.csv", tmp_path / "a.parquet"
    document = tmp_path / "a.json"
    jsonl(lines, *RECORDS)
    document.write_text(json.dumps(RECORDS))
    cells = [
        {key: value if type(value) is str else json.dumps(value) for key, value in one.items()}
        for one in RECORDS
    ]
    pl.DataFrame(cells).write_csv(rows)
    pl.DataFrame(RECORDS).write_parquet(frame)
    columns = {**COLUMNS, "query": "inputs.question"}
    for path in (lines, document, rows, frame):
        assert load(path, columns=columns, notes=Notes()) == expected, path


def test_a_column_that_is_named_like_a_path_wins() -> None:
    records = [{"id": "1", "a.b": "flat", "a": {"b": "nested"}, "x|y": "bar"}]
    assert samples(records, {"answer": "a.b"})[0].answer_text == "flat"
    assert samples(records, {"answer": "x|y"})[0].answer_text == "bar"
    assert samples(records, {"answer": "a['b']"})[0].answer_text == "nested"
    assert samples([{"id": "1", "a[b": "odd"}], {"answer": "a[b"})[0].answer_text == "odd"
    assert samples([{"id": "1", "x": ["one"]}], {"answer": "x[-1]"})[0].answer_text == "one"


@pytest.mark.parametrize(("column", "names"), [
    ("outputs.choices[0].msg", "'outputs.choices[0].msg'"), (["x.y", "z"], "'x.y' or 'z'"),
])  # fmt: skip
def test_a_first_record_without_the_column_says_where_texts_are(column: Any, names: str) -> None:
    with pytest.raises(InputError) as caught:
        samples(RECORDS, {"answer": column})
    assert f"line 1, field '{column if isinstance(column, str) else 'x.y'}'" in str(caught.value)
    assert f"no column {names} (wanted as answer)" in str(caught.value)
    assert "Found: qid, outputs.choices[0].message.content, hits[*].body.text" in str(caught.value)


def test_paths_to_texts_for_a_list_take_every_item_of_a_list_of_one() -> None:
    record = {"id": "1", "query": "Q?", "hits": [{"chunk": {"body": "A."}}]}
    with pytest.raises(InputError, match=r"Did you mean 'hits\[\*\].chunk.body'"):
        samples([record], {"passages": "hits[*].chunk.text"})
    with pytest.raises(InputError, match=r"Did you mean 'hits\[0\].chunk.body'"):
        samples([record], {"answer": "hits[0].chunk.text"})


@pytest.mark.parametrize("value", [[], "", 3, ["a", 3], {"a": "b"}])
def test_what_is_no_column_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="columns: answer must be the name of a column"):
        samples(RECORDS, {"answer": value})


KEYS = st.text(st.characters(exclude_characters=".[]|$?'\"", codec="utf-8"), min_size=1).filter(
    lambda key: key == key.strip()
)


@given(st.lists(KEYS | st.integers(0, 3), min_size=1, max_size=5), st.text())
def test_a_written_path_leads_to_the_value_that_it_was_made_for(steps, words) -> None:
    value: Any = words
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    path = "".join(f'["{one}"]' if isinstance(one, str) else f"[{one}]" for one in steps)
    record = {"id": "1", "query": "?", "top": value}
    (one,) = samples([record], {"answer": f"top{path}"})
    assert one.answer_text == words


NUMBERED = {"id": "1", "query": "Who?", "hit_10": "third", "hit_2": "second", "hit_1": "first"}


def test_a_column_whose_name_is_written_like_a_pattern_wins() -> None:
    record = {"id": "1", "query": "Who?", "hit_*": ["own"], "hit_1": "other", "a+b": "I."}
    (sample,) = samples([record], {"passages": "hit_*", "answer": "a+b"})
    assert [one.text for one in sample.passages or ()] == ["own"]
    assert sample.answer is not None and sample.answer.text == "I."


def test_a_pattern_that_no_column_fits_is_an_error_that_lists_what_is_there() -> None:
    with pytest.raises(InputError, match=r"no column 'hot_\*' .*hit_10"):
        samples([NUMBERED], {"passages": "hot_*"})


FAILED: list[Any] = [
    {"id": "1", "query": "Q?", "out": None, "error": "timeout"},
    {"id": "2", "query": "R?", "out": {"text": "A.", "hits": [{"id": "p1"}]}, "error": None},
]
INTO = {"answer": "out.text", "passage_ids": "out.hits[*].id"}


def test_a_first_record_of_a_system_that_failed_shows_no_columns() -> None:
    """The path to its answer leads nowhere; that of the next record counts."""
    one, two = samples(FAILED, INTO)
    assert (one.failure, one.answer, one.passages) == ("timeout", None, None)
    assert two.answer_text == "A." and [p.id for p in two.passages or ()] == ["p1"]
    with pytest.raises(InputError, match=r"no column 'out.txt' \(wanted as answer\)") as caught:
        samples(FAILED, {"answer": "out.txt"})
    assert "line 2" in str(caught.value)
    # What is asked of it stands there, whether it answered or not.
    with pytest.raises(InputError, match="wanted as query") as caught:
        samples(FAILED, {"query": "asked.text"})
    assert "line 1" in str(caught.value)
    # An empty cell tells of no failure.
    told = [{**FAILED[0], "error": ""}, FAILED[1]]
    with pytest.raises(InputError, match=r"A \? at its end \(out.text\?\) lets records lack it"):
        samples(told, INTO)


def test_failed_records_of_a_file_beside_questions_show_no_columns(tmp_path: Path) -> None:
    """By the failed record the column was only that of the questions, so answers would be lost."""
    data = jsonl(tmp_path / "a.jsonl", *FAILED)
    asked = [{"id": one["id"], "query": one["query"], "reference": "A."} for one in FAILED]
    questions = jsonl(tmp_path / "b.jsonl", *asked)
    run = ragassay.evaluate(str(data), "em", references=str(questions), columns=INTO)
    one, two = run.samples
    assert one.answer is None and two.answer_text == "A."
    assert one.references == two.references == ("A.",)


def test_a_trace_that_retrieved_nothing_may_stand_first(tmp_path: Path) -> None:
    def run(name: str, **more: Any) -> dict[str, Any]:
        given = {"inputs": {"question": f"{name}?"}, "outputs": {"answer": "A."}}
        return {"id": name, "trace_id": name, "run_type": "chain", **given, **more}

    found = {"documents": [{"page_content": "Text.", "metadata": {"source": "a.md"}}]}
    step = {"id": "s", "trace_id": "b", "parent_run_id": "b", "run_type": "retriever"}
    last = {**step, "inputs": {}, "outputs": found}
    path = jsonl(tmp_path / "a.jsonl", run("a"), run("b"), last)
    notes = Notes()
    columns = {"passage_ids": "passages[*].metadata.source"}
    one, two = load(path, columns=columns, notes=notes)
    assert one.passages is None and [p.id for p in two.passages or ()] == ["a.md"]
    assert any(note.startswith("records without the column") for note in notes)
    with pytest.raises(InputError, match="wanted as passage_ids"):
        load(path, columns={"passage_ids": "passages[*].metadata.sauce"})


def test_a_very_long_name_is_like_no_known_one(tmp_path: Path) -> None:
    """It is not compared letter by letter: that would take minutes."""
    path = tmp_path / "long.csv"
    path.write_text(f"qu{'ery' * 400_000},anser\nx,y\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(path)
    assert "anser" in str(caught.value)
    assert did_you_mean("x" * 201, ["x" * 201]) == ""
    assert "limit" in did_you_mean("limt", ["limit", "y" * 1_000_000])
