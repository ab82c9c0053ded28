"""Facts about the data are told at the user's own line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragassay
from ragassay.errors import RagassayWarning


def test_a_fact_of_the_data_is_told_at_the_line_that_read_them(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    record = {"id": "1", "query": "q", "answer": "a", "contexts": "One. <<sep>> Two."}
    data.write_text(json.dumps(record))
    with pytest.warns(RagassayWarning, match="hold several chunks") as told:
        ragassay.load(data)
    assert [Path(one.filename).name for one in told] == [Path(__file__).name]
