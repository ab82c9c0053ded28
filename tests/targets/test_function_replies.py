"""What functions return: streams with a mapping at their end, keys that nobody knows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from ragassay.base.sample import Sample
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import AskSummary

pytestmark = pytest.mark.usefixtures("no_long_waits")

QUERIES = [{"id": "q1", "query": "How long?"}, {"id": "q2", "query": "How much?"}]
ENDS = {
    "an answer": {"answer": "It is 24.", "passages": ["a"]},
    "another name": {"response": "It is 24.", "contexts": ["a"]},
    "no answer": {"passages": ["a"], "usage": {"input_tokens": 3, "output_tokens": 2}},
}


def asked(system: Callable[..., Any]) -> tuple[Sample, AskSummary]:
    answers = ask(QUERIES, system)
    (summary,) = answers.summaries.values()
    return answers.samples[0], summary


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_mapping_may_end_a_stream_of_texts(end: dict[str, Any]) -> None:
    def pieces(query: str) -> Iterator[Any]:
        yield "It is "
        yield "24."
        yield end

    async def coming(query: str) -> AsyncIterator[Any]:
        for piece in pieces(query):
            yield piece

    for system in (pieces, coming):
        sample, _ = asked(system)
        assert sample.answer_text == "It is 24."
        assert [one.text for one in sample.passages or ()] == ["a"]
        assert sample.metadata["asked"]["first_token"] <= sample.metadata["asked"]["latency"]


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (["It ", {"passages": ["a"]}, "is 24."], "a text, a mapping"),
        (["It ", {"passages": ["a"]}, {"answer": "x"}], "a text, a mapping"),
        (["It ", 24], "a text, an int"),
        ([{"passages": ["a"]}, "It is 24."], "a mapping, a text"),
    ],
)
def test_a_stream_of_another_order_is_a_failure_in_words(pieces: list[Any], told: str) -> None:
    sample, summary = asked(lambda query: iter(pieces))
    assert summary.failed == {"unparsable": 2} and sample.answer is None
    assert f"pieces of several kinds ({told})" in (sample.failure or "")
    assert "one mapping as the last piece" in (sample.failure or "")


def test_mappings_alone_are_still_merged() -> None:
    pieces = [{"input": "How long?"}, {"context": ["a"]}, {"answer": "It "}, {"answer": "is 24."}]
    sample, summary = asked(lambda query: iter(pieces))
    assert sample.answer_text == "It is 24." and len(sample.passages or ()) == 1
    assert not summary.notes


@pytest.mark.parametrize(
    ("under", "listed", "are_names"),
    [
        ("sources", ["x"], True),
        ("sources", ["battery-manual", "Oakhaven Fire Safety Plan", "https://a.example/b"], True),
        ("sources", ["x", "The pool opens at nine."], False),
        ("sources", ["水池九点开放"], False),
        ("documents", ["a.txt", "b.pdf"], True),
        ("documents", ["a", "b"], False),
        ("contexts", ["a.txt"], False),
    ],
)
def test_names_of_sources_are_no_texts_of_passages(
    under: str, listed: list[str], are_names: bool
) -> None:
    sample, _ = asked(lambda query: {"text": "No.", under: listed})
    found = sample.passages or ()
    assert [one.id if are_names else one.text for one in found] == listed
    assert not are_names or not any(one.text for one in found)


@pytest.mark.parametrize("key", ["error", "failure"])
def test_a_mapping_that_tells_a_failure_is_no_answer(key: str) -> None:
    (sample,) = ask(
        [{"id": "q", "query": "Who?"}], lambda query: {"answer": "x", key: "no index"}
    ).samples
    assert sample.answer is None and "no index" in (sample.failure or "")
