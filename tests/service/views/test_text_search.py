"""The search in a report's samples: in all their texts, within words, whatever the case."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.service.views import text_search
from ragassay.service.views.report_view import RUN, ReportView, RowQuery, build_view
from ragassay.service.views.text_search import rows_with, write_texts

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


def test_a_text_of_several_samples_is_stored_once(tmp_path: Path) -> None:
    write_texts(tmp_path, [[f"q{n}", PASSAGE] for n in range(100)])
    assert (tmp_path / text_search.TEXTS).stat().st_size < 10 * len(PASSAGE)
    assert rows_with(tmp_path, ["lends", "q7"]) == [7, *range(70, 80)]


texts = st.lists(st.text("abÄä ß\n\x00", max_size=60), max_size=5)


@given(st.lists(texts, max_size=8), st.lists(st.text("abä", min_size=1, max_size=3), min_size=1))
def test_a_search_finds_what_looking_at_every_text_finds(
    tmp_path_factory: pytest.TempPathFactory, samples: list[list[str]], words: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    write_texts(folder, samples)
    patch = pytest.MonkeyPatch()
    for block in (1, 50, 8_000_000):
        patch.setattr(text_search, "BLOCK", block)
        assert rows_with(folder, words) == [
            row
            for row, held in enumerate(samples)
            if all(any(word.lower() in text.lower() for text in held) for word in words)
        ]
    patch.undo()
