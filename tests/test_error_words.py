"""Errors of other packages are told with the place, the value and no secret."""

import json
import warnings
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

import ragassay
from ragassay.base import errors
from ragassay.base.errors import (
    CountedFact,
    RagassayWarning,
    json_problem,
    mistakes,
    validation_problem,
    warn_user,
)
from ragassay.base.note import Note, joined
from ragassay.base.printable import dollars, either, excerpt, few, grouped, plural, share
from ragassay.cli.command_line import call
from ragassay.engine.run.scoring import record_warnings


class Inner(BaseModel):
    start: int = Field(0, ge=0)


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field("x", min_length=1)
    paths: str | list[str] | None = None
    spans: list[Inner] = []
    kind: Literal["a", "b", "c"] = "a"
    share: float = Field(0.5, gt=0, le=1, allow_inf_nan=False)
    on: bool = False
    some: list[int] = Field([1], min_length=1, max_length=2)
    named: dict[str, int] = {}
    counts: dict[int, int] = {}
    code: str = Field("x", pattern=r"^\w+$")

    @field_validator("text")
    @classmethod
    def _short(cls, value: str) -> str:
        if value == "long":
            raise ValueError("'long' is too long")
        return value


@pytest.mark.parametrize(("given", "place", "value"), [
    ({"text": 5}, "text: ", "not 5"), ({"text": ""}, "text: ", "at least 1"),
    ({"text": "long"}, "text: ", "'long' is too long"), ({"paths": 5}, "paths: ", "not 5"),
    ({"spans": [{}, {"start": -1}]}, "spans.1.start: ", "not -1"),
    ({"kind": "d"}, "kind: ", "must be 'a', 'b' or 'c', not 'd'"),
    ({"share": float("nan")}, "share: ", "not nan"), ({"some": [1, 2, 3]}, "some: ", "at most 2"),
    ({"named": {"k": "v"}}, "named.k: ", "not 'v'"), ({"counts": {"k": 1}}, "counts.k: ", "'k'"),
    ({"other": 1}, "other: ", "is not a known key"), ([], "must be ", "not []"),
    ({"text": ["sk-" + "a" * 40]}, "text: ", "not ['...']"),
])  # fmt: skip
def test_a_validation_error_is_a_field_and_what_is_wrong(given, place: str, value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate(given)
    said = validation_problem(caught.value)
    assert said.startswith(place) and value in said
    assert "Input should" not in said and "pydantic" not in said


def test_all_mistakes_have_their_places() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"text": 1, "paths": {"k": 1}, "some": ["x", "y"]})
    assert [place for place, _ in mistakes(caught.value)] == [
        ("text",), ("paths",), ("some", "0"), ("some", "1"),
    ]  # fmt: skip


def test_json_that_pydantic_reads_is_told_by_line_and_column() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate_json(b'{"text":\n "x",}')
    assert "line 2 column 6" in validation_problem(caught.value)


@pytest.mark.parametrize("parser", [json, orjson])
@pytest.mark.parametrize(("text", "said"), [
    ('{"a": x}', "column 7: "), ("{a: 1}", "column 2: "), ('{"a" 1}', "column 6: "),
    ("[1\n 2]", "line 2, column 2: "), ('{"a": 1} x', "column 10: "), ('["a\tb"]', "column "),
    ('["\\q"]', "column "), ("[1,\n 22", "line 2, column 3: it ends in the middle"),
    ('{"a": [1,', "it ends in the middle of a value"), ("", "it is empty"),
])  # fmt: skip
def test_a_json_error_is_a_place_and_what_is_wrong(parser: Any, text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        parser.loads(text)
    told = json_problem(caught.value)
    assert said in told
    assert "(char" not in told


@pytest.mark.parametrize(("file", "body", "words", "said"), [
    ("m.yaml", "url: http://x/\nbody: '{{query}}'\nanswer: 5\n", "ask q.jsonl -t m.yaml",
     "m.yaml, line 3, field 'answer': must be a valid string or a valid list, not 5."),
    ("m.yaml", "url: http://x/\nbody: '{{query}}'\nanswer: a\nmethod: POTS\n",
     "ask q.jsonl -t m.yaml", "field 'method': must be 'POST', 'GET' or 'PUT', not 'POTS'."),
    ("r.yaml", "data: q.jsonl\nlimit: many\n", "run --config r.yaml",
     "r.yaml, line 2, field 'limit': must be a valid integer"),
    ("j.jsonl", '{"question": "x",}\n', "run q.jsonl --judge replay:j.jsonl -m answer_match",
     "j.jsonl, line 1: is not JSON ("),
    ("d.jsonl", '{"id": }\n', "run d.jsonl -s qa", "column 8: "),
    ("q.yaml/x", "", "run --config q.yaml", "q.yaml: cannot be read ("),
])  # fmt: skip
def test_what_users_see_is_in_these_words(
    file: str, body: str, words: str, said: str, here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    Path("q.jsonl").write_text('{"id": "q1", "query": "Who?", "answer": "x"}\n')
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(body)
    assert call(words.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_fact_of_the_data_is_told_at_the_line_that_read_them(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    record = {"id": "1", "query": "q", "answer": "a", "contexts": "One. <<sep>> Two."}
    data.write_text(json.dumps(record))
    with pytest.warns(RagassayWarning, match="hold several chunks") as told:
        ragassay.load(data)
    assert [Path(one.filename).name for one in told] == [Path(__file__).name]


def test_a_fact_is_told_with_its_count_and_not_where_nothing_was_counted() -> None:
    sentence = "{n} {row is|rows are} empty."
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in (0, 1, 2):
            warn_user(CountedFact(sentence, n))
    assert [str(one.message) for one in told] == ["1 row is empty.", "2 rows are empty."]
    with record_warnings() as ours:
        warn_user(CountedFact(sentence, 2))
        warn_user(CountedFact(sentence, 3))
        assert ours() == ["5 rows are empty."]


def test_one_of_each_noun_is_singular() -> None:
    said = [plural(n, "query") for n in (0, 1, 1234)]
    assert said == ["0 queries", "1 query", "1,234 queries"] and plural(2, "way") == "2 ways"
    assert share(1, 1, "sample") == "1 of 1 sample" and share(1, 3, "run") == "1 of 3 runs"
    assert [either(n, "has", "have") for n in (0, 1, 2)] == ["have", "has", "have"]


def test_hints_name_what_is_near_in_any_case_and_nothing_for_the_endless() -> None:
    near, known = errors.did_you_mean, ["Alpha", "beta", "betas", "x" * 201]
    assert near("ALPHAS", known) == "Did you mean 'Alpha'?"
    assert near("beta", known) == "Did you mean 'beta' or 'betas'?"
    assert near("zzz", known) == near("x" * 200, known) == near("x" * 201, ["x" * 201]) == ""
    assert near("x" * 200, ["x" * 199]) and not near("beto", known, at_least=0.9)
    every = [errors.meant_or_all("zzz", names) for names in (["b", "a"], [])]
    assert every == ["There are: b, a.", "There are: none."]
    assert [errors.first_line(ValueError(text)) for text in (" \n a\nb", "")] == ["a", "ValueError"]
    told = [errors.system_problem(OSError(*one)) for one in ((2, "[Errno 2] gone"), ("lost",), ())]
    assert told == ["gone", "lost", "OSError"]
    assert [len(errors.shown_value(text)) for text in ("x y" * 19 + "x", "x y" * 20)] == [60, 63]


def test_an_input_error_is_told_with_its_place() -> None:
    error = errors.InputError("is bad.", path="/dev/stdin", line=3, field="f", hint=" Mend  it. ")
    assert str(error) == "standard input, line 3, field 'f': is bad. Mend it."
    assert str(error.at(path="y", line=4)) == str(error) != str(error.but(problem="bad"))
    assert str(error.but(line=None, field=None, hint=None)) == "standard input: is bad."
    assert str(errors.InputError("is bad").at(line=2)) == "line 2: is bad."
    option = errors.OptionError("--k", "is bad.")
    assert (str(option), option.key, option.problem) == ("--k: is bad.", "--k", "is bad")


def test_long_lists_and_texts_are_cut_and_say_so() -> None:
    names = [few(list("abcdefg"[:n])) for n in (0, 5, 6)]
    assert names == ["", "a, b, c, d, e", "a, b, c, d, e and 1 more"]
    assert few(["a"] * 1235, 1) == "a and 1,234 more"
    assert [*map(dollars, (0, 0.0099, 0.01, 1250))] == ["$0.00", "<$0.01", "$0.01", "$1,250.00"]
    assert [excerpt(text, 5) for text in (" a\n bcd", "a bcde")] == ["a bcd", "a bcd …"]
    assert grouped([("b", 1), ("a", 2), ("b", 0)]) == {"b": [1, 0], "a": [2]}
    assert list(grouped([("b", 1), ("a", 2)])) == ["b", "a"]


def test_notes_of_one_fact_are_one_note_of_all_its_names() -> None:
    first, other = Note("a", {"n": 1}, ("x", "y")), Note("a", {"n": 2}, ("x",))
    severe = Note("a", {"n": 1}, ("v",), "warning")
    found = joined([first, other, severe, Note("a", {"n": 1}, ("w", "y"))])
    assert found == [Note("a", {"n": 1}, ("x", "y", "w")), other, severe]
    assert first.severity == "note"
