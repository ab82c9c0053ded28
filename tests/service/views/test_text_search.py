"""The search in a report's samples: in all their texts, within words, whatever the case."""

from __future__ import annotations

from pathlib import Path

import ragassay
from ragassay.service.views.report_view import RUN, ReportView, RowQuery, build_view

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
