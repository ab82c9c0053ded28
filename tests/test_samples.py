from __future__ import annotations

import math

import pytest

from ragassay.errors import InputError
from ragassay.samples import GoldPassage, Passage, Sample


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_passage_score_is_finite(score: float) -> None:
    with pytest.raises(InputError, match=r"passages\.score.*finite"):
        Passage(text="x", score=score)


def test_spans_do_not_run_backwards() -> None:
    with pytest.raises(InputError, match=r"gold\.end"):
        GoldPassage(document="d", start=5, end=3)
    with pytest.raises(InputError, match=r"passages\.start"):
        Passage(start=-1, end=3)


def test_a_gold_passage_names_something() -> None:
    with pytest.raises(InputError, match="neither an id, a text nor a document"):
        GoldPassage(grade=2)


def test_an_id_is_a_non_empty_string_and_repeats_count_from_zero() -> None:
    with pytest.raises(InputError, match="no id"):
        Sample(id="")
    with pytest.raises(InputError, match="repeat is -1"):
        Sample(id="q", repeat=-1)
    with pytest.raises(InputError, match="timestamp"):
        Sample(id="q", timestamp=math.nan)


def test_identity_is_query_system_and_repeat() -> None:
    assert Sample(id="q", system="s", repeat=3).identity == ("q", "s", 3)


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = InputError("is not a number", path="a.csv", line=3, field="score", hint="Mend it.")
    assert str(error) == "a.csv, line 3, field 'score': is not a number. Mend it."
    assert str(InputError("bad").at(path="x", line=2)) == "x, line 2: bad."


def test_a_plain_text_is_one_answer_or_one_reference_and_never_its_characters() -> None:
    sample = Sample(id="q", answer="Rome", references="Rome")  # type: ignore[arg-type]
    assert sample.answer is not None and sample.answer.text == "Rome"
    assert sample.references == ("Rome",)
