import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ragassay import Turn
from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Statement
from ragassay.formats import detect, load, read, reading, schema, to_record
from ragassay.formats.format import SURE
from ragassay.formats.native import from_record, write

text = st.text(max_size=12)
name = st.text(min_size=1, max_size=6)
maybe = st.none() | text
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | finite | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)


def tuples(items: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=most).map(tuple)


@st.composite
def spans(draw: st.DrawFn) -> dict[str, Any]:
    start = draw(st.none() | st.integers(0, 99))
    end = draw(st.none() | st.integers(start or 0, 199))
    return {"document": draw(maybe), "start": start, "end": end}


passages = st.builds(
    lambda place, words, key, score: Passage(words, key, score, **place), spans(), maybe, maybe,
    st.none() | finite,
)  # fmt: skip
gold = st.builds(
    lambda place, words, key, grade: GoldPassage(key, words, grade=grade, **place), spans(), maybe,
    text, st.integers(-2, 4),
)  # fmt: skip
answers = st.builds(Answer, text, tuples(st.builds(Statement, text, tuples(text))))
turns = st.builds(Turn, st.sampled_from(["user", "agent"]), text)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    groups = draw(tuples(tuples(text)))
    flat = tuple(one for group in groups for one in group)
    return Sample(
        id=draw(name), query=draw(maybe), system=draw(text), repeat=draw(st.integers(0, 3)),
        history=draw(tuples(turns)), passages=draw(st.none() | tuples(passages)),
        answer=draw(st.none() | answers), references=flat or draw(tuples(text)),
        reference_groups=groups if flat else (), negative_references=draw(tuples(text)),
        gold=draw(st.none() | st.lists(gold, max_size=3, unique_by=lambda g: g.id).map(tuple)),
        answerability=draw(st.none() | st.sampled_from(Answerability)),
        timestamp=draw(st.none() | st.floats(0, 4e9)), failure=draw(st.none() | name),
        metadata=draw(st.dictionaries(text, json_values, max_size=3)),
        given=draw(st.dictionaries(text, json_values, max_size=3)),
        given_by=draw(st.dictionaries(text, text, max_size=3)),
        given_unscored=draw(st.dictionaries(text, text, max_size=3)),
    )  # fmt: skip


@st.composite
def queries_with_runs(draw: st.DrawFn) -> Sample:
    """What a run folder holds of a query that was run several times; often without the query."""
    whole = draw(samples())
    bare = Sample(id=whole.id, given=draw(st.just({}) | st.just({"scores": {}})))
    runs = draw(tuples(samples()))
    own = draw(st.sampled_from([whole, bare]))
    return replace(own, runs=tuple(replace(run, id=whole.id) for run in runs))


def test_given_values_are_no_list_of_records(tmp_path: Path) -> None:
    sample = Sample(id="a", given={"rows": [{"query": "q"}]})
    write([sample], tmp_path / "a.jsonl")
    assert load(tmp_path / "a.jsonl") == [sample]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        samples() | queries_with_runs(), min_size=1, max_size=4, unique_by=lambda s: s.identity
    ),
    st.sampled_from(["a.jsonl", "a.jsonl.gz"]),
)
def test_reading_gives_back_what_was_written(tmp_path, written: list[Sample], file: str) -> None:
    path = tmp_path / file
    assert write(written, path) == len(written)
    assert load(path, format="jsonl") == written
    assert [from_record(json.loads(json.dumps(to_record(one)))) for one in written] == written


@settings(max_examples=60, deadline=None)
@given(samples())
def test_every_written_line_fits_the_published_schema(sample: Sample) -> None:
    VALIDATOR.validate(json.loads(json.dumps(to_record(sample), allow_nan=False)))


VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema_and_describes_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    described = schema()["properties"]
    assert list(described) == list(Sample.__dataclass_fields__)
    assert all(field["description"] for field in described.values())


@pytest.mark.parametrize("record", [
    {}, {"id": ""}, {"id": 7}, {"id": "1", "repeat": -1}, {"id": "1", "passages": [{}]},
    {"id": "1", "passages": [{"text": "a", "score": "high"}]},
    {"id": "1", "answerability": "ANSWERABLE"}, {"id": "1", "references": "a"},
    {"id": "1", "anwser": "a"},
])  # fmt: skip
def test_the_schema_refuses_what_is_no_sample(record: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(record)


def test_the_bundled_example_fits_the_schema() -> None:
    folder = Path(__file__).parents[2] / "src" / "ragassay" / "examples"
    lines = [
        line
        for path in sorted(folder.rglob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if '"id"' in line and "corpus" not in path.name
    ]
    assert lines
    for line in lines:
        VALIDATOR.validate(json.loads(line))


def test_the_same_samples_give_the_same_bytes(tmp_path: Path) -> None:
    sample = Sample(id="1", query="q")
    for file in ("a.jsonl.gz", "b.jsonl.gz"):
        write([sample], tmp_path / file)
    first, second = (path.read_bytes() for path in tmp_path.iterdir())
    assert first == second and first[4:8] == bytes(4), "gzip would hold the time there"


def test_a_write_that_breaks_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write([Sample(id="1", query="old")], path)
    bad = Sample(id="2", query="q", metadata={"x": object()})
    with pytest.raises(InputError, match="'2' cannot be written as JSON"):
        write([Sample(id="1", query="new"), bad], path)
    assert load(path)[0].query == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


def test_reading_streams_and_a_limit_stops_before_what_follows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "query": "a"}\n{"id": 2, "query": "b"}\nnot json\n')
    stream = read(path)
    assert [next(stream).id, next(stream).id] == ["1", "2"]
    with pytest.raises(InputError, match="line 3"):
        next(stream)
    assert len(load(path, limit=2)) == 2


@pytest.mark.parametrize("file", ["a.json", "a.jsonl", "a"])
def test_a_json_list_is_read_as_records(tmp_path: Path, file: str) -> None:
    path = tmp_path / file
    path.write_text('[\n {"id": 1, "query": "a"},\n {"id": 2, "query": "b"}\n]\n')
    assert [sample.id for sample in load(path)] == ["1", "2"]


def test_a_pretty_printed_object_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": 1, "query": "a"}, indent=2))
    assert load(path) == [Sample(id="1", query="a")]


def test_gzip_is_recognised_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(b'{"id": 1, "query": "a"}\n'))
    assert load(path)[0].id == "1"


@pytest.mark.parametrize("answer", [[{"text": "Ann.", "citations": ["p1"]}], []])
def test_statements_beside_references_make_no_answer_of_trec(tmp_path: Path, answer: Any) -> None:
    """There, references are what was retrieved."""
    path = tmp_path / "a.jsonl"
    record = {"id": "1", "query": "Who?", "references": ["Ann"], "answer": answer}
    path.write_text(json.dumps(record))
    assert detect(path).name == "jsonl"
    (sample,) = load(path)
    assert (sample.id, sample.query, sample.references) == ("1", "Who?", ("Ann",))
    assert sample.passages is None


@pytest.mark.parametrize(("record", "found"), [
    ({"id": "1", "query": "a", "answer": "b"}, "jsonl"), ({"id": "1", "answer": "b"}, "other"),
    ({"id": "1", "query": "a", "x": 1}, "other"),
])  # fmt: skip
def test_our_own_names_alone_are_ours_whatever_another_format_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, Any], found: str
) -> None:
    every = {"other": replace(reading.FORMAT, name="other", sniff=lambda head: SURE)}
    monkeypatch.setattr(reading, "all_formats", lambda: every)
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert detect(tmp_path / "a.jsonl").name == found
