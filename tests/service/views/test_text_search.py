"""The search in a report's samples: in all their texts, within words, whatever the case."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hypothesis import given, strategies as st

import ragassay
from ragassay.service.views.report_view import RUN, ReportView, RowQuery, build_view
from ragassay.service.views.report_view import _rows_with as rows_with, _write_texts as write_texts

PASSAGE = "The library lends up to thirty books at once, for three weeks each."


def test_a_search_looks_at_all_that_the_report_shows_of_a_sample(tmp_path: Path) -> None:
    data = [
        {
            "id": f"q-{n}",
            "query": f"query {n}?",
            "history": [{"speaker": "user", "text": f"earlier {n}"}],
            "answer": f"ANSWER number {n}",
            "passages": [{"id": f"doc-{n % 2}", "text": PASSAGE + " Ä" * (n % 2)}],
            "references": [f"reference {n}"],
            "metadata": {"topic": f"topic {n}"},
        }
        for n in range(3)
    ]
    data.append({"id": "bare", "query": "nothing?"})
    ragassay.evaluate(data, metrics=["em", "Recall@5"], output=str(tmp_path / RUN))
    build_view(tmp_path, "r", {"report": "r"})
    view = ReportView(tmp_path)

    def found(text: str) -> list[str]:
        rows = view.find(RowQuery(words=text.split()))["rows"]
        return [row["id"] for row in rows]

    for text in ("q-1", "query 1", "EARLIER 1", "answer 1", "doc-1", "ä", "reference 1", "topic 1"):
        assert found(text) == ["q-1"], text
    assert found("thirty books") == found("LIBRAR") == ["q-0", "q-1", "q-2"]
    assert found("missing_input") == ["bare"], "the reason of a score"
    assert found("thirty elephants") == [] and len(found("")) == 4


def index_of(samples: Iterable[Iterable[str]]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    write_texts(index, samples)
    return index


def test_a_text_of_several_samples_is_stored_once() -> None:
    with closing(index_of([[f"q{n}", PASSAGE] for n in range(100)])) as index:
        (size,) = index.execute("SELECT sum(length(body)) FROM texts").fetchone()
        assert size < 10 * len(PASSAGE)
        assert rows_with(index, "lends") == list(range(100))
        assert rows_with(index, "q7") == [7, *range(70, 80)]


texts = st.lists(st.text("abÄä ß\n\x00", max_size=60), max_size=5)


@given(st.lists(texts, max_size=8), st.text("abä", min_size=1, max_size=3))
def test_a_search_finds_what_looking_at_every_text_finds(
    samples: list[list[str]], word: str
) -> None:
    with closing(index_of(samples)) as index:
        assert rows_with(index, word) == [
            row
            for row, held in enumerate(samples)
            if any(word.lower() in text.lower() for text in held)
        ]
