"""What other packages' errors say is told with the place, the value and no secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragassay.base.errors import json_problem, mistakes, validation_problem
from ragassay.cli.command_line import call


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
    code: str = Field("x", pattern=r"^\w+$")

    @field_validator("text")
    @classmethod
    def _short(cls, value: str) -> str:
        if value == "long":
            raise ValueError("'long' is too long")
        return value


@pytest.mark.parametrize(
    ("given", "place", "value"),
    [
        ({"text": 5}, "text: ", "not 5"),
        ({"text": ""}, "text: ", "at least 1"),
        ({"text": "long"}, "text: ", "'long' is too long"),
        ({"paths": 5}, "paths: ", "not 5"),
        ({"spans": [{}, {"start": -1}]}, "spans.1.start: ", "not -1"),
        ({"kind": "d"}, "kind: ", "must be 'a', 'b' or 'c', not 'd'"),
        ({"share": float("nan")}, "share: ", "not nan"),
        ({"some": [1, 2, 3]}, "some: ", "at most 2"),
        ({"named": {"k": "v"}}, "named.k: ", "not 'v'"),
        ({"other": 1}, "other: ", "is not a key that is known"),
        ([], "must be ", "not []"),
        ({"text": ["sk-" + "a" * 40]}, "text: ", "not ['...']"),
    ],
)
def test_a_validation_error_is_a_field_and_what_is_wrong(
    given: Any, place: str, value: str
) -> None:
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
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": x}', "column 7: "),
        ("{a: 1}", "column 2: "),
        ('{"a" 1}', "column 6: "),
        ("[1\n 2]", "line 2, column 2: "),
        ('{"a": 1} x', "column 10: "),
        ('["a\tb"]', "column "),
        ('["\\q"]', "column "),
        ('{"a": [1,', "it ends in the middle of a value"),
        ("", "it is empty"),
    ],
)
def test_a_json_error_is_a_place_and_what_is_wrong(parser: Any, text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        parser.loads(text)
    told = json_problem(caught.value)
    assert said in told
    assert "(char" not in told


@pytest.mark.parametrize(
    ("file", "body", "words", "said"),
    [
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
    ],
)  # fmt: skip
def test_what_users_see_is_in_these_words(
    file: str, body: str, words: str, said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text('{"id": "q1", "query": "Who?", "answer": "x"}\n')
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(body)
    assert call(words.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())
