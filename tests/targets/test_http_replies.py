"""Replies over HTTP in the forms that servers give them, and addresses that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import UsageError
from ragassay.targets.ask_run import ask
from system_server import Reply, SystemServer

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?", "metadata": {"new": True}} for n in range(3)]


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answers_of(rule: Any, mapping: str) -> list[str | None]:
    with SystemServer(rule) as server:
        Path("mine.yaml").write_text(f"url: {server.url}{mapping}")
        answers = ask(QUERIES, "mine.yaml")
    return [one.answer_text if one.answer else one.failure for one in answers.samples]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_of_a_stream_may_be_long(end: bytes) -> None:
    words = "wörd " * 60_000
    body = b"".join(
        json.dumps({"a": one}, ensure_ascii=False).encode() + end for one in (words,) * 2
    )
    found = answers_of(lambda *_: Reply(body), "/\nbody: '{{query}}'\nstream: lines\nanswer: a\n")
    assert found == [(words * 2)] * 3


def test_a_compressed_reply_is_read() -> None:
    reply = Reply(gzip.compress(b'{"a": "yes"}'), headers={"Content-Encoding": "gzip"})
    assert answers_of(lambda *_: reply, "/\nbody: '{{query}}'\nanswer: a\n") == ["yes"] * 3


def test_a_reply_with_nan_is_read() -> None:
    reply = Reply(b'{"a": "yes", "rank": NaN}')
    assert answers_of(lambda *_: reply, "/\nbody: '{{query}}'\nanswer: a\n") == ["yes"] * 3


def test_a_server_that_closes_each_connection_is_asked_on() -> None:
    reply = Reply(b'{"a": "yes"}', headers={"Connection": "close"})
    assert answers_of(lambda *_: reply, "/\nbody: '{{query}}'\nanswer: a\n") == ["yes"] * 3


def test_parameters_of_the_url_are_texts_or_json() -> None:
    with SystemServer(lambda *_: {"a": "yes"}) as server:
        Path("mine.yaml").write_text(
            f"url: {server.url}/ask?k=3\nmethod: GET\nanswer: a\n"
            'params: {q: "{{query}}", new: "{{metadata.new}}", old: "{{metadata.old}}", n: 2}\n'
        )
        ask(QUERIES[:1], "mine.yaml")
        assert server.paths == ["/ask?k=3&q=What+is+0?&new=true&old=&n=2"]


def test_a_redirect_on_the_same_server_is_followed() -> None:
    with SystemServer() as server:
        server.rule = lambda number, sent: (
            {"a": "yes"} if number else Reply(status=307, headers={"Location": "/new"})
        )
        Path("mine.yaml").write_text(
            f"url: {server.url}/old\nbody: {{q: '{{{{query}}}}'}}\nanswer: a\n"
        )
        (sample,) = ask(QUERIES[:1], "mine.yaml").samples
        assert server.paths == ["/old", "/new"] and server.asked == [{"q": "What is 0?"}] * 2
    assert sample.answer_text == "yes"


@pytest.mark.parametrize("url", ["localhost:8000/ask", "ftp://host/ask", "http:///ask", "/ask"])
def test_what_is_no_address_is_refused_before_anything_is_asked(url: str) -> None:
    Path("mine.yaml").write_text(f"url: {url}\nbody: '{{{{query}}}}'\nanswer: a\n")
    with pytest.raises(UsageError, match=r"no address of HTTP .* Correct 'url' in mine.yaml"):
        ask(QUERIES, "mine.yaml")


def test_a_header_that_cannot_be_sent_is_named() -> None:
    found = answers_of(
        lambda *_: {"a": "yes"}, '/\nbody: "{{query}}"\nanswer: a\nheaders: {X-Team: "a\\nb"}\n'
    )
    assert all("no header may hold" in str(one) for one in found)


def test_an_answer_that_is_a_list_is_told_with_its_path() -> None:
    def rule(*_: Any) -> Any:
        return {"data": {"reply": [{"kind": "answer", "value": "yes"}]}}

    (failure, *_) = answers_of(rule, "/\nbody: '{{query}}'\nanswer: data.reply\n")
    assert failure is not None and "Return a text" not in failure and "Give {" not in failure
    assert failure.endswith("Correct 'answer' (data.reply) in mine.yaml: the path finds a list.")


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([{"t": "It is "}, {"t": "24."}], "It is 24."),
        ([{"t": "It is 24."}], "It is 24."),
        ([], ""),
    ],
)
def test_pieces_that_a_path_finds_are_joined_to_the_answer(pieces: Any, answer: str) -> None:
    for streamed in ("", "\nstream: lines"):
        with SystemServer(lambda *_: {"data": [{"out": {"pieces": pieces}}]}) as server:
            Path("mine.yaml").write_text(
                f"url: {server.url}\nbody: '{{{{query}}}}'\n"
                f"answer: ['data[0].out.text', 'data[0].out.pieces[*].t']{streamed}\n"
            )
            (sample,) = ask(QUERIES[:1], "mine.yaml").samples
        assert sample.answer is not None and sample.answer.text == answer


def test_pieces_that_are_no_texts_are_no_answer() -> None:
    reply = {"pieces": [{"t": "a"}, {"t": {"no": "text"}}]}
    (failure, *_) = answers_of(lambda *_: reply, "/\nbody: '{{query}}'\nanswer: pieces[*].t\n")
    assert (failure or "").endswith("the path finds a list.")


def test_passages_that_cannot_be_read_are_told_with_their_place() -> None:
    reply = {"a": "yes", "hits": [{"start": "high", "text": "x"}]}
    (failure, *_) = answers_of(
        lambda *_: reply, "/\nbody: '{{query}}'\nanswer: a\npassages: hits\n"
    )
    assert (failure or "").endswith("Correct 'passages' or 'passage' in mine.yaml.")


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_leave_the_query_out_is_a_failure(status: int) -> None:
    with SystemServer() as server:
        server.rule = lambda number, sent: (
            {"a": "what to an empty request?"}
            if sent is None
            else Reply(status=status, headers={"Location": "/new?token=1"})
        )
        Path("mine.yaml").write_text(
            f"url: {server.url}/old\nbody: {{q: '{{{{query}}}}'}}\nanswer: a\n"
        )
        (sample,) = ask(QUERIES[:1], "mine.yaml").samples
        assert server.paths == ["/old"]
    assert sample.answer is None
    assert "redirects to /new, where a client sends GET without the query" in str(sample.failure)


def test_half_a_pair_of_surrogates_costs_its_query_only() -> None:
    found = answers_of(
        lambda number, sent: (
            {"a": "yes"} if sent.endswith("1?") else Reply(b'{"a": "cut in \\ud83d half"}')
        ),
        "/\nbody: '{{query}}'\nanswer: a\n",
    )
    assert found[1] == "yes"
    assert all("a text in it is no Unicode" in str(found[at]) for at in (0, 2))


@pytest.mark.parametrize(
    ("error", "answers"),
    [("", [None]), ("error: []\n", ["yes"]), ("error: fault?\n", ["yes"])],
)
def test_an_empty_list_of_paths_looks_for_no_error(error: str, answers: list[str | None]) -> None:
    mapping = f"/\nbody: '{{{{query}}}}'\nanswer: a\n{error}"
    replies = answers_of(lambda *_: {"a": "yes", "error": "boom"}, mapping)
    assert [one if one == "yes" else None for one in replies] == answers * 3
