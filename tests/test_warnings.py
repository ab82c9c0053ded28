"""Facts about the data at the user's own line, and sentences with counts."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import ragassay
from ragassay.base.errors import CountedFact, RagassayWarning, warn_user
from ragassay.base.printable import either, plural, share


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


def test_one_of_each_noun_is_singular() -> None:
    said = [plural(n, "query") for n in (0, 1, 1234)]
    assert said == ["0 queries", "1 query", "1,234 queries"]
    assert share(1, 1, "sample") == "1 of 1 sample" and share(1, 3, "run") == "1 of 3 runs"
    assert [either(n, "has", "have") for n in (0, 1, 2)] == ["have", "has", "have"]
